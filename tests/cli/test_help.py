"""Help is quick: the flags come from options values, and what does the work is imported when there is work."""

import subprocess
import sys

HELP_OF_EVERYTHING = """
import sys
import click
from recloak._cli.main import cli

def walk(command, names):
    context = click.Context(command, info_name=names[-1])
    command.get_help(context)
    yield " ".join(names)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        yield from walk(command.get_command(context, name), (*names, name))

for name in walk(cli, ("recloak",)):
    heavy = {"numba", "numpy", "polars", "pyarrow", "scipy", "jinja2"} & set(sys.modules)
    print(name)
    if heavy:
        sys.exit(f"{name} --help imports {', '.join(sorted(heavy))}")
"""


def test_no_command_imports_what_does_the_work_to_show_its_help():
    done = subprocess.run([sys.executable, "-c", HELP_OF_EVERYTHING], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert {"recloak audit", "recloak related publish", "recloak reproduce predictive"} <= set(done.stdout.splitlines())
