"""``recloak mentions``: find titles in posts, re-identify who wrote them, and try what protects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import (
    F,
    emit_json,
    fixed_seed_option,
    given_only,
    json_option,
    options_of,
    source_of,
    source_options,
    with_progress,
)
from recloak._cli.path_types import NEW_FILE, PAGE, SOURCE, TABLE, require_apart
from recloak._mentions.options import IdentifyOptions

if TYPE_CHECKING:
    from recloak.mentions import Defences, FoundMentions, Identification

_page_option = click.option("-o", "--out", type=PAGE, help="Page to write (.html).")


def _on_ratings(function: F) -> F:
    """Add the ratings, the mentions and how the attacker scores to a command."""
    for decorate in (
        options_of(IdentifyOptions),
        source_options,
        click.option("--possible", is_flag=True, help="Count finds of tier 'possible' as well."),
        click.option("--mentions", "said", required=True, type=TABLE, help="Table of who mentioned which item."),
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
@click.option("--text", help="Column of the text.")
@click.option("--user", help="Column of the user.")
@json_option
@with_progress
def find(
    posts: str,
    titles: str,
    out: Path | None,
    popularity: str | None,
    ratings: str | None,
    text: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Find the titles that POSTS name: a table of posts, or a text file with a post per line."""
    require_apart(out, posts, titles)
    from recloak import mentions

    found = mentions.find(posts, titles, popularity=popularity, ratings=ratings, text=text, user=user)
    if out is not None:
        found.write(out)
    if as_json:
        emit_json(found.to_json())
    else:
        _say_found(found, out)


def _say_found(found: FoundMentions, out: Path | None) -> None:
    counts = found.counts
    click.echo(
        f"{counts['posts']:,} posts, {counts['titles']:,} titles: {counts['sure']:,} sure and "
        f"{counts['possible']:,} possible finds ({found.posts_per_second:,} posts per second)."
    )
    told = {
        "posts_empty": "posts without text",
        "posts_undecodable": "posts with bytes that are not UTF-8, read with these replaced",
        "titles_repeated": "repeated titles, found under their first id",
        "titles_empty": "lines of the title list without a title",
    }
    for name, text in told.items():
        if counts[name]:
            click.echo(f"  {counts[name]:,} {text}")
    if out is not None:
        click.echo(f"Written to {out}.")


@command.command()
@_on_ratings
@click.option(
    "--absent",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of the targets taken out of the data, to see whether the attacker notices.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Probability from which the attacker names somebody.",
)
@_page_option
@fixed_seed_option
@json_option
@with_progress
def identify(
    ratings: tuple[str, ...],
    said: str,
    possible: bool,
    absent: float,
    threshold: float,
    out: Path | None,
    seed: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Re-identify in RATINGS the people whose mentions are known."""
    from recloak import mentions

    known = source_of(ratings, given)
    found = mentions.identify(
        known, said, possible=possible, absent=absent, threshold=threshold, seed=seed, **given_only(given)
    )
    if out is not None:
        found.write_page(out)
    if as_json:
        emit_json(found.to_json())
    else:
        _say_identified(found, out)


@command.command()
@_on_ratings
@_page_option
@json_option
@with_progress
def defend(ratings: tuple[str, ...], said: str, possible: bool, out: Path | None, as_json: bool, **given: Any) -> None:
    """Try what protects the people who mention items of RATINGS: suppression and misdirection."""
    from recloak import mentions

    found = mentions.defend(source_of(ratings, given), said, possible=possible, **given_only(given))
    if out is not None:
        found.write_page(out)
    if as_json:
        emit_json(found.to_json())
    else:
        _say_defended(found, out)


def _say_defended(found: Defences, out: Path | None) -> None:
    first, best = found.misdirections[0].trials[0], found.misdirections[0].trials[-1]
    click.echo(f"{found.n_targets:,} targets; identified at k = 1, plain and adaptive attacker:")
    click.echo(f"  as it is              {_percent(first.scoring.rate[0])}  {_percent(first.adaptive.rate[0])}")
    click.echo(
        f"  {best.strength:.0f} popular mentions   {_percent(best.scoring.rate[0])}  {_percent(best.adaptive.rate[0])}"
    )
    click.echo("" if out is None else f"Written to {out}.", nl=out is not None)


def _say_identified(found: Identification, out: Path | None) -> None:
    intake = found.intake
    levels = ", ".join(map(str, found.algorithms["scoring"].k))
    click.echo(f"{found.n_targets:,} targets among {found.n_candidates:,} users; identified at k = {levels}:")
    for name, rates in found.algorithms.items():
        click.echo(f"  {name:<17}" + "".join(_percent(rate) for rate in rates.rate))
    told = {
        "mentions repeated": intake.n_repeated,
        "mentions of items that nobody rated": intake.n_unknown_items,
        "targets who are not in the ratings": intake.n_unknown_users,
        "users who mention nothing": intake.n_without,
    }
    for text, number in told.items():
        if number:
            click.echo(f"  {number:,} {text}")
    if found.open_set is not None:
        click.echo(
            f"  open set: {_shown(found.open_set.precision)} of the named are right, "
            f"{_shown(found.open_set.recall)} of those present are named"
        )
    click.echo("" if out is None else f"Written to {out}.", nl=out is not None)


def _shown(share: float | None) -> str:
    return "none" if share is None else _percent(share).strip()


def _percent(rate: float) -> str:
    return f"{100 * rate:8.1f} %"
