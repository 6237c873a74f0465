"""``recloak related readmit``: let a person in again who was forgotten."""

from pathlib import Path

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import key_option, store_argument


@click.command()
@store_argument
@click.option("--user", help="Id of the user, as in the ratings.")
@click.option("--everybody", is_flag=True, help="Let all in again who were forgotten; this needs no key.")
@key_option
@json_option
def command(store: str, user: str | None, everybody: bool, key: Path | None, as_json: bool) -> None:
    """Let a user into STORE again who was forgotten.

    Nothing of them comes back by itself: their ratings count from the next night on, as those of a new person.
    """
    from recloak import related

    n_people = related.readmit(store, user, everybody=everybody, key=key)
    if as_json:
        emit_json({"readmitted": n_people})
    else:
        from recloak._report.formats import plural

        click.echo(f"{plural(n_people, 'person', 'people')} may come back with the next night's ratings.")
