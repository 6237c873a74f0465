"""Every figure of an evaluation beside the few lines that define it, on random small data."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.test_matching import grouped, rows_of
from tests.strategies import small_ratings

from recloak._core.errors import InputError
from recloak._core.randomness import Randomness
from recloak._evaluation.deviation import similar_users, target_deviation
from recloak._evaluation.holdout import hold_out, make_trial_release, publish_temporarily
from recloak._evaluation.predictive_experiments import bin_sizes
from recloak._evaluation.ranking import rank
from recloak._evaluation.shape import METRICS, histogram, pairs_within, pairwise, popularity_distance, shape
from recloak._ratings.model import Ratings
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.pad import pad


@st.composite
def trials(draw, max_items=8):
    """Draw ratings, what is held out of them, and a release of the rest in groups of up to three."""
    ratings = draw(small_ratings(min_users=4, max_items=max_items))
    try:
        rest, probe = hold_out(ratings, 0.3, rng=draw(st.integers(0, 9)))
    except InputError:
        rest, probe = hold_out(Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 5.0, 2.0, 4.0]), 0.5, rng=1)
    return rest, probe, grouped(rest, draw(st.integers(1, 3)))


def cells_of(probe):
    return list(zip(probe.users.tolist(), probe.items.tolist(), probe.values.tolist(), strict=True))


def check_accuracy(found, predicted, truth):
    off = [p - t for p, t in zip(predicted, truth, strict=True) if p is not None]
    assert found.coverage == pytest.approx(len(off) / len(truth))
    assert found.rmse == (pytest.approx(math.sqrt(sum(e * e for e in off) / len(off)), abs=1e-5) if off else None)
    assert found.mae == (pytest.approx(sum(map(abs, off)) / len(off), abs=1e-5) if off else None)


@settings(max_examples=40)
@given(trials())
def test_target_deviation_predicts_by_the_own_row(trial):
    _, probe, public = trial
    rows = rows_of(public)
    predicted = [rows[public.owner[user]].get(item) for user, item, _ in cells_of(probe)]
    check_accuracy(target_deviation(public, probe), predicted, probe.values.tolist())


def closeness(row, known, span):
    """Return the sum of (1 - d)^2 over what is known, which orders rows as the paper's distance does."""
    return round(sum((1 - abs(row[i] - x) / span) ** 2 for i, x in known.items() if i in row), 6)


@settings(max_examples=40)
@given(trials())
def test_the_similar_user_and_the_self_rank_follow_the_papers_distance(trial):
    rest, probe, public = trial
    rows, nearest, ranks = rows_of(public), {}, []
    for user in np.unique(probe.users):
        known = dict(zip(rest.items[rest.row(user)].tolist(), rest.values[rest.row(user)].tolist(), strict=True))
        scores = [closeness(row, known, rest.scale.span or 1.0) for row in rows]
        own = scores[public.owner[user]]
        nearest[user] = scores.index(max(scores))
        ranks.append(sum(s > own for s in scores) + (scores.count(own) + 1) / 2)
    found, self_rank = similar_users(public, rest, probe, most_users=100, rng=Randomness(1))
    predicted = [rows[nearest[user]].get(item) for user, item, _ in cells_of(probe)]
    check_accuracy(found, predicted, probe.values.tolist())
    assert self_rank.quantiles["50 %"] == pytest.approx(np.median(ranks))
    places = [(rank - 1) / max(len(rows) - 1, 1) for rank in ranks]
    twentieths = [sum(min(int(place * 20 + 1e-9), 19) == t for place in places) / len(places) for t in range(20)]
    assert self_rank.shares == pytest.approx(twentieths)


@settings(max_examples=40)
@given(trials(max_items=24), st.integers(0, 9))  # more than ten items, so that not everything is among the first ten
def test_rankings_follow_their_definitions(trial, seed):
    rest, probe, _ = trial
    table = np.random.default_rng(seed).integers(0, 4, rest.shape).astype(np.float32)  # with ties
    users = np.unique(probe.users)
    found = rank(lambda some: table[some], rest, probe, users)
    gains, recalls = [], []
    for user in users:
        held = {i: x for u, i, x in cells_of(probe) if u == user}
        order = sorted(held, key=lambda i: (-table[user, i], i))
        gain = {i: x - rest.scale.low for i, x in held.items()}
        ideal = sum(g / math.log2(p + 2) for p, g in enumerate(sorted(gain.values(), reverse=True)[:10]))
        if len(held) > 1:
            got = sum(gain[i] / math.log2(p + 2) for p, i in enumerate(order[:10]))
            gains.append(got / ideal if ideal else 1.0)
        liked = {i for i, x in held.items() if x >= rest.scale.low + 0.75 * rest.scale.span}
        rated = set(rest.items[rest.row(user)].tolist())
        top = sorted(set(range(rest.n_items)) - rated, key=lambda i: (-table[user, i], i))[:10]
        recalls += [len(liked & set(top)) / min(len(liked), 10)] if liked else []
    assert found.ndcg == (pytest.approx(np.mean(gains)) if gains else None)
    assert found.recall == (pytest.approx(np.mean(recalls)) if recalls else None)


