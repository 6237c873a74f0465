"""Mutation testing: break one line at a time and see whether the tests that run this line notice.

``measure`` runs the plain tests under coverage and writes down which test runs which line. ``run`` draws mutants, runs
the tests of each changed line, quickest first, and appends one JSON line per mutant. Nothing in this tree is changed:
mutants live in a copy. Compiled kernels leave no coverage, so a mutant of a kernel is judged by its module's tests.
"""

import argparse
import ast
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import numba
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recloak"
COPIED = ("src", "tests", "docs", "benchmarks")
PRELOADED = ("pandas", "polars", "pyarrow.parquet", "scipy.sparse.linalg", "scipy.stats", "sqlalchemy")
_BROKEN = 99  # exit code of tests that could not be run
OPERATORS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of the source: the text between two offsets of a file and what stands there instead."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tests run which line, and how long each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the changed line, or its module if the line leaves no trace; the quickest first."""
        lines = self.lines.get(mutant.file, {})
        found = set(lines.get(str(mutant.line), ())) or {test for tests in lines.values() for test in tests}
        return sorted(found, key=lambda test: (self.seconds.get(test, 60.0), test))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants", description=__doc__)
    parser.add_argument("step", choices=["measure", "run"])
    parser.add_argument("--kept", type=Path, default=Path(tempfile.gettempdir()) / "recloak-coverage.json")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--rooms", default="", help="parts of paths, by commas; all if empty")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests per mutant")
    parser.add_argument("--tests", nargs="*", default=[], help="measure: these only, added to what is kept")
    given = parser.parse_args(arguments)
    if given.step == "measure":
        measure(given.kept, given.tests)
    else:
        run(given)


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


def run(given: argparse.Namespace) -> None:
    """Draw mutants, evenly over the rooms, and judge each in a copy of the tree."""
    for library in PRELOADED:
        importlib.import_module(library)
    coverage = Coverage(**json.loads(given.kept.read_text()))
    chosen = draw(given.count, given.seed, tuple(filter(None, given.rooms.split(","))), coverage)
    with tempfile.TemporaryDirectory() as folder, given.out.open("a") as out:
        copy = copied_tree(Path(folder) / "tree")
        for mutant in chosen:
            tests = within(coverage.tests_of(mutant), coverage.seconds, given.budget)
            outcome = judge(mutant, tests, copy, given.budget)
            out.write(json.dumps({**asdict(mutant), "tests": len(tests), "outcome": outcome}) + "\n")
            out.flush()
            print(f"{outcome:9} {mutant.file}:{mutant.line}  {mutant.old!r} -> {mutant.new!r}", flush=True)


def copied_tree(copy: Path) -> Path:
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, symlinks=True)
    for file in ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy2(file, copy / file.name)
    return copy


def draw(count: int, seed: int, rooms: tuple[str, ...], coverage: Coverage) -> list[Mutant]:
    """Return mutants of lines that some test runs, as many from each room, in random order."""
    rng = random.Random(seed)
    by_room: dict[str, list[Mutant]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        file = str(path.relative_to(ROOT))
        if not rooms or any(room in file for room in rooms):
            by_room.setdefault(path.relative_to(SOURCE).parts[0], []).extend(mutants_of(file, path.read_text()))
    mixed = []
    for room in by_room.values():
        tried = [mutant for mutant in room if coverage.tests_of(mutant)]
        mixed.append(rng.sample(tried, len(tried)))
    turns = [
        mutant for turn in range(max(map(len, mixed), default=0)) for room in mixed for mutant in room[turn : turn + 1]
    ]
    return turns[:count]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Return every mutant of a file: another operator, a number more by one, a check or a refusal left out."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def mutant(start: int, end: int, new: str) -> Mutant:
        line = data[:start].count(b"\n") + 1
        return Mutant(file, line, start, end, data[start:end].decode(), new)

    for node in ast.walk(ast.parse(text)):
        for left, operator, right in operands_of(node):
            start, end = at(left.end_lineno or 0, left.end_col_offset or 0), at(right.lineno, right.col_offset)
            old, new = OPERATORS[type(operator)]
            place = data[start:end].find(old.encode())
            if place >= 0:
                yield mutant(start + place, start + place + len(old), new)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            new = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield mutant(at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0), new)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield mutant(at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0), "pass")


def operands_of(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST, ast.expr]]:
    """Return the operators of an expression that can be exchanged, each between its operands."""
    if isinstance(node, ast.Compare):
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            yield left, operator, right
    elif isinstance(node, ast.BoolOp):
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield left, node.op, right
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield node.left, node.op, node.right


def within(tests: list[str], seconds: dict[str, float], budget: float) -> list[str]:
    """Return the quickest tests that fit into the budget, at least one."""
    kept: list[str] = []
    for test in tests:
        budget -= seconds.get(test, 60.0)
        if kept and budget < 0:
            break
        kept.append(test)
    return kept


def judge(mutant: Mutant, tests: list[str], copy: Path, budget: float) -> str:
    """Return ``killed``, ``timeout``, ``survived``, or ``error`` if the tests could not be run at all."""
    target = copy / mutant.file
    data = target.read_bytes()
    target.write_bytes(data[: mutant.start] + mutant.new.encode() + data[mutant.end :])
    try:
        with tempfile.TemporaryDirectory() as kernels:
            child = os.fork()
            if not child:
                try:
                    run_tests(existing(tuple(tests), copy), copy, kernels if b"njit" in data else None)
                finally:
                    os._exit(_BROKEN)  # or the child would remove the copy of the tree
            return outcome_of(child, 120 + 4 * budget)
    finally:
        target.write_bytes(data)


def run_tests(tests: list[str], copy: Path, kernels: str | None) -> NoReturn:
    """Run tests in this process, a fork that finds the large libraries imported, and end it with their exit code."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.setsid()  # so that what the tests start ends with them
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(copy / "src"), str(copy)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("recloak", "benchmarks", "tests")]:
        del sys.modules[name]
    if kernels:
        os.environ["NUMBA_CACHE_DIR"] = kernels
        numba.config.reload_config()
    os._exit(int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests])))


def outcome_of(child: int, patience: float) -> str:
    """Wait for the tests of a mutant; a mutant that makes them hang counts as killed."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return {0: "survived", 1: "killed", 2: "killed"}.get(os.waitstatus_to_exitcode(status), "error")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


@cache
def existing(tests: tuple[str, ...], copy: Path) -> list[str]:
    return [test for test in tests if (copy / test.partition("::")[0]).exists()]
