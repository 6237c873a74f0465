"""The page of ``recloak frontier``: risk against usefulness, one chart, and a recommendation in words."""

from recloak._attacks.frontier_risks import MEASURES, Measure
from recloak._attacks.model import PERSONAL_RISKS
from recloak._attacks.scoreboard import SCOREBOARD
from recloak._core.intervals import Share
from recloak._evaluation.fidelity.model import Agreement
from recloak._evaluation.frontier import Frontier, FrontierPoint
from recloak._evaluation.options import FrontierOptions
from recloak._ratings.value_kinds import VALUE_KINDS
from recloak._report.charts import Axis, ChartPoint, Lines, Series, lines
from recloak._report.formats import count, decimals, k_equals, percent, plural, with_interval
from recloak._report.frontier_usefulness import ERRORS, Usefulness, usefulness_of
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
    theorem = () if frontier.popularity is not None else (_theorem_section(frontier),)
    boards = (_boards_section(frontier),) if any(point.boards for point in frontier.points) else ()
    return _chart_section(frontier), *theorem, _risks_section(frontier), _links_section(frontier), *boards


def frontier_verdict(frontier: Frontier) -> PageVerdict:
    """Return the verdict: the safest release that is still more useful than what needs no release."""
    way, safest = usefulness_of(frontier), recommended(frontier)
    text = (
        f"In the original data the attacker names {percent(frontier.original.named.rate)} of the people, and a "
        f"recommender {way.of} {decimals(way.value(frontier.original))}"
        f"{' (RMSE)' if way is ERRORS else ''}. {_TRIVIAL[way.better]} {way.trivial_value(frontier):.4f}."
    )
    if safest is None:
        headline = f"None of these releases {way.verb} better than {way.trivial}."
        return PageVerdict("alert", "No useful release", headline, text)
    headline = (
        f"The safest release that still {way.verb} better than {way.trivial} is {safest.mode} with "
        f"{k_equals(safest.k)}: the attacker names {percent(safest.named.rate)}, and a recommender trained on it "
        f"{way.of} {decimals(way.value(safest))}."
    )
    return PageVerdict("plain", "Your choice", headline, text)


_TRIVIAL = {"lower": "Predicting each item's mean has an error of", "higher": "Popularity alone reaches"}


def recommended(frontier: Frontier) -> FrontierPoint | None:
    """Return the safest release that is still more useful than what needs no release, None if there is none."""
    way = usefulness_of(frontier)
    useful = [point for point in frontier.points if way.beats(point, frontier)]
    return min(useful, key=lambda point: (point.named.high, way.order(point)), default=None)


def _facts(frontier: Frontier, options: FrontierOptions) -> tuple[Fact, ...]:
    n_held_out = max(point.own.n for point in (frontier.original, *frontier.points))
    nouns = VALUE_KINDS[frontier.values].nouns
    return (
        Fact("Releases", count(len(frontier.points)), "published, attacked and evaluated"),
        Fact("Attacker knows", plural(options.known, "item"), f"of {count(frontier.original.named.n)} targets each"),
        Fact("Held out", count(n_held_out), f"{nouns}, {percent(options.holdout)}"),
    )


def _chart_section(frontier: Frontier) -> Section:
    way = usefulness_of(frontier)
    side = "below" if way.better == "lower" else "above"
    meaning = (
        "Each mark is a release, labelled with its k, and once on each line with the mode; point at one, or move to "
        f"it with the Tab key, to read its values. Further left is safer, further {way.direction} is more useful. The "
        f"risk is how often {SCOREBOARD.short} names a person from the known items. {way.meaning} The star marks the "
        f"safest release {side} that line."
    )
    return Section("Which release?", meaning, way.better, _chart(frontier), _table(frontier))


def _chart(frontier: Frontier) -> Lines:
    best, way = recommended(frontier), usefulness_of(frontier)
    modes = {mode: [p for p in frontier.points if p.mode == mode] for mode in _modes(frontier)}
    series = [Series(mode, _marks(points, best, way)) for mode, points in modes.items()]
    series = [one for one in (*series, Series("original data", _marks([frontier.original], None, way))) if one.points]
    risks = [mark.x for one in series for mark in one.points] or [1.0]
    trivial = way.trivial_value(frontier)
    guess = Series(way.trivial_line, (ChartPoint(min(risks), trivial), ChartPoint(max(risks), trivial)))
    y = way.axis_over([trivial, *(mark.y for one in series for mark in one.points)])
    return Lines(Axis("people named by the attacker", percent=True, log=True), y, (*series, guess))


def _modes(frontier: Frontier) -> list[str]:
    return list(dict.fromkeys(point.mode for point in frontier.points))


