"""The page of ``recloak mentions identify``: who is found by what they say in public, how, and why not."""

from __future__ import annotations

from recloak._core.intervals import Share
from recloak._mentions.algorithms import ALGORITHMS
from recloak._mentions.identification import ADAPTIVE, LIKELIHOOD
from recloak._mentions.model import Identification, OpenSet, Rates
from recloak._report.charts import Axis, Bars, Lines, bars, lines
from recloak._report.formats import count, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table

NAMES = {
    "set_intersection": "Set Intersection",
    "tf_idf": "TF-IDF",
    "scoring": "Scoring",
    "fuzzy_rating": "FuzzyRating",
    "exact_rating": "ExactRating",
    ADAPTIVE: "Scoring without popular items",
    LIKELIHOOD: "likelihood ratio",
}
IDENTIFIED = Axis("share of targets identified", percent=True, low=0, high=1)
_MANY, _SOME = 0.3, 0.05


def identify_page(found: Identification, *, source: str, provenance: tuple[tuple[str, str], ...] = ()) -> Page:
    """Put an identification onto one page."""
    chapters = [_algorithms_chapter(found), _mentions_chapter(found)]
    if found.open_set is not None:
        chapters.append(_open_chapter(found.open_set))
    return Page(
        title="Who is found by what they mention",
        subtitle=source,
        verdict=_verdict(found),
        facts=_facts(found),
        chapters=tuple(chapters),
        account=Account(_account(found), provenance),
    )


def shares_of(rates: Rates, n: int) -> list[Share]:
    """Give rates as shares with their intervals, by k."""
    return [Share(r, low, high, n) for r, low, high in zip(rates.rate, rates.low, rates.high, strict=True)]


def _verdict(found: Identification) -> PageVerdict:
    """Judge by the best attacker who knows mentions only, not ratings."""
    names = ("scoring", "tf_idf", ADAPTIVE, LIKELIHOOD)
    best = max(names, key=lambda name: found.algorithms[name].rate[0])
    share = shares_of(found.algorithms[best], found.n_targets)[0]
    headline = f"{percent(share.rate)} of {plural(found.n_targets, 'target')} are named outright by what they mention."
    text = (
        f"The best of the attackers who know no ratings ({NAMES[best]}) puts them first among "
        f"{plural(found.n_candidates, 'user')}; 95 % interval {percent(share.low)} to {percent(share.high)}."
    )
    if share.rate >= _MANY:
        return PageVerdict("alert", "Exposed", headline, text)
    if share.rate >= _SOME:
        return PageVerdict("caution", "Partly exposed", headline, text)
    return PageVerdict("plain", "Little exposed to these attackers", headline, text)


def _facts(found: Identification) -> tuple[Fact, ...]:
    rated = "not known" if found.rated_share is None else percent(found.rated_share)
    heavy = plural(found.n_heavy, "heavy rater") + " left out by Scoring"
    return (
        Fact("Targets", count(found.n_targets), "people who mention something"),
        Fact("Candidates", count(found.n_candidates), heavy),
        Fact("Mentions they rated", rated, "82 % in the paper"),
    )


def _algorithms_chapter(found: Identification) -> Chapter:
    intro = (
        "An attacker holds the ratings and reads the forum. A target is k-identified if they stand among the first k "
        "of the attacker's list (Frankowski et al. 2006); ties fall at random."
    )
    return Chapter("How many are found", intro, sections=(_paper_section(found), _further_section(found)))


def _paper_section(found: Identification) -> Section:
    first = found.algorithms["scoring"]
    meaning = (
        f"Scoring, which knows no ratings, finds {percent(first.rate[0])} at k = 1 and {percent(first.rate[-1])} at "
        f"k = {first.k[-1]}; knowing what people think of what they mention (FuzzyRating, ExactRating) finds more."
    )
    return Section("The paper's five algorithms", meaning, "lower", rates_chart(found, ALGORITHMS), _rates_table(found))


def rates_chart(found: Identification, names: tuple[str, ...]) -> Bars:
    """Chart the rates of some algorithms at every k (the paper's figure 4)."""
    levels = found.algorithms[names[0]].k
    series = {NAMES[name]: shares_of(found.algorithms[name], found.n_targets) for name in names}
    return bars(Axis("place in the list"), IDENTIFIED, [f"first {k}" for k in levels], series)


def _rates_table(found: Identification) -> Table:
    levels = next(iter(found.algorithms.values())).k
    head = ("Algorithm", *(f"k = {k}" for k in levels), f"ties lost and won, k = {levels[0]}")
    rows = []
    for name, rates in found.algorithms.items():
        shown = [with_interval(share) for share in shares_of(rates, found.n_targets)]
        ties = f"{percent(rates.pessimistic[0])} to {percent(rates.optimistic[0])}"
        rows.append((NAMES.get(name, name), *shown, ties))
    return Table(head, tuple(rows))


