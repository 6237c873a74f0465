"""Sentences about the rarest items of a row single out people of whom rows are made, and not strangers."""

import math
from functools import reduce

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import recloak
from recloak._attacks.attack_input import OutsideRatings
from recloak._attacks.item_sentences import Crowd, ItemRows, exactly_one, tell
from recloak._attacks.model import MARGIN
from recloak._attacks.singling_out import ATTACK

N_USERS, N_ITEMS = 250, 400


def some_people(seed: int) -> NDArray[np.bool_]:
    """Return who of one population used what; many items are rare."""
    stream, taste = np.random.default_rng(seed), np.random.default_rng(0)
    places, likes = stream.normal(size=(N_USERS, 3)), taste.normal(size=(N_ITEMS, 3))
    popular = np.linspace(0.5, -5.5, N_ITEMS)
    return stream.random((N_USERS, N_ITEMS)) < 1 / (1 + np.exp(-(places @ likes.T * 0.7 + popular)))


def rows_of(used: NDArray[np.bool_]) -> ItemRows:
    return ItemRows(tuple(np.flatnonzero(row) for row in used), used.sum(axis=0))


def crowd_of(used: NDArray[np.bool_]) -> Crowd:
    _, users = np.nonzero(used.T)
    return Crowd(np.concatenate(([0], np.cumsum(used.sum(axis=0)))), users)


def table_of(used: NDArray[np.bool_], first: int = 0) -> pl.DataFrame:
    users, items = np.nonzero(used)
    return pl.DataFrame({"user": users + first, "item": items, "rating": 1.0 + (users + items) % 5})


def test_the_people_a_sentence_fits_are_those_who_rated_all_its_items():
    used, stream = some_people(1), np.random.default_rng(1)
    crowd = crowd_of(used)
    for _ in range(50):
        items = stream.permutation(N_ITEMS)[: stream.integers(1, 4)]
        assert crowd.fitting(items) == used[:, items].all(axis=1).sum()
    ratings = recloak.read(table_of(used[:, used.any(axis=0)]))
    assert (Crowd.of(ratings).users == crowd.users).all()


def test_the_rarest_items_of_a_row_are_taken_and_short_rows_left_out():
    rows = ItemRows((np.array([0, 1, 2, 3]), np.array([3])), np.array([9, 1, 7, 2]))
    assert [sorted(one.tolist()) for one in rows.rarest(2, np.random.default_rng(1))] == [[1, 3]]


def test_the_baseline_is_that_of_a_mixed_poisson_distribution():
    fits = np.array([0, 0, 0, 1, 1, 2, 5, 9])
    mean, variance = fits.mean(), fits.var()
    p = mean / variance
    r = mean * p / (1 - p)
    assert exactly_one(fits) == pytest.approx(r * p**r * (1 - p))
    assert exactly_one(np.full(9, 1)) == pytest.approx(1 / math.e)  # no variance: Poisson
    stream = np.random.default_rng(3)
    drawn = stream.poisson(stream.gamma(0.7, 3.0, 200_000))
    assert exactly_one(drawn) == pytest.approx(float((drawn == 1).mean()), abs=0.01)
    assert exactly_one(np.empty(0, np.int64)) == 0


def test_people_are_singled_out_by_their_own_rows_and_not_by_those_of_strangers():
    people, stream = some_people(1), np.random.default_rng(1)
    own = tell(rows_of(people), 2, crowd_of(people), None, stream)
    assert own.share.low > own.baseline + MARGIN
    for seed in range(2, 12):
        others = tell(rows_of(some_people(seed)), 1 + seed % 2, crowd_of(people), None, stream)
        assert others.share.low < others.baseline + MARGIN


def test_people_who_are_not_in_the_release_are_the_baseline_where_there_are_enough():
    people, strangers, stream = some_people(1), some_people(2), np.random.default_rng(1)
    _, items = np.nonzero(strangers)
    indptr = np.concatenate(([0], np.cumsum(strangers.sum(axis=1))))
    outside = OutsideRatings(indptr, items.astype(np.int32), np.ones(len(items), np.float32))
    crowd, plain = Crowd.outside(outside, N_ITEMS, np.arange(N_USERS)), crowd_of(strangers)
    assert (crowd.indptr == plain.indptr).all()
    assert (crowd.users == plain.users).all()
    told = tell(rows_of(people), 2, crowd_of(people), crowd, stream)
    assert told.outside is not None
    assert told.baseline == pytest.approx(float((told.outside == 1).mean()))


def test_drawn_rows_are_measured_with_baseline_and_control(monkeypatch):
    monkeypatch.setattr("recloak._attacks.registry.own_attacks", lambda: (ATTACK,))
    people, others = recloak.read(table_of(some_people(1))), table_of(some_people(2), first=10_000)
    release = recloak.publish(people, k=5, mode="sampled", seed=1)
    for held_out in (None, others):
        one = recloak.audit(people, release, held_out=held_out).outcomes[0]
        assert one.release is not None
        assert one.baseline > 0.05
        assert (one.control is None) == (held_out is None)
    assert one.control is not None
    assert one.baseline == pytest.approx(one.control.rate, abs=0.05)


def test_an_intersection_of_three_lists_is_one_of_sets():
    lists = [np.array([1, 4, 6, 9]), np.array([4, 6, 7]), np.array([0, 6])]
    crowd = Crowd(np.cumsum([0, *(len(one) for one in lists)]), np.concatenate(lists))
    assert crowd.fitting(np.arange(3)) == len(reduce(set.intersection, (set(one.tolist()) for one in lists)))
