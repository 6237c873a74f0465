"""The page of ``recloak mentions defend``: how well suppression and misdirection protect, and what they cost."""

from collections.abc import Sequence

from recloak._core.intervals import Share
from recloak._mentions.defences import Defence, Defences, DefenceTrial
from recloak._mentions.model import LEVELS
from recloak._report.charts import MOST_SERIES, Axis, Lines, lines
from recloak._report.formats import count, percent, plural
from recloak._report.identify_page import IDENTIFIED_AXIS, shares_of
from recloak._report.page import Account, Chapter, Page, PageVerdict, Provenance, Section, Table

_PROTECTS = 0.5  # a defence protects if it leaves at most this share of the rate
_ADAPTIVE = "The same, against the best of several attackers who ignore the most-rated items."


def defences_page(defences: Defences, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of all trials."""
    return Page(
        title="What protects people who mention items in public",
        subtitle=source,
        verdict=_verdict(defences),
        chapters=(_data_chapter(defences), _mentions_chapter(defences), _misdirection_chapter(defences)),
        account=Account(_account(defences), provenance),
    )


def _verdict(defences: Defences) -> PageVerdict:
    trials = defences.misdirections[0].trials
    before, after = trials[0], trials[-1]
    plain, adaptive = after.scoring.rate[0], after.adaptive.rate[0]
    headline = (
        f"{after.strength:.0f} popular mentions lower the share of people named outright from "
        f"{percent(before.scoring.rate[0])} to {percent(plain)}; against an attacker who knows the trick it stays "
        f"at {percent(adaptive)}."
    )
    text = f"Measured on {plural(defences.n_targets, 'target')}."
    if adaptive <= _PROTECTS * before.adaptive.rate[0]:
        return PageVerdict("caution", "Misdirection helps", headline, text)
    return PageVerdict("alert", "Misdirection helps only against the unwary", headline, text)


def _curves_by_k(
    trials: Sequence[DefenceTrial], xs: Sequence[float], n: int, *, adaptive: bool = False
) -> dict[str, dict[float, Share | float]]:
    """Return one curve for each k over the given x values."""
    rates = [trial.adaptive if adaptive else trial.scoring for trial in trials]
    return {
        f"first {k}": {x: shares_of(rate, n)[position] for x, rate in zip(xs, rates, strict=True)}
        for position, k in enumerate(LEVELS)
    }


def data_chart(defences: Defences, cost: str, *, adaptive: bool = False) -> Lines:
    """Return a chart of the rates against the share of items or ratings lost (the paper's figures 6 and 7)."""
    trials = defences.suppressed_data.trials
    label = "share of items dropped" if cost == "items_lost" else "share of ratings dropped"
    curves = _curves_by_k(trials, [trial.cost[cost] for trial in trials], defences.n_targets, adaptive=adaptive)
    return lines(Axis(label, percent=True, low=0, high=1), IDENTIFIED_AXIS, curves)


def _data_chapter(defences: Defences) -> Chapter:
    intro = "The owner drops every item that too few rated. Rare items give people away, and there are many of them."
    items, ratings = data_chart(defences, "items_lost"), data_chart(defences, "ratings_lost")
    adaptive = data_chart(defences, "items_lost", adaptive=True)
    few = "Rare items hold few of the ratings."
    sections = (
        Section("Against the share of items dropped", _data_meaning(defences), "lower", items, _data_table(defences)),
        Section("Against the share of ratings dropped", few, "lower", ratings),
        Section("The attacker who ignores popular items", _ADAPTIVE, "lower", adaptive),
    )
    return Chapter("Suppressing data", intro, sections=sections)


def clearing_trial(defences: Defences) -> DefenceTrial:
    """Return the weakest suppression of data at which under 1 % are named outright."""
    trials = defences.suppressed_data.trials
    return next((trial for trial in trials if trial.scoring.rate[0] < 0.01), trials[-1])


def _data_meaning(defences: Defences) -> str:
    trial = clearing_trial(defences)
    return (
        f"To leave under 1 % named outright, items with fewer than {trial.strength:,.0f} ratings must go: "
        f"{percent(trial.cost['items_lost'])} of the items and {percent(trial.cost['ratings_lost'])} of the ratings "
        "(the paper: 88 % and 28 % for none at all)."
    )


def _data_table(defences: Defences) -> Table:
    head = ("Ratings needed", "Items lost", "Ratings lost", "Scoring, k = 1", "Adaptive, k = 1")
    rows = []
    for trial in defences.suppressed_data.trials:
        lost, named = (trial.cost["items_lost"], trial.cost["ratings_lost"]), (trial.scoring, trial.adaptive)
        rows.append((count(trial.strength), *map(percent, (*lost, *(rates.rate[0] for rates in named)))))
    return Table(head, tuple(rows))


def mentions_chart(defences: Defences, *, adaptive: bool = False) -> Lines:
    """Return a chart of the rates against the share of rare mentions left out (the paper's figure 8)."""
    trials = defences.suppressed_mentions.trials
    curves = _curves_by_k(trials, [trial.strength for trial in trials], defences.n_targets, adaptive=adaptive)
    return lines(Axis("share of the rated mentions left out", percent=True), IDENTIFIED_AXIS, curves)


def _mentions_chapter(defences: Defences) -> Chapter:
    trials = defences.suppressed_mentions.trials
    meaning = (
        f"Leaving out the rarest tenth takes the share named outright from {percent(trials[0].scoring.rate[0])} to "
        f"{percent(trials[1].scoring.rate[0])}, the rarest half to {percent(trials[-1].scoring.rate[0])}."
    )
    plain = Section("Leaving out one's rarest mentions", meaning, "lower", mentions_chart(defences))
    chart = mentions_chart(defences, adaptive=True)
    adaptive = Section("The attacker who ignores popular items", _ADAPTIVE, "lower", chart)
    intro = "Every user keeps the rarest things to themselves."
    return Chapter("Suppressing mentions", intro, sections=(plain, adaptive))


def _shown_misdirections(defences: Defences) -> tuple[Defence, ...]:
    """Return the strategies to draw: by popularity, and thresholds spread over the whole range."""
    first, rest = defences.misdirections[0], defences.misdirections[1:]
    n = min(MOST_SERIES - 1, len(rest))
    places = sorted({round(step * (len(rest) - 1) / max(n - 1, 1)) for step in range(n)})
    return (first, *(rest[place] for place in places))


def misdirection_chart(defences: Defences, *, adaptive: bool = False) -> Lines:
    """Return a chart of the share named outright against the number of extra mentions (the paper's figure 9)."""
    series = {}
    for defence in _shown_misdirections(defences):
        rates = [(trial.strength, trial.adaptive if adaptive else trial.scoring) for trial in defence.trials]
        series[defence.name] = {extra: shares_of(rate, defences.n_targets)[0].rate for extra, rate in rates}
    return lines(Axis("extra mentions"), IDENTIFIED_AXIS, series)


def _misdirection_chapter(defences: Defences) -> Chapter:
    trials = defences.misdirections[0].trials
    five = next(trial for trial in trials if trial.strength == 5)
    meaning = (
        f"Five mentions of the most popular items that one has not rated lower the share of people named outright from "
        f"{percent(trials[0].scoring.rate[0])} to {percent(five.scoring.rate[0])} (the paper: 31 % to 13 %)."
    )
    aware = (
        f"Against the best of several attackers who ignore the most-rated items, five popular mentions leave "
        f"{percent(five.adaptive.rate[0])}. Items a little less popular serve better here."
    )
    sections = (
        Section("The plain attacker", meaning, "lower", misdirection_chart(defences), _misdirection_table(defences)),
        Section("The attacker who ignores popular items", aware, "lower", misdirection_chart(defences, adaptive=True)),
    )
    return Chapter("Misdirection", "Every user mentions items they have not rated.", sections=sections)


def _misdirection_table(defences: Defences) -> Table:
    extras = [trial.strength for trial in defences.misdirections[0].trials]
    head = ("Items", *(f"{extra:.0f} extra" for extra in extras))
    rows = [(one.name, *(percent(trial.scoring.rate[0]) for trial in one.trials)) for one in defences.misdirections]
    return Table(head, tuple(rows))


def _account(defences: Defences) -> tuple[str, ...]:
    n = len(defences.misdirections)
    return (
        f"Attacked {plural(defences.n_targets, 'target')} by Scoring under every strength of every defence.",
        "Dropped items below each power of two of ratings; the cut of heavy raters stayed that of the whole data.",
        f"Tried {plural(n, 'misdirecting list')}: by descending popularity, and upward from each power of two.",
        "The adaptive attacker is the best of four who ignore 0, 1, 2 or 5 % of the items, most rated first.",
    )
