"""The wheel, built and tried in an environment of its own, as somebody who installs it meets it."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def sh(*words: str | Path, code: int = 0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd, env=clean)
    assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of what is under version control, so that no cache gets into it."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    files = sh("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    sh(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", out, tree)
    (found,) = out.glob("recloak-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel without extras into a fresh environment and return the folder of its commands."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=True)
    sh(place / "bin/python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    return place / "bin"


def test_the_wheel_holds_every_file_of_the_package_and_no_cache(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    tracked = sh("git", "ls-files", "-co", "--exclude-standard", "src/recloak", cwd=ROOT).stdout.splitlines()
    wanted = {name.removeprefix("src/") for name in tracked if (ROOT / name).is_file()}
    assert {name for name in inside if ".dist-info/" not in name} == wanted
    assert "recloak/py.typed" in inside


def test_the_metadata_name_what_a_stranger_needs(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    metadata = archive.read(name).decode()
    for field in ("Requires-Python: >=3.11", "License-Expression: MIT", "Project-URL: Homepage", "Provides-Extra: web"):
        assert field in metadata


def test_a_plain_install_runs_the_demo_and_the_library(installed, tmp_path):
    sh(installed / "recloak", "demo", "-o", tmp_path / "demo")
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    code = "import recloak, sys; print(recloak.__version__, len(recloak.__all__))"
    assert sh(installed / "python", "-c", code, cwd=tmp_path).stdout.startswith("0.")


def test_commands_whose_extra_is_missing_say_which(installed, tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n1,1,5\n")
    told = sh(installed / "recloak", "serve", "--history", "h.db", code=2, cwd=tmp_path).stderr
    assert told == (
        "recloak: recloak serve needs the extra 'web', which is not installed: pip install 'recloak[web]'\n"
    )
    told = sh(installed / "recloak", "inspect", "r.csv", "--engine", "spark", code=2, cwd=tmp_path).stderr
    assert "pip install 'recloak[spark]'" in told
    made = sh(installed / "recloak", "token", "create", "--user", "1", "--json", cwd=tmp_path).stdout
    assert json.loads(made)["user"] == "1"
