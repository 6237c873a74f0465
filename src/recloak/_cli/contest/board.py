"""``recloak contest board``: the board that everybody may see."""

import click

from recloak._cli.common import emit_json, json_option


@click.command()
@click.argument("store", metavar="STORE")
@json_option
def command(store: str, as_json: bool) -> None:
    """Show the board in STORE: one line per team, the best first."""
    from recloak import contest

    found = contest.board(store)
    if as_json:
        emit_json(found.to_json())
        return
    for line in found.lines:
        click.echo(f"{line.place:>3}  {line.score:<8g} {line.team}  ({line.submissions} submissions, {line.day})")
    click.echo(f"{found.left} submissions left.")
