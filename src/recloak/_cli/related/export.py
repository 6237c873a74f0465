"""``recloak related export``: the published lists as a table."""

from pathlib import Path

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.path_types import new_file
from recloak._cli.related._shared import store_argument


@click.command()
@store_argument
@click.option("-o", "--out", required=True, type=new_file(".csv", ".parquet"), help="File to write (.csv or .parquet).")
@click.option("--release", metavar="N|last", help="Only this release, or only the last one; by default all.")
@json_option
def command(store: str, out: Path, release: str | None, as_json: bool) -> None:
    """Write the published lists of STORE: columns release, item, position (from 1), related.

    Lists have no gaps: they are exactly what was verified, to be shown as they are.
    """
    from recloak import related

    lists = related.export(store, release=release)
    lists.write(out)
    if as_json:
        emit_json({"rows": len(lists), "releases": lists.n_releases, "file": str(out)})
    else:
        from recloak._report.formats import plural

        click.echo(f"{len(lists):,} entries of {plural(lists.n_releases, 'release')} written to {out}.")
