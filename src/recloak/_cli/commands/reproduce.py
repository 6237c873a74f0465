"""``recloak reproduce``: the papers' tables and charts on your data.

Each paper is a file of ``_cli.reproduce``.
"""

import click

from recloak._cli.command_groups import PackageGroup


@click.group(cls=PackageGroup, package="recloak._cli.reproduce")
def command() -> None:
    """Repeat a paper's experiments on your data, its figures and ours side by side."""