@settings(max_examples=40)
@given(small_ratings(), st.integers(1, 3))
def test_the_shape_counts_every_user_of_every_cell(ratings, k):
    public = grouped(ratings, k)
    rows = [row for row, weight in zip(rows_of(public), public.weights, strict=True) for _ in range(weight)]
    labels = [label for row in rows for label in row.values()]
    result = shape(ratings, public)
    assert result["edges_added"] == len(labels) - ratings.n_ratings
    assert result["density"]["release"] == pytest.approx(len(labels) / (ratings.n_users * ratings.n_items))
    wanted = histogram(np.array(labels), ratings)
    assert result["histogram"]["release"] == pytest.approx(wanted)
    spread = np.array([sum(item in row for row in rows) for item in range(ratings.n_items)])
    shares = [np.abs(ratings.popularity[i] / ratings.n_ratings - spread[i] / len(labels)) for i in range(len(spread))]
    assert popularity_distance(ratings.popularity, spread) == pytest.approx(sum(shares) / 2)
    assert result["popularity_distance"] == pytest.approx(sum(shares) / 2)
    assert sum(size * n for size, n in result["group_sizes"].items()) == ratings.n_users


@settings(max_examples=40)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_a_histogram_is_a_count(values):
    ratings = Ratings.from_arrays([0, 1], [0, 1], [1.0, 5.0])
    wanted = {str(star): values.count(star) / len(values) for star in range(1, 6)}
    assert histogram(np.array(values, np.float32), ratings) == pytest.approx(wanted)


def naive_distance(metric, x, y, span):
    off = [abs(a - b) for a, b in zip(x, y, strict=True)]
    return {
        "closeness-0.5": sum(d > 0.5 for d in off) / len(off),
        "closeness-1.0": sum(d > 1.0 for d in off) / len(off),
        "weighted": sum(off) / span / len(off),
        "weighted-squared": 1 - sum((1 - d / span) ** 2 for d in off) / len(off),
    }[metric]


@pytest.mark.parametrize("metric", METRICS)
def test_pairs_fall_where_their_distance_lies(metric):
    stream = np.random.default_rng(5)
    users, items = np.nonzero(stream.random((12, 9)) < 0.5)
    ratings = Ratings.from_arrays(users, items, stream.integers(1, 6, len(users)).astype(float))
    padding = pad(ratings, PadOptions(predictor="mean"), rng=1)
    rows = np.clip(padding.rows(np.arange(12)), 1, 5)
    rows[ratings.users(), ratings.items] = ratings.values
    owner = np.arange(12) // 4
    for found, fits in (
        (pairwise(ratings, padding, np.arange(12)), lambda a, b: a < b),
        (pairs_within(ratings, padding, owner, np.arange(12)), lambda a, b: a < b and owner[a] == owner[b]),
    ):
        distances = [naive_distance(metric, rows[a], rows[b], 4.0) for a in range(12) for b in range(12) if fits(a, b)]
        wanted, _ = np.histogram(distances, bins=20, range=(0, 1))
        assert found[metric] == pytest.approx(wanted / len(distances), abs=2.5 / len(distances))  # float32 at an edge
        assert sum(found[metric]) == pytest.approx(1.0)


def test_bins_hold_everybody_once_and_virtual_centres_are_no_worse():
    stream = np.random.default_rng(6)
    users, items = np.nonzero(stream.random((90, 20)) < 0.4)
    ratings = Ratings.from_arrays(users, items, stream.integers(1, 6, len(users)).astype(float))
    sizes, members = bin_sizes(ratings, pad(ratings, rng=1), Randomness(1))
    assert {sum(some) for some in sizes.values()} == {90}
    assert list(sizes["real"]) == sorted(sizes["real"])
    assert len(members) in sizes["virtual"]


def test_a_trial_leaves_nothing_behind_and_clears_what_a_killed_one_left(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / ".recloak-trial.999999999-abc123.partial"  # no process has so great a number
    (left / "private").mkdir(parents=True)
    publish_temporarily(Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 5.0, 2.0, 4.0]), PublishOptions(k=2))
    assert not list(tmp_path.iterdir())


def test_nothing_that_is_held_out_reaches_the_release():
    # Change the value of every held-out rating: were one of them used, labels or groups would move with it.
    stream = np.random.default_rng(7)
    users, items = np.nonzero(stream.random((60, 30)) < 0.5)
    values = stream.integers(1, 6, len(users)).astype(np.float64)
    options = PublishOptions(k=4, mode="padded")
    first = make_trial_release(Ratings.from_arrays(users, items, values), 0.2, options, rng=1)
    held = {(u, i) for u, i, _ in cells_of(first.probe)}
    changed = [6 - x if (u, i) in held else x for u, i, x in zip(users.tolist(), items.tolist(), values, strict=True)]
    second = make_trial_release(Ratings.from_arrays(users, items, changed), 0.2, options, rng=1)
    assert {(u, i) for u, i, _ in cells_of(second.probe)} == held
    assert not np.array_equal(first.probe.values, second.probe.values)
    assert np.array_equal(first.release.public.labels, second.release.public.labels)
    assert np.array_equal(first.release.public.owner, second.release.public.owner)
