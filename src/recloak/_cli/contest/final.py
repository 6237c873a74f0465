"""``recloak contest final``: who won."""

from pathlib import Path

import click

from recloak._cli.common import emit_json, json_option


@click.command()
@click.argument("submissions", metavar="TEAM=FILE...", nargs=-1, required=True)
@click.option("--private", metavar="DIR", type=click.Path(path_type=Path), required=True,
              help="The private folder of the contest.")  # fmt: skip
@json_option
def command(submissions: tuple[str, ...], private: Path, as_json: bool) -> None:
    """Print the order of the teams on the half that decides, from the last submission of each: no scores.

    The order may be published; exact scores may not.
    """
    from recloak import contest

    found = contest.final(_by_team(submissions), private)
    if as_json:
        emit_json(found.to_json())
        return
    for line in found.lines:
        click.echo(f"{line['place']:>3}  {line['team']}")


def _by_team(given: tuple[str, ...]) -> dict[str, str]:
    """Return the file of each team."""
    pairs = [one.rpartition("=")[::2] for one in given]
    if any(not team or not file for team, file in pairs):
        raise click.BadParameter("a submission is named as TEAM=FILE", param_hint="TEAM=FILE")
    if len({team for team, _ in pairs}) < len(pairs):
        raise click.BadParameter("every team has one submission", param_hint="TEAM=FILE")
    return dict(pairs)
