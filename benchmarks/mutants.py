"""Mutation testing: break one line at a time and see whether the tests that run this line notice.

``measure`` runs the plain tests under coverage and writes down which test runs which line. ``run`` draws mutants, runs
the tests of each changed line, quickest first, and appends one JSON line per mutant; without a measurement it takes the
test files that import the changed module, up to a limit of CPU seconds. A mutant whose tests run out of CPU seconds is
killed only if the same tests end on the unchanged code in a third of them. ``check`` runs the tests that killed a
mutant on the unchanged code, in a copy as the mutants' own: all must pass. Nothing in this tree is changed. Compiled
kernels leave no coverage, so a mutant of a kernel is judged by its module's tests, or by those of the modules that
import it; only its module and the importers are compiled again.
"""

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import numba
import pytest

from benchmarks.mutant_tests import ROOT, SOURCE, Coverage, Imports, importers, measure

COPIED = ("src", "tests", "docs", "benchmarks", "integrations")
PRELOADED = (
    "pandas",
    "polars",
    "pyarrow.parquet",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sqlalchemy",
    "duckdb",
    "hypothesis",
    "schemathesis",
    "starlette.testclient",
)
HARMLESS = (
    "slots",
    "frozen",
    "repr",
    "cache",
    "nogil",
)  # settings of decorators: speed, memory, guards against ourselves
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning")
LONG = 10  # from here on numbers are limits and tunings
KERNEL_SECONDS = 90  # to compile the kernels of a changed module and of its importers again
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


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants", description=__doc__)
    parser.add_argument("step", choices=["measure", "run", "check"])
    parser.add_argument("--kept", type=Path, default=Path(tempfile.gettempdir()) / "recloak-coverage.json")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--rooms", default="", help="parts of paths, by commas; all if empty")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=12.0, help="CPU seconds of tests per mutant")
    parser.add_argument(
        "--piece", type=float, default=1e9, help="run: stop after these CPU seconds; go on another time"
    )
    parser.add_argument("--tests", nargs="*", default=[], help="measure: these only, added to what is kept")
    given = parser.parse_args(arguments)
    if given.step == "measure":
        measure(given.kept, given.tests)
    elif given.step == "check":
        check(given.out)
    else:
        run(given)


def run(given: argparse.Namespace) -> None:
    """Draw mutants, evenly over the rooms, and judge each in a copy of the tree; those judged before are left out."""
    preload()
    choice = Coverage(**json.loads(given.kept.read_text())) if given.kept.exists() else Imports()
    done = {(row["file"], row["start"], row["new"]) for row in rows_of(given.out)}
    with tempfile.TemporaryDirectory() as folder, given.out.open("a") as out:
        copy = copied_tree(Path(folder) / "tree")
        for mutant in draw(given.count, given.seed, tuple(filter(None, given.rooms.split(","))), choice):
            if (mutant.file, mutant.start, mutant.new) in done:
                continue
            if sum(os.times()[:4]) > given.piece:
                break
            tests = within(choice.tests_of(mutant.file, mutant.line), choice.seconds, given.budget)
            before = os.times()
            outcome, killer = judge(mutant, tests, copy, given.budget)
            row = {
                **asdict(mutant),
                "tests": len(tests),
                "outcome": outcome,
                "killer": killer,
                "cpu": round(child_seconds(before), 1),
            }
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(f"{outcome:9} {mutant.file}:{mutant.line}  {mutant.old!r} -> {mutant.new!r}", flush=True)


