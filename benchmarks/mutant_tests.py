"""Which tests judge a mutant: those that run its line, as measured under coverage, or those that import its module.

To measure, pytest takes this module as a plugin: every line that runs while a test is set up or called belongs to it.
"""

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recloak"
_UNKNOWN = 60.0  # seconds of a test that was not measured
_MOST_SECONDS = 3.0  # CPU seconds after which a test is cut: slow tests judge only what no other test runs
_KEPT = 40  # tests kept for a line, the quickest
_SECONDS = "RECLOAK_TEST_SECONDS"  # the variable that names the file for the CPU seconds of each test


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tests run which line, and how long each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests_of(self, file: str, line: int) -> list[str]:
        """Return the tests that run the changed line, or its module if the line leaves no trace; the quickest first."""
        found = set(self.lines.get(file, {}).get(str(line), ())) or self.of_modules([file])
        return self.sorted(found or self.of_modules(direct_importers(file)))

    def of_modules(self, files: Iterable[str]) -> set[str]:
        """Return the tests that run any line of some files."""
        return {test for file in files for tests in self.lines.get(file, {}).values() for test in tests}

    def quickest(self) -> dict[str, dict[str, list[str]]]:
        """Return the lines with no more tests than are kept for one."""
        return {
            file: {line: self.sorted(tests)[:_KEPT] for line, tests in lines.items()}
            for file, lines in self.lines.items()
        }

    def sorted(self, tests: Iterable[str]) -> list[str]:
        """Return tests, the quickest first."""
        return sorted(tests, key=lambda test: (self.seconds.get(test, _UNKNOWN), test))


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
    """Run the plain tests, or some of them, under coverage and keep the quickest tests of every line."""
    import coverage

    with tempfile.TemporaryDirectory() as folder:
        settings, data, times = Path(folder) / "rc", Path(folder) / "data", Path(folder) / "times.json"
        settings.write_text(f"[run]\nsource = {SOURCE}\ndata_file = {data}\n")
        command = [
            "coverage",
            "run",
            f"--rcfile={settings}",
            "-m",
            "pytest",
            "-q",
            "-p",
            "benchmarks.mutant_tests",
            *tests,
        ]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", _SECONDS: str(times)}
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, check=False)
        found = coverage.CoverageData(str(data))
        found.read()
        before = json.loads(kept.read_text()) if tests and kept.exists() else {"lines": {}, "seconds": {}}
        sum_up = Coverage(
            added(before["lines"], dict(lines_of(found))), before["seconds"] | json.loads(times.read_text())
        )
        kept.write_text(json.dumps({"lines": sum_up.quickest(), "seconds": sum_up.seconds}))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write down what a test runs, its fixtures too, and its CPU seconds, all its parameters together."""
    import coverage

    running = coverage.Coverage.current()
    if running is None or _SECONDS not in os.environ:
        return (yield)
    node = item.nodeid.partition("[")[0]
    running.switch_context(node)
    start = time.process_time()
    signal.signal(signal.SIGPROF, _cut)
    signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        running.switch_context("")
        took = time.process_time() - start
        _seconds[node] = _seconds.get(node, 0.0) + (took if took < _MOST_SECONDS else _UNKNOWN)


def _cut(*_: object) -> NoReturn:
    raise pytest.skip.Exception("too slow to judge mutants")


def pytest_sessionfinish() -> None:
    if _SECONDS in os.environ:
        Path(os.environ[_SECONDS]).write_text(json.dumps(_seconds))


_seconds: dict[str, float] = {}


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
        tests = {str(line): sorted({name for name in names if name}) for line, names in contexts.items()}
        yield str(Path(file).relative_to(ROOT)), {line: names for line, names in tests.items() if names}


@cache
def direct_importers(file: str) -> frozenset[str]:
    """Return the files that import a file themselves."""
    return frozenset(name for name, imported in imports("src").items() if module_of(file) in imported) - {file}


@cache
def importers(file: str) -> frozenset[str]:
    """Return the files that import a file, directly or through others."""
    found: set[str] = set()
    wanted = [file]
    while wanted:
        new = direct_importers(wanted.pop()) - found
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
