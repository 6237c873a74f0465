"""Under a limit on memory a command ends with the memory sentence, whatever library is refused memory first."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from recloak._cli import memory_limit

ROOT = Path(__file__).parents[2]
BREAKDOWNS = {
    "an abort": "import os; os.abort()",
    "an exit of a library": "import os; os._exit(1)",
    "a MemoryError": "raise MemoryError",
    "no thread": 'raise RuntimeError("can\'t start new thread")',
}


def limited(code: str, limit: int, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line with a command of its own under a limit of addresses."""
    program = (
        "import sys, click\n"
        "from recloak._cli import main\n"
        "@main.cli.command()\n"
        f"def broken():\n    {code}\n"
        "main.cli.get_command = lambda ctx, name: broken\n"
        f"sys.argv = ['recloak', 'broken', {str(tmp_path / 'out')!r}][:2]\n"
        "main.main()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@pytest.mark.parametrize("what", BREAKDOWNS)
def test_every_breakdown_is_the_memory_sentence(tmp_path, what):
    done = limited(BREAKDOWNS[what], 8 << 30, tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"recloak: {memory_limit.SENTENCE}"


def test_a_command_that_ends_by_itself_keeps_its_code(tmp_path):
    assert limited("import click; click.echo('done')", 8 << 30, tmp_path).stdout == "done\n"
    assert limited("return 1", 8 << 30, tmp_path).returncode == 1


def test_a_limit_below_what_libraries_reserve_is_told_at_once(tmp_path):
    done = limited("pass", 1 << 30, tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"recloak: {memory_limit.SENTENCE}: the limit of 1.1 GB is below the least of 4.3 GB\n"
