"""The published grid: labels are rounded to a few values, so that an average does not show how many were averaged.

A mean of k' whole ratings shows k' by its denominator (3.2 in a group of five: all five rated it). On a grid
``low + c * step`` every count gives the same few values. How coarse it must be depends on the mode; the defaults were
chosen by measurement (docs/decisions/labels-and-grid.md).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.frozen import make_read_only
from recloak._ratings.model import Scale
from recloak._releases.model.modes import MODES

_MOST_VALUES = 100_000


class BareGrid(NamedTuple):
    """A grid as compiled code takes it; a step of 0 stands for no grid."""

    low: float
    high: float
    step: float
    values: NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """The values a label may take, ascending; empty: any value of the scale."""

    scale: Scale
    step: float | None
    values: NDArray[np.float32]  # (n_values,)

    def __post_init__(self) -> None:
        make_read_only(self.values)

    @property
    def bare(self) -> BareGrid:
        """The grid as compiled code takes it."""
        return BareGrid(self.scale.low, self.scale.high, self.step or 0.0, self.values)

    def round(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return values inside the scale and on the grid; halfway goes up."""
        inside = self.scale.clip(values)
        if self.step is None:
            return inside.astype(np.float32)
        codes = np.floor((inside - self.scale.low) / self.step + 0.5).astype(np.int64)
        return self.values[np.clip(codes, 0, len(self.values) - 1)]


def make_grid(scale: Scale, mode: str, wanted: float | str | None = None) -> Grid:
    """Return the grid of a scale: a step, ``"none"`` for no grid, or nothing for the mode's default."""
    if wanted == "none":
        return Grid(scale, None, np.empty(0, np.float32))
    step = default_step(scale, mode) if wanted is None else float(wanted)
    if not (math.isfinite(step) and step > 0):
        raise OptionError(f"grid must be a step above 0 or none, got {wanted}")
    if scale.span and step > scale.span:
        raise OptionError(f"grid must not be wider than the scale from {scale.low:g} to {scale.high:g}, got {step:g}")
    n_values = math.floor(scale.span / step + 1e-6) + 1
    if n_values > _MOST_VALUES:
        raise OptionError(f"grid must have at most {_MOST_VALUES} values on the scale, got {n_values}; or say none")
    return Grid(scale, _shortest(scale, step, n_values), _values(scale, step, n_values))


def _values(scale: Scale, step: float, n_values: int) -> NDArray[np.float32]:
    return (np.round(scale.low + step * np.arange(n_values), 6) + 0.0).astype(np.float32)


def _shortest(scale: Scale, step: float, n_values: int) -> float:
    """Return the step with the fewest decimals for the same values: digits that do nothing could say anything."""
    wanted = _values(scale, step, n_values)
    shorter = (round(step, digits) for digits in range(17))
    same = (one for one in shorter if np.array_equal(_values(scale, one, n_values), wanted))
    return next((one for one in same if one > 0), step)


def default_step(scale: Scale, mode: str) -> float:
    """Return the default step of a mode: the widest 1, 2 or 5 times a power of ten of which enough fit the scale.

    On a scale from 1 to 5 that is 0.1 (padded) and 0.5 (pure); drawn ratings take the source's own values.
    """
    if scale.span == 0:
        return 1.0
    if MODES[mode].is_drawn and scale.step is not None:
        return scale.step
    return round_below(scale.span / MODES[mode].grid_steps)


def round_below(width: float) -> float:
    """Return the widest of 1, 2, 5 times a power of ten that is not above a width."""
    power = math.floor(math.log10(width) + 1e-9)
    leading = next(digit for digit in (5, 2, 1) if digit * 10.0**power <= width * (1 + 1e-9))
    return round(leading * 10.0**power, 12)
