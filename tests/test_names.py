"""Names for strangers: one name for one thing, and no word that needs a guide."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "recloak"

# A command, a route and a public namespace are named after what they bring to a person, and each room has its own
# `model` and `options`.
NAMED_FOR_USERS = ("_cli", "_service/routes", "related.py", "mentions.py", "contest.py")
ROLES = {"__init__", "__main__", "model", "options"}
RIDDLES = {
    *("firsts", "chance", "chances", "shelf", "crowd", "crowds", "shield", "seat", "seats", "apart", "but"),
    *("settle", "settled", "lure"),
}


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def is_named_for_users(path: Path) -> bool:
    return str(path.relative_to(SOURCE)).startswith(NAMED_FOR_USERS)


def public_classes(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name


def repeated(places: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_two_modules_have_one_name():
    places = defaultdict(list)
    for path in sources():
        if path.stem not in ROLES and not is_named_for_users(path):
            places[path.stem].append(str(path.relative_to(SOURCE)))
    assert repeated(places) == {}


def test_no_two_public_classes_have_one_name():
    places = defaultdict(list)
    for path in sources():
        for name in public_classes(path):
            places[name].append(str(path.relative_to(SOURCE)))
    assert repeated(places) == {}


def test_no_name_is_a_riddle():
    found = {path.name: riddles for path in sources() if (riddles := RIDDLES & {path.stem, *names_in(path)})}
    assert found == {}
