"""Deviations, rankings and recommenders beside obvious versions and figures worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.test_matching import grouped, rows_of
from tests.strategies import small_ratings

from recloak._attacks.model import Public
from recloak._attacks.public_columns import labels_for
from recloak._attacks.public_view import ReleaseView
from recloak._core.errors import InputError
from recloak._core.randomness import Randomness
from recloak._evaluation.deviation import similar_users, target_deviation
from recloak._evaluation.evaluating import evaluate
from recloak._evaluation.holdout import Probe, hold_out, sample_users
from recloak._evaluation.model import accuracy_of
from recloak._evaluation.options import EvaluateOptions
from recloak._evaluation.ranking import rank
from recloak._evaluation.recommenders import as_training_set, fit_neighbours
from recloak._evaluation.shape import histogram, padded_histogram, pairwise, popularity_distance, shape
from recloak._ratings.model import Ratings
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad


def probe_of(*rows):
    users, items, values = zip(*sorted(rows), strict=True)
    return Probe(np.array(users, np.int32), np.array(items, np.int32), np.array(values, np.float32))


# Two groups of two: users 0, 1 and users 2, 3; item 2 was rated in the second group only.
RATINGS = Ratings.from_arrays([0, 1, 2, 3, 0, 2], [0, 0, 1, 1, 1, 2], [1.0, 3.0, 4.0, 5.0, 2.0, 5.0])
PUBLIC = grouped(RATINGS, 2)  # labels: group 0 has 2 for item 0 and 2 for item 1; group 1 has 4.5 and 5 for 1 and 2


def test_target_deviation_by_hand_with_coverage_apart():
    found = target_deviation(PUBLIC, probe_of((1, 1, 4.0), (3, 2, 4.0), (1, 2, 1.0)))
    assert found.rmse == pytest.approx(math.sqrt(((2 - 4) ** 2 + (5 - 4) ** 2) / 2))
    assert found.mae == pytest.approx((2 + 1) / 2)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.n == 3


def test_what_is_covered_nowhere_has_no_error_rather_than_a_small_one():
    found = target_deviation(PUBLIC, probe_of((1, 2, 1.0)))
    assert (found.rmse, found.mae, found.coverage) == (None, None, 0.0)


def test_similar_user_deviation_and_self_rank_by_hand():
    # User 3 knows only item 1 = 5: group 1 (4.5) is nearer than group 0 (2). User 0 is nearer to group 0.
    probe = probe_of((0, 2, 3.0), (3, 2, 4.0))
    found, ranks = similar_users(PUBLIC, RATINGS, probe, most_users=10, rng=Randomness(1))
    assert found.coverage == pytest.approx(1 / 2)  # group 0 has no label for item 2
    assert found.rmse == pytest.approx(5 - 4)
    assert (ranks.first, ranks.n_users, ranks.n_profiles) == (1.0, 2, 2)
    assert ranks.shares[0] == 1.0


@settings(max_examples=30)
@given(small_ratings(), st.integers(1, 3))
def test_labels_are_looked_up_as_in_a_dictionary(ratings, k):
    public = grouped(ratings, k)
    profiles, items = np.divmod(np.arange(public.n_profiles * public.n_items), public.n_items)
    rows = rows_of(public)
    for profile, item, label in zip(profiles, items, labels_for(public, profiles, items), strict=True):
        assert rows[profile].get(item, math.nan) == pytest.approx(label, nan_ok=True)


def test_accuracy_of_no_predictions():
    assert accuracy_of(np.full(3, np.nan), np.ones(3)).coverage == 0.0


def test_ndcg_and_recall_by_hand():
    # Held out: items 0, 1, 2 with ratings 5, 1, 3; predicted order 1, 0, 2. Liked (at least 4): item 0 alone.
    ratings = Ratings.from_arrays([0, 1], [3, 0], [1.0, 5.0])
    wide = Ratings.from_arrays([0, *range(1, 15)], [14, *range(14)], [1.0, *[5.0] * 14])
    probe = probe_of((0, 0, 5.0), (0, 1, 1.0), (0, 2, 3.0))
    row = np.zeros(15, np.float32)
    row[[1, 0, 2]] = [3, 2, 1]
    found = rank(lambda users: np.tile(row, (len(users), 1)), wide, probe, np.array([0], np.int32))
    best = 4 / math.log2(2) + 2 / math.log2(3) + 0
    assert found.ndcg == pytest.approx((0 + 4 / math.log2(3) + 2 / math.log2(4)) / best)
    assert found.recall == 1.0
    last = np.arange(15, dtype=np.float32)  # item 0 comes last
    assert rank(lambda users: np.tile(last, (len(users), 1)), wide, probe, np.array([0])).recall == 0.0
    assert ratings.n_users == 2


def test_rankings_leave_out_what_was_rated_before():
    rated = Ratings.from_arrays([0] * 10 + [1], [*range(10), 10], [3.0] * 10 + [5.0])
    row = np.arange(11, 0, -1, dtype=np.float32)  # the ten rated items come first, the held-out one last
    found = rank(lambda _: row[None, :], rated, probe_of((0, 10, 5.0)), np.array([0]))
    assert found.recall == 1.0


def naive_neighbours(ratings, bias, user, item, top):
    """Predict one cell by the equation."""
    n_users, n_items = ratings.shape
    rest = np.zeros((n_users, n_items))
    rated = np.zeros((n_users, n_items), bool)
    rated[ratings.users(), ratings.items] = True
    rest[rated] = ratings.values - bias.predict(ratings.users(), ratings.items)
    unit = rest / np.maximum(np.sqrt((rest**2).sum(axis=0)), 1e-9)
    cosine = unit.T @ unit
    np.fill_diagonal(cosine, 0)
    near = [j for j in np.argsort(-cosine[item], kind="stable")[:top] if cosine[item, j] > 0 and rated[user, j]]
    lift = sum(cosine[item, j] * rest[user, j] for j in near) / (1 + sum(cosine[item, j] for j in near))
    whole = bias.mu + bias.user_bias[user] + bias.item_bias[item] + lift
    return np.clip(whole, ratings.scale.low, ratings.scale.high)


@settings(max_examples=20)
@given(small_ratings(min_users=4), st.integers(0, 3))
def test_item_neighbours_agree_with_the_equation(ratings, user):
    bias = pad(ratings, PadOptions(predictor="bias"), rng=1)
    model = fit_neighbours(ratings, bias, neighbours=50)
    users = np.array([user] * ratings.n_items + [0])
    items = np.append(np.arange(ratings.n_items), 0)
    wanted = [naive_neighbours(ratings, bias, u, i, 50) for u, i in zip(users, items, strict=True)]
    assert model.predict(users, items) == pytest.approx(wanted, abs=1e-3)


@settings(max_examples=30)
@given(small_ratings(), st.integers(1, 3))
def test_a_release_as_a_training_set_has_one_row_for_each_profile(ratings, k):
    public = grouped(ratings, k)
    table = as_training_set(public, ratings.item_ids)
    for profile, row in enumerate(rows_of(public)):
        place = table.row(profile)
        assert dict(zip(table.items[place].tolist(), table.values[place].tolist(), strict=True)) == row


def test_the_shape_of_a_release_is_told_without_writing_its_cells_down(monkeypatch):
    """A padded release of Netflix's size has 1.7 billion cells, of which a byte each is all there may be."""
    wanted = histogram(PUBLIC.labels, RATINGS, PUBLIC.weights[PUBLIC.profiles])
    for name in ("labels", "profiles"):
        monkeypatch.setattr(Public, name, property(lambda _: pytest.fail("the cells were written down")))
    assert shape(RATINGS, PUBLIC)["histogram"]["release"] == wanted


