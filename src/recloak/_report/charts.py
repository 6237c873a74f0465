"""What a chart shows, apart from how it is drawn: frozen values, and short ways to make the usual ones.

Two kinds carry everything: `Bars` (histograms, and grouped bars where there are several series) and `Lines` (curves
with intervals, quantile curves, steps). The first series is the one the eye should follow: it has the accent colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recloak._core.errors import OptionError
from recloak._core.intervals import Share

MOST_SERIES = 5  # as many as there are colours and dashes that can be told apart
_MOST_STEPS = 400  # a step curve with more corners is thinned: no eye sees them, and the page stays small


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its label, whether it is logarithmic or in percent, and where fixed, its ends and ticks."""

    label: str
    log: bool = False
    percent: bool = False
    low: float | None = None
    high: float | None = None
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One measured point, with its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points under one name."""

    name: str
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Curves over a number axis; ``step`` draws stairs, ``marked`` a mark on every point."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    step: bool = False
    marked: bool = True

    def __post_init__(self) -> None:
        _check_series(len(self.series))
        for series in self.series:
            if self.x.log and any(point.x <= 0 for point in series.points):
                raise OptionError(f"{series.name}: a logarithmic axis takes only numbers above 0")


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over named places: ``values[s][b]`` is the bar of series s at place b; one series is a histogram."""

    x: Axis
    y: Axis
    places: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[tuple[Share | float, ...], ...]

    def __post_init__(self) -> None:
        _check_series(len(self.names))
        if len(self.values) != len(self.names) or any(len(row) != len(self.places) for row in self.values):
            raise OptionError("bars need one value for every name and place")
        if len(set(self.places)) < len(self.places):
            raise OptionError("the places of bars must differ from each other")


Chart = Lines | Bars


def _check_series(n: int) -> None:
    if not 1 <= n <= MOST_SERIES:
        raise OptionError(f"a chart holds 1 to {MOST_SERIES} series, got {n}")


def bars(x: Axis, y: Axis, places: Iterable[str], series: Mapping[str, Sequence[Share | float]]) -> Bars:
    """Make bars over places, one series or several side by side."""
    return Bars(x, y, tuple(places), tuple(series), tuple(tuple(row) for row in series.values()))


def lines(x: Axis, y: Axis, series: Mapping[str, Mapping[float, Share | float]]) -> Lines:
    """Make curves through measured values, with intervals where they are shares."""
    return Lines(
        x, y, tuple(Series(name, tuple(_point(at, y) for at, y in points.items())) for name, points in series.items())
    )


def _point(x: float, y: Share | float) -> ChartPoint:
    return ChartPoint(x, y.rate, y.low, y.high) if isinstance(y, Share) else ChartPoint(x, float(y))


def quantile_curve(x: Axis, y: Axis, series: Mapping[str, Iterable[tuple[float, float]]]) -> Lines:
    """Make curves of (percentile, value) pairs: how much of a crowd lies below a value."""
    found = tuple(Series(name, tuple(ChartPoint(p, value) for p, value in curve)) for name, curve in series.items())
    return Lines(x, y, found, marked=False)


def ecdf(x: Axis, y: Axis, series: Mapping[str, ArrayLike]) -> Lines:
    """Make the stairs of the share of values that are at most x (the empirical distribution)."""
    return Lines(x, y, tuple(_stairs(name, values) for name, values in series.items()), step=True, marked=False)


def _stairs(name: str, values: ArrayLike) -> Series:
    places, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    if not len(places):
        raise OptionError(f"{name}: a distribution needs at least 1 value")
    shares = np.cumsum(counts) / counts.sum()
    kept = np.unique(np.linspace(0, len(places) - 1, min(len(places), _MOST_STEPS)).astype(np.int64))
    return Series(name, tuple(ChartPoint(float(places[k]), float(shares[k])) for k in kept))
