"""The paper's metrics on blocks of rows, beside their formulas on dense rows."""

import numpy as np
import pytest

from recloak._ratings.model import Ratings, Scale
from recloak._releases.distance import METRICS, PaddedRows, distances
from tests.releases.test_group import padding_of, some_points


def naive(metric, x, y, span):
    d = np.abs(x - y)
    t = d / span
    weights = np.select([t < 1 / 8, t < 1 / 4, t < 1 / 2, t < 3 / 4], [0, 0.25, 0.5, 0.75], 1)
    return {
        "squared": (t**2).mean(),
        "weighted-squared": 1 - ((1 - t) ** 2).mean(),
        "weighted": weights.mean(),
        "closeness-0.5": (d > 0.5).mean(),
        "closeness-1.0": (d > 1.0).mean(),
    }[metric]


@pytest.mark.parametrize("metric", METRICS)
def test_the_kernel_agrees_with_the_formula(metric):
    stream = np.random.default_rng(0)
    rows, centres = (stream.uniform(1, 5, (n, 11)).astype(np.float32) for n in (6, 4))
    expected = [[naive(metric, x, y, 4.0) for y in centres] for x in rows]
    assert np.allclose(distances(rows, centres, metric, 4.0), expected, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_are_at_0_and_opposite_ones_at_1(metric):
    ends = np.array([[1, 1, 1], [5, 5, 5]], np.float32)
    assert np.allclose(distances(ends, ends, metric, 4.0), [[0, 1], [1, 0]])


def test_a_scale_of_one_value_has_no_squared_distance():
    rows = np.array([[3, 3]], np.float32)
    assert distances(rows, rows, "weighted-squared", 0.0) == 0


def test_a_padded_row_lies_inside_the_scale_and_keeps_the_ratings():
    padding = padding_of(some_points(3) * 10, n_items=2)
    ratings = Ratings.from_arrays([0, 1, 2, 0], [0, 1, 0, 1], [2.0, 4.0, 1.0, 5.0])
    rows = PaddedRows(padding, ratings).of(np.arange(3))
    assert rows.min() >= 1
    assert rows.max() <= 5
    assert rows[0].tolist() == [2, 5]
    assert (rows[1, 1], rows[2, 0]) == (4, 1)


def test_means_and_distances_are_the_same_in_blocks(monkeypatch):
    padding = padding_of(some_points(9))
    labels = np.array([0, 1, 2] * 3)
    whole = PaddedRows(padding).means(np.arange(9), labels, 3)
    monkeypatch.setattr("recloak._releases.distance._CELLS", 12)
    blocks = PaddedRows(padding).means(np.arange(9), labels, 3)
    assert np.allclose(whole, blocks, atol=1e-6)
    assert np.allclose(whole[1], PaddedRows(padding).of(np.array([1, 4, 7])).mean(axis=0), atol=1e-6)
    assert padding.scale == Scale(1, 5)
