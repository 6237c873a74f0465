"""Every measure against an obvious version over dense arrays; ties and options."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak.ratings import Ratings
from recloak.related.options import MEASURES, SimilarityOptions
from recloak.related.similarity import nearest
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
