"""A mode is one value: a third one is published, verified, described and charted after two registrations."""

import inspect
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import recloak
from recloak._core.errors import OptionError
from recloak._core.randomness import Randomness
from recloak._evaluation.frontier import frontier
from recloak._evaluation.options import FrontierOptions
from recloak._ratings.readers import read
from recloak._releases import homogenise
from recloak._releases.model import modes
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import sealed
from recloak._releases.options import PublishOptions
from recloak._releases.profiles import FullProfiles
from recloak._releases.verifier import verify
from recloak._report.frontier_page import frontier_page
from recloak._report.page import render
from tests.cli.releases import write_source
from tests.releases.helpers import some_ratings, some_release

DOCS = Path(__file__).parents[2] / "docs"
TILED = replace(
    MODES["padded"],
    name="tiled",
    text="every item, on a coarse grid",
    grid_steps=4,
    label_of_model="A rating is a tile",
    promised=("Every tile is there.",),
    not_promised=("That a tile is pretty{unless_capped}.",),
    refused={"max_link": "a tiled row has every item"},
)


def call_it_tiled(folder):
    """Claim the third mode for a release of another one."""
    manifest = {**json.loads((folder / "manifest.json").read_text()), "mode": "tiled"}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "seal": sealed(manifest)}, indent=2) + "\n")


@pytest.fixture
def tiled(monkeypatch):
    """Add a third mode, as a maintainer would: its value, and how its rows are made."""
    monkeypatch.setitem(MODES, "tiled", TILED)
    monkeypatch.setitem(homogenise.ROW_MAKERS, "tiled", homogenise.ROW_MAKERS["padded"])
    return {inspect.getfile(modes), inspect.getfile(homogenise), str(DOCS / "publish.md"), __file__}


def test_a_third_mode_takes_at_most_four_files(tiled, tmp_path):
    ratings = some_ratings(12, 6)
    folder = recloak.publish(ratings, k=3, mode="tiled", rng=0).write(tmp_path / "out")
    manifest, card = json.loads((folder / "manifest.json").read_text()), (folder / "README.md").read_text()
    assert len(tiled) <= 4
    assert verify(folder).passed
    assert (manifest["mode"], manifest["layout"], manifest["grid"]) == ("tiled", "grouped", 1.0)
    assert "Every tile is there." in manifest["promised"]
    assert "That a tile is pretty." in manifest["not_promised"]
    assert "mode *tiled*" in card
    assert "A rating is a tile" in card


@pytest.mark.usefixtures("tiled")
def test_the_verifier_holds_a_third_mode_to_its_claim(tmp_path):
    """Rows of a pure release under the name of a complete mode are refused."""
    folder = some_release(some_ratings(12, 6, density=0.2), mode="pure").write(tmp_path / "out")
    call_it_tiled(folder)
    assert verify(folder).problems == ("in a tiled release every row must have every item",)


@pytest.mark.usefixtures("tiled")
def test_a_third_mode_refuses_the_options_it_does_not_take():
    with pytest.raises(OptionError, match="max_link is for mode pure: a tiled row has every item"):
        PublishOptions(mode="tiled", max_link=0.5)


@pytest.mark.usefixtures("tiled")
def test_the_frontier_and_its_page_show_a_third_mode(tmp_path):
    ratings = read(write_source(tmp_path))
    options = FrontierOptions(targets=20, known=4)
    found = frontier(ratings, [(3, "tiled")], options=options, rng=Randomness(0))
    assert [point.mode for point in found.points] == ["tiled"]
    assert "tiled" in render(frontier_page(found, options, source="ratings.csv"))


def test_the_command_line_takes_a_third_mode_from_its_value(tmp_path):
    """In a process of its own, since flags are made when a command is imported."""
    source, out = write_source(tmp_path), tmp_path / "out"
    script = f"""
from dataclasses import replace
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import sealed
MODES["tiled"] = replace(MODES["padded"], name="tiled", text="every item")
from recloak._releases.homogenise import ROW_MAKERS
ROW_MAKERS["tiled"] = ROW_MAKERS["padded"]
from recloak._cli.main import run
run(["publish", "--help"])
assert run(["publish", {str(source)!r}, "-o", {str(out)!r}, "--mode", "tiled", "--k", "3"]) == 0
assert run(["verify", {str(out)!r}]) == 0
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    shown = " ".join(done.stdout.split())
    assert "--mode [pure|padded|sampled|tiled]" in shown
    assert "tiled: every item" in shown


def test_a_release_of_an_unknown_mode_is_refused_in_one_sentence(tmp_path):
    folder = some_release(some_ratings(), mode="pure", max_link=0.99).write(tmp_path / "out")
    call_it_tiled(folder)
    verdict = verify(folder)
    assert verdict.problems == ("the release is of mode 'tiled', and this recloak knows pure, padded, sampled",)
    assert verdict.k_found is None


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_mode_has_a_maker_of_its_kind_and_is_documented(mode):
    profiles = some_release(some_ratings(), mode=mode.name).profiles
    assert isinstance(profiles, FullProfiles) == mode.is_complete
    assert f"*{mode.name}*" in (DOCS / "publish.md").read_text()
