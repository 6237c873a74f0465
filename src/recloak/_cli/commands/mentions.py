"""``recloak mentions``: find titles in posts, re-identify who wrote them, and measure what protects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import (
    F,
    emit_json,
    fixed_seed_option,
    given_only,
    options_of,
    output_options,
    report,
    source_of,
    source_options,
)
from recloak._cli.path_types import NEW_FILE, PAGE, SOURCE, TABLE, require_distinct
from recloak._core.terminal_text import printable
from recloak._mentions.options import IdentifyOptions

if TYPE_CHECKING:
    from recloak.mentions import Defences, FoundMentions, Identification, OwnExposure

_DOMAINS = ("films", "books", "music", "games", "shop")
_SHARE = click.FloatRange(0, 1)
_ABSENT_HELP = "Share of the targets taken out of the data, to see whether the attacker notices."
_THRESHOLD_HELP = "Probability from which the attacker names somebody."
_page_option = click.option("-o", "--out", type=PAGE, help="Page to write (.html).")


def _on_ratings(function: F) -> F:
    """Add the ratings, the mentions and the options of the attack to a command."""
    for decorate in (
        options_of(IdentifyOptions),
        source_options,
        click.option("--possible", is_flag=True, help="Count finds of tier 'possible' as well."),
        click.option("--mentions", "mentioned", required=True, type=TABLE, help="Table of who mentioned which item."),
        click.argument("ratings", nargs=-1, required=True, type=SOURCE),
    ):
        function = decorate(function)
    return function


@click.group()
def command() -> None:
    """Public mentions: find them in text, re-identify who wrote them, and see what protects."""


@command.command()
@click.argument("posts", type=TABLE)
@click.option(
    "--titles", required=True, type=TABLE, help="Title list: CSV with id and title, movies.csv, movies.dat or .item."
)
@click.option("-o", "--out", type=NEW_FILE, help="Table to write (.parquet, .csv or .jsonl).")
@click.option(
    "--popularity", type=TABLE, help="Table of items with a column of numbers: much-rated films are likelier meant."
)
@click.option("--ratings", type=SOURCE, help="Ratings to count the popularity from.")
@click.option("--domain", type=click.Choice(_DOMAINS), help="What the titles are; guessed where it is not given.")
@click.option("--aliases", type=TABLE, help="Table of other names of items: columns alias and item.")
@click.option("--text", help="Column of the text.")
@click.option("--user", help="Column of the user.")
@click.option("--title", help="Column of the title in the title list.")
@output_options
def find(posts: str, titles: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Find the titles that POSTS name: a table of posts, or a text file with a post per line."""
    require_distinct(out, posts, titles)
    from recloak import mentions

    found = mentions.find(posts, titles, **given)
    if out is not None:
        found.write(out)
    if as_json:
        emit_json(found.to_json())
    else:
        _print_found(found, out)


def _print_found(found: FoundMentions, out: Path | None) -> None:
    counts = found.counts
    click.echo(
        f"{counts['posts']:,} posts, {counts['titles']:,} titles: {counts['sure']:,} sure and "
        f"{counts['possible']:,} possible finds ({found.posts_per_second:,} posts per second)."
    )
    counted = {
        "posts_empty": "posts without text",
        "posts_undecodable": "posts with bytes that are not UTF-8, read with these replaced",
        "titles_repeated": "repeated titles, found under their first id",
        "titles_empty": "lines of the title list without a title",
        "not_held": "finds that the writer has not seen or read, as they say",
    }
    for name, text in counted.items():
        if counts[name]:
            click.echo(f"  {counts[name]:,} {text}")
    if out is not None:
        click.echo(f"Written to {out}.")


