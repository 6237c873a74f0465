"""Every measure against an obvious version over dense arrays; ties and options."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._ratings.model import Ratings
from recloak._related.options import MEASURES, SimilarityOptions
from recloak._related.pair_products import PackedRatings, nearest_of_packed
from recloak._related.similarity import can_grow, lists_by_period, nearest, nearest_by_sums, weights_of
from tests.strategies import small_ratings


def score(x, y, x_means, y_means, measure):
    """Score two items from their dense columns (0: not rated) by the definition."""
    both = (x > 0) & (y > 0)
    if measure in ("pearson", "adjusted"):
        a, b = (x - x_means)[both], (y - y_means)[both]
        below = np.sqrt((a**2).sum() * (b**2).sum())
        return (a * b).sum() / below if below else 0.0
    if measure == "conditional":
        return both.sum() / (x > 0).sum()
    a, b = ((x > 0) * 1.0, (y > 0) * 1.0) if measure == "presence" else (x, y)
    return a @ b / np.sqrt((a @ a) * (b @ b)) if both.any() else 0.0


def naive(ratings, measure, options):
    """Return all scores from dense arrays: (n_items, n_items)."""
    dense = ratings.matrix.toarray().astype(float)
    rated = dense > 0
    users = dense.sum(axis=1) / np.maximum(rated.sum(axis=1), 1)
    items = dense.sum(axis=0) / np.maximum(rated.sum(axis=0), 1)
    n = dense.shape[1]
    table = np.zeros((n, n))
    for j in range(n):
        for i in range(n):
            together = int((rated[:, i] & rated[:, j]).sum())
            if i != j and together >= options.min_support:
                means = (users, users) if measure == "adjusted" else (items[j], items[i])
                plain = score(dense[:, j], dense[:, i], *means, measure)
                table[j, i] = plain * together / (together + options.shrinkage)
    return table


@settings(max_examples=25)
@given(small_ratings(), st.sampled_from(MEASURES), st.sampled_from([0.0, 2.5]), st.integers(1, 2))
def test_scores_are_those_of_the_definition_in_descending_order(ratings, measure, shrinkage, min_support):
    options = SimilarityOptions(similarity=measure, shrinkage=shrinkage, min_support=min_support)
    lists, table = nearest(ratings, 3, options), naive(ratings, measure, options)
    for j in range(ratings.n_items):
        expected = np.sort(table[j][table[j] > 1e-12])[::-1][:3]
        found = lists.items[j][lists.items[j] >= 0]
        np.testing.assert_allclose(np.asarray(lists.scores)[j][: len(found)], expected[: len(found)], atol=1e-9)
        np.testing.assert_allclose(table[j][found], expected[: len(found)], atol=1e-9)
        assert len(found) == min(len(expected), 3)


def test_no_list_holds_a_correlation_of_nothing_but_rounding():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        cells = rng.permutation(42)[:30]
        ratings = Ratings.from_arrays(cells // 6, cells % 6, rng.integers(1, 11, 30) * 0.5)
        for measure in ("pearson", "adjusted"):
            lists = nearest(ratings, 3, SimilarityOptions(similarity=measure))
            assert np.asarray(lists.scores)[lists.items >= 0].min(initial=1.0) > 1e-9, (seed, measure)


def test_equal_scores_come_in_the_order_of_the_items():
    ratings = Ratings.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1.0, 3, 5, 2, 6, 10])
    assert nearest(ratings, 2).items.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert (
        np.asarray(nearest(ratings, 2).scores) == 1.0
    ).all()  # one rounding: parallel columns have a cosine of exactly 1


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(MEASURES),
    st.sampled_from([0.25, 0.5, 1.0, 0.1]),
    st.sampled_from([0, 2]),
)
def test_lists_brought_up_to_date_are_those_made_anew_bit_for_bit(seed, measure, step, shrinkage):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 120))
    users, items = rng.integers(0, 12, n), rng.integers(0, 9, n)
    whole = Ratings.from_arrays(users, items, rng.integers(1, 11, n) * step, rng.integers(0, 20, n))
    times = np.unique(rng.integers(0, 20, 5)).tolist()
    options = SimilarityOptions(similarity=measure, shrinkage=float(shrinkage), min_support=int(rng.integers(1, 4)))
    for time, grown in zip(times, lists_by_period(whole, times, 3, options), strict=True):
        computed = nearest(whole.until(time), 3, options)
        assert np.array_equal(grown.items, computed.items)
        assert np.array_equal(np.asarray(grown.scores), np.asarray(computed.scores))


def test_only_what_adds_up_exactly_is_brought_up_to_date():
    def of(*values):
        return Ratings.from_arrays(range(len(values)), range(len(values)), list(values), range(len(values)))

    assert can_grow(of(0.5, 3.25, -5.0), SimilarityOptions())
    assert not can_grow(of(0.5, 3.1), SimilarityOptions())
    assert not can_grow(of(0.5, 2000.0), SimilarityOptions())
    assert not can_grow(of(0.5), SimilarityOptions(similarity="pearson"))


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["cosine", "presence", "conditional"]),
    st.sampled_from([0.25, 0.5, 1.0]),
    st.sampled_from([0, 2]),
)
def test_products_pair_by_pair_give_the_lists_of_plain_sums_bit_for_bit(seed, measure, step, shrinkage):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 1500))  # above 1,000 the work is shared between threads
    ratings = Ratings.from_arrays(rng.integers(0, 40, n), rng.integers(0, 30, n), rng.integers(0, 11, n) * step)
    options = SimilarityOptions(similarity=measure, shrinkage=float(shrinkage), min_support=int(rng.integers(1, 4)))
    packed = PackedRatings.of(ratings, weights_of(ratings, measure))
    assert packed is not None
    quick, plain = nearest_of_packed(packed, 4, options), nearest_by_sums(ratings, 4, options)
    assert np.array_equal(quick.items, plain.items)
    assert np.array_equal(np.asarray(quick.scores), np.asarray(plain.scores))


def test_only_ratings_that_fit_the_words_are_packed():
    def packed(*values):
        ratings = Ratings.from_arrays(range(len(values)), range(len(values)), list(values))
        return PackedRatings.of(ratings, ratings.values)

    assert packed(0.0, 0.25, 63.75) is not None
    for outside in (-1.0, 0.1, 64.0, float(np.float32(1e30))):
        assert packed(1.0, outside) is None