def _further_section(found: Identification) -> Section:
    adaptive, ratio = found.algorithms[ADAPTIVE], found.algorithms[LIKELIHOOD]
    meaning = (
        f"An attacker who ignores the most-rated items, so that popular decoys do not help, finds "
        f"{percent(adaptive.rate[0])} at k = 1; one who weighs what each user would have rated anyway, "
        f"{percent(ratio.rate[0])}."
    )
    chart = rates_chart(found, ("scoring", ADAPTIVE, LIKELIHOOD))
    return Section("Attackers beyond the paper", meaning, "lower", chart)


def _mentions_chapter(found: Identification) -> Chapter:
    intro = "The more somebody says, the easier they are found; the bins are those of the paper's table 1."
    return Chapter("By number of mentions", intro, sections=(_bins_section(found), _reasons_section(found)))


def _bins_section(found: Identification) -> Section:
    last = found.bins[-1]
    meaning = (
        f"Of the {plural(last.n_targets, 'target')} with {last.label} mentions, Scoring names "
        f"{percent(last.rates['scoring'])} outright."
    )
    return Section("Named outright, by number of mentions", meaning, "lower", bins_chart(found), _bins_table(found))


def bins_chart(found: Identification) -> Bars:
    """Chart the 1-identified by number of mentions (the paper's figure 5)."""
    series = {NAMES[name]: [each.rates[name] for each in found.bins] for name in ALGORITHMS}
    return bars(Axis("mentions"), IDENTIFIED, [each.label for each in found.bins], series)


def _bins_table(found: Identification) -> Table:
    head = ("Mentions", "Targets", *(NAMES[name] for name in ALGORITHMS))
    rows = [
        (each.label, count(each.n_targets), *(percent(each.rates[name]) for name in ALGORITHMS)) for each in found.bins
    ]
    return Table(head, tuple(rows))


def _reasons_section(found: Identification) -> Section:
    why = found.reasons["1"] if "1" in found.reasons else next(iter(found.reasons.values()))
    meaning = (
        f"Asking for somebody who rated every mention fails because too many did ({percent(why['not narrow'])}), "
        f"nobody did ({percent(why['no one possible'])}), or only others did ({percent(why['misdirected'])})."
    )
    return Section("Why Set Intersection fails", meaning, "neither", reasons_chart(found), _reasons_table(found))


def reasons_chart(found: Identification) -> Bars:
    """Chart the reasons by number of mentions (the paper's figure 3)."""
    reasons = tuple(found.bins[0].reasons)
    series = {reason: [each.reasons[reason] for each in found.bins] for reason in reasons}
    y = Axis("share of targets", percent=True, low=0, high=1)
    return bars(Axis("mentions"), y, [each.label for each in found.bins], series)


def _reasons_table(found: Identification) -> Table:
    reasons = tuple(found.bins[0].reasons)
    rows = [(each.label, *(percent(each.reasons[reason]) for reason in reasons)) for each in found.bins]
    return Table(("Mentions", *reasons), tuple(rows))


def _open_chapter(open_set: OpenSet) -> Chapter:
    shown = "nobody" if open_set.precision is None else f"{percent(open_set.precision)} of the named are right"
    recall = "not measured" if open_set.recall is None else percent(open_set.recall)
    meaning = (
        f"Naming only who is held for the target with probability {open_set.threshold:g}: {shown}, and "
        f"{recall} of those present are rightly named. Stated probabilities are off by "
        f"{percent(open_set.calibration_error)} on average."
    )
    intro = f"{count(open_set.n_present)} targets are in the data, {count(open_set.n_absent)} are not."
    return Chapter("When some are not in the data", intro, sections=(_open_section(open_set, meaning),))


def _open_section(open_set: OpenSet, meaning: str) -> Section:
    return Section("Knowing when to speak", meaning, "lower", open_chart(open_set))


def open_chart(open_set: OpenSet) -> Lines:
    """Chart precision and recall against the probability asked for."""
    series = {
        "right among the named": {t: p for t, p, _ in open_set.curve if p is not None},
        "named among those present": {t: r for t, _, r in open_set.curve if r is not None},
    }
    kept = {name: points for name, points in series.items() if points}
    return lines(Axis("probability asked for"), Axis("share", percent=True, low=0, high=1), kept)


def _account(found: Identification) -> tuple[str, ...]:
    intake = found.intake
    return (
        f"Took in {plural(intake.n_rows, 'mention')}; {count(intake.n_repeated)} repeated, "
        f"{count(intake.n_unknown_items)} of items that nobody rated, {count(intake.n_unknown_users)} targets not in "
        f"the ratings, {count(intake.n_without)} users who mention nothing.",
        "Ranked all candidates for every target by each algorithm, in logarithms; ties count as expected.",
        "Fitted the probabilities of the likelihood ratio on one half of the targets for the other.",
    )
