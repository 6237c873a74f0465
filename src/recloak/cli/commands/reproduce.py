"""``recloak reproduce``: the papers' tables and charts on your data.

Each paper is a file of ``recloak.cli.reproduce``.
"""

from __future__ import annotations

import click

from recloak.cli.groups import PackageGroup


@click.group(cls=PackageGroup, package="recloak.cli.reproduce")
def command() -> None:
    """Repeat a paper's experiments on your data, its figures and ours side by side."""
