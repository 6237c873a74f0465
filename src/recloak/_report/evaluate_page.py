"""The page of ``recloak evaluate``: what a release is still good for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recloak._evaluation.model import Accuracy, Evaluation, Scored
from recloak._evaluation.shape import METRICS
from recloak._report.charts import Axis, bars
from recloak._report.formats import count, percent
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table

ORIGINAL, RELEASE = "trained on the original data", "trained on the release"
CALLED = {
    "factorisation": "factorisation",
    "item-knn": "item neighbours",
    "bias": "bias model",
    "item-mean": "item mean",
    "popularity": "popularity",
}
_CHEAP = 0.05  # up to this growth of the error a release is called useful


def evaluate_page(
    found: Evaluation, manifest: dict[str, Any], *, source: str, provenance: tuple[tuple[str, str], ...] = ()
) -> Page:
    """Put an evaluation onto a page of its own."""
    return Page(
        title="What is this release good for?",
        subtitle=f"{source}, {manifest.get('mode', 'unknown')} release with k = {manifest.get('k', '?')}",
        verdict=evaluate_verdict(found),
        facts=evaluate_facts(found),
        chapters=(replace(evaluate_chapter(found), verdict=None),),  # it stands at the top of the page
        account=Account(evaluate_account(found), provenance),
    )


def price(found: Evaluation) -> float | None:
    """Give the relative growth of the factorisation's error when it is trained on the release."""
    sides = found.recommenders.get("factorisation", {})
    original, release = sides.get("original"), sides.get("release")
    if original is None or release is None or not original.accuracy.rmse or release.accuracy.rmse is None:
        return None
    return release.accuracy.rmse / original.accuracy.rmse - 1


def evaluate_verdict(found: Evaluation) -> PageVerdict:
    """Say what safety cost a recommender, and whether more than the trivial is left."""
    cost = price(found)
    trivial = found.baselines["item-mean"].accuracy.rmse
    if cost is None or trivial is None:
        return PageVerdict("caution", "Not measured", "No recommender could be scored on the held-out ratings.")
    trained = found.recommenders["factorisation"]["release"].accuracy.rmse
    assert trained is not None
    text = (
        f"On {count(found.target_deviation.n)} held-out ratings a factorisation trained on the release errs by "
        f"{trained:.4f} (root mean square, in units of the scale), the mean of each item alone by {trivial:.4f}. The "
        f"released profile of a person's own group speaks about {percent(found.target_deviation.coverage)} of them, "
        f"with an error of {_number(found.target_deviation.rmse)}."
    )
    if trained >= trivial:
        headline = "A recommender trained on the release predicts no better than the mean of each item."
        return PageVerdict("alert", "Useless for prediction", headline, text)
    headline = (
        f"Training a recommender on the release instead of the original data makes its error {percent(cost)} larger."
        if cost > 0
        else "A recommender trained on the release predicts as well as one trained on the original data."
    )
    return PageVerdict("good" if cost < _CHEAP else "caution", "Useful" if cost < _CHEAP else "Costly", headline, text)


def evaluate_facts(found: Evaluation) -> tuple[Fact, ...]:
    """Give the figures one looks for first."""
    target, similar = found.target_deviation, found.similar_user_deviation
    return (
        Fact("Target deviation", _number(target.rmse), f"{percent(target.coverage)} covered"),
        Fact("Similar-user deviation", _number(similar.rmse), f"{percent(similar.coverage)} covered"),
        Fact("Own profile nearest", percent(found.self_rank.first), f"of {count(found.self_rank.n_users)} users"),
        Fact("Held-out ratings", count(target.n), "left out before publishing"),
    )


def evaluate_chapter(found: Evaluation) -> Chapter:
    """Show errors, rankings, self-rank and histogram."""
    intro = (
        "Ratings that were held out before publishing are predicted by recommenders trained on the release, and by the "
        "same recommenders trained on the original data. Coverage stands apart from error: a cell that is not there is "
        "not counted as an error."
    )
    sections = (_errors(found), _rankings(found), _self_rank(found), _histogram(found), *_alike(found))
    return Chapter("What is it still good for?", intro, sections=sections, verdict=evaluate_verdict(found))


def _errors(found: Evaluation) -> Section:
    names = list(found.recommenders)
    values = {
        RELEASE: [found.recommenders[name]["release"].accuracy.rmse or 0.0 for name in names],
        ORIGINAL: [found.recommenders[name]["original"].accuracy.rmse or 0.0 for name in names],
        "mean of each item": [found.baselines["item-mean"].accuracy.rmse or 0.0] * len(names),
    }
    chart = bars(Axis("recommender"), Axis("root mean square error", low=0), [CALLED[name] for name in names], values)
    meaning = (
        "How far predictions of held-out ratings are off. The nearer the first bar comes to the second, the less "
        "safety cost; one that reaches the third has learned nothing about people."
    )
    return Section("Prediction error", meaning, "lower", chart, _error_table(found))


def _error_table(found: Evaluation) -> Table:
    trained = [
        (CALLED[name], side, *_accuracy_cells(scored.accuracy))
        for name, sides in found.recommenders.items()
        for side, scored in sides.items()
    ]
    others = [
        ("item mean", "baseline", *_accuracy_cells(found.baselines["item-mean"].accuracy)),
        ("own profile (target deviation)", "release", *_accuracy_cells(found.target_deviation)),
        ("nearest profile (similar-user deviation)", "release", *_accuracy_cells(found.similar_user_deviation)),
    ]
    head = ("Predictor", "Trained on", "RMSE", "MAE", "Coverage", "Ratings")
    return Table(head, (*trained, *others), n_labels=2)


