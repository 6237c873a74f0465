"""The page of ``recloak frontier``: risk against usefulness, one chart, and a recommendation in words."""

from __future__ import annotations

from recloak._attacks.scoreboard import SCOREBOARD
from recloak._evaluation.frontier import Frontier, FrontierPoint
from recloak._evaluation.options import FrontierOptions
from recloak._report.charts import Axis, Lines, Series
from recloak._report.charts import ChartPoint as Mark
from recloak._report.formats import count, k_is, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table


def frontier_page(
    found: Frontier, options: FrontierOptions, *, source: str, provenance: tuple[tuple[str, str], ...] = ()
) -> Page:
    """Put a frontier onto one page."""
    return Page(
        title="How safe, at what price?",
        subtitle=source,
        verdict=frontier_verdict(found),
        facts=_facts(found, options),
        chapters=(Chapter("Risk against usefulness", sections=(_chart_section(found), _links_section(found))),),
        account=Account(_account(found, options), provenance),
    )


def frontier_verdict(found: Frontier) -> PageVerdict:
    """Say the range of the choice, and what comes nearest to the original without costing more than a few percent."""
    useful = [point for point in found.points if _beats(point, found)]
    text = (
        f"In the original data {percent(found.original.named.rate)} of the people are named, and a recommender errs by "
        f"{_rmse(found.original)}; the mean of each item errs by {found.item_mean.rmse or 0:.4f}."
    )
    if not useful:
        return PageVerdict(
            "alert", "No useful release", "None of these releases predicts better than item means.", text
        )
    safest = min(useful, key=lambda point: (point.named.high, point.trained.rmse or 0.0))
    headline = (
        f"The safest release that still predicts better than item means is {safest.mode} with {k_is(safest.k)}: "
        f"it names {percent(safest.named.rate)} and errs by {_rmse(safest)}."
    )
    return PageVerdict("plain", "Your choice", headline, text)


def _beats(point: FrontierPoint, found: Frontier) -> bool:
    return (point.trained.rmse or 9e9) < (found.item_mean.rmse or 0.0)


def _facts(found: Frontier, options: FrontierOptions) -> tuple[Fact, ...]:
    return (
        Fact("Releases", count(len(found.points)), "published, attacked and evaluated"),
        Fact("Attacker knows", plural(options.known, "rating"), f"of {count(found.original.named.n)} targets each"),
        Fact("Held out", count(found.original.trained.n), f"ratings, {percent(options.holdout)}"),
    )


def _chart_section(found: Frontier) -> Section:
    meaning = (
        "Each mark is a release; along a line k grows from right to left as people are hidden better. To the left is "
        "safer, further down is more useful: the best corner is the lower left. "
        f"{SCOREBOARD.short} names a person by the known ratings; the error is that of a factorisation trained on the "
        "release. A release above the line of the item means is useless for prediction."
    )
    return Section("Which release?", meaning, "lower", _chart(found), _table(found))


def _chart(found: Frontier) -> Lines:
    series = [Series(mode, _marks([p for p in found.points if p.mode == mode])) for mode in _modes(found)]
    original = Series("original data", _marks([found.original]))
    risks = [mark.x for one in (*series, original) for mark in one.points]
    trivial = found.item_mean.rmse or 0.0
    guess = Series("mean of each item", (Mark(min(risks), trivial), Mark(max(risks), trivial)))
    x = Axis("people named by the attacker", percent=True, log=True)
    return Lines(x, _error_axis(found), (*series, original, guess))


def _error_axis(found: Frontier) -> Axis:
    """Show the errors that occur, not the way down to 0: nobody errs by nothing."""
    errors = [found.item_mean.rmse or 0.0, *(p.trained.rmse or 0.0 for p in (found.original, *found.points))]
    room = max(0.15 * (max(errors) - min(errors)), 0.005)
    return Axis(
        "error of a recommender (RMSE; the axis does not start at 0)", low=min(errors) - room, high=max(errors) + room
    )


def _modes(found: Frontier) -> list[str]:
    return list(dict.fromkeys(point.mode for point in found.points))


def _marks(points: list[FrontierPoint]) -> tuple[Mark, ...]:
    """Place points by risk; a risk of nothing stands at one over twice the targets, for the axis is logarithmic."""
    placed = sorted((max(point.named.rate, 0.5 / point.named.n), point.trained.rmse or 0.0) for point in points)
    return tuple(Mark(x, y) for x, y in placed)


def _table(found: Frontier) -> Table:
    head = ("Release", "k", "Named", "Right group named", "RMSE trained on it", "RMSE of the own profile", "Covered")
    rows = tuple(
        (
            point.mode,
            str(point.k),
            with_interval(point.named),
            "–" if point.group is None else with_interval(point.group),
            _rmse(point),
            "–" if point.own.rmse is None else f"{point.own.rmse:.4f}",
            percent(point.own.coverage),
        )
        for point in (found.original, *found.points)
    )
    return Table(head, rows)


def _links_section(found: Frontier) -> Section:
    known = tuple(sorted({float(point.k) for point in found.points}))
    series = tuple(
        Series(mode, tuple(Mark(p.k, p.bets.rate, p.bets.low, p.bets.high) for p in found.points if p.mode == mode))
        for mode in _modes(found)
    )
    guess = Series("betting on the most popular", tuple(Mark(k, found.original.popular) for k in known))
    chart = Lines(Axis("k", log=True, ticks=known), Axis("bets won", percent=True, low=0, high=1), (*series, guess))
    meaning = (
        "Who knows a person's group bets on ten items that the person rated. The nearer to betting on the most popular "
        "items, the less a release tells about its members."
    )
    rows = tuple((point.mode, str(point.k), with_interval(point.bets)) for point in found.points)
    return Section(
        "What a group tells about its members", meaning, "lower", chart, Table(("Release", "k", "Bets won"), rows)
    )


def _rmse(point: FrontierPoint) -> str:
    return "–" if point.trained.rmse is None else f"{point.trained.rmse:.4f}"


def _account(found: Frontier, options: FrontierOptions) -> tuple[str, ...]:
    made = ", ".join(f"{point.mode} {k_is(point.k)}" for point in found.points)
    return (
        f"Held out {percent(options.holdout)} of the ratings, the same for every release.",
        f"Published the rest in {plural(len(found.points), 'way')}: {made}; each release was verified and read back.",
        f"Attacked each with {SCOREBOARD.short}, {plural(options.known, 'rating')} known of each target, and by bets "
        "on what the targets rated, their group being known.",
        "Trained a factorisation on each release and on the original data, and scored it on the held-out ratings.",
    )
