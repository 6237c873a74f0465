"""``recloak audit``: every attack on the original and on the release, side by side."""

import functools
from pathlib import Path
from typing import Any

import click

import recloak
from recloak._attacks.options import AuditOptions
from recloak._cli.common import given_only, options_of, output_options, report, source_of, source_options
from recloak._cli.path_types import PAGE, PRIVATE_FOLDER, RELEASE, SOURCE_PATH


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.argument("folder", metavar="DIR", type=RELEASE)
@click.option(
    "--private", metavar="DIR", type=PRIVATE_FOLDER, help="The private folder of the release. [default: DIR-private]"
)
@click.option("-o", "--out", metavar="FILE", type=PAGE, help="Page to write (.html).")
@options_of(AuditOptions, leave_out=("known",))
@click.option(
    "--gate", "gates", multiple=True, metavar="NAME@KNOWN<SHARE", help='Must hold, else exit 1: "scoreboard@8<0.05".'
)
@click.option(
    "--accept", multiple=True, metavar="NAME", help="An attack whose success you accept, such as membership: no exit 1."
)
@click.option(
    "--probe", metavar="PROBE", type=SOURCE_PATH, help="Ratings left out of SOURCE: shows usefulness as well."
)
@click.option("--second", metavar="DIR", type=RELEASE, help="Another release of the same people, to intersect with.")
@click.option("--second-private", metavar="DIR", type=PRIVATE_FOLDER, help="Its private folder. [default: DIR-private]")
@click.option(
    "--again",
    multiple=True,
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="A second release of the same people, or a third, a fourth; without DIR: make one now and delete it.",
)
@click.option(
    "--held-out",
    metavar="FILE",
    type=SOURCE_PATH,
    help="Ratings of people who are not in the release: tests membership.",
)
@click.option("--later", metavar="FILE", type=SOURCE_PATH, help="Ratings of the same people that are not in SOURCE.")
@click.option("--mentions", metavar="FILE", type=SOURCE_PATH, help="What the same people rated in public elsewhere.")
@click.option(
    "--attribute",
    metavar="FILE",
    type=SOURCE_PATH,
    help="CSV with user and value: can it be inferred from the release?",
)
@click.option(
    "--sensitive", metavar="FILE", type=SOURCE_PATH, help="Items, one in a line: can it be inferred who rated one?"
)
@click.option(
    "--sybils", type=int, default=0, metavar="N", help="Publish again in private with N copies of some people planted."
)
@click.option(
    "--frontier",
    metavar="FILE",
    type=SOURCE_PATH,
    help="Points of recloak frontier on SOURCE: the page says what other settings bring.",
)
@click.option(
    "--fidelity", is_flag=True, default=None, help="Compare leaderboards of 5 + 5 algorithms too; always with --probe."
)
@click.option("--all", "show_all", is_flag=True, help="Print every attack; by default the five worst.")
@source_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Draw other targets. By default the seed follows from the release, so that nobody chose it.",
)
@output_options
def command(
    source: Path, folder: Path, out: Path | None, probe: Path | None, show_all: bool, as_json: bool, **given: Any
) -> int:
    """Attack the ratings in SOURCE and their release in DIR, side by side, and say how risky the release is.

    The release is verified first. Exits with 1 if anything is breached that --accept does not name, an attack that
    names people could not be run, or a gate fails.
    """
    left_out = source_of(probe, dict(given))
    given["again"] = given["again"] == ("",) or tuple(filter(None, given["again"]))
    given |= {name: source_of(given[name], dict(given)) for name in ("held_out", "later", "mentions")}
    found = recloak.audit(source_of(source, given), folder, probe=left_out, **given_only(given))
    report(found, functools.partial(_print, show_all=show_all), as_json=as_json, page=out)
    return 0 if found.acceptable else 1


def _print(found: "recloak.Audit", show_all: bool) -> None:
    from recloak._cli.tables import print_audit

    print_audit(found, show_all=show_all)