def check(out: Path) -> None:
    """Run the tests that killed mutants on the code as it is."""
    preload()
    killers = sorted({row["killer"] for row in rows_of(out) if row["killer"]})
    print(f"{len(killers)} tests killed a mutant; they must pass on the unchanged code", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        outcome, failed = tried(killers, copied_tree(Path(folder) / "tree"), 3600.0)
    raise SystemExit(0 if outcome == "survived" else f"{outcome}: {failed}")


def preload() -> None:
    """Import what most tests need and start the compiler, once for all forks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in PRELOADED:
            importlib.import_module(library)
        numba.njit(lambda number: number + 1)(1)


def child_seconds(before: os.times_result) -> float:
    """Return the CPU seconds of the children that ended since."""
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def copied_tree(copy: Path) -> Path:
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, symlinks=True)
    for file in ROOT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy2(file, copy / file.name)
    return copy


def draw(count: int, seed: int, rooms: tuple[str, ...], choice: Coverage | Imports) -> list[Mutant]:
    """Return mutants of lines that some test runs, as many from each room, in random order."""
    rng = random.Random(seed)
    by_room: dict[str, list[Mutant]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        file = str(path.relative_to(ROOT))
        if not rooms or any(room in file for room in rooms):
            by_room.setdefault(path.relative_to(SOURCE).parts[0], []).extend(mutants_of(file, path.read_text()))
    mixed = []
    for room in by_room.values():
        tried = [mutant for mutant in room if choice.tests_of(mutant.file, mutant.line)]
        mixed.append(rng.sample(tried, len(tried)))
    turns = [
        mutant for turn in range(max(map(len, mixed), default=0)) for room in mixed for mutant in room[turn : turn + 1]
    ]
    return turns[:count]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Return every mutant of a file: another operator or number, a check or a refusal left out."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def mutant(start: int, end: int, new: str) -> Mutant:
        line = data[:start].count(b"\n") + 1
        return Mutant(file, line, start, end, data[start:end].decode(), new)

    tree = ast.parse(text)
    harmless = {
        id(keyword.value) for keyword in ast.walk(tree) if isinstance(keyword, ast.keyword) and keyword.arg in HARMLESS
    }
    for node in ast.walk(tree):
        if id(node) in harmless:
            continue
        for left, operator, right in operands_of(node):
            start, end = at(left.end_lineno or 0, left.end_col_offset or 0), at(right.lineno, right.col_offset)
            old, new = OPERATORS[type(operator)]
            place = data[start:end].find(old.encode())
            if place >= 0:
                yield mutant(start + place, start + place + len(old), new)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield mutant(
                at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0), other(node.value)
            )
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield mutant(at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0), "pass")


def other(value: int) -> str:
    """Return another number: one more than a digit, 0 for a longer number, which may well be one more and right."""
    if isinstance(value, bool):
        return str(not value)
    return str(value + 1 if value < LONG else 0)


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
    """Return the quickest tests that fit into the budget, at least one; all where nothing was measured."""
    if not seconds:
        return tests
    kept: list[str] = []
    for test in tests:
        budget -= seconds.get(test, 60.0)
        if kept and budget < 0:
            break
        kept.append(test)
    return kept


def judge(mutant: Mutant, tests: list[str], copy: Path, budget: float) -> tuple[str, str]:
    """Return the outcome and the test that failed.

    Outcomes are ``killed``, ``timeout`` (the unchanged code needs less than a third of the CPU seconds),
    ``unfinished``, ``survived``, and ``error`` if the tests could not be run at all.
    """
    kernel = "njit" in (copy / mutant.file).read_text()
    limit = 3 * budget + (KERNEL_SECONDS if kernel else 0)
    with changed(mutant, copy):
        outcome, killer = tried(tests, copy, limit)
    if outcome == "unfinished":
        before = os.times()
        unchanged, _ = tried(tests, copy, limit)
        if unchanged == "survived" and child_seconds(before) < limit / 3:
            return "timeout", ""
    return outcome, killer


def tried(tests: list[str], copy: Path, limit: float) -> tuple[str, str]:
    """Run tests on the copy as it stands in a fork, and return the outcome and the first test that failed."""
    with tempfile.NamedTemporaryFile("r") as killer:
        child = os.fork()
        if not child:
            try:
                run_tests(
                    [test for test in tests if (copy / test.partition("::")[0]).exists()], copy, limit, killer.name
                )
            finally:
                os._exit(_BROKEN)  # or the child would remove the copy of the tree
        return outcome_of(child, 120 + 8 * limit), killer.read()


@contextmanager
def changed(mutant: Mutant, copy: Path) -> Iterator[None]:
    """Change the file for a while, and keep the kernels of it and of its importers out of the compile cache."""
    target = copy / mutant.file
    data, times = target.read_bytes(), target.stat()
    stale = [copy / file for file in (mutant.file, *importers(mutant.file))] if b"njit" in data else []
    with tempfile.TemporaryDirectory(dir=copy) as aside:
        moved = [(kernel, Path(aside) / str(number)) for number, kernel in enumerate(kernels_of(stale))]
        for kernel, place in moved:
            kernel.rename(place)
        target.write_bytes(data[: mutant.start] + mutant.new.encode() + data[mutant.end :])
        try:
            yield
        finally:
            target.write_bytes(data)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
            for kernel in kernels_of(stale):
                kernel.unlink()
            for kernel, place in moved:
                place.rename(kernel)


def kernels_of(files: list[Path]) -> list[Path]:
    """Return what numba has kept of some files."""
    return [kernel for file in files for kernel in (file.parent / "__pycache__").glob(f"{file.stem}.*.nb[ic]")]


class _Killer:
    """Writes down the first test that fails."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.path.stat().st_size:
            self.path.write_text(report.nodeid)


def run_tests(tests: list[str], copy: Path, limit: float, killer: str) -> NoReturn:
    """Run tests in this process, a fork that finds the large libraries imported, and end it with their exit code."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.setpgid(0, 0)  # so that what the tests start ends with them
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit + time.process_time()) + 2,) * 2)
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(copy / "src"), str(copy)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("recloak", "benchmarks", "tests")]:
        del sys.modules[name]
    os._exit(int(pytest.main(["-q", "-x", *PLUGINS, *tests], plugins=[_Killer(killer)])))


def outcome_of(child: int, patience: float) -> str:
    """Wait for the tests of a mutant."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            codes = {
                0: "survived",
                1: "killed",
                2: "killed",
                -signal.SIGXCPU: "unfinished",
                -signal.SIGKILL: "unfinished",
            }
            return codes.get(code, "error")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "unfinished"
