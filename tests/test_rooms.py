"""The import rule: rooms import only from rooms further in, verifiers and attackers never import the makers."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "recloak"

# From the innermost to the outermost; rooms on one line are siblings and never import each other.
LAYERS = [
    {"_core"},
    {"_ratings"},
    {"_releases", "_related", "_mentions"},
    {"_attacks"},
    {"_evaluation"},
    {"_contest"},
    {"_report"},
    {"_spark", "_service", "_policy", "_certificate"},
    {"_library"},
    {"related", "mentions", "contest"},
    {"_cli"},
    {"__main__"},
]
DEPTH = {room: depth for depth, rooms in enumerate(LAYERS) for room in rooms}

# A package from outside that only one room may touch.
FENCED = {
    "pyspark": "_spark",
    "fastapi": "_service",
    "starlette": "_service",
    "uvicorn": "_service",
    "prometheus_client": "_service",
    "click": "_cli",
}

# Outsiders: they may import a room's model, never its makers.
OUTSIDERS = ["_releases/verifier", "_related/verifier"]
OUTSIDER_ROOMS = ["_attacks"]


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def own_imports(path: Path) -> Iterator[list[str]]:
    for name in imports_of(path):
        parts = name.split(".")
        if (
            parts[0] == "recloak"
            and len(parts) > 1
            and (SOURCE / parts[1]).with_suffix(".py").exists() | (SOURCE / parts[1]).is_dir()
        ):
            yield parts[1:]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_rooms_further_in(path):
    room = room_of(path)
    if room == "__init__":
        return
    for target in own_imports(path):
        inner = target[0] == room or DEPTH[target[0]] < DEPTH[room]
        assert inner, f"{path.relative_to(SOURCE)} imports {'.'.join(target)}, which is not further in"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_fenced_package_is_imported_in_its_own_room_only(path):
    for name in imports_of(path):
        fence = FENCED.get(name.split(".")[0])
        assert fence in (None, room_of(path)), f"{path.relative_to(SOURCE)} imports {name}, fenced to {fence}/"


def outsiders() -> list[Path]:
    return [p for p in modules() if room_of(p) in OUTSIDER_ROOMS or is_listed(p)]


def is_listed(path: Path) -> bool:
    inside = path.relative_to(SOURCE)
    return any(str(place) in OUTSIDERS for place in (inside, *inside.parents))


def test_outsiders_import_models_but_never_makers():
    makers_rooms = {"_releases", "_related", "_mentions"}
    for path in outsiders():
        for target in own_imports(path):
            if target[0] in makers_rooms:
                own = is_listed(path) and f"{target[0]}/{target[1]}" in OUTSIDERS  # a verifier's own further modules
                assert own or target[1] in ("model", "options"), (
                    f"{path.relative_to(SOURCE)} imports the maker {'.'.join(target)}"
                )


def test_every_room_is_in_the_layers():
    rooms = {room_of(path) for path in modules()} - {"__init__"}
    assert rooms <= set(DEPTH)
