"""The page of ``recloak mentions identify``: who is found by what they say in public, and how."""

from recloak._core.intervals import Share
from recloak._mentions.algorithms import ALGORITHMS
from recloak._mentions.identification import ADAPTIVE, LIKELIHOOD
from recloak._mentions.model import Identification, OpenSet, Rates
from recloak._report.charts import Axis, Bars, Lines, bars, lines
from recloak._report.formats import count, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

ALGORITHM_NAMES = {
    "set_intersection": "Set Intersection",
    "tf_idf": "TF-IDF",
    "scoring": "Scoring",
    "fuzzy_rating": "FuzzyRating",
    "exact_rating": "ExactRating",
    ADAPTIVE: "Scoring without popular items",
    "adaptive_2": "Scoring without twice as many",
    LIKELIHOOD: "likelihood ratio",
    "wary_likelihood": "likelihood ratio, wary of decoys",
    "knowing_likelihood": "likelihood ratio, without popular items",
    "opinion": "and what was thought of it",
    "same_item": "and when it was rated",
    "active": "and when anything was rated",
    "time": "both times",
    "time_month": "both times, a month late",
    "time_year": "both times, a year late",
    "time_ever": "both times, ever so late",
    "knowing_time": "both times, without popular items",
    "knowing_half": "both times, without the most popular items",
    "learned": "learned combination",
}
IDENTIFIED_AXIS = Axis("share of targets identified", percent=True, low=0, high=1)
_EXPOSED, _PARTLY_EXPOSED = 0.3, 0.05  # least shares of targets named outright


