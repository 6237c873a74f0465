"""Noise and its price, both by OpenDP: the discrete Gaussian mechanism and zero-concentrated differential privacy.

The noise comes from the operating system and from no seed: whoever knew the seed could take it off again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recloak._core.extras import require_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXTRA = "statistics"
_SCALE = 1000.0  # of the mechanism on which a budget is looked up; only the ratio to its sensitivity matters
_HALVINGS = 50


def require_library() -> None:
    """Raise MissingExtraError unless OpenDP is installed."""
    require_extra(EXTRA, "opendp", need="statistics with differential privacy")


def _opendp() -> Any:
    require_library()
    import opendp.prelude as dp  # noqa: PLC0415 (half a second, and optional)

    dp.enable_features("contrib")
    return dp


def _mechanism(dp: Any, scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=scale)


def budget_for(epsilon: float, delta: float) -> float:
    """Return the largest rho (zero-concentrated) that is within epsilon and delta."""
    dp = _opendp()
    curve = dp.c.make_zCDP_to_approxDP(_mechanism(dp, _SCALE))
    low, high = 0.0, _SCALE
    while curve.map(high).epsilon(delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve.map(middle).epsilon(delta) <= epsilon else (low, middle)
    return float(_mechanism(dp, _SCALE).map(low))


def deviation_for(sensitivity: float, rho: float) -> float:
    """Return the standard deviation that costs rho for sums to which one person adds a vector of such a length."""
    return float(sensitivity / np.sqrt(2 * rho))


def with_noise(sums: NDArray[np.int64], sensitivity: float, rho: float) -> NDArray[np.int64]:
    """Return whole sums with noise that costs at most rho; one person's part is no longer than the sensitivity."""
    dp = _opendp()
    mechanism = _mechanism(dp, deviation_for(sensitivity, rho) * (1 + 1e-9))
    assert mechanism.map(float(sensitivity)) <= rho
    return np.array(mechanism(sums.ravel().tolist()), np.int64).reshape(sums.shape)
