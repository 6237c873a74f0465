"""What an evaluation of purchases or plays says: rankings on both sides, popularity beside them, and statistics."""

from recloak._evaluation.model import NOT_APPLICABLE, RecommenderScore, UseEvaluation
from recloak._report.charts import Axis, bars
from recloak._report.formats import count, decimals, percent
from recloak._report.page import Chapter, Fact, PageVerdict, Section, Table

USE_NAMES = {
    "factorisation": "implicit factors",
    "item-knn": "item neighbours",
    "ease": "linear item model (EASE)",
    "popularity": "popularity",
}
_CHEAP = 0.15  # up to this loss of nDCG a release is called useful
_USELESS = 0.8  # from this loss on it is called useless, popularity or not
_WORDS = {"rmse": "RMSE", "mae": "MAE"}


def use_verdict(result: UseEvaluation) -> PageVerdict:
    """Return the verdict: what anonymising cost the best recommender, and whether it still beats popularity."""
    (here, before), (there, after) = result.best["original"], result.best["release"]
    popular = _ndcg(result.baselines["popularity"])
    if not before or not result.target_deviation.n:
        return PageVerdict("caution", "Not measured", "No recommender could be scored on the held-out uses.")
    loss = 1 - after / before
    text = (
        f"On {count(result.target_deviation.n)} held-out uses the best recommender trained on the release "
        f"({USE_NAMES[there]}) reaches an nDCG@10 of {after:.4f}, the best on the original ({USE_NAMES[here]}) "
        f"{before:.4f}, and popularity alone {popular:.4f}. {percent(result.target_deviation.coverage)} of the "
        "held-out uses stand in the row of the person's own group. Not applicable, for there are no ratings: "
        f"{', '.join(_WORDS.get(one, one.replace('_', ' ')) for one in NOT_APPLICABLE)}."
    )
    if after <= popular:
        headline = "A recommender trained on the release ranks no better than popularity."
        return PageVerdict("alert", "Useless for ranking", headline, text)
    if loss > _USELESS:
        headline = (
            f"A recommender trained on the release keeps {percent(1 - loss)} of the nDCG@10: it shows little but "
            "popularity. Another mode may keep more."
        )
        return PageVerdict("alert", "Useless for ranking", headline, text)
    headline = f"Training on the release instead of the original costs {percent(max(loss, 0.0))} of the nDCG@10."
    return PageVerdict("good" if loss < _CHEAP else "caution", "Useful" if loss < _CHEAP else "Costly", headline, text)


def use_facts(result: UseEvaluation) -> tuple[Fact, ...]:
    """Return the key figures."""
    best = result.best
    return (
        Fact("nDCG@10, release", decimals(best["release"][1]), USE_NAMES[best["release"][0]]),
        Fact("nDCG@10, original", decimals(best["original"][1]), USE_NAMES[best["original"][0]]),
        Fact("nDCG@10, popularity", decimals(_ndcg(result.baselines["popularity"])), "without any model"),
        Fact("Held-out uses", count(result.target_deviation.n), "left out before publishing"),
    )


def use_chapter(result: UseEvaluation) -> Chapter:
    """Return the chapter with rankings and statistics."""
    intro = (
        "Uses that were held out before publishing are looked for among the first ten of all items that a person did "
        "not have, ranked by recommenders trained on the release, and by the same trained on the original data."
    )
    sections = (_rankings(result), _statistics(result))
    return Chapter("What is it still good for?", intro, sections=sections, verdict=use_verdict(result))


def score_rows(result: UseEvaluation) -> list[tuple[str, ...]]:
    """Return a row for each recommender and side: name, side, nDCG, recall, share of the catalogue."""
    scores = [(name, side, one) for name, sides in result.recommenders.items() for side, one in sides.items()]
    scores += [(name, "baseline", one) for name, one in result.baselines.items()]
    return [(USE_NAMES[name], side, *_cells(one)) for name, side, one in scores]


def _rankings(result: UseEvaluation) -> Section:
    names = list(result.recommenders)
    values = {
        "trained on the release": [_ndcg(result.recommenders[name]["release"]) for name in names],
        "trained on the original data": [_ndcg(result.recommenders[name]["original"]) for name in names],
        "popularity": [_ndcg(result.baselines["popularity"])] * len(names),
    }
    chart = bars(Axis("recommender"), Axis("nDCG@10", low=0), [USE_NAMES[name] for name in names], values)
    meaning = (
        "nDCG@10 is 1 if all held-out uses come first. Recall@10 is the share of them among the first ten; the share "
        "of the catalogue is how many of all items stand among anybody's first ten. Errors of ratings are not "
        "applicable."
    )
    head = ("Recommender", "Trained on", "nDCG@10", "Recall@10", "Catalogue")
    return Section("Ranking", meaning, "higher", chart, Table(head, tuple(score_rows(result)), n_labels=2))


def _statistics(result: UseEvaluation) -> Section:
    rows = tuple(
        (
            name,
            one["meaning"],
            *("–" if one[part] is None else f"{one[part]:.3f}" for part in ("error", "rank", "ratio")),
        )
        for name, one in result.shape["statistics"].items()
    )
    head = ("Statistic", "Error measured as", "Error", "Rank correlation", "Release / original")
    return Section(
        "What can still be counted", "Statistics on both sides.", "neither", table=Table(head, rows, n_labels=2)
    )


def use_account(result: UseEvaluation) -> tuple[str, ...]:
    """Return what was done, step by step."""
    trained = ", ".join(USE_NAMES[name] for name in result.recommenders)
    return (
        f"Took the {count(result.n_items)} most used items.",
        f"Trained {trained} on the release and on the original data, and ranked for the people of the probe.",
        "Ranked by popularity as a baseline, and compared statistics of both sides.",
    )


def _ndcg(one: RecommenderScore) -> float:
    return (one.ranking.ndcg if one.ranking else None) or 0.0


def _cells(one: RecommenderScore) -> tuple[str, str, str]:
    if (ranking := one.ranking) is None:
        return "–", "–", "–"
    return decimals(ranking.ndcg), decimals(ranking.recall), percent(ranking.catalogue or 0.0)