def identify_page(result: Identification, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of an identification."""
    chapters = [_algorithms_chapter(result), _mentions_chapter(result)]
    if result.open_set is not None:
        chapters.append(_open_chapter(result.open_set))
    return Page(
        title="Who is found by what they mention",
        subtitle=source,
        verdict=_verdict(result),
        facts=_facts(result),
        chapters=tuple(chapters),
        account=Account(_account(result), provenance),
    )


def shares_of(rates: Rates, n: int) -> list[Share]:
    """Return rates as shares with their intervals, by k."""
    return [Share(r, low, high, n) for r, low, high in zip(rates.rate, rates.low, rates.high, strict=True)]


def _verdict(result: Identification) -> PageVerdict:
    """Return the verdict by the best single attacker of the panel, who knows what the mentions say and no more."""
    best = result.panel.best
    share = shares_of(result.panel.members[best], result.n_targets)[0]
    headline = f"{percent(share.rate)} of {plural(result.n_targets, 'target')} are named outright by what they mention."
    text = (
        f"The best of the attackers ({ALGORITHM_NAMES[best]}) puts them first among "
        f"{plural(result.n_candidates, 'user')}; 95 % interval {percent(share.low)} to {percent(share.high)}."
    )
    if share.rate >= _EXPOSED:
        return PageVerdict("alert", "Exposed", headline, text)
    if share.rate >= _PARTLY_EXPOSED:
        return PageVerdict("caution", "Partly exposed", headline, text)
    return PageVerdict("plain", "Little exposed to these attackers", headline, text)


def _facts(result: Identification) -> tuple[Fact, ...]:
    rated = "not known" if result.rated_share is None else percent(result.rated_share)
    heavy = plural(result.n_heavy, "heavy rater") + " left out by Scoring"
    return (
        Fact("Targets", count(result.n_targets), "people who mention something"),
        Fact("Candidates", count(result.n_candidates), heavy),
        Fact("Mentions they rated", rated, "82 % in the paper"),
    )


def _algorithms_chapter(result: Identification) -> Chapter:
    intro = (
        "An attacker holds the ratings and reads the forum. A target is k-identified if they stand among the first k "
        "of the attacker's list (Frankowski et al. 2006); ties fall at random."
    )
    return Chapter(
        "How many are found",
        intro,
        sections=(_paper_section(result), _other_attackers_section(result), _panel_section(result)),
    )


def _paper_section(result: Identification) -> Section:
    first = result.algorithms["scoring"]
    meaning = (
        f"Scoring, which knows no ratings, finds {percent(first.rate[0])} at k = 1 and {percent(first.rate[-1])} at "
        f"k = {first.k[-1]}; {_about_ratings(result)}"
    )
    chart = rates_chart(result, _measured(result))
    return Section("The paper's five algorithms", meaning, "lower", chart, _rates_table(result))


def _about_ratings(result: Identification) -> str:
    if result.not_applicable:
        return "FuzzyRating and ExactRating are not applicable: the data have no ratings."
    return "knowing what people think of what they mention (FuzzyRating, ExactRating) finds more."


def _measured(result: Identification) -> tuple[str, ...]:
    """Return the paper's algorithms that are applicable."""
    return tuple(name for name in ALGORITHMS if name in result.algorithms)


def rates_chart(result: Identification, names: tuple[str, ...]) -> Bars:
    """Return a chart of the rates of some algorithms at every k (the paper's figure 4)."""
    levels = result.algorithms[names[0]].k
    series = {ALGORITHM_NAMES[name]: shares_of(result.algorithms[name], result.n_targets) for name in names}
    return bars(Axis("place in the list"), IDENTIFIED_AXIS, [f"first {k}" for k in levels], series)


def _rates_table(result: Identification) -> Table:
    levels = next(iter(result.algorithms.values())).k
    head = ("Algorithm", *(f"k = {k}" for k in levels), f"ties lost and won, k = {levels[0]}")
    rows = []
    for name, rates in result.algorithms.items():
        shown = [with_interval(share) for share in shares_of(rates, result.n_targets)]
        ties = f"{percent(rates.pessimistic[0])} to {percent(rates.optimistic[0])}"
        rows.append((ALGORITHM_NAMES.get(name, name), *shown, ties))
    missing = [(ALGORITHM_NAMES[name], *("not applicable",) * (len(levels) + 1)) for name in result.not_applicable]
    return Table(head, (*rows, *missing))


def _other_attackers_section(result: Identification) -> Section:
    adaptive, ratio = result.algorithms[ADAPTIVE], result.algorithms[LIKELIHOOD]
    meaning = (
        f"An attacker who ignores the most-rated items, so that popular decoys do not help, finds "
        f"{percent(adaptive.rate[0])} at k = 1; one who weighs what each user would have rated anyway, "
        f"{percent(ratio.rate[0])}."
    )
    chart = rates_chart(result, ("scoring", ADAPTIVE, LIKELIHOOD))
    return Section("Attackers beyond the paper", meaning, "lower", chart)


def _panel_section(result: Identification) -> Section:
    """Return what all attackers reach together; the algorithms above may use ratings that the mentions do not tell."""
    panel = result.panel
    meaning = (
        f"Knowing {' and '.join(panel.uses)}: taking for each target the attacker who comes nearest, "
        f"{percent(panel.strongest.rate[0])} are named outright, a bound for all of them; the combination that learned "
        f"from other people names {percent(panel.members['learned'].rate[0])}.{_why_above(result)}"
    )
    series = {ALGORITHM_NAMES[name]: shares_of(panel.members[name], result.n_targets) for name in _shown(panel.members)}
    series["strongest of all"] = shares_of(panel.strongest, result.n_targets)
    levels = [f"first {k}" for k in panel.strongest.k]
    return Section(
        "All attackers together", meaning, "lower", bars(Axis("place in the list"), IDENTIFIED_AXIS, levels, series)
    )


def _why_above(result: Identification) -> str:
    if not result.above_panel:
        return ""
    names = " and ".join(ALGORITHM_NAMES.get(name, name) for name in result.above_panel)
    return f" {names} find more: they are told the target's own rating where a mention voices no opinion."


def _shown(members: dict[str, Rates]) -> list[str]:
    return [name for name in (LIKELIHOOD, "opinion", "time", "learned") if name in members]


def _mentions_chapter(result: Identification) -> Chapter:
    intro = "The more somebody says, the easier they are found; the bins are those of the paper's table 1."
    return Chapter(
        "By number of mentions",
        intro,
        sections=(_bins_section(result), _predicted_section(result), _reasons_section(result)),
    )


def _bins_section(result: Identification) -> Section:
    last = result.bins[-1]
    meaning = (
        f"Of the {plural(last.n_targets, 'target')} with {last.label} mentions, Scoring names "
        f"{percent(last.rates['scoring'])} outright."
    )
    return Section("Named outright, by number of mentions", meaning, "lower", bins_chart(result), _bins_table(result))


def bins_chart(result: Identification) -> Bars:
    """Return a chart of the 1-identified by number of mentions (the paper's figure 5)."""
    series = {ALGORITHM_NAMES[name]: [each.rates[name] for each in result.bins] for name in _measured(result)}
    return bars(Axis("mentions"), IDENTIFIED_AXIS, [each.label for each in result.bins], series)


def _predicted_section(result: Identification) -> Section:
    measured, predicted = result.algorithms[LIKELIHOOD].rate[0], next(iter(result.predicted.values()))
    meaning = (
        f"From popularity, activity and the number of mentions alone, without looking at who rated what, "
        f"{percent(predicted)} would be named by the likelihood ratio; {percent(measured)} are. Who shares a taste "
        "hides each other; the prediction does not know tastes."
    )
    series = {
        "measured": [each.rates[LIKELIHOOD] for each in result.bins],
        "predicted": [each.predicted or 0.0 for each in result.bins],
    }
    chart = bars(Axis("mentions"), IDENTIFIED_AXIS, [each.label for each in result.bins], series)
    return Section("Measured and predicted", meaning, "neither", chart)


def _bins_table(result: Identification) -> Table:
    names = _measured(result)
    head = ("Mentions", "Targets", *(ALGORITHM_NAMES[name] for name in names))
    rows = [(each.label, count(each.n_targets), *(percent(each.rates[name]) for name in names)) for each in result.bins]
    return Table(head, tuple(rows))


def _reasons_section(result: Identification) -> Section:
    shares = result.reasons["1"] if "1" in result.reasons else next(iter(result.reasons.values()))
    meaning = (
        f"Asking for somebody who rated every mention fails because too many did ({percent(shares['not narrow'])}), "
        f"nobody did ({percent(shares['no one possible'])}), or only others did ({percent(shares['misdirected'])})."
    )
    return Section("Why Set Intersection fails", meaning, "neither", reasons_chart(result), _reasons_table(result))


def reasons_chart(result: Identification) -> Bars:
    """Return a chart of the reasons by number of mentions (the paper's figure 3)."""
    reasons = tuple(result.bins[0].reasons)
    series = {reason: [each.reasons[reason] for each in result.bins] for reason in reasons}
    y = Axis("share of targets", percent=True, low=0, high=1)
    return bars(Axis("mentions"), y, [each.label for each in result.bins], series)


def _reasons_table(result: Identification) -> Table:
    reasons = tuple(result.bins[0].reasons)
    rows = [(each.label, *(percent(each.reasons[reason]) for reason in reasons)) for each in result.bins]
    return Table(("Mentions", *reasons), tuple(rows))


def _open_chapter(open_set: OpenSet) -> Chapter:
    shown = "nobody" if open_set.precision is None else f"{percent(open_set.precision)} of the named are right"
    recall = "not measured" if open_set.recall is None else percent(open_set.recall)
    meaning = (
        f"Naming only who is held for the target with probability {open_set.threshold:g}: {shown}, and "
        f"{recall} of those present are named correctly. Stated probabilities are off by "
        f"{percent(open_set.calibration_error)} on average."
    )
    intro = f"{count(open_set.n_present)} targets are in the data, {count(open_set.n_absent)} are not."
    section = Section("Knowing when to speak", meaning, "lower", _open_chart(open_set))
    return Chapter("When some are not in the data", intro, sections=(section,))


def _open_chart(open_set: OpenSet) -> Lines:
    """Return a chart of precision and recall against the threshold."""
    series = {
        "right among the named": {t: p for t, p, _ in open_set.curve if p is not None},
        "named among those present": {t: r for t, _, r in open_set.curve if r is not None},
    }
    kept = {name: points for name, points in series.items() if points}
    return lines(Axis("probability asked for"), Axis("share", percent=True, low=0, high=1), kept)


def _account(result: Identification) -> tuple[str, ...]:
    intake = result.intake
    return (
        f"Took in {plural(intake.n_rows, 'mention')}; {count(intake.n_repeated)} repeated, "
        f"{count(intake.n_unknown_items)} of items that nobody rated, {count(intake.n_unknown_users)} targets not in "
        f"the ratings, {count(intake.n_without)} users who mention nothing.",
        "Ranked all candidates for every target by each algorithm, in logarithms; ties count as expected.",
        "Fitted the probabilities of the likelihood ratio on one half of the targets for the other, and all that the "
        "panel learned on four fifths for the last.",
    )
