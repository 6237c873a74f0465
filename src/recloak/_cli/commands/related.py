"""``recloak related``: related-item lists, safe night after night.

Each command is a file of ``_cli.related``.
"""

import click

from recloak._cli.command_groups import PackageGroup


@click.group(cls=PackageGroup, package="recloak._cli.related")
def command() -> None:
    """Publish related-item lists night after night so that no change in them gives anyone away."""
