"""How many users are unique: the streaming count against plain sets."""

import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import small_ratings

from recloak._core.errors import InputError, OptionError
from recloak._ratings import exposure
from recloak._ratings.exposure import KnownRatings, count_candidates, expose
from recloak._ratings.model import Ratings
from recloak._ratings.options import ExposureOptions

KNOWN = (1, 2, 4, 8)


def candidates_by_sets(ratings, known):
    """Count the users whose (item, rating) pairs include the known ones: items only, and with ratings."""
    items = [set(ratings.items[ratings.row(u)]) for u in range(ratings.n_users)]
    pairs = [set(zip(ratings.items[ratings.row(u)], ratings.values[ratings.row(u)])) for u in range(ratings.n_users)]  # noqa: B905
    return sum({i for i, _ in known} <= row for row in items), sum(set(known) <= row for row in pairs)


@st.composite
def ratings_and_knowledge(draw):
    ratings = draw(small_ratings(high=2))
    targets = draw(st.lists(st.integers(0, ratings.n_users - 1), min_size=1, unique=True))
    known = []
    for user in targets:
        row = ratings.row(user)
        known.append(draw(st.permutations(range(row.start, row.stop)))[: KNOWN[-1]])
    starts = np.cumsum([0] + [len(places) for places in known])
    return ratings, KnownRatings(np.array(targets), starts, np.concatenate(known).astype(np.int64))


@given(ratings_and_knowledge(), st.sampled_from([1, 2, 64]))
def test_the_count_agrees_with_plain_sets(case, n_chunks):
    ratings, knowledge = case
    with mock.patch.object(exposure, "_N_CHUNKS", n_chunks):  # one run of all users up to one run for each
        counts = count_candidates(ratings, knowledge, KNOWN)
    for t in range(len(knowledge.targets)):
        places = knowledge.places[knowledge.starts[t] : knowledge.starts[t + 1]]
        pairs = list(zip(ratings.items[places], ratings.values[places], strict=True))
        for level, n in enumerate(KNOWN):
            assert tuple(counts[t, level]) == candidates_by_sets(ratings, pairs[:n])


@given(small_ratings(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_more_knowledge_never_leaves_more_candidates(ratings, seed):
    found = expose(ratings, rng=seed)
    for labelled in (False, True):
        levels = [found.at(n, with_ratings=labelled) for n in KNOWN]
        assert all(a.unique.rate <= b.unique.rate for a, b in itertools.pairwise(levels))
        for fewer, more in itertools.pairwise(levels):
            assert all(a >= b for a, b in zip(fewer.candidates, more.candidates, strict=True))
    assert all(found.at(n, with_ratings=False).guess <= found.at(n, with_ratings=True).guess for n in KNOWN)


def table(rows):
    users, items, values = zip(*rows, strict=True)
    return Ratings.from_arrays(users, items, values)


def test_twins_hide_each_other_and_the_odd_one_stands_out():
    ratings = table([("a", 1, 5), ("a", 2, 5), ("b", 1, 5), ("b", 2, 5), ("c", 3, 5), ("c", 4, 5)])
    found = expose(ratings, rng=0)
    assert found.at(8, with_ratings=True).unique.rate == pytest.approx(1 / 3)
    assert found.at(1, with_ratings=False).guess == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)


def test_ratings_part_two_users_whom_items_do_not():
    ratings = table([("a", 1, 5), ("b", 1, 4)])
    found = expose(ratings, rng=0)
    assert found.at(1, with_ratings=False).unique.rate == 0
    assert found.at(1, with_ratings=True).unique.rate == 1


def test_of_a_user_with_few_ratings_all_are_known_and_the_level_says_so():
    ratings = table([("a", 1, 5), ("b", 1, 5), ("b", 2, 5), ("b", 3, 5)])
    found = expose(ratings, rng=0)
    assert [found.at(n, with_ratings=False).n_short for n in KNOWN] == [0, 1, 2, 2]
    assert found.at(8, with_ratings=False).candidates == (1, 1, 1, 2, 2)


def test_all_equal_users_are_never_unique_and_the_interval_starts_at_zero():
    ratings = table([(user, item, 3) for user in range(20) for item in range(8)])
    for level in expose(ratings, rng=0).levels:
        assert (level.unique.rate, level.unique.low) == (0, 0)
        assert level.candidates == (20,) * 5


def many(n_users=300, n_items=80, seed=5):
    stream = np.random.default_rng(seed)
    n = n_users * 20
    return Ratings.from_arrays(stream.integers(0, n_users, n), stream.integers(0, n_items, n), stream.integers(1, 6, n))


def test_the_same_seed_gives_the_same_result_whatever_the_threads(monkeypatch):
    ratings = many()
    found = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(exposure, "_n_threads", lambda n=n_threads: n)
        found.append(expose(ratings, ExposureOptions(targets=100), rng=7))
    assert found[0] == found[1] == found[2]
    assert found[0].seed == 7
    assert expose(ratings, ExposureOptions(targets=100), rng=8) != found[0]


def test_a_sample_comes_near_the_whole():
    ratings = many()
    whole = expose(ratings, rng=1).at(2, with_ratings=True)
    part = expose(ratings, ExposureOptions(targets=150), rng=2).at(2, with_ratings=True)
    assert (whole.unique.n, part.unique.n) == (300, 150)
    assert part.unique.low <= whole.unique.rate <= part.unique.high


def test_users_without_ratings_are_no_targets():
    ratings = table([("a", 1, 5), ("b", 1, 4)])
    assert expose(ratings.where(np.array([True, False])), rng=0).n_targets == 1


def test_nothing_to_look_for_is_refused():
    ratings = table([("a", 1, 5)])
    with pytest.raises(InputError, match="no ratings"):
        expose(ratings.where(np.array([False])))


@pytest.mark.parametrize("known", [(), (0, 1), (2, 2), (4, 2), (1.5,)])
def test_known_items_must_be_ascending_whole_numbers(known):
    with pytest.raises(OptionError, match="known must be ascending"):
        ExposureOptions(known=known)


def test_an_unknown_level_is_refused():
    with pytest.raises(OptionError, match="known must be one of"):
        expose(table([("a", 1, 5)]), rng=0).at(3, with_ratings=True)
