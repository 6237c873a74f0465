"""``recloak contest``: a contest on a release, whose board reveals no one's rating.

Each command is a file of ``_cli.contest``.
"""

import click

from recloak._cli.command_groups import PackageGroup


@click.group(cls=PackageGroup, package="recloak._cli.contest")
def command() -> None:
    """Hold a contest on a release: prepare it, score submissions, show the board."""
