"""Every measure against an obvious version over dense arrays; ties, options, and bringing lists up to date."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak.ratings import Ratings
from recloak.related.options import MEASURES, SimilarityOptions
from recloak.related.similarity import nearest, renew
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
    """Give all scores from dense arrays: (n_items, n_items)."""
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


def test_equal_scores_come_in_the_order_of_the_items():
    ratings = Ratings.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1.0, 3, 5, 2, 6, 10])
    assert nearest(ratings, 2).items.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert (
        np.asarray(nearest(ratings, 2).scores) == 1.0
    ).all()  # one rounding: parallel columns have a cosine of exactly 1


@pytest.mark.parametrize("measure", MEASURES)
def test_lists_brought_up_to_date_are_those_made_anew(measure):
    rng = np.random.default_rng(5)
    cells = rng.permutation(60 * 40)[:500]
    values = rng.integers(1, 6, 500).astype(float)
    ratings = Ratings.from_arrays(cells // 40, cells % 40, values, np.arange(500))
    options = SimilarityOptions(similarity=measure)
    before, after = ratings.until(490), ratings.until(499)
    lists, looked_at = renew(before, nearest(before, 4, options), after, options)
    anew = nearest(after, 4, options)
    assert np.array_equal(lists.items, anew.items)
    assert np.array_equal(np.asarray(lists.scores), np.asarray(anew.scores))
    assert len(looked_at) <= ratings.n_items


def test_what_shares_no_rater_with_a_change_is_not_looked_at():
    users, items = [0, 0, 1, 1, 2], [0, 1, 2, 3, 2]
    ratings = Ratings.from_arrays(users, items, [1.0] * 5, [0, 0, 0, 0, 9])
    _, looked_at = renew(ratings.until(0), nearest(ratings.until(0), 2), ratings.until(9))
    assert looked_at.tolist() == [2, 3]
