"""The grouping step: a partition in bounds, near users together, one answer."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import InputError
from recloak._ratings.model import Scale
from recloak._releases.group import GroupOptions, group, group_points
from recloak._releases.model.steps import Grouping, Padding


def padding_of(points: np.ndarray, n_items: int = 6) -> Padding:
    """Make a padding whose user factors are the given points."""
    n_users, rank = points.shape
    stream = np.random.default_rng(1)
    return Padding(
        3.0,
        np.zeros(n_users, np.float32),
        stream.normal(size=n_items).astype(np.float32),
        points.astype(np.float32),
        stream.normal(size=(n_items, rank)).astype(np.float32),
        Scale(1, 5),
    )


def some_points(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@settings(max_examples=60)
@given(k=st.integers(2, 7), more=st.integers(0, 40), d=st.integers(0, 3), seed=st.integers(0, 99))
def test_every_group_has_k_to_2k_minus_1_members(k, more, d, seed):
    labels = group_points(some_points(k + more, d, seed), k, rng=seed)
    Grouping(labels, k).require_bounds()
    assert len(labels) == k + more
    assert set(labels) == set(range(labels.max() + 1))


@pytest.mark.parametrize("n_users", [5, 9, 10, 11])
def test_the_smallest_numbers_of_users_are_grouped(n_users):
    grouping = group(padding_of(some_points(n_users)), GroupOptions(k=5), rng=0)
    assert grouping.n_groups == n_users // 5


def test_fewer_users_than_k_are_refused():
    with pytest.raises(InputError, match="at least k = 5, got 4"):
        group(padding_of(some_points(4)), GroupOptions(k=5), rng=0)


def test_equal_points_are_grouped_in_bounds():
    Grouping(group_points(np.ones((23, 4), np.float32), 4, rng=0), 4).require_bounds()


def test_two_obvious_clusters_are_found():
    points = np.concatenate([some_points(5), some_points(6, seed=1) + 100])
    labels = group_points(points, 5, rng=0)
    assert len(set(labels[:5])) == 1
    assert len(set(labels[5:])) == 1
    assert labels[0] != labels[5]


def test_the_order_of_the_users_does_not_matter():
    points = some_points(200)
    shuffle = np.random.default_rng(2).permutation(200)
    plain, shuffled = group_points(points, 4, rng=0), group_points(points[shuffle], 4, rng=0)
    assert np.array_equal(plain[shuffle], shuffled)


def test_input_stays_untouched():
    points = some_points(30)
    before = points.copy()
    group_points(points, 3, rng=0)
    assert np.array_equal(points, before)


_LABELS = """
import numpy as np
from recloak._releases.group import GroupOptions, group
from tests.releases.test_group import padding_of, some_points
for method in ("default", "paper"):
    labels = group(padding_of(some_points(3000, 8)), GroupOptions(k=5, method=method, rounds=2), rng=7).labels
    print(method, hash(labels.tobytes()))
"""


@pytest.mark.parametrize("method", ["default", "paper"])
def test_the_number_of_threads_changes_no_group(method, monkeypatch):
    padding, said = padding_of(some_points(3000, 8)), set()
    for threads in (1, 2, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        said.add(group(padding, GroupOptions(k=5, method=method, rounds=2), rng=7).labels.tobytes())
    assert len(said) == 1


@pytest.mark.slow
def test_one_and_two_threads_of_every_library_give_the_same_groups():
    said = set()
    for threads in ("1", "2"):
        counts = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        env = {**os.environ, **counts, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
        said.add(subprocess.run([sys.executable, "-c", _LABELS], env=env, check=True, stdout=subprocess.PIPE).stdout)
    assert len(said) == 1
