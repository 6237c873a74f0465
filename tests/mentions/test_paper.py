"""The figures that paper 004 prints, and its arithmetic done by ours."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recloak._cli.main import run
from recloak._mentions.algorithms import ALGORITHMS, Candidates, gains, rank_targets, sub_scores
from recloak._mentions.identification import mention_bins
from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings
from tests.mentions import naive

GOLDEN = Path(__file__).parents[1] / "golden" / "004"
EXAMPLE = json.loads((GOLDEN / "scoring_example.json").read_text())
RESULTS = json.loads((GOLDEN / "results.json").read_text())


def test_the_worked_example_has_the_papers_sub_scores():
    raters = np.array(list(EXAMPLE["raters"].values()))
    assert sub_scores(raters, EXAMPLE["n_users"]).tolist() == pytest.approx(
        list(EXAMPLE["sub_scores"].values()), abs=1e-12
    )


def test_the_worked_example_has_the_papers_scores():
    raters, n = np.array(list(EXAMPLE["raters"].values())), EXAMPLE["n_users"]
    floor = EXAMPLE["floor"]
    a, b, c = np.exp(gains(raters, n, IdentifyOptions(floor=floor)))
    base = floor**3  # what a candidate who rated no mention scores
    assert round(base * a, 4) == EXAMPLE["score_of_who_rated_a"]
    assert round(base * b * c, 4) == EXAMPLE["score_of_who_rated_b_and_c"]


def test_the_papers_bins_hold_its_133_targets():
    assert sum(RESULTS["targets_by_mentions"]) == RESULTS["n_targets"]
    assert len(mention_bins(np.array([1]))) == len(RESULTS["targets_by_mentions"])


def test_the_report_prints_the_papers_figures():
    from recloak._report import reproduce_mentions_page as page

    assert {name: list(rates) for name, rates in page.RATES.items()} == RESULTS["rates"]
    assert list(page.LEVELS) == RESULTS["k"]
    flat = {name: value for name, value in RESULTS.items() if name in page.SINGLE}
    flat |= {f"suppression_to_zero_{name}": value for name, value in RESULTS["suppression_to_zero_at_1"].items()}
    assert flat == {name: paper for name, (_, paper) in page.SINGLE.items()}


@pytest.mark.slow
def test_the_paper_is_repeated_on_other_data_beside_its_figures(tmp_path, capsys):
    rng = np.random.default_rng(4)
    users = np.repeat(np.arange(80), 9)
    items = np.concatenate([rng.choice(60, 9, replace=False) for _ in range(80)])
    table = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 6, len(users))})
    table.write_csv(tmp_path / "ratings.csv")
    table.filter(pl.col("user") < 15).sample(50, seed=2).write_csv(tmp_path / "mentions.csv")
    arguments = ["reproduce", "mentions", str(tmp_path / "ratings.csv"), "--mentions", str(tmp_path / "mentions.csv")]
    assert run([*arguments, "-o", str(tmp_path / "out"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made == json.loads((tmp_path / "out" / "figures.json").read_text())
    assert made["rates"]["scoring"]["paper"] == RESULTS["rates"]["scoring"]
    assert made["rates"]["scoring"]["ours"] == pytest.approx(
        made["identify"]["algorithms"]["scoring"]["rate"], abs=1e-6
    )
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert all(f"Figure {n}" in page for n in range(3, 10))
    assert "the paper&#39;s rates and ours" in page


@pytest.mark.data
def test_the_58_taggers_stand_where_a_plain_reimplementation_places_them(data):
    folder = data / "ml-latest-small"
    ratings = Ratings.from_table(pl.read_csv(folder / "ratings.csv"))
    mentions = read_mentions(folder / "tags.csv", ratings)
    assert mentions.n_targets == 58
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    plain = {
        "set_intersection": [(better, tied) for better, tied, _ in naive.by_intersection(ratings, mentions)],
        "tf_idf": naive.by_tf_idf(ratings, mentions),
        "scoring": by_sorted_logs(ratings, mentions),
        "fuzzy_rating": by_sorted_logs(ratings, mentions, delta=1),
        "exact_rating": by_sorted_logs(ratings, mentions, delta=0),
    }
    for name in ALGORITHMS:
        standing = rank_targets(name, candidates, mentions, options)
        assert list(zip(standing.better.tolist(), standing.tied.tolist(), strict=True)) == plain[name], name


def by_sorted_logs(ratings, mentions, *, delta=None):
    """Do Scoring by dicts and correctly rounded sums of logarithms: fractions of 700 mentions would take minutes."""
    import math

    rated, raters = naive.tables(ratings)
    listed = set(rated) - naive.heavy(rated, ratings.n_items)
    found = []
    for target, said, _ in naive.targets(mentions):
        scores = {}
        for user in listed:
            parts = []
            for item, rating in said:
                counts = item in rated[user]
                if counts and delta is not None and not math.isnan(rating):
                    counts = abs(rated[user][item] - rating) <= delta
                parts.append(math.log(1 - (raters[item] - 1) / len(rated)) if counts else math.log(0.05))
            scores[user] = round(math.fsum(parts), 8)
        found.append(naive.place(target, scores))
    return found
