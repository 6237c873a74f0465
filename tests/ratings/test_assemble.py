"""From rows in file order to a sparse matrix: the fast way against a dictionary."""

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recloak._ratings.assemble import RowChunk, assemble_chunks, assemble_rows, distinct_values, transpose_rows

ROW = st.tuples(st.integers(0, 9), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0, 4.5]), st.integers(-3, 3))


def naive(rows, n_users, timed):
    kept: dict[tuple[int, int], tuple[float, int]] = {}
    for user, item, value, time in rows:
        if (user, item) not in kept or not timed or time >= kept[user, item][1]:
            kept[user, item] = value, time
    pairs = sorted(kept)
    indptr = np.cumsum([0, *(sum(user == u for user, _ in pairs) for u in range(n_users))])
    return indptr, [item for _, item in pairs], [kept[pair][0] for pair in pairs], [kept[pair][1] for pair in pairs]


def columns(rows):
    users, items, values, times = np.array(rows, np.float64).reshape(-1, 4).T
    return users.astype(np.int32), items.astype(np.int32), values.astype(np.float32), times.astype(np.int64)


@pytest.mark.parametrize("timed", [True, False])
@given(rows=st.lists(ROW, min_size=1, max_size=60))
def test_the_latest_of_a_repeated_pair_wins_and_rows_ascend(timed, rows):
    users, items, values, times = columns(rows)
    made = assemble_rows(users, items, values, times if timed else None, 10, 6)
    indptr, its, vals, tms = naive(rows, 10, timed)
    assert made[0].tolist() == list(indptr)
    assert made[1].tolist() == its
    assert made[2].tolist() == vals
    np.testing.assert_array_equal(made[3], tms if timed else None)


@given(rows=st.lists(ROW, min_size=1, max_size=60), gap=st.integers(1, 50), far=st.sampled_from([0, 1 << 33]))
@example(rows=[(1, 1, 1.0, 0), (1, 1, 2.0, 0), (9, 2, 0.0, 1)], gap=7, far=0)
def test_gaps_between_codes_small_buckets_and_far_times_change_nothing(rows, gap, far):
    users, items, values, times = columns(rows)
    times[0] += far
    seen = np.zeros(9 * gap + 1, np.bool_)
    seen[users * gap] = True
    user_of = (np.cumsum(seen) - 1).astype(np.int32)
    chunks = [
        RowChunk((users * gap)[a : a + 7], items[a : a + 7], values[a : a + 7], times[a : a + 7])
        for a in range(0, len(rows), 7)
    ]
    plain = assemble_rows(user_of[users * gap], items, values, times, int(user_of.max()) + 1, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[assemble_chunks.__module__], "_BUCKET_ROWS", 2)
        made = assemble_chunks(chunks, user_of, np.arange(6, dtype=np.int32))
    for ours, other in zip(made, plain, strict=True):
        np.testing.assert_array_equal(ours, other)
    numbered = [(int(user_of[row[0] * gap]), *row[1:3], int(time)) for row, time in zip(rows, times, strict=True)]
    assert made[1].tolist() == naive(numbered, int(user_of.max()) + 1, True)[1]


@given(rows=st.lists(ROW, min_size=1, max_size=40), order=st.randoms())
def test_codes_that_do_not_ascend_are_renumbered_first(rows, order):
    users, items, values, times = columns(rows)
    shuffled = np.array(order.sample(range(10), 10), np.int32)
    back = np.argsort(shuffled).astype(np.int32)
    made = assemble_chunks([RowChunk(shuffled[users], items, values, times)], back, np.arange(6, dtype=np.int32))
    for ours, other in zip(made, assemble_rows(users, items, values, times, 10, 6), strict=True):
        np.testing.assert_array_equal(ours, other)


@given(rows=st.lists(ROW, min_size=1, max_size=60), size=st.integers(1, 9))
def test_rows_that_come_by_user_are_sorted_in_place_to_the_same_end(rows, size):
    rows = sorted(rows, key=lambda row: row[0])
    users, items, values, times = columns(rows)
    whole = RowChunk(users, items, values, times)
    chunks = [whole.part(start, start + size) for start in range(0, len(rows), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[assemble_chunks.__module__], "_BUCKET_ROWS", 2)
        made = assemble_chunks(chunks, np.arange(10, dtype=np.int32), np.arange(6, dtype=np.int32))
    for ours, other in zip(made, naive(rows, 10, True), strict=True):
        np.testing.assert_array_equal(ours, other)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    users, items = rng.integers(0, 900, 200_000), rng.integers(0, 70, 200_000)
    rows = users.astype(np.int32), items.astype(np.int32), rng.random(200_000, np.float32), rng.integers(0, 9, 200_000)
    made = []
    for n in ("1", "2", "5"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", n)
        made.append(assemble_rows(*rows, 900, 70))
    for ours, other in zip(made[0] * 2, made[1] + made[2], strict=True):
        np.testing.assert_array_equal(ours, other)


@given(values=st.lists(st.sampled_from([0.0, -1.0, 2.5, 7.0, 1e9]), min_size=1), more=st.booleans())
def test_distinct_values_are_those_of_numpy(values, more):
    column = np.array(values + (list(range(300)) if more else []), np.float32)
    assert distinct_values(column).tolist() == np.unique(column).tolist()


def test_transposing_lists_the_raters_of_each_item():
    indptr, rows, order = transpose_rows(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), 3)
    assert (indptr.tolist(), rows.tolist(), order.tolist()) == ([0, 1, 1, 3], [0, 0, 1], [0, 1, 2])
