"""``recloak related forget``: take a person out of a history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import key_option, store_argument

if TYPE_CHECKING:
    from recloak.related import Forgotten


@click.command()
@store_argument
@click.option("--user", required=True, help="Id of the user, as in the ratings.")
@click.option("--keep-out/--no-keep-out", default=True, show_default=True, help="Leave them out of later nights, too. "
              "Without it nothing of them is kept, and ratings of theirs enter them anew.")  # fmt: skip
@key_option
@json_option
def command(store: str, user: str, keep_out: bool, key: Path | None, as_json: bool) -> None:
    """Take a user out of STORE: their id and all they held.

    The releases so far are proved one last time and sealed with that verdict. They stay out, even if the ratings of
    the next night still hold them, until `related readmit` lets them in: STORE keeps a keyed hash of their id. Take
    them out of the ratings as well.
    """
    from recloak import related

    done = related.forget(store, user, keep_out=keep_out, key=key)
    if as_json:
        emit_json(done.to_json())
    else:
        _print(done)


def _print(done: Forgotten) -> None:
    from recloak._report.formats import plural

    click.echo(
        f"Forgotten: {plural(done.holdings, 'rating')} taken out, {plural(done.sealed, 'release')} proved for the "
        f"last time ({done.verdict.word}) and sealed. What was published stays published."
    )
    if done.stays_out:
        click.echo(
            f"They stay out of later nights until related readmit. Keep {done.key}: without it nothing can be "
            "published, and whoever has it and the store can try whether an id was forgotten."
        )
    else:
        click.echo("Take them out of the ratings, too: if the next night's ratings hold them, they are entered anew.")