@command.command()
@_on_ratings
@click.option("--absent", type=_SHARE, default=0.0, show_default=True, help=_ABSENT_HELP)
@click.option("--threshold", type=_SHARE, default=0.5, show_default=True, help=_THRESHOLD_HELP)
@_page_option
@fixed_seed_option
@output_options
def identify(ratings: tuple[str, ...], mentioned: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Re-identify in RATINGS the people whose mentions are known."""
    from recloak import mentions

    found = mentions.identify(source_of(ratings, given), mentioned, **given_only(given))
    report(found, _print_identified, as_json=as_json, page=out)


@command.command()
@_on_ratings
@_page_option
@output_options
def defend(ratings: tuple[str, ...], mentioned: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Measure what protects the people who mention items of RATINGS: suppression and misdirection."""
    from recloak import mentions

    found = mentions.defend(source_of(ratings, given), mentioned, **given_only(given))
    report(found, _print_defended, as_json=as_json, page=out)


@command.command()
@click.option("--ratings", required=True, type=TABLE, help="Your own export: MovieLens, Letterboxd, IMDb or Goodreads.")
@click.option("--posts", required=True, type=TABLE, help="What you posted: a table, or a text file, a post per line.")
@click.option("--public", required=True, type=SOURCE, help="The public dump: a folder, or ratings with --titles.")
@click.option("--titles", type=TABLE, help="Title list of the dump, where it is not in its folder.")
@click.option("--domain", type=click.Choice(_DOMAINS), help="What the titles are; guessed where it is not given.")
@click.option(
    "-k", "--k", type=click.IntRange(1), default=10, show_default=True, help="Stay beyond the first K of a list."
)
@_page_option
@output_options
def exposure(ratings: str, posts: str, public: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Show how easily your own posts let others find you in a public dump, and what would help."""
    require_distinct(out, ratings, posts)
    from recloak import mentions

    found = mentions.exposure(ratings, posts, public, **given)
    report(found, _print_exposure, as_json=as_json, page=out)


def _print_exposure(found: OwnExposure) -> None:
    click.echo(
        f"{found.n_mentions:,} mentions put you at place {found.place:,.1f} of {found.n_records:,} records "
        f"(attacker: {found.closest})."
    )
    for one in found.telling:
        click.echo(f"  without {printable(one.title)}: place {one.place:,.1f}")
    if found.leave_out is None:
        click.echo(f"Nothing small hides you: leaving out mentions does not bring you beyond the first {found.k}.")
    elif found.leave_out:
        titles = ", ".join(printable(one.title) for one in found.leave_out)
        click.echo(f"To get beyond the first {found.k}, leave out: {titles}.")
    else:
        click.echo(f"You are beyond the first {found.k} already.")


def _print_defended(found: Defences) -> None:
    first, best = found.misdirections[0].trials[0], found.misdirections[0].trials[-1]
    click.echo(f"{found.n_targets:,} targets; identified at k = 1, plain and adaptive attacker:")
    click.echo(f"  as it is              {_percent(first.scoring.rate[0])}  {_percent(first.adaptive.rate[0])}")
    click.echo(
        f"  {best.strength:.0f} popular mentions   {_percent(best.scoring.rate[0])}  {_percent(best.adaptive.rate[0])}"
    )


def _print_identified(found: Identification) -> None:
    intake = found.intake
    levels = ", ".join(map(str, found.algorithms["scoring"].k))
    click.echo(f"{found.n_targets:,} targets among {found.n_candidates:,} users; identified at k = {levels}:")
    for name, rates in found.algorithms.items():
        click.echo(f"  {name:<17}" + "".join(_percent(rate) for rate in rates.rate))
    for name in found.not_applicable:
        click.echo(f"  {name:<17}  not applicable: the data have no ratings")
    panel = found.panel
    click.echo(f"  {'strongest of all':<17}" + "".join(_percent(rate) for rate in panel.strongest.rate))
    click.echo(f"  {'predicted ratio':<17}" + "".join(_percent(rate) for rate in found.predicted.values()))
    click.echo(f"  the panel knows {' and '.join(panel.uses)}; its best single attacker is {panel.best}")
    if found.above_panel:
        click.echo(
            f"  {' and '.join(found.above_panel)}: above the panel, because told the target's own rating where a "
            "mention voices no opinion"
        )
    counted = {
        "mentions repeated": intake.n_repeated,
        "mentions of items that nobody rated": intake.n_unknown_items,
        "targets who are not in the ratings": intake.n_unknown_users,
        "users who mention nothing": intake.n_without,
    }
    for text, number in counted.items():
        if number:
            click.echo(f"  {number:,} {text}")
    if found.open_set is not None:
        click.echo(
            f"  open set: {_shown(found.open_set.precision)} of the named are right, "
            f"{_shown(found.open_set.recall)} of those present are named"
        )


def _shown(share: float | None) -> str:
    return "none" if share is None else _percent(share).strip()


def _percent(rate: float) -> str:
    return f"{100 * rate:8.1f} %"
