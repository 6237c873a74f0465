"""ARCHITECTURE.md names files that exist, and every room."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recloak"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = PAGE.partition("## What is in each room")[2].partition("## What holds everywhere")[0]


@pytest.mark.parametrize("section", re.findall(r"^- `(_[a-z]+)/`(.*?)(?=^- |\Z)", ROOMS, re.DOTALL | re.MULTILINE))
def test_every_file_that_a_room_is_said_to_have_is_there(section):
    room, text = section
    inside = {path.name for path in (SOURCE / room).rglob("*.py")}
    named = set(re.findall(r"`([a-z_]+\.py)`", text))
    assert named <= inside, f"{room} has no {', '.join(sorted(named - inside))}"


def test_every_room_is_described():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(re.findall(r"^- `(_[a-z]+)/`", ROOMS, re.MULTILINE))


def test_every_path_on_the_page_is_there():
    for name in re.findall(r"`((?:_[a-z]+|tests)/[a-z_/]+(?:\.py)?)`", PAGE):
        assert ((SOURCE if name.startswith("_") else ROOT) / name).exists(), name
