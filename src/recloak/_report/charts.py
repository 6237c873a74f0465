"""What a chart shows, independent of how it is drawn.

`Bars` (histograms and grouped bars), `Lines` (curves), `Slopes` (two rankings side by side) and `Panels` (small
charts). The first series has the accent colour.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._core.intervals import Share

MOST_SERIES = 5  # as many as there are colours and dashes that can be told apart


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its label, whether it is logarithmic or in percent, and optionally its ends and ticks."""

    label: str
    log: bool = False
    percent: bool = False
    low: float | None = None
    high: float | None = None
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One measured point, optionally with its interval, a label beside it and a value shown on hover and focus."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points with a name."""

    name: str
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Curves over a number axis; ``marked`` draws a mark on every point."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marked: bool = True

    def __post_init__(self) -> None:
        _check_series(len(self.series))
        for series in self.series:
            if self.x.log and any(point.x <= 0 for point in series.points):
                raise OptionError(f"{series.name}: a logarithmic axis takes only numbers above 0")


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over categories: ``values[s][c]`` is the bar of series s at category c; one series is a histogram."""

    x: Axis
    y: Axis
    categories: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[tuple[Share | float, ...], ...]

    def __post_init__(self) -> None:
        _check_series(len(self.names))
        if len(self.values) != len(self.names) or any(len(row) != len(self.categories) for row in self.values):
            raise OptionError("bars need one value for every name and place")
        if len(set(self.categories)) < len(self.categories):
            raise OptionError("the places of bars must differ from each other")


@dataclass(frozen=True, slots=True)
class Slope:
    """One entry of two rankings: its name, its score on both sides, and whether it is to be looked at first."""

    name: str
    left: float
    right: float
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Slopes:
    """Two rankings side by side, with a line from each entry's place in the one to its place in the other."""

    left: str
    right: str
    entries: tuple[Slope, ...]
    smaller_first: bool

    def __post_init__(self) -> None:
        if not self.entries:
            raise OptionError("two rankings need at least one entry")


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """A small chart of pairs of numbers, which lie on the diagonal where the two are equal."""

    title: str
    points: tuple[tuple[float, float], ...]
    log: bool = False


@dataclass(frozen=True, slots=True)
class Panels:
    """Several small charts with the same axes' titles."""

    x: str
    y: str
    panels: tuple[ScatterPanel, ...]

    def __post_init__(self) -> None:
        if not self.panels:
            raise OptionError("small charts need at least one panel")


Chart = Lines | Bars | Slopes | Panels


def _check_series(n: int) -> None:
    if not 1 <= n <= MOST_SERIES:
        raise OptionError(f"a chart holds 1 to {MOST_SERIES} series, got {n}")


def bars(x: Axis, y: Axis, categories: Iterable[str], series: Mapping[str, Sequence[Share | float]]) -> Bars:
    """Return bars over categories, with one series or several side by side."""
    return Bars(x, y, tuple(categories), tuple(series), tuple(tuple(row) for row in series.values()))


def lines(x: Axis, y: Axis, series: Mapping[str, Mapping[float, Share | float]]) -> Lines:
    """Return curves through measured values, with intervals where they are shares."""
    curves = ((name, tuple(_point(*point) for point in points.items())) for name, points in series.items())
    return Lines(x, y, tuple(Series(name, points) for name, points in curves))


def _point(x: float, y: Share | float) -> ChartPoint:
    return ChartPoint(x, y.rate, y.low, y.high) if isinstance(y, Share) else ChartPoint(x, float(y))


def quantile_curve(x: Axis, y: Axis, series: Mapping[str, Iterable[tuple[float, float]]]) -> Lines:
    """Return curves of (percentile, value) pairs without marks."""
    curves = tuple(Series(name, tuple(ChartPoint(*pair) for pair in curve)) for name, curve in series.items())
    return Lines(x, y, curves, marked=False)