def _rankings(found: Evaluation) -> Section:
    named = found.recommenders
    values = {
        RELEASE: [_ndcg(sides["release"]) for sides in named.values()],
        ORIGINAL: [_ndcg(sides["original"]) for sides in named.values()],
        "popularity": [_ndcg(found.baselines["popularity"])] * len(named),
    }
    chart = bars(Axis("recommender"), Axis("nDCG@10", low=0), [CALLED[name] for name in named], values)
    trained = [
        (CALLED[name], side, *_ranking_cells(scored)) for name, sides in named.items() for side, scored in sides.items()
    ]
    trivial = [(CALLED[name], "baseline", *_ranking_cells(scored)) for name, scored in found.baselines.items()]
    meaning = (
        "nDCG@10 orders each user's held-out items by prediction: 1 is the best order. Recall@10, in the table, is the "
        "share of liked held-out items among the first ten of all items."
    )
    table = Table(("Recommender", "Trained on", "nDCG@10", "Recall@10"), (*trained, *trivial), n_labels=2)
    return Section("Ranking", meaning, "higher", chart, table)


def _self_rank(found: Evaluation) -> Section:
    shares = found.self_rank.shares
    x = Axis("place of the own profile among all, by similarity")
    chart = bars(x, Axis("users", percent=True, low=0), twentieths(), {"users": shares})
    meaning = (
        f"For {percent(found.self_rank.first)} of the users no released profile is nearer to all their ratings than "
        "that of their own group. That is good for usefulness, and a risk: it is how well someone who knows everything "
        "a person rated finds the group."
    )
    rows = tuple((name, f"{value:,.1f}") for name, value in found.self_rank.quantiles.items())
    table = Table(("Quantile of the users", f"Rank among {count(found.self_rank.n_profiles)}"), rows)
    return Section("Self-rank", meaning, "neither", chart, table)


def _histogram(found: Evaluation) -> Section:
    before, after = found.shape["histogram"]["original"], found.shape["histogram"]["release"]
    chart = bars(
        Axis("rating, rounded to the scale"),
        Axis("share of the cells", percent=True, low=0),
        list(before),
        {"release": list(after.values()), "original data": list(before.values())},
    )
    density = found.shape["density"]
    rows = (
        ("Density of the original data", percent(density["original"])),
        ("Density of the release", percent(density["release"])),
        ("Edges added", count(found.shape["edges_added"])),
        ("People in a group", _range(found.shape["group_sizes"])),
        ("Distance of the popularity (0 equal, 1 nothing in common)", f"{found.shape['popularity_distance']:.3f}"),
    )
    meaning = (
        "Averages and predictions crowd in the middle of the scale, so statistics of single ratings cannot be taken "
        "from a release."
    )
    return Section("How the ratings changed", meaning, "neither", chart, Table(("", "Value"), rows))


def _alike(found: Evaluation) -> tuple[Section, ...]:
    """Show how far apart people are, anyone and inside a group, where there were pairs to compare."""
    pairs: dict[str, dict[str, tuple[float, ...]]] = found.shape.get("pairs", {})
    if len(pairs) < 2:
        return ()
    places, shown = twentieths(), {who: list(metrics["weighted"]) for who, metrics in pairs.items()}
    last = max(place for shares in shown.values() for place, share in enumerate(shares) if share > 0) + 1
    chart = bars(
        Axis("distance of two people over all items (weighted), in percent of the scale"),
        Axis("pairs", percent=True, low=0),
        places[:last],
        {who: shares[:last] for who, shares in shown.items()},
    )
    rows = tuple(
        (metric, *(f"{mean_distance(metrics[metric]):.3f}" for metrics in pairs.values())) for metric in METRICS
    )
    meaning = (
        "A group's profile is a fair one if its members are alike. Two members of one group should lie nearer to each "
        "other than any two people do. Ratings that are missing were predicted."
    )
    table = Table(("Mean distance", *pairs), rows)
    return (Section("How alike the members of a group are", meaning, "neither", chart, table),)


def twentieths() -> list[str]:
    """Name the twentieths of a range."""
    return [f"{5 * p}–{5 * (p + 1)} %" for p in range(20)]


def mean_distance(shares: tuple[float, ...]) -> float:
    """Give the mean of distances that are known by their twentieth."""
    return sum(share * (place + 0.5) / len(shares) for place, share in enumerate(shares))


def _accuracy_cells(one: Accuracy) -> tuple[str, str, str, str]:
    return _number(one.rmse), _number(one.mae), percent(one.coverage), count(one.n)


def _ranking_cells(one: Scored) -> tuple[str, str]:
    if one.ranking is None:
        return "–", "–"
    return _number(one.ranking.ndcg), _number(one.ranking.recall)


def _range(sizes: dict[int, int]) -> str:
    least, most = min(sizes, default=0), max(sizes, default=0)
    return count(least) if least == most else f"{count(least)} to {count(most)}"


def _ndcg(one: Scored) -> float:
    return (one.ranking.ndcg or 0.0) if one.ranking else 0.0


def _number(x: float | None) -> str:
    return "–" if x is None else f"{x:.4f}"


def evaluate_account(found: Evaluation) -> tuple[str, ...]:
    """Tell what was done."""
    trained = ", ".join(CALLED[name] for name in found.recommenders)
    return (
        f"Predicted {count(found.target_deviation.n)} held-out ratings by the released profile of each user's group.",
        f"Ranked all profiles by the paper's distance to all known ratings of {count(found.self_rank.n_users)} users, "
        "and predicted by the nearest.",
        f"Trained {trained} on the release and on the original data, and scored both on the held-out ratings.",
        "Scored the mean of each item and its popularity as baselines.",
        "Compared the padded rows of pairs of people, any two and two of one group, by the paper's four distances.",
    )
