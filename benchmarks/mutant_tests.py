"""Which tests judge a mutant: those that run its line, as measured under coverage, or those that import its module."""

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recloak"
_UNKNOWN = 60.0  # seconds of a test that was not measured


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tests run which line, and how long each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests_of(self, file: str, line: int) -> list[str]:
        """Return the tests that run the changed line, or its module if the line leaves no trace; the quickest first."""
        lines = self.lines.get(file, {})
        found = set(lines.get(str(line), ())) or {test for tests in lines.values() for test in tests}
        return sorted(found, key=lambda test: (self.seconds.get(test, _UNKNOWN), test))


class Imports:
    """Which test files import which module: needs no measuring, and finds fewer of the tests that run a line."""

    seconds: dict[str, float] = {}  # noqa: RUF012  # nothing was measured

    def tests_of(self, file: str, line: int) -> list[str]:  # noqa: ARG002
        """Return the test files that import a module, those that import the fewest others first."""
        return importing_tests(file)


@cache
def importing_tests(file: str) -> list[str]:
    """Return the test files that import a module or, where none does, a module that needs it."""
    for modules in ({module_of(file)}, {module_of(name) for name in importers(file)}):
        found = [test for test in imports("tests") if is_test(test) and modules & needed_by(test)]
        if found:
            return sorted(found, key=lambda test: (not modules & imports("tests")[test], len(needed_by(test)), test))
    return []


def is_test(file: str) -> bool:
    return Path(file).name.startswith("test_") and "/spark/" not in file


def measure(kept: Path, tests: list[str]) -> None:
    """Run the plain tests, or some of them, under coverage and keep the tests of every line."""
    import coverage

    with tempfile.TemporaryDirectory() as folder:
        settings, data, times = Path(folder) / "rc", Path(folder) / "data", Path(folder) / "times.xml"
        settings.write_text(f"[run]\ndynamic_context = test_function\nsource = {SOURCE}\ndata_file = {data}\n")
        command = [
            "coverage",
            "run",
            f"--rcfile={settings}",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:randomly",
            f"--junitxml={times}",
            *tests,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, check=False)
        found = coverage.CoverageData(str(data))
        found.read()
        before = json.loads(kept.read_text()) if tests and kept.exists() else {"lines": {}, "seconds": {}}
        lines = added(before["lines"], dict(lines_of(found)))
        kept.write_text(json.dumps({"lines": lines, "seconds": before["seconds"] | seconds_of(times)}))


def added(
    before: dict[str, dict[str, list[str]]], now: dict[str, dict[str, list[str]]]
) -> dict[str, dict[str, list[str]]]:
    """Return the tests of each line that either knows."""
    lines = {file: dict(tests) for file, tests in before.items()}
    for file, tests in now.items():
        mine = lines.setdefault(file, {})
        for line, names in tests.items():
            mine[line] = sorted({*mine.get(line, ()), *names})
    return lines


def lines_of(found: object) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Return, per file, the tests that run each line; what runs on import belongs to no test."""
    for file in found.measured_files():  # type: ignore[attr-defined]
        contexts = found.contexts_by_lineno(file)  # type: ignore[attr-defined]
        tests = {str(line): sorted({node_of(name) for name in names if name}) for line, names in contexts.items()}
        yield str(Path(file).relative_to(ROOT)), {line: names for line, names in tests.items() if names}


def node_of(context: str) -> str:
    """Return the id that pytest knows a test by: ``tests.core.test_x.test_y`` is ``tests/core/test_x.py::test_y``."""
    module, _, name = context.rpartition(".")
    return f"{module.replace('.', '/')}.py::{name}"


def seconds_of(times: Path) -> dict[str, float]:
    """Return how long each test took, all its parameters together."""
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(times).iter("testcase"):
        node = node_of(f"{case.get('classname')}.{(case.get('name') or '').partition('[')[0]}")
        seconds[node] = seconds.get(node, 0.0) + float(case.get("time") or 0)
    return seconds


@cache
def importers(file: str) -> frozenset[str]:
    """Return the files that import a file, directly or through others."""
    found: set[str] = set()
    wanted = [file]
    while wanted:
        module = module_of(wanted.pop())
        new = {name for name, imported in imports("src").items() if module in imported} - found
        found |= new
        wanted += new
    return frozenset(found - {file})


@cache
def needed_by(test: str) -> frozenset[str]:
    """Return the modules that a test file imports, also through its helpers among the tests."""
    own = imports("tests").get(test, frozenset())
    helpers = {f"{name.replace('.', '/')}.py" for name in own if name.startswith("tests.")} - {test}
    return own.union(*(imports("tests").get(helper, frozenset()) for helper in helpers))


def module_of(file: str) -> str:
    return file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imports(folder: str) -> dict[str, frozenset[str]]:
    """Return the modules of this project that each file of a folder imports, by the file's path."""
    return {str(path.relative_to(ROOT)): frozenset(imported_by(path)) for path in sorted((ROOT / folder).rglob("*.py"))}


def imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("recloak", "tests")):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
