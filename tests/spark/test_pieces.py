"""What tasks run, tried without a cluster: rows in, rows out."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._related.options import MEASURES, SimilarityOptions
from recloak._related.similarity import nearest
from recloak._releases.factorise import Levels
from recloak._releases.row_solver import Beliefs, RatingRows, RowSums, solve_rows, solve_sums, sum_rows
from tests.releases.helpers import some_ratings

pytest.importorskip("pyspark")

from recloak._spark import similar_items
from recloak._spark.array_cells import row_by_row
from recloak._spark.naming import group_key, signed, user_key
from recloak._spark.padding import _packed, _unpacked
from recloak._spark.user_bins import BinLimits, Piece, pack, take_users
from recloak._spark.user_bins import nearest as nearest_centre
from recloak._spark.user_blocks import block_kinds, block_row


@given(st.integers(0, 2**32), st.integers(1, 5))
@settings(max_examples=15)
def test_sums_of_pieces_solve_to_what_whole_rows_solve_to(seed, n_pieces):
    ratings = some_ratings(24, 7, seed % 1000)
    rng = np.random.default_rng(seed)
    users = Beliefs(rng.normal(0, 0.5, (24, 4)).astype(np.float32), rng.uniform(0.01, 0.1, (24, 4)).astype(np.float32))
    prior = np.array([0.2, 0.2, 0.2, 0.4])
    expected, errors = solve_rows(_by_item(ratings), users, mu=3.0, noise=0.5, prior=prior)
    totals: Any = 0.0
    for part in np.array_split(np.arange(24), n_pieces):
        piece = sum_rows(_by_item(take_users(ratings, part)), Beliefs(users.mean[part], users.variance[part]), mu=3.0)
        totals = totals + _packed(piece).astype(np.float64)
    found, found_errors = solve_sums(_unpacked(np.asarray(totals), 8), noise=0.5, prior=prior)
    np.testing.assert_allclose(found.mean, expected.mean, atol=2e-5)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-4)
    np.testing.assert_allclose(found_errors, errors, rtol=1e-3, atol=1e-4)


def _by_item(ratings: Ratings) -> RatingRows:
    indptr, users, order = transpose_rows(ratings.indptr, ratings.items, ratings.n_items)
    return RatingRows(indptr, users, ratings.values[order])


def test_an_item_without_ratings_is_left_unknown():
    nothing = RowSums(np.zeros((1, 8, 8), np.float32), np.zeros((1, 8), np.float32))
    levels = Levels(3.0, 0.5, np.ones(3), np.ones(3), 1e-6)
    found, errors = solve_sums(nothing, noise=levels.noise, prior=levels.item_prior)
    assert not found.mean.any()
    assert not found.known.any()
    assert not errors.any()


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 50)), min_size=1, max_size=40), st.integers(1, 30))
def test_bins_are_runs_of_neighbours_within_their_limits(sizes, least):
    pieces = [Piece(cell, 0, users, users * each) for cell, (users, each) in enumerate(sizes)]
    limits = BinLimits(users=100, ratings=2000, least_users=least)
    bins = pack(pieces, limits)
    numbers = [bins[piece] for piece in pieces]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(max(numbers) + 1))
    totals = np.bincount(numbers, [piece.n_users for piece in pieces])
    assert len(totals) == 1 or totals.min() >= least


def test_a_point_goes_to_the_nearest_centre():
    rng = np.random.default_rng(3)
    points, centres = rng.normal(size=(5000, 4)).astype(np.float32), rng.normal(size=(9, 4)).astype(np.float32)
    slow = np.linalg.norm(points[:, None].astype(float) - centres[None], axis=2).argmin(axis=1)
    assert (nearest_centre(points, centres) == slow).mean() > 0.999


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_signed_keys_keep_the_order_of_keys(one, other):
    low, high = sorted((one, other))
    assert -(2**63) <= signed(low) <= signed(high) < 2**63


def test_keys_depend_on_the_secret_and_not_on_the_order_of_members():
    assert user_key(b"a" * 64, 7) != user_key(b"b" * 64, 7)
    assert user_key(b"a" * 64, 7) != user_key(b"a" * 64, "7")
    assert group_key(b"a" * 64, [1, 2, 3]) == group_key(b"a" * 64, [3, 1, 2])
    keys = np.array([user_key(b"a" * 64, user) for user in range(4000)], np.float64) / 2**64
    assert abs(keys.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 4000)


@pytest.mark.parametrize("similarity", MEASURES)
@pytest.mark.parametrize(("shrinkage", "min_support"), [(0.0, 1), (2.0, 2)])
def test_lists_from_strips_and_blocks_are_the_local_lists(tmp_path, similarity, shrinkage, min_support):
    ratings = some_ratings(60, 14, seed=4, density=0.35)
    options = SimilarityOptions(similarity=similarity, shrinkage=shrinkage, min_support=min_support)
    expected = nearest(ratings, 4, options)
    _lay_down(ratings, tmp_path)
    values = np.ones(ratings.n_ratings) if similarity in ("presence", "conditional") else ratings.values
    squares: Any = np.bincount(ratings.items, values.astype(float) ** 2)
    means = np.bincount(ratings.items, ratings.values) / ratings.popularity
    totals = similar_items._Totals(means, squares)
    found = [
        similar_items._top(
            similar_items._strip_sums(tmp_path, ratings.item_ids, totals, strip, options), totals, strip[0], 4, options
        )
        for strip in ((0, 5), (5, 14))
    ]
    np.testing.assert_array_equal(np.concatenate([items for items, _ in found]), expected.items)
    np.testing.assert_allclose(np.concatenate([scores for _, scores in found]), np.asarray(expected.scores), rtol=1e-12)


def _lay_down(ratings: Ratings, folder: Path) -> None:
    kinds = block_kinds(text_users=False)
    for block, part in enumerate(np.array_split(np.arange(ratings.n_users), 3)):
        row = block_row(take_users(ratings, part), block, kinds)
        pq.write_table(pa.Table.from_batches([row]), folder / f"part-{block}.parquet")


class _Settings:
    """A session's settings, as far as they are asked here."""

    def __init__(self) -> None:
        self.known = {"spark.sql.parquet.columnarReaderBatchSize": "512"}
        self.conf = self

    def get(self, key: str) -> str:
        return self.known[key]

    def set(self, key: str, value: str) -> None:
        self.known[key] = value


def test_rows_of_arrays_are_read_one_at_a_time_and_the_session_is_left_as_it_was():
    session: Any = _Settings()
    with pytest.raises(KeyError), row_by_row(session):
        assert session.known == {"spark.sql.parquet.columnarReaderBatchSize": "1"}
        raise KeyError
    assert session.known == {"spark.sql.parquet.columnarReaderBatchSize": "512"}