def _marks(points: list[FrontierPoint], best: FrontierPoint | None, way: Usefulness) -> tuple[ChartPoint, ...]:
    """Sort points by risk; on the logarithmic axis a risk of 0 is drawn at one over twice the number of targets."""
    placed = sorted(points, key=lambda point: (_place(point), way.order(point)))
    largest = max(point.k for point in points)
    return tuple(
        ChartPoint(_place(one), value, label=_label(one, one.k == largest, best), note=_note(one, way))
        for one in placed
        if (value := way.value(one)) is not None
    )


def _place(point: FrontierPoint) -> float:
    return max(point.named.rate, 0.5 / point.named.n)


def _label(point: FrontierPoint, is_named: bool, best: FrontierPoint | None) -> str:
    """Return k, once on every line with the mode, and a star at the recommended release."""
    if point.mode == "original":
        return point.mode
    return f"{'★ ' if point == best else ''}{f'{point.mode} ' if is_named else ''}{point.k}"


def _note(point: FrontierPoint, way: Usefulness) -> str:
    k = "" if point.mode == "original" else f" k={point.k}"
    return f"{point.mode}{k}: {percent(point.named.rate)} named, {way.figure} {way.told(point)}"


def _table(frontier: Frontier) -> Table:
    way = usefulness_of(frontier)
    own = ("RMSE of the own profile", "Covered") if way is ERRORS else ("Held-out uses in the own row",)
    head = ("Release", "k", "Named", "Right group named", f"{way.figure} trained on it", *own)
    return Table(head, tuple(_row(point, way) for point in (frontier.original, *frontier.points)))


def _row(point: FrontierPoint, way: Usefulness) -> tuple[str, ...]:
    shares = map(with_interval, (point.named, point.group))
    own = (decimals(point.own.rmse),) if way is ERRORS else ()
    covered = percent(point.own.coverage) if point.own.n else "–"
    return (point.mode, str(point.k), *shares, way.told(point), *own, covered)


def _boards_section(frontier: Frontier) -> Section:
    """Say of every release whether who compares algorithms on it reaches the conclusions of the original."""
    names = list(dict.fromkeys(name for point in frontier.points for name in point.boards))
    meaning = (
        "Five algorithms for each contest are trained on the release and on the original data. A: whoever downloads "
        "the release splits it; B: the owner scores what was held out. Kendall's tau says how far the two orders "
        "agree (1: equal; beside it, what the original agrees with itself on another split), and the loss is what "
        "the winner on the release loses on the original. recloak evaluate --fidelity measures it in full."
    )
    head = ("Release", "k", *(f"{name.split()[0]}: {name.split()[1]}" for name in names))
    rows = tuple(
        (point.mode, str(point.k), *(_board(point.boards.get(name)) for name in names)) for point in frontier.points
    )
    return Section("Who wins on the release wins on the original?", meaning, "higher", None, Table(head, rows))


def _board(one: Agreement | None) -> str:
    if one is None:
        return _NOTHING
    noise = "" if one.tau_noise is None else f" (itself {one.tau_noise:.2f})"
    return f"tau {one.tau:.2f}{noise}, loss {one.regret:.1f} %"


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
    y = ERRORS.axis_over([mark.y for one in shown for mark in one.points])
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
    names = [name for name in MEASURES if any(name in point.measures for point in frontier.points)]
    meanings = "; ".join(f"{MEASURES[name].title.lower()}: {MEASURES[name].meaning}" for name in names)
    text = f"What the attackers of an audit reach on each release, with 95 % intervals and the baseline. {meanings}."
    head = ("Release", "k", *(MEASURES[name].title for name in names))
    rows = tuple(
        (point.mode, str(point.k), *(_measure(point.measures.get(name)) for name in names)) for point in frontier.points
    )
    return Section("What else is told?", text, "lower", None, Table(head, rows))


def _measure(one: Measure | None) -> str:
    """Return a measure with its interval and baseline; what was not measured says so."""
    if one is not None and not one.is_applicable:
        return "not applicable"
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
    n_releases, nouns = plural(len(frontier.points), "way"), VALUE_KINDS[frontier.values].nouns
    steps = (
        f"Held out {percent(options.holdout)} of the {nouns}, the same for every release.",
        f"Published the rest in {n_releases}: {points}; each release was verified and read back.",
        f"Attacked each with {SCOREBOARD.short}, {plural(options.known, 'item')} known of each target, and by bets "
        "on what the targets have, their group being known.",
    )
    if frontier.popularity is None:
        trained = (
            "Trained a factorisation on each release and on the original data, and scored it on the held-out ratings."
        )
        return *steps, trained
    return (
        *steps,
        "Trained recommenders on each release and on the original data, and ranked what their people used next.",
        f"The source holds {frontier.values}: errors of ratings, and ratings with noise as a baseline, are not "
        "applicable.",
    )
