"""The README's examples run as they stand."""

import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from recloak._cli.main import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
LIBRARY = (ROOT / "docs" / "library.md").read_text()


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_there_are_examples_of_both_kinds():
    assert blocks("python")
    assert blocks("console")


@pytest.mark.parametrize("code", [*blocks("python"), *blocks("python", LIBRARY)])
def test_a_library_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def lines(code: str) -> list[list[str]]:
    assert all(line.startswith("$ recloak ") for line in code.splitlines())
    return [shlex.split(line.removeprefix("$ recloak ")) for line in code.splitlines()]


def _codes(arguments: list[str]) -> tuple[int, ...]:
    """Return the exit codes of an example that ran: an audit of a release made with a secret seed may find a breach."""
    return (0, 1) if arguments[0] == "audit" else (0,)


@pytest.mark.parametrize("code", blocks("console"))
def test_a_command_line_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in lines(code):
        assert run(arguments) in _codes(arguments), arguments


@pytest.mark.slow
@pytest.mark.parametrize("code", blocks("console"))
def test_a_command_line_example_runs_in_processes_of_its_own(code, tmp_path):
    entry = "import sys; from recloak._cli.main import main; main(sys.argv[1:])"
    for arguments in lines(code):
        done = subprocess.run(
            [sys.executable, "-c", entry, *arguments], cwd=tmp_path, check=False, stdout=subprocess.DEVNULL
        )
        assert done.returncode in _codes(arguments), arguments


def test_every_linked_file_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_walk_through_a_shop_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    rows = ["customer_id,product_id,quantity,order_date"]
    for customer in range(120):
        for _ in range(rng.randint(3, 12)):
            day = f"2024-{rng.randint(1, 7):02d}-{rng.randint(1, 28):02d}"
            rows.append(f"c{customer:04d},p{rng.randrange(20):03d},{rng.choice((1, 1, 1, 2, 3))},{day}")
    Path("orders.csv").write_text("\n".join(rows) + "\n")
    lists, purchases = blocks("console", (ROOT / "docs" / "shop.md").read_text())
    for arguments in lines(lists):
        assert run(arguments) == 0, arguments
    for arguments in lines(purchases):
        assert run(arguments) in ((0, 1) if arguments[0] == "audit" else (0,)), arguments  # 1 tells of a breach
    assert Path("lists.csv").read_text().count("\n") > 20
