"""The page of ``recloak reproduce predictive``: tables 1 to 3 and figures 3 to 5 of paper 002 beside ours."""

from collections.abc import Mapping, Sequence

from recloak._evaluation.model import Accuracy
from recloak._evaluation.predictive_experiments import PredictiveReproduction
from recloak._report.charts import Axis, Bars, bars, quantile_curve
from recloak._report.evaluate_page import mean_of_bins, twentieths
from recloak._report.formats import count, decimals, percent
from recloak._report.page import Account, Chapter, Page, PageVerdict, Provenance, Section, Table

# What the paper prints for the Netflix Prize data (480,189 users, 17,770 films).
ORIGINAL = 0.951849
TARGET = {"padded 5": 0.95970, "padded 50": 0.95871, "simple 5": 2.36947, "simple 50": 2.3771}
SIMILAR = {"padded 50": 1.00563, "simple 50": 1.17525}
BEFORE = {"not rated": 0.9884, "1": 0.00053, "2": 0.00117, "3": 0.00334, "4": 0.00390, "5": 0.00267}
AFTER = {"1": 0.0079, "2": 0.1412, "3": 0.4671, "4": 0.3349, "5": 0.0489}
BINS = {"real": (50, 2000), "virtual": (200, 900)}


def predictive_page(result: PredictiveReproduction, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of the paper's tables and figures beside ours."""
    tables = (_table_1(result), _table_2(result), _table_3(result))
    figures = (_figure_3(result), _figure_4(result), _figure_5(result))
    return Page(
        title="Predictive Anonymization, repeated",
        subtitle=source,
        verdict=_verdict(result),
        chapters=(Chapter("The paper's tables", sections=tables), Chapter("The paper's figures", sections=figures)),
        account=Account(_account(result), provenance),
    )


def _padded(result: PredictiveReproduction) -> list[str]:
    return [name for name in result.releases if name.startswith("padded")]


def _verdict(result: PredictiveReproduction) -> PageVerdict:
    padded, original = _padded(result), result.original.rmse or 1.0
    cost = max((result.releases[name].target.rmse or 0.0) / original - 1 for name in padded)
    headline = (
        f"A padded release predicts a person's held-out ratings up to {percent(cost)} worse than the predictor itself; "
        f"in the paper it was {percent(0.95970 / ORIGINAL - 1)}."
    )
    covered = " and ".join(decimals(one.target.rmse) for name, one in result.releases.items() if name not in padded)
    text = (
        "The paper's 2.37 for simple anonymization is missing coverage rather than error: where a release has a cell "
        f"at all, its error here is {covered}."
    )
    word = "The order of the paper's table 1" if cost < 1 else "Not the paper's order"
    return PageVerdict("plain", word, headline, text)


def _label(name: str) -> str:
    kind, k = name.split()
    return f"{kind.capitalize()} anonymization, k = {k}"


def _short(name: str) -> str:
    """Return a name short enough for the foot of a bar."""
    kind, k = name.split()
    return f"{kind}, {k}"


def _cells(one: Accuracy, as_in_paper: float | None) -> tuple[str, str, str]:
    return (decimals(as_in_paper), decimals(one.rmse), percent(one.coverage))


def _table_1(result: PredictiveReproduction) -> Section:
    meaning = (
        "Target deviation: a held-out rating is predicted by the released profile of the person's own group. Ours "
        "differs because the data is another, and because our groups lose less; a missing cell counts as 0 in the "
        "paper, which is why simple anonymization looks useless there."
    )
    head = ("Experiment", "Paper", "Ours, counted as in the paper", "Ours, what is covered", "Covered")
    original = ("Original data (the predictor itself)", decimals(ORIGINAL))
    rows = [(*original, *_cells(result.original, result.original.rmse))]
    for name, one in result.releases.items():
        rows.append((_label(name), decimals(TARGET.get(name)), *_cells(one.target, one.as_in_paper)))
    return Section("Table 1: target deviation", meaning, "lower", _deviations(result), Table(head, tuple(rows)))


def _deviations(result: PredictiveReproduction) -> Bars:
    """Return bars of the paper's target deviations beside ours, both counted as in the paper."""
    known = [name for name in result.releases if name in TARGET]
    ours = [result.releases[name].as_in_paper or 0.0 for name in known]
    sides = {"ours": [result.original.rmse or 0.0, *ours], "paper": [ORIGINAL, *(TARGET[name] for name in known)]}
    return bars(Axis("experiment"), Axis("RMSE", low=0), ["original", *(_short(name) for name in known)], sides)


def _table_2(result: PredictiveReproduction) -> Section:
    before, after = result.histogram["before"], result.histogram["after"]
    rows = tuple(
        (place, _share(BEFORE, place), _share(before, place), _share(AFTER, place), _share(after, place))
        for place in ("not rated", *after)
    )
    places, rated = list(after), 1 - before["not rated"]
    shares = {
        "after padding": [after[place] for place in places],
        "before, of what is rated": [before.get(place, 0.0) / rated for place in places],
        **_shares_of_the_paper(places),
    }
    chart = bars(Axis("rating"), Axis("share of the ratings", percent=True, low=0), places, shares)
    meaning = (
        "Padding fills every cell, mostly with middling predictions, for people mostly rate what they like. The "
        "paper's matrix is emptier than ours, so its share of cells not rated is larger."
    )
    head = ("Rating", "Paper, before", "Ours, before", "Paper, after", "Ours, after")
    return Section("Table 2: histogram before and after padding", meaning, "neither", chart, Table(head, rows))


def _shares_of_the_paper(places: list[str]) -> dict[str, list[float]]:
    """Return the paper's two series, where the ratings are those of the paper, 1 to 5."""
    if not set(places) <= AFTER.keys():
        return {}
    rated = 1 - BEFORE["not rated"]
    return {
        "after, paper": [AFTER[place] for place in places],
        "before, paper": [BEFORE[place] / rated for place in places],
    }


def _share(values: Mapping[str, float], place: str) -> str:
    return percent(values[place]) if place in values else "–"


def _table_3(result: PredictiveReproduction) -> Section:
    rows = tuple(
        (_label(name), decimals(SIMILAR.get(name)), decimals(one.similar.rmse), percent(one.similar.coverage))
        for name, one in result.releases.items()
    )
    meaning = (
        "Similar-user deviation: a held-out rating is predicted by the released profile most similar to the person. "
        "The paper does not say how it scored what that profile lacks; ours leaves it out and gives the coverage."
    )
    table = Table(("Experiment", "Paper", "Ours", "Covered"), rows)
    return Section("Table 3: similar-user deviation", meaning, "lower", table=table)


def _figure_3(result: PredictiveReproduction) -> Section:
    curves = {f"{name} centres": _quantiles(sizes) for name, sizes in result.bins.items()}
    chart = quantile_curve(Axis("percentile of the bins", low=0, high=100), Axis("users in a bin"), curves)
    rows = tuple(
        (f"{name} centres", f"{low:,} to {high:,}", f"{count(result.bins[name][0])} to {count(result.bins[name][-1])}")
        for name, (low, high) in BINS.items()
    )
    meaning = (
        "Everyone goes to the bin of the nearest centre. In the paper virtual centres, the means of groups, gave more "
        "even bins than real users did; its bins are larger, for it had 480,189 users."
    )
    table = Table(("Centres", "Paper", "Ours"), rows)
    return Section("Figure 3: bin sizes, real and virtual centres", meaning, "neither", chart, table)


def _quantiles(sizes: Sequence[int]) -> list[tuple[float, float]]:
    return [(100 * place / max(len(sizes) - 1, 1), float(size)) for place, size in enumerate(sizes)]


def _figure_4(result: PredictiveReproduction) -> Section:
    squared = {name: metrics["weighted-squared"] for name, metrics in result.pairs.items()}
    curves = {name: [((n + 0.5) / len(bins), share) for n, share in enumerate(bins)] for name, bins in squared.items()}
    x, y = Axis("distance, 0 equal and 1 opposite", low=0, high=1), Axis("pairs of users", percent=True, low=0)
    chart = quantile_curve(x, y, curves)
    rows = tuple(
        (metric, *(f"{mean_of_bins(metrics[metric]):.3f}" for metrics in result.pairs.values()))
        for metric in next(iter(result.pairs.values()))
    )
    meaning = (
        "Distances of pairs of padded rows by the paper's weighted-squared metric; the table has the mean of all four. "
        "Inside a bin and inside a group people are more alike, as in the paper. Closeness-1.0 is near 0 for nearly "
        "all pairs, so it can tell nobody apart, as the paper says."
    )
    table = Table(("Metric, mean distance", *result.pairs), rows)
    return Section("Figure 4: how alike users are", meaning, "neither", chart, table)


def _figure_5(result: PredictiveReproduction) -> Section:
    shown = {_label(name): one for name, one in result.releases.items()}
    values = {name: one.self_rank.shares[:6] for name, one in shown.items()}
    x, y = Axis("rank of the own group among all"), Axis("users", percent=True, low=0, high=1)
    chart = bars(x, y, twentieths()[:6], values)
    rows = tuple(
        (name, *map(percent, (one.self_rank.first, sum(one.self_rank.shares[:1]), sum(one.self_rank.shares[:2]))))
        for name, one in shown.items()
    )
    meaning = (
        "Self-rank: where a person's own group stands among all groups by similarity. Most stand near the top, as the "
        "paper says (its figure is lost). It is usefulness to the paper and a risk to the person."
    )
    table = Table(("Release", "First", "Within 5 %", "Within 10 %"), rows)
    return Section("Figure 5: self-rank", meaning, "neither", chart, table)


def _account(result: PredictiveReproduction) -> tuple[str, ...]:
    n_users = next(iter(result.releases.values())).self_rank.n_users
    return (
        f"Held out {count(result.original.n)} ratings as the challenge set.",
        "Padded the rest by a regularised factorisation, and grouped the users for each k.",
        "Made padded and simple releases by the paper's literal labels, wrote and verified them, and read them back.",
        f"Ranked all profiles for {count(n_users)} users by the paper's distance over what they rated.",
    )
