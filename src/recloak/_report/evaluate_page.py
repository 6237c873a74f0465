"""The page of ``recloak evaluate``: what a release is still good for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from recloak._evaluation.model import Accuracy, Evaluation, RecommenderScore, UseEvaluation
from recloak._evaluation.shape import METRICS
from recloak._report.charts import Axis, Bars, bars
from recloak._report.formats import count, decimals, percent
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table
from recloak._report.use_page import use_account, use_chapter, use_facts, use_verdict

ORIGINAL, RELEASE = "trained on the original data", "trained on the release"
MODEL_NAMES = {
    "factorisation": "factorisation",
    "item-knn": "item neighbours",
    "bias": "bias model",
    "item-mean": "item mean",
    "popularity": "popularity",
}
_CHEAP = 0.05  # up to this growth of the error a release is called useful


def evaluate_page(result: Evaluation, manifest: dict[str, Any], *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of an evaluation."""
    return Page(
        title="What is this release good for?",
        subtitle=f"{source}, {manifest.get('mode', 'unknown')} release with k = {manifest.get('k', '?')}",
        verdict=evaluate_verdict(result),
        facts=evaluate_facts(result),
        chapters=(replace(evaluate_chapter(result), verdict=None),),  # the page has it at the top
        account=Account(evaluate_account(result), provenance),
    )


def error_growth(result: Evaluation) -> float | None:
    """Return how much larger the factorisation's error is when it is trained on the release, as a share."""
    sides = result.recommenders.get("factorisation", {})
    original, release = sides.get("original"), sides.get("release")
    if original is None or release is None or not original.accuracy.rmse or release.accuracy.rmse is None:
        return None
    return release.accuracy.rmse / original.accuracy.rmse - 1


