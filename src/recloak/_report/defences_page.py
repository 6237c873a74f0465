"""The page of ``recloak mentions defend``: what suppression and misdirection bring, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from recloak._core.intervals import Share
from recloak._mentions.defences import Defence, Defences, DefenceTrial
from recloak._mentions.model import LEVELS
from recloak._report.charts import MOST_SERIES, Axis, Lines, lines
from recloak._report.formats import count, percent, plural
from recloak._report.mentions_page import IDENTIFIED, shares_of
from recloak._report.page import Account, Chapter, Page, PageVerdict, Section, Table

_PROTECTS = 0.5  # a defence that halves the rate is worth the name


def defences_page(found: Defences, *, source: str, provenance: tuple[tuple[str, str], ...] = ()) -> Page:
    """Put all trials onto one page."""
    return Page(
        title="What protects those who mention",
        subtitle=source,
        verdict=_verdict(found),
        chapters=(_data_chapter(found), _mentions_chapter(found), _misdirection_chapter(found)),
        account=Account(_account(found), provenance),
    )


def _verdict(found: Defences) -> PageVerdict:
    trials = found.misdirections[0].trials
    before, after = trials[0], trials[-1]
    plain, adaptive = after.scoring.rate[0], after.adaptive.rate[0]
    headline = (
        f"{after.strength:.0f} popular mentions take the share named outright from "
        f"{percent(before.scoring.rate[0])} to {percent(plain)}; against an attacker who knows the trick it stays "
        f"at {percent(adaptive)}."
    )
    text = f"Measured on {plural(found.n_targets, 'target')}."
    if adaptive <= _PROTECTS * before.adaptive.rate[0]:
        return PageVerdict("caution", "Misdirection helps", headline, text)
    return PageVerdict("alert", "Misdirection helps only against the unwary", headline, text)


def by_level(
    trials: Sequence[DefenceTrial], places: Sequence[float], n: int, *, adaptive: bool = False
) -> dict[str, dict[float, Share | float]]:
    """Give one curve per k over the places given."""
    rates = [trial.adaptive if adaptive else trial.scoring for trial in trials]
    return {
        f"first {k}": {place: shares_of(rate, n)[position] for place, rate in zip(places, rates, strict=True)}
        for position, k in enumerate(LEVELS)
    }


def data_chart(found: Defences, cost: str, *, adaptive: bool = False) -> Lines:
    """Chart the rates against the share of items or ratings lost (the paper's figures 6 and 7)."""
    trials = found.suppressed_data.trials
    places = [trial.cost[cost] for trial in trials]
    label = "share of items dropped" if cost == "items_lost" else "share of ratings dropped"
    return lines(
        Axis(label, percent=True, low=0, high=1),
        IDENTIFIED,
        by_level(trials, places, found.n_targets, adaptive=adaptive),
    )


def _data_chapter(found: Defences) -> Chapter:
    intro = "The owner drops every item that too few rated. Rare items give people away, and there are many of them."
    sections = (
        Section(
            "Against the share of items dropped",
            _data_meaning(found),
            "lower",
            data_chart(found, "items_lost"),
            _data_table(found),
        ),
        Section(
            "Against the share of ratings dropped",
            "Rare items hold few of the ratings.",
            "lower",
            data_chart(found, "ratings_lost"),
        ),
        Section(
            "The attacker who ignores popular items",
            "The same, against the best of several attackers who ignore the most-rated items.",
            "lower",
            data_chart(found, "items_lost", adaptive=True),
        ),
    )
    return Chapter("Suppressing data", intro, sections=sections)


def clearing_trial(found: Defences) -> DefenceTrial:
    """Give the weakest suppression of data at which hardly anyone (under 1 %) is named outright."""
    trials = found.suppressed_data.trials
    return next((trial for trial in trials if trial.scoring.rate[0] < 0.01), trials[-1])


def _data_meaning(found: Defences) -> str:
    trial = clearing_trial(found)
    return (
        f"To leave under 1 % named outright, items with fewer than {trial.strength:,.0f} ratings must go: "
        f"{percent(trial.cost['items_lost'])} of the items and {percent(trial.cost['ratings_lost'])} of the ratings "
        "(the paper: 88 % and 28 % for none at all)."
    )


def _data_table(found: Defences) -> Table:
    head = ("Ratings needed", "Items lost", "Ratings lost", "Scoring, k = 1", "Adaptive, k = 1")
    rows = [
        (
            count(trial.strength),
            percent(trial.cost["items_lost"]),
            percent(trial.cost["ratings_lost"]),
            percent(trial.scoring.rate[0]),
            percent(trial.adaptive.rate[0]),
        )
        for trial in found.suppressed_data.trials
    ]
    return Table(head, tuple(rows))


def mentions_chart(found: Defences, *, adaptive: bool = False) -> Lines:
    """Chart the rates against the share of rare mentions left out (the paper's figure 8)."""
    trials = found.suppressed_mentions.trials
    places = [trial.strength for trial in trials]
    series = by_level(trials, places, found.n_targets, adaptive=adaptive)
    return lines(Axis("share of the rated mentions left out", percent=True), IDENTIFIED, series)


def _mentions_chapter(found: Defences) -> Chapter:
    trials = found.suppressed_mentions.trials
    meaning = (
        f"Leaving out the rarest tenth takes the share named outright from {percent(trials[0].scoring.rate[0])} to "
        f"{percent(trials[1].scoring.rate[0])}, the rarest half to {percent(trials[-1].scoring.rate[0])}."
    )
    plain = Section("Leaving out one's rarest mentions", meaning, "lower", mentions_chart(found))
    aware = "The same, against the best of several attackers who ignore the most-rated items."
    adaptive = Section("The attacker who ignores popular items", aware, "lower", mentions_chart(found, adaptive=True))
    return Chapter(
        "Suppressing mentions", "Every user keeps the rarest things to themselves.", sections=(plain, adaptive)
    )


def shown_misdirections(found: Defences) -> tuple[Defence, ...]:
    """Choose the strategies to draw: by popularity, and thresholds spread over the whole range."""
    first, rest = found.misdirections[0], found.misdirections[1:]
    n = min(MOST_SERIES - 1, len(rest))
    places = sorted({round(step * (len(rest) - 1) / max(n - 1, 1)) for step in range(n)})
    return (first, *(rest[place] for place in places))


def misdirection_chart(found: Defences, *, adaptive: bool = False) -> Lines:
    """Chart the share named outright against the number of extra mentions (the paper's figure 9)."""
    series = {}
    for defence in shown_misdirections(found):
        rates = [(trial.strength, trial.adaptive if adaptive else trial.scoring) for trial in defence.trials]
        series[defence.name] = {extra: shares_of(rate, found.n_targets)[0].rate for extra, rate in rates}
    return lines(Axis("extra mentions"), IDENTIFIED, series)


def _misdirection_chapter(found: Defences) -> Chapter:
    trials = found.misdirections[0].trials
    five = next(trial for trial in trials if trial.strength == 5)
    meaning = (
        f"Five mentions of the most popular items that one has not rated take the share named outright from "
        f"{percent(trials[0].scoring.rate[0])} to {percent(five.scoring.rate[0])} (the paper: 31 % to 13 %)."
    )
    aware = (
        f"Against the best of several attackers who ignore the most-rated items, five popular mentions leave "
        f"{percent(five.adaptive.rate[0])}. Items a little less popular serve better here."
    )
    sections = (
        Section("The plain attacker", meaning, "lower", misdirection_chart(found), _misdirection_table(found)),
        Section("The attacker who ignores popular items", aware, "lower", misdirection_chart(found, adaptive=True)),
    )
    return Chapter("Misdirection", "Every user mentions items they have not rated.", sections=sections)


def _misdirection_table(found: Defences) -> Table:
    extras = [trial.strength for trial in found.misdirections[0].trials]
    head = ("Items", *(f"{extra:.0f} extra" for extra in extras))
    rows = [(one.name, *(percent(trial.scoring.rate[0]) for trial in one.trials)) for one in found.misdirections]
    return Table(head, tuple(rows))


def _account(found: Defences) -> tuple[str, ...]:
    n = len(found.misdirections)
    return (
        f"Attacked {plural(found.n_targets, 'target')} by Scoring under every strength of every defence.",
        "Dropped items below each power of two of ratings; the cut of heavy raters stayed that of the whole data.",
        f"Tried {plural(n, 'misdirecting list')}: by descending popularity, and upward from each power of two.",
        "The adaptive attacker is the best of four who ignore 0, 1, 2 or 5 % of the items, most rated first.",
    )
