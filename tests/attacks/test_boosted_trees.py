"""Boosted trees: the same as an obvious version, and able to learn what no single sign tells."""

import numpy as np

from recloak._attacks import boosted_trees
from recloak._attacks.boosted_trees import DEPTH, binned, learn


def naive_tree(bins, slope, curve, depth):
    """Return the value of every row by trying every question on every sign."""
    ridge = boosted_trees._RIDGE

    def score(rows):
        return slope[rows].sum() ** 2 / (curve[rows].sum() + ridge)

    def values(rows, left):
        if left == 0:
            return dict.fromkeys(rows.tolist(), -boosted_trees._RATE * slope[rows].sum() / (curve[rows].sum() + ridge))
        best, parts = 1e-6, (rows, rows[:0])
        for sign in range(bins.shape[1]):
            for cut in range(bins[:, sign].max()):
                yes = bins[rows, sign] <= cut
                gain = score(rows[yes]) + score(rows[~yes]) - score(rows)
                if gain > best * (1 + 1e-9):
                    best, parts = gain, (rows[yes], rows[~yes])
        return {**values(parts[0], left - 1), **values(parts[1], left - 1)}

    found = values(np.arange(len(bins)), depth)
    return np.array([found[row] for row in range(len(bins))])


def test_a_tree_is_the_one_that_trying_every_question_gives():
    stream = np.random.default_rng(4)
    signs = stream.integers(0, 6, (300, 3)).astype(np.float32)
    answers = stream.random(300) < 0.1 + 0.6 * ((signs[:, 0] > 2) & (signs[:, 1] < 3))

    class Every(np.random.Generator):
        def integers(self, low, high, n):  # type: ignore[override]
            assert n == high
            return np.arange(low, high)

    trees = learn(signs, answers, np.ones(300), stream=Every(np.random.PCG64(0)), n_trees=1)
    bins, share = binned(signs, trees.edges), answers.mean()
    expected = np.log(share / (1 - share)) + naive_tree(bins, share - answers, np.full(300, share * (1 - share)), DEPTH)
    np.testing.assert_allclose(trees.log_odds(signs), expected, rtol=1e-9)


def test_trees_learn_what_two_signs_tell_together_and_neither_tells_alone():
    stream = np.random.default_rng(0)
    signs = stream.integers(0, 2, (4000, 4)).astype(np.float32)
    signs[:, 3] = stream.random(4000)
    answers = (signs[:, 0] != signs[:, 1]) ^ (stream.random(4000) < 0.02)
    trees = learn(signs[:2000], answers[:2000], np.ones(2000), stream=stream, n_trees=30)
    right = (trees.log_odds(signs[2000:]) > 0) == answers[2000:]
    assert right.mean() > 0.95


def test_a_row_counts_as_often_as_its_weight_says():
    signs, answers = np.zeros((100, 1), np.float32), np.arange(100) < 50
    weights = np.where(answers, 1.0, 9.0)
    odds = learn(signs, answers, weights, stream=np.random.default_rng(0), n_trees=1).log_odds(signs)
    assert abs(1 / (1 + np.exp(-odds[0])) - 0.1) < 0.02  # 50 of 50 + 450
