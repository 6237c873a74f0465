"""``recloak related forget``: take a person out of a history."""

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import store_argument


@click.command()
@store_argument
@click.option("--user", required=True, help="Id of the user, as in the ratings.")
@json_option
def command(store: str, user: str, as_json: bool) -> None:
    """Take a user out of STORE: their id and all they held.

    The releases so far are proved one last time and sealed with that verdict. Take the user out of the ratings, too:
    whoever is in the ratings of the next night is entered anew.
    """
    from recloak import related

    done = related.forget(store, user)
    if as_json:
        emit_json(done.to_json())
    else:
        from recloak._report.formats import plural

        click.echo(
            f"Forgotten: {plural(done.holdings, 'rating')} taken out, {plural(done.sealed, 'release')} proved for the "
            f"last time ({'pass' if done.verdict.passed else 'fail'}) and sealed."
        )
