"""What a project that others depend on keeps, and that its facts agree."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_wherever_it_is_written():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["version"]


def test_the_files_a_stranger_looks_for_are_there():
    for name in (
        "SECURITY.md",
        "CITATION.cff",
        "CHANGELOG.md",
        "LICENSE",
        "docs/versioning.md",
        "src/recloak/py.typed",
    ):
        assert (ROOT / name).is_file(), name


def test_every_supported_python_is_tried_by_make():
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    tried = re.search(r"for version in ([\d. ]+);", (ROOT / "Makefile").read_text())
    assert tried is not None
    assert set(tried[1].split()) == named


def test_every_dependency_is_imported_somewhere():
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    modules = {"vl-convert-python": "vl_convert"}
    for line in PROJECT["dependencies"]:
        name = re.split(r"[<>=\[]", line)[0]
        module = modules.get(name, name)
        assert re.search(rf"\b(import|from) {module}\b", text), f"{name} is a dependency and nothing imports it"