def evaluate_verdict(result: Evaluation) -> PageVerdict:
    """Return the verdict: what anonymising cost a recommender, and whether it still beats item means."""
    if isinstance(result, UseEvaluation):
        return use_verdict(result)
    cost = error_growth(result)
    trivial = result.baselines["item-mean"].accuracy.rmse
    if cost is None or trivial is None:
        return PageVerdict("caution", "Not measured", "No recommender could be scored on the held-out ratings.")
    trained = result.recommenders["factorisation"]["release"].accuracy.rmse
    assert trained is not None
    text = (
        f"On {count(result.target_deviation.n)} held-out ratings, a factorisation trained on the release has an error "
        f"of {trained:.4f} (RMSE, on the scale of the ratings). Predicting each item's mean has an error of "
        f"{trivial:.4f}. The released row of a person's own group has a rating for "
        f"{percent(result.target_deviation.coverage)} of them, with an error of "
        f"{decimals(result.target_deviation.rmse)}."
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


def evaluate_facts(result: Evaluation) -> tuple[Fact, ...]:
    """Return the key figures of an evaluation."""
    if isinstance(result, UseEvaluation):
        return use_facts(result)
    target, similar = result.target_deviation, result.similar_user_deviation
    return (
        Fact("Target deviation", decimals(target.rmse), f"{percent(target.coverage)} covered"),
        Fact("Similar-user deviation", decimals(similar.rmse), f"{percent(similar.coverage)} covered"),
        Fact("Own profile nearest", percent(result.self_rank.first), f"of {count(result.self_rank.n_users)} users"),
        Fact("Held-out ratings", count(target.n), "left out before publishing"),
    )


def evaluate_chapter(result: Evaluation) -> Chapter:
    """Return the chapter with errors, rankings, self-rank and histogram."""
    if isinstance(result, UseEvaluation):
        return use_chapter(result)
    intro = (
        "Ratings that were held out before publishing are predicted by recommenders trained on the release, and by the "
        "same recommenders trained on the original data. Coverage stands apart from error: a cell that is not there is "
        "not counted as an error."
    )
    sections = (_errors(result), _rankings(result), _self_rank(result), _histogram(result), *_pairs(result))
    return Chapter("What is it still good for?", intro, sections=sections, verdict=evaluate_verdict(result))


def usefulness_chapters(result: Evaluation) -> tuple[Chapter, Chapter]:
    """Return the verdict on usefulness as a chapter of its own, and the details, folded."""
    whole = evaluate_chapter(result)
    overview = Chapter(whole.heading, verdict=whole.verdict)
    return overview, replace(whole, heading="Usefulness in detail", verdict=None, folded=True)


def _errors(result: Evaluation) -> Section:
    y = Axis("root mean square error", low=0)
    chart = _compared(result, y, lambda one: one.accuracy.rmse, "item-mean", "mean of each item")
    meaning = (
        "How far predictions of held-out ratings are off. The closer the first bar is to the second, the "
        "smaller the cost of privacy; one as high as the third has learned nothing about people."
    )
    return Section("Prediction error", meaning, "lower", chart, _error_table(result))


def _compared(
    result: Evaluation, y: Axis, value: Callable[[RecommenderScore], float | None], baseline: str, label: str
) -> Bars:
    """Return bars of one figure of every recommender: trained on the release, on the original, and a baseline."""
    trained = list(result.recommenders.values())
    values = {
        RELEASE: [value(sides["release"]) or 0.0 for sides in trained],
        ORIGINAL: [value(sides["original"]) or 0.0 for sides in trained],
        label: [value(result.baselines[baseline]) or 0.0] * len(trained),
    }
    return bars(Axis("recommender"), y, [MODEL_NAMES[name] for name in result.recommenders], values)


def _trained_rows(
    result: Evaluation, cells: Callable[[RecommenderScore], tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    for name, sides in result.recommenders.items():
        for side, score in sides.items():
            yield (MODEL_NAMES[name], side, *cells(score))


def _error_table(result: Evaluation) -> Table:
    trained = _trained_rows(result, lambda one: _accuracy_cells(one.accuracy))
    others = [
        ("item mean", "baseline", *_accuracy_cells(result.baselines["item-mean"].accuracy)),
        ("own profile (target deviation)", "release", *_accuracy_cells(result.target_deviation)),
        ("nearest profile (similar-user deviation)", "release", *_accuracy_cells(result.similar_user_deviation)),
    ]
    head = ("Predictor", "Trained on", "RMSE", "MAE", "Coverage", "Ratings")
    return Table(head, (*trained, *others), n_labels=2)


def _rankings(result: Evaluation) -> Section:
    chart = _compared(result, Axis("nDCG@10", low=0), _ndcg, "popularity", "popularity")
    trained = _trained_rows(result, _ranking_cells)
    trivial = [(MODEL_NAMES[name], "baseline", *_ranking_cells(scored)) for name, scored in result.baselines.items()]
    meaning = (
        "nDCG@10 orders each user's held-out items by prediction: 1 is the best order. Recall@10, in the table, is the "
        "share of liked held-out items among the first ten of all items."
    )
    table = Table(("Recommender", "Trained on", "nDCG@10", "Recall@10"), (*trained, *trivial), n_labels=2)
    return Section("Ranking", meaning, "higher", chart, table)


def _self_rank(result: Evaluation) -> Section:
    shares = result.self_rank.shares
    x = Axis("place of the own profile among all, by similarity")
    chart = bars(x, Axis("users", percent=True, low=0), twentieths(), {"users": shares})
    meaning = (
        f"For {percent(result.self_rank.first)} of the users no released profile is nearer to all their ratings than "
        "that of their own group. That is good for usefulness, and a risk: it is how well someone who knows everything "
        "a person rated finds the group."
    )
    rows = tuple((name, f"{value:,.1f}") for name, value in result.self_rank.quantiles.items())
    table = Table(("Quantile of the users", f"Rank among {count(result.self_rank.n_profiles)}"), rows)
    return Section("Self-rank", meaning, "neither", chart, table)


def _histogram(result: Evaluation) -> Section:
    before, after = result.shape["histogram"]["original"], result.shape["histogram"]["release"]
    shares = {"release": list(after.values()), "original data": list(before.values())}
    x, y = Axis("rating, rounded to the scale"), Axis("share of the cells", percent=True, low=0)
    chart, density = bars(x, y, list(before), shares), result.shape["density"]
    rows = (
        ("Density of the original data", percent(density["original"])),
        ("Density of the release", percent(density["release"])),
        ("Edges added", count(result.shape["edges_added"])),
        ("People in a group", _range(result.shape["group_sizes"])),
        ("Distance of the popularity (0 equal, 1 nothing in common)", f"{result.shape['popularity_distance']:.3f}"),
    )
    meaning = (
        "Averages and predictions crowd in the middle of the scale, so statistics of single ratings cannot be taken "
        "from a release."
    )
    return Section("How the ratings changed", meaning, "neither", chart, Table(("", "Value"), rows))


def _pairs(result: Evaluation) -> tuple[Section, ...]:
    """Return a section on the distances of any two people and inside a group, if there were pairs to compare."""
    pairs: dict[str, dict[str, tuple[float, ...]]] = result.shape.get("pairs", {})
    if len(pairs) < 2:
        return ()
    weighted = {who: metrics["weighted"] for who, metrics in pairs.items()}
    n_shown = max(place for shares in weighted.values() for place, share in enumerate(shares) if share > 0) + 1
    x = Axis("distance of two people over all items (weighted), in percent of the scale")
    shown = {who: shares[:n_shown] for who, shares in weighted.items()}
    chart = bars(x, Axis("pairs", percent=True, low=0), twentieths()[:n_shown], shown)
    rows = tuple(
        (metric, *(f"{mean_of_bins(metrics[metric]):.3f}" for metrics in pairs.values())) for metric in METRICS
    )
    meaning = (
        "A group's profile is a fair one if its members are alike. Two members of one group should lie nearer to each "
        "other than any two people do. Ratings that are missing were predicted."
    )
    table = Table(("Mean distance", *pairs), rows)
    return (Section("How alike the members of a group are", meaning, "neither", chart, table),)


def twentieths() -> list[str]:
    """Return the labels of the twentieths of a range."""
    return [f"{5 * p}–{5 * (p + 1)} %" for p in range(20)]


def mean_of_bins(shares: Sequence[float]) -> float:
    """Return the mean of values between 0 and 1 of which only the shares in equal bins are known."""
    return sum(share * (place + 0.5) / len(shares) for place, share in enumerate(shares))


def _accuracy_cells(one: Accuracy) -> tuple[str, str, str, str]:
    return decimals(one.rmse), decimals(one.mae), percent(one.coverage), count(one.n)


def _ndcg(one: RecommenderScore) -> float | None:
    return None if one.ranking is None else one.ranking.ndcg


def _ranking_cells(one: RecommenderScore) -> tuple[str, str]:
    return ("–", "–") if one.ranking is None else (decimals(one.ranking.ndcg), decimals(one.ranking.recall))


def _range(sizes: dict[int, int]) -> str:
    least, most = min(sizes, default=0), max(sizes, default=0)
    return count(least) if least == most else f"{count(least)} to {count(most)}"


def evaluate_account(result: Evaluation) -> tuple[str, ...]:
    """Return what was done, step by step."""
    if isinstance(result, UseEvaluation):
        return use_account(result)
    trained = ", ".join(MODEL_NAMES[name] for name in result.recommenders)
    return (
        f"Predicted {count(result.target_deviation.n)} held-out ratings by the released profile of each user's group.",
        f"Ranked all profiles by the paper's distance to all known ratings of {count(result.self_rank.n_users)} users, "
        "and predicted by the nearest.",
        f"Trained {trained} on the release and on the original data, and scored both on the held-out ratings.",
        "Scored the mean of each item and its popularity as baselines.",
        "Compared the padded rows of pairs of people, any two and two of one group, by the paper's four distances.",
    )
