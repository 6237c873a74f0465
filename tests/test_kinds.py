"""Kinds are values: no module compares with the name of one, so that a new one needs no hunt for such places."""

import ast
from collections.abc import Iterator
from pathlib import Path

from recloak._related.methods import METHODS
from recloak._releases.model.modes import MODES
from recloak._releases.predictors import PREDICTORS

SOURCE = Path(__file__).parents[1] / "src" / "recloak"
NAMES = {*MODES, *PREDICTORS, *METHODS} - {"none"}  # "none" is also the word for no grid and no times


def compared(path: Path) -> Iterator[str]:
    """Yield the texts that a module compares something with, or matches it against."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield from (str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))


def test_no_module_compares_with_the_name_of_a_kind():
    found = {str(path.relative_to(SOURCE)): NAMES & {*compared(path)} for path in SOURCE.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}