def test_a_release_too_large_to_train_on_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("recloak._evaluation.recommenders.MOST_CELLS", 3)
    with pytest.raises(InputError, match="at most 3 cells, got 4; publish and evaluate a sample"):
        evaluate(RATINGS, ReleaseView(PUBLIC, {"k": 2}), probe_of((1, 1, 4.0)))


def test_histograms_count_each_user_once():
    assert histogram(np.array([1.0, 2.4, 5.0]), RATINGS) == {"1": 1 / 3, "2": 1 / 3, "3": 0, "4": 0, "5": 1 / 3}
    assert histogram(np.array([1.0, 5.0]), RATINGS, np.array([3, 1]))["1"] == 3 / 4


def test_popularity_distance_by_hand():
    assert popularity_distance(np.array([1, 1]), np.array([5, 5])) == 0.0
    assert popularity_distance(np.array([3, 1]), np.array([1, 1])) == pytest.approx(1 / 4)


def test_padding_fills_the_histogram_and_pairs_fall_into_twentieths():
    padding = pad(RATINGS, PadOptions(predictor="mean"), rng=1)
    assert sum(padded_histogram(RATINGS, padding, most_users=3, rng=Randomness(1)).values()) == pytest.approx(1.0)
    found = pairwise(RATINGS, padding, np.arange(4))
    assert {metric: pytest.approx(1.0) for metric in found} == {metric: sum(row) for metric, row in found.items()}
    assert len(found) == 4


@pytest.fixture(scope="module")
def evaluated():
    stream = np.random.default_rng(3)
    users, items = np.nonzero(stream.random((40, 30)) < 0.5)
    taste = stream.normal(size=(40, 2)) @ stream.normal(size=(2, 30))
    ratings = Ratings.from_arrays(users, items, np.clip(np.rint(3 + taste[users, items]), 1, 5))
    rest, probe = hold_out(ratings, 0.2, rng=1)
    release = ReleaseView(grouped(rest, 4), {"k": 4, "mode": "pure"})
    return evaluate(rest, release, probe, options=EvaluateOptions(users=20), rng=1)


def test_an_evaluation_keeps_the_contract(evaluated):
    result = evaluated.to_json()
    assert {"rmse", "coverage", "n"} <= set(result["target_deviation"]) & set(result["similar_user_deviation"])
    for sides in result["recommenders"].values():
        for side in ("original", "release"):
            assert {"rmse", "mae", "coverage", "n", "ndcg@10", "recall@10"} <= set(sides[side])
            assert sides[side]["coverage"] == 1.0
    assert set(result["recommenders"]) == {"factorisation", "item-knn", "bias"}
    assert set(result["baselines"]) == {"item-mean", "popularity"}
    assert result["self_rank"]["n_users"] == 20


def test_users_to_rank_are_drawn_from_the_probe():
    probe = probe_of((1, 0, 1.0), (5, 0, 1.0), (7, 0, 1.0))
    assert set(sample_users(probe, 2, np.random.default_rng(1))) < {1, 5, 7}
