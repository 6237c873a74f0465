"""The page of ``recloak frontier``: risk against usefulness, one chart, and a recommendation in words."""

from recloak._attacks.frontier_risks import MEASURES, Measure
from recloak._attacks.model import PERSONAL_RISKS
from recloak._attacks.scoreboard import SCOREBOARD
from recloak._core.intervals import Share
from recloak._evaluation.frontier import Frontier, FrontierPoint
from recloak._evaluation.options import FrontierOptions
from recloak._report.charts import Axis, ChartPoint, Lines, Series, lines
from recloak._report.formats import count, decimals, k_equals, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

_NOTHING = "not measured"

MEMBERSHIP = PERSONAL_RISKS[0]


def frontier_page(frontier: Frontier, options: FrontierOptions, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of a frontier."""
    return Page(
        title="How safe, at what price?",
        subtitle=source,
        verdict=frontier_verdict(frontier),
        facts=_facts(frontier, options),
        chapters=(Chapter("Risk against usefulness", sections=_sections(frontier)),),
        account=Account(_account(frontier, options), provenance),
    )


def _sections(frontier: Frontier) -> tuple[Section, ...]:
    return _chart_section(frontier), _theorem_section(frontier), _risks_section(frontier), _links_section(frontier)


def frontier_verdict(frontier: Frontier) -> PageVerdict:
    """Return the verdict: the safest release that still predicts better than item means."""
    useful = [point for point in frontier.points if _beats(point, frontier)]
    text = (
        f"In the original data the attacker names {percent(frontier.original.named.rate)} of the people, and a "
        f"recommender has an error of {decimals(frontier.original.trained.rmse)} (RMSE). Predicting each item's mean "
        f"has an error of {frontier.item_mean.rmse or 0:.4f}."
    )
    if not useful:
        headline = "None of these releases predicts better than item means."
        return PageVerdict("alert", "No useful release", headline, text)
    safest = recommended(frontier)
    assert safest is not None
    headline = (
        f"The safest release that still predicts better than item means is {safest.mode} with {k_equals(safest.k)}: "
        f"the attacker names {percent(safest.named.rate)}, and a recommender trained on it has an error of "
        f"{decimals(safest.trained.rmse)}."
    )
    return PageVerdict("plain", "Your choice", headline, text)


def recommended(frontier: Frontier) -> FrontierPoint | None:
    """Return the safest release that still predicts better than item means, None if there is none."""
    useful = [point for point in frontier.points if _beats(point, frontier)]
    return min(useful, key=lambda point: (point.named.high, point.trained.rmse or 0.0), default=None)


def _beats(point: FrontierPoint, frontier: Frontier) -> bool:
    return (point.trained.rmse or 9e9) < (frontier.item_mean.rmse or 0.0)


def _facts(frontier: Frontier, options: FrontierOptions) -> tuple[Fact, ...]:
    return (
        Fact("Releases", count(len(frontier.points)), "published, attacked and evaluated"),
        Fact("Attacker knows", plural(options.known, "rating"), f"of {count(frontier.original.named.n)} targets each"),
        Fact("Held out", count(frontier.original.trained.n), f"ratings, {percent(options.holdout)}"),
    )


def _chart_section(frontier: Frontier) -> Section:
    meaning = (
        "Each mark is a release, labelled with its k, and once on each line with the mode; point at one, or move to "
        "it with the Tab key, to read its values. Further left is safer, further down is more useful. The risk is how "
        f"often {SCOREBOARD.short} names a person from the known ratings. The error is that of a factorisation trained "
        "on the release; above the line of the item means a release is useless for prediction. The star marks the "
        "safest release below that line."
    )
    return Section("Which release?", meaning, "lower", _chart(frontier), _table(frontier))


def _chart(frontier: Frontier) -> Lines:
    best = recommended(frontier)
    series = [Series(mode, _marks([p for p in frontier.points if p.mode == mode], best)) for mode in _modes(frontier)]
    original = Series("original data", _marks([frontier.original], None))
    risks = [mark.x for one in (*series, original) for mark in one.points]
    trivial = frontier.item_mean.rmse or 0.0
    guess = Series("mean of each item", (ChartPoint(min(risks), trivial), ChartPoint(max(risks), trivial)))
    x = Axis("people named by the attacker", percent=True, log=True)
    return Lines(x, _error_axis(frontier), (*series, original, guess))


def _error_axis(frontier: Frontier) -> Axis:
    """Return an axis over the errors that occur, which does not reach down to 0."""
    errors = [frontier.item_mean.rmse or 0.0, *(p.trained.rmse or 0.0 for p in (frontier.original, *frontier.points))]
    return _axis_over(errors)


def _axis_over(errors: list[float]) -> Axis:
    room = max(0.15 * (max(errors) - min(errors)), 0.005)
    label = "error of a recommender (RMSE; the axis does not start at 0)"
    return Axis(label, low=min(errors) - room, high=max(errors) + room)


def _modes(frontier: Frontier) -> list[str]:
    return list(dict.fromkeys(point.mode for point in frontier.points))


def _marks(points: list[FrontierPoint], best: FrontierPoint | None) -> tuple[ChartPoint, ...]:
    """Sort points by risk; on the logarithmic axis a risk of 0 is drawn at one over twice the number of targets."""
    placed = sorted(points, key=lambda point: (_place(point), point.trained.rmse or 0.0))
    largest = max(point.k for point in points)
    return tuple(
        ChartPoint(_place(one), one.trained.rmse or 0.0, label=_label(one, one.k == largest, best), note=_note(one))
        for one in placed
    )


def _place(point: FrontierPoint) -> float:
    return max(point.named.rate, 0.5 / point.named.n)


def _label(point: FrontierPoint, is_named: bool, best: FrontierPoint | None) -> str:
    """Return k, once on every line with the mode, and a star at the recommended release."""
    if point.mode == "original":
        return point.mode
    return f"{'★ ' if point == best else ''}{f'{point.mode} ' if is_named else ''}{point.k}"


def _note(point: FrontierPoint) -> str:
    k = "" if point.mode == "original" else f" k={point.k}"
    return f"{point.mode}{k}: {percent(point.named.rate)} named, RMSE {decimals(point.trained.rmse)}"


def _table(frontier: Frontier) -> Table:
    head = ("Release", "k", "Named", "Right group named", "RMSE trained on it", "RMSE of the own profile", "Covered")
    return Table(head, tuple(_row(point) for point in (frontier.original, *frontier.points)))


def _row(point: FrontierPoint) -> tuple[str, ...]:
    shares, errors = map(with_interval, (point.named, point.group)), map(decimals, (point.trained.rmse, point.own.rmse))
    return (point.mode, str(point.k), *shares, *errors, percent(point.own.coverage))


def _theorem_section(frontier: Frontier) -> Section:
    """Set the releases beside what differential privacy costs on the same ratings."""
    meaning = (
        "Someone who has all ratings of a person asks whether the person is in the data (0.5: a coin). Further down is "
        "more useful. No theorem bounds this for the releases; the table says what bounds the baselines. Of ratings "
        "with noise epsilon is about the value of one rating: who rated what is plain to see. Private item factors are "
        "trained on at most 40 ratings of each person and show nobody's row; better methods may lose less."
    )
    return Section("What would a theorem cost?", meaning, "lower", _theorem_chart(frontier), _theorem_table(frontier))


def _theorem_chart(frontier: Frontier) -> Lines | None:
    series = [
        Series(
            mode,
            _placed([(p.measures.get(MEMBERSHIP), p.trained.rmse) for p in frontier.points if p.mode == mode]),
        )
        for mode in _modes(frontier)
    ]
    for name in dict.fromkeys(one.name for one in frontier.privacy_baselines):
        some = [one for one in frontier.privacy_baselines if one.name == name]
        errors = [one.trained.rmse if one.trained else None for one in some]
        risks = [one.measures.get(MEMBERSHIP) for one in some]
        series.append(Series(name, _placed(list(zip(risks, errors, strict=True)))))
    shown = tuple(one for one in series if one.points)
    if not shown:
        return None
    y = _axis_over([mark.y for one in shown for mark in one.points])
    return Lines(Axis("members told from others (AUC)", low=0.45, high=1.0), y, shown)


def _placed(points: list[tuple[Measure | None, float | None]]) -> tuple[ChartPoint, ...]:
    """Return the marks of the points of which both figures were measured, sorted by risk."""
    found = [
        (one.value, error) for one, error in points if one is not None and one.value is not None and error is not None
    ]
    return tuple(ChartPoint(x, y) for x, y in sorted(found))


def _theorem_table(frontier: Frontier) -> Table:
    head = ("Baseline", "Epsilon", "About", "RMSE", "Membership (AUC)", "Right group, 8 known", "Right group, 16 known")
    rows = tuple(
        (
            one.name, f"{one.epsilon:g}" + (f", delta {one.delta:.1g}" if one.delta else ""), one.why or one.protects,
            decimals(one.trained.rmse) if one.trained else _NOTHING,
            *(_measure(one.measures.get(name)) for name in PERSONAL_RISKS),
        )
        for one in frontier.privacy_baselines
    )  # fmt: skip
    return Table(head, rows)


def _risks_section(frontier: Frontier) -> Section:
    meanings = "; ".join(f"{words.title.lower()}: {words.meaning}" for words in MEASURES.values())
    text = f"What the attackers of an audit reach on each release, with 95 % intervals and the baseline. {meanings}."
    head = ("Release", "k", *(words.title for words in MEASURES.values()))
    rows = tuple(
        (point.mode, str(point.k), *(_measure(point.measures.get(name)) for name in MEASURES))
        for point in frontier.points
    )
    return Section("What else is told?", text, "lower", None, Table(head, rows))


def _measure(one: Measure | None) -> str:
    """Return a measure with its interval and baseline; what was not measured says so."""
    if one is None or one.value is None or one.low is None or one.high is None:
        return _NOTHING
    beside = "" if one.baseline is None else f", baseline {one.baseline:.2f}"
    return f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f}{beside})"


def _links_section(frontier: Frontier) -> Section:
    known = tuple(sorted({float(point.k) for point in frontier.points}))
    curves: dict[str, dict[float, Share | float]] = {
        mode: {p.k: p.bets for p in frontier.points if p.mode == mode} for mode in _modes(frontier)
    }
    curves["betting on the most popular"] = dict.fromkeys(known, frontier.original.popular)
    chart = lines(Axis("k", log=True, ticks=known), Axis("bets won", percent=True, low=0, high=1), curves)
    meaning = (
        "Somebody who knows a person's group bets on ten items that the person rated. The closer this is to betting on "
        "the most popular items, the less the release reveals about its members."
    )
    rows = tuple((point.mode, str(point.k), with_interval(point.bets)) for point in frontier.points)
    table = Table(("Release", "k", "Bets won"), rows)
    return Section("What a group reveals about its members", meaning, "lower", chart, table)


def _account(frontier: Frontier, options: FrontierOptions) -> tuple[str, ...]:
    points = ", ".join(f"{point.mode} {k_equals(point.k)}" for point in frontier.points)
    n_releases = plural(len(frontier.points), "way")
    return (
        f"Held out {percent(options.holdout)} of the ratings, the same for every release.",
        f"Published the rest in {n_releases}: {points}; each release was verified and read back.",
        f"Attacked each with {SCOREBOARD.short}, {plural(options.known, 'rating')} known of each target, and by bets "
        "on what the targets rated, their group being known.",
        "Trained a factorisation on each release and on the original data, and scored it on the held-out ratings.",
    )
