"""The reference of the commands, made from their help: ``python -m recloak._cli.reference docs/commands.md``."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from recloak._cli.main import cli
from recloak._core.files import written_file

_WIDTH = 100
_HEAD = """# Commands

Made from the commands' own help by `python -m recloak._cli.reference docs/commands.md`; a test holds the two together.

Every command but `serve` prints one JSON object with `--json`, all else going to standard error, and exits with 0 for
done or verdict *pass*, 1 for verdict *fail*, 2 for bad input or usage, 3 for a bug of ours, 130 when it was stopped.
`recloak --debug COMMAND ...` shows the traceback of whatever goes wrong.
"""


def reference() -> str:
    """Return the help of every command as one Markdown text."""
    context = click.Context(cli, info_name="recloak", **cli.context_settings)
    return _HEAD + "".join(_entries(cli, context))


def _entries(command: click.Command, context: click.Context) -> Iterator[str]:
    if command is not cli:
        with context.scope():
            context.terminal_width = context.max_content_width = _WIDTH
            yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _entries(child, click.Context(child, info_name=name, parent=context))


if __name__ == "__main__":
    with written_file(Path(sys.argv[1])) as temporary:
        temporary.write_text(reference(), encoding="utf-8")
