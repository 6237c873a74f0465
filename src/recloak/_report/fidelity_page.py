"""The page of ``recloak evaluate --fidelity``: two leaderboards side by side, and the statistics as small charts."""

from dataclasses import replace
from typing import Any

from recloak._evaluation.fidelity.model import Agreement, Fidelity, Statistic
from recloak._report.charts import Axis, Chart, Panels, ScatterPanel, Slope, Slopes, bars
from recloak._report.formats import count, decimals
from recloak._report.page import Account, Better, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

_CONTESTS: dict[str, tuple[str, Better]] = {"rmse": ("predicted ratings (RMSE)", "lower"),
                                            "ndcg": ("rankings (nDCG@10)", "higher")}  # fmt: skip
_LOGARITHMIC = ("popularity", "activity", "top pairs", "lift")
_IN_PANELS = ("popularity", "item mean", "item variance", "activity", "top pairs", "lift")


def fidelity_page(found: Fidelity, manifest: dict[str, Any], *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of a fidelity measurement."""
    return Page(
        title="Can a contest be held on this release?",
        subtitle=f"{source}, {manifest.get('mode', 'unknown')} release with k = {manifest.get('k', '?')}",
        verdict=fidelity_verdict(found),
        facts=fidelity_facts(found),
        chapters=fidelity_chapters(found),
        account=Account(fidelity_account(found), provenance),
    )


def fidelity_verdict(found: Fidelity) -> PageVerdict:
    """Return the verdict as the top of a page shows it."""
    known = [one for _, _, one in found.agreements()]
    if not known or any(one is None for one in known):
        return PageVerdict("caution", "Not measured", found.verdict)
    if not all(one.finds_winner for one in known if one is not None):
        return PageVerdict("alert", "Misleading", found.verdict)
    kept = all(one.keeps_order for one in known if one is not None)
    return PageVerdict("good" if kept else "caution", "Faithful" if kept else "Half faithful", found.verdict)


def fidelity_facts(found: Fidelity) -> tuple[Fact, ...]:
    """Return Kendall's tau of every protocol and contest."""
    return tuple(
        Fact(f"{protocol}: {contest} order", "–" if one is None else f"{one.tau:.2f}", _noise(one))
        for protocol, contest, one in found.agreements()
    )


def _noise(one: Agreement | None) -> str:
    if one is None:
        return "not measured"
    noise = "noise not measured" if one.tau_noise is None else f"original with itself {one.tau_noise:.2f}"
    return f"Kendall's tau; {noise}"


def leaderboard_chapters(found: Fidelity) -> tuple[Chapter, ...]:
    """Return the leaderboards as chapters of another page, which begin with the verdict on them."""
    first, *rest = fidelity_chapters(found)[:-1]
    return replace(first, verdict=fidelity_verdict(found)), *rest


def fidelity_chapters(found: Fidelity) -> tuple[Chapter, ...]:
    """Return the chapters: the outsider's protocol, the owner's, and the statistics."""
    chapters = [_protocol("A. Whoever downloads it splits the release", _OUTSIDER, "A", found)]
    if found.owner is not None:
        chapters.append(_protocol("B. The owner scores a hidden probe", _OWNER, "B", found))
    return (*chapters, Chapter("Statistics", _STATISTICS, sections=_statistics(found)))


_OUTSIDER = (
    "A tenth of the cells is held out at random, algorithms are trained on the rest and scored on what was held out; "
    "the same is done with the original data. Equal rows count once, so that no copy puts an answer into training."
)
_OWNER = (
    "Ratings were held out before publishing. Algorithms trained on the release, and on the original, predict them; a "
    "person is served by the row or rows of the own group."
)
_STATISTICS = "What people ask of ratings besides predictions. A released row counts once for every person behind it."


def _protocol(heading: str, intro: str, protocol: str, found: Fidelity) -> Chapter:
    boards = ((contest, one) for name, contest, one in found.agreements() if name == protocol)
    return Chapter(heading, intro, sections=tuple(_board(*board) for board in boards))


def _board(contest: str, one: Agreement | None) -> Section:
    title, better = _CONTESTS[contest]
    if one is None:
        return Section(f"Leaderboards: {title}", "Not measured: nothing could be scored on one of the sides.")
    entries = tuple(Slope(entry.name, entry.original, entry.release, entry.name == one.winner) for entry in one.entries)
    chart = Slopes("original", "release", entries, smaller_first=better == "lower")
    loss = f"{one.winner} wins on the release" + (
        " and on the original." if one.winner == one.best
        else f" and loses {one.regret:.1f} % on the original, where {one.best} is best."
    )  # fmt: skip
    noise = "" if one.tau_noise is None else f"; splits of the original among each other reach {one.tau_noise:.2f}"
    meaning = f"{loss} Kendall's tau of the two orders is {one.tau:.2f}{noise}. Parallel lines mean a faithful release."
    rows = tuple((entry.name, decimals(entry.original), decimals(entry.release)) for entry in one.entries)
    return Section(f"Leaderboards: {title}", meaning, better, chart, Table(("Algorithm", "Original", "Release"), rows))


def _statistics(found: Fidelity) -> tuple[Section, ...]:
    panels = tuple(
        ScatterPanel(name, found.statistics[name].points, log=name in _LOGARITHMIC)
        for name in _IN_PANELS
        if name in found.statistics and found.statistics[name].points
    )
    rows = tuple(_statistic_row(name, one) for name, one in found.statistics.items())
    table = Table(
        ("Statistic", "Error measured as", "Error", "Rank correlation", "Release / original"), rows, n_labels=2
    )
    meaning = (
        "Every point is an item, a pair of items, or for activity a quantile of people; on the dashed line both agree."
    )
    chart: Chart | None = Panels("original", "release", panels) if panels else None
    counted = Section("What can still be counted", meaning, "neither", chart, table)
    return (counted, _histogram(found)) if "histogram" in found.statistics else (counted,)


def _statistic_row(name: str, one: Statistic) -> tuple[str, ...]:
    numbers = ("–" if value is None else f"{value:.3f}" for value in (one.error, one.rank, one.ratio))
    return (name, one.meaning, *numbers)


def _histogram(found: Fidelity) -> Section:
    points = found.statistics["histogram"].points
    shares = {"release": [there for _, there in points], "original data": [here for here, _ in points]}
    steps = [str(n) for n in range(1, len(points) + 1)]
    chart = bars(Axis("step of the scale"), Axis("share of the ratings", percent=True, low=0), steps, shares)
    return Section("Histogram of the ratings", "The share of the ratings on each step of the scale.", "neither", chart)


def fidelity_account(found: Fidelity) -> tuple[str, ...]:
    n = len(next(one.entries for _, _, one in found.agreements() if one is not None)) if found.to_polars().height else 0
    steps = [
        f"Compared {count(found.n_people)} people and {count(found.n_items)} items on both sides.",
        f"Split original and release {found.splits} times; trained {n} algorithms for ratings and as many for rankings "
        "on each, and scored them.",
        "Compared the orders by Kendall's tau over all pairs of splits, and splits of the original with each other.",
    ]
    if found.owner is not None:
        steps.append("Trained the same on the whole original and the whole release, and scored the hidden probe.")
    return (*steps, "Compared eight statistics.")
