"""Every promise names a test that exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "PROMISE.md").read_text())


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_the_named_tests_exist():
    assert NAMED
    for file, name in NAMED:
        assert (ROOT / file).is_file(), file
        assert name in functions(ROOT / file), f"{file} has no {name}"


def test_every_promise_names_a_test():
    promises = re.search(r"^## What is promised$(.*?)^## ", (ROOT / "PROMISE.md").read_text(), re.DOTALL | re.MULTILINE)
    assert promises
    for line in re.findall(r"^- .*?(?=^- |^#|\Z)", promises[1], re.DOTALL | re.MULTILINE):
        assert "`tests/" in line, line
