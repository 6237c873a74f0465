"""``recloak related prune``: leave old releases out of a history."""

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import store_argument


@click.command()
@store_argument
@json_option
def command(store: str, as_json: bool) -> None:
    """Delete the releases of STORE from before the horizon of the last one; the ledger of what people held is kept."""
    from recloak import related

    done = related.prune(store)
    if as_json:
        emit_json(done.to_json())
    else:
        from recloak._report.formats import plural

        click.echo(f"{plural(done.removed, 'release')} removed, {done.kept} kept.")
