"""``recloak contest score``: what a submission is worth."""

from pathlib import Path

import click

from recloak._cli.common import emit_json, json_option


@click.command()
@click.argument("submission", metavar="SUBMISSION", type=click.Path(path_type=Path))
@click.option("--private", metavar="DIR", type=click.Path(path_type=Path), required=True,
              help="The private folder of the contest.")  # fmt: skip
@click.option("--board", metavar="STORE", help="Add it to this board: a file or a postgresql:// address.")
@click.option("--team", metavar="NAME", help="The team whose submission it is, with --board.")
@click.option("--exact", is_flag=True, help="Print exact scores, for the owner's eyes alone.")
@click.option("--day", metavar="DATE", help="The day of the submission, such as 2026-01-31. [default: today]")
@json_option
def command(
    submission: Path, private: Path, board: str | None, team: str | None, exact: bool, day: str | None, as_json: bool
) -> None:
    """Add SUBMISSION to a board (--board and --team) and print what the team may know; or score it with --exact.

    Never show exact scores to anybody, not even in the end: two that differ in one cell give a rating away. Print the
    final order of the teams with contest final.
    """
    from recloak import contest

    found = contest.score(submission, private, board=board, team=team, day=day, exact=exact)
    if as_json:
        emit_json(found.to_json())
    elif found.board is None or found.final is None:
        word = "improved to" if found.improved else "stays at"
        click.echo(f"{found.team} {word} {found.told:g}.")
    else:
        for half, one in (("board half", found.board), ("final half", found.final)):
            ndcg = "-" if one.ndcg is None else f"{one.ndcg:.4f}"
            click.echo(f"{half}: RMSE {one.rmse:.4f}, MAE {one.mae:.4f}, nDCG@10 {ndcg}, coverage {one.coverage:.1%}")
