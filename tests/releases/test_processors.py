"""The same seed gives the same bytes on another processor, where kernels have no wide registers or fused products."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._core.compiling import njit
from recloak._releases.embed import root, times
from recloak._releases.ordered_sums import LANES, fused, ordered_dot, ordered_dots

OTHER = {
    "NUMBA_CPU_NAME": "generic",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
}


@njit()
def one_dot(xs, x, ys, y, n):
    return ordered_dot(xs, x, ys, y, n)


@njit()
def three(points, v, u, sums, pulls, g):
    return ordered_dots(points, v, u, sums, pulls, g)


@njit()
def fuse_all(a, b, c, out):
    for i in range(len(out)):
        out[i] = fused(a[i], b[i], c[i])


def exactly_fused(a, b, c):
    """Multiply and add with one rounding: a product of two floats is exact in double, and so nearly is the sum."""
    return np.float32(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))


def naive_dot(xs, ys):
    """Add up in eight lanes, the upper half to the lower until one is left, then what is over."""
    lanes, n = [np.float32(0)] * LANES, len(xs) - len(xs) % LANES
    for i in range(n):
        lanes[i % LANES] = exactly_fused(xs[i], ys[i], lanes[i % LANES])
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[i] + lanes[half + i] for i in range(half)]
    total = lanes[0]
    for i in range(n, len(xs)):
        total = exactly_fused(xs[i], ys[i], total)
    return total


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 23, 24, 40])
def test_sums_are_added_up_in_the_order_that_is_written_down(n):
    rng = np.random.default_rng(n)
    xs, ys, zs = (rng.normal(size=(3, n)).astype(np.float32) for _ in range(3))
    assert one_dot(xs, 1, ys, 2, n) == naive_dot(xs[1], ys[2])
    assert one_dot(xs, 2, ys, 0, n // 2) == naive_dot(xs[2, : n // 2], ys[0, : n // 2])
    wanted = naive_dot(xs[0], xs[1]), naive_dot(xs[0], ys[2]), naive_dot(xs[0], zs[2])
    assert three(xs, 0, 1, ys, zs, 2) == wanted


def test_products_are_fused():
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=1000).astype(np.float32) for _ in range(3))
    out = np.empty(1000, np.float32)
    fuse_all(a, b, c, out)
    assert all(out[i] == exactly_fused(a[i], b[i], c[i]) for i in range(1000))
    assert (out != a * b + c).any()


@pytest.mark.parametrize("n", [1, 2, 5, 24])
def test_the_root_of_a_matrix_is_one_and_its_directions_are_ordered(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, 2 * n)) * np.linspace(1, 3, n)[:, None]
    matrix = half @ half.T
    found = root(matrix)
    assert np.allclose(found @ found.T, matrix, rtol=1e-10)
    sizes = (found**2).sum(axis=0)
    assert np.allclose(np.sort(sizes)[::-1], sizes)
    assert np.allclose(sizes, np.linalg.eigvalsh(matrix)[::-1], rtol=1e-9)
    assert np.allclose(found.T @ found, np.diag(sizes), atol=1e-9 * sizes[0])


def test_directions_of_no_variance_are_left_out():
    assert root(np.diag([4.0, 0.0, 9.0])).tolist() == [[0, 2], [0, 0], [3, 0]]


def test_rows_are_multiplied_by_a_matrix():
    rng = np.random.default_rng(3)
    rows, matrix = rng.normal(size=(50, 7)).astype(np.float32), rng.normal(size=(7, 5)).astype(np.float32)
    assert np.allclose(times(rows, matrix), rows @ matrix, atol=1e-5)


def published(folder: Path, source: Path, cache: Path, options: list[str], processor: dict[str, str]) -> dict[str, str]:
    """Publish in a process of its own; give the SHA-256 of each public file."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **processor}
    command = [sys.executable, "-m", "recloak", "publish", str(source), "-o", str(folder), "--seed", "3", *options]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


WAYS = [  # the options of a release, and whether its source has ratings or only says who used what
    (["--mode", "padded"], True),
    (["--mode", "padded", "--layout", "factors"], True),
    (["--mode", "pure"], True),
    (["--mode", "pure", "--diversity", "1,2"], True),
    (["--mode", "pure", "--decoys", "0.5"], True),
    (["--mode", "sampled"], True),
    (["--mode", "padded"], False),
    (["--mode", "sampled"], False),
]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_on_another_processor(tmp_path):
    ratings, uses = tmp_path / "ratings.csv", tmp_path / "uses.csv"
    recloak.synth(ratings, users=900, items=300, ratings=30_000, seed=1)
    pl.read_csv(ratings).select("user", "item").write_csv(uses)
    differing = []
    for number, (options, rated) in enumerate(WAYS):
        source = ratings if rated else uses
        here = published(tmp_path / f"here-{number}", source, tmp_path / "cache", options, {})
        there = published(tmp_path / f"there-{number}", source, tmp_path / "other", options, OTHER)
        if here != there:
            differing.append((options, rated, [name for name in here if here[name] != there.get(name)]))
    assert not differing
