"""The inner loops of grouping beside what they mean."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._releases.nearest_points import as_columns, measure_gaps, measure_norms, smallest


@settings(max_examples=40)
@given(n=st.integers(1, 20), d=st.integers(1, 9), seed=st.integers(0, 99))
def test_gaps_are_squared_distances_but_for_the_centres_own_part(n, d, seed):
    points = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    columns, norms = as_columns(points), np.empty(n, np.float32)
    measure_norms(points, norms)
    gaps = np.empty(n, np.float32)
    measure_gaps(columns, norms, n, columns[:, 0].copy(), gaps)
    assert np.allclose(gaps + norms[0], ((points - points[0]) ** 2).sum(axis=1), atol=1e-4)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5), max_size=12), st.data())
def test_the_smallest_are_those_of_a_stable_sort(values, data):
    places = np.empty(data.draw(st.integers(0, len(values))), np.int32)
    smallest(np.array(values, np.float32), places)
    assert places.tolist() == np.argsort(values, kind="stable")[: len(places)].tolist()
