"""``recloak related``: related-item lists, safe night after night.

Each command is a file of ``recloak.cli.related``.
"""

from __future__ import annotations

import click

from recloak.cli.groups import PackageGroup


@click.group(cls=PackageGroup, package="recloak.cli.related")
def command() -> None:
    """Publish related-item lists night after night so that no change in them tells on anyone."""
