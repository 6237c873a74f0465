"""What is in a data set: counts, scale, spread of activity and popularity, histogram, time span.

Everything is counted in blocks, so that 100 million ratings need no copy of themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.results import counted, plural
from recloak._ratings.model import Ratings, Scale
from recloak._ratings.value_kinds import COUNTS, RATINGS, ValueKind

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)
TOPS = (100, 500, 1000)
_FINE = (0.1, 0.5, *range(1, 100), 99.5, 99.9)
_MOST_BARS = 50  # a scale with more steps than this is drawn in bins
_N_BINS = 20
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class Spread:
    """How a count is spread over users or items; a percentile is a count that occurs (the smallest that reaches it)."""

    mean: float
    smallest: int
    largest: int
    percentiles: tuple[tuple[float, int], ...]  # fine enough for a curve; PERCENTILES are among them

    @classmethod
    def of(cls, counts: NDArray[np.int64], weights: NDArray[np.int64] | None = None) -> Spread:
        """Summarise counts; ``weights`` say how often each occurs."""
        values = np.quantile(counts, np.array(_FINE) / 100, method="inverted_cdf", weights=weights)
        fine = tuple((float(p), int(value)) for p, value in zip(_FINE, values, strict=True))
        return cls(float(np.average(counts, weights=weights)), int(counts.min()), int(counts.max()), fine)

    def at(self, percentile: float) -> int:
        """Return the count at one percentile."""
        return dict(self.percentiles)[percentile]

    def to_json(self) -> dict[str, Any]:
        """Return the mean, the ends and the usual percentiles."""
        usual = {f"{p:g}": self.at(p) for p in PERCENTILES}
        return {"mean": self.mean, "min": self.smallest, "max": self.largest, "percentiles": usual}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the histogram: the ratings from ``low`` to ``high`` (equal where a bar is one step of the scale)."""

    low: float
    high: float
    n: int
    share: float


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The first and the last time, and the ratings of each year (UTC)."""

    first: int
    last: int
    years: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the span as ISO times and the years."""
        years = {str(year): n for year, n in self.years}
        return {"first": iso_time(self.first), "last": iso_time(self.last), "years": years}


@dataclass(frozen=True, slots=True)
class Summary:
    """What is in a data set."""

    n_users: int
    n_items: int
    n_ratings: int
    density: float
    scale: Scale
    mean_rating: float
    histogram: tuple[Bar, ...]
    activity: Spread  # ratings per user
    popularity: Spread  # ratings per item
    top_shares: tuple[tuple[int, float], ...]  # share of the ratings that the n most rated items hold
    times: TimeSpan | None
    n_rows: int
    n_repeated: int  # rows of a user and item that stood before: the latest rating counts, or events are added up
    n_skipped: int  # rows dropped because they cannot be right
    notes: tuple[str, ...] = ()  # what the reader took for granted
    kind: ValueKind = RATINGS

    def __repr__(self) -> str:
        counts = (self.n_users, "user"), (self.n_items, "item"), (self.n_ratings, self.kind.noun)
        return counted(self, *(plural(*one) for one in counts))

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        plain = ("n_users", "n_items", "n_ratings", "density", "mean_rating", "n_rows", "n_repeated", "n_skipped")
        return {
            **{name: getattr(self, name) for name in plain},
            "values": self.kind.name,
            "scale": asdict(self.scale),
            "histogram": [asdict(bar) for bar in self.histogram],
            "activity": self.activity.to_json(),
            "popularity": self.popularity.to_json(),
            "top_shares": {str(n): share for n, share in self.top_shares},
            "notes": list(self.notes),
            "times": None if self.times is None else self.times.to_json(),
        }


def summarise(ratings: Ratings) -> Summary:
    """Count what is in the ratings."""
    if not ratings.n_ratings:
        raise InputError("there are no ratings to summarise")
    popularity = ratings.popularity
    total = sum(float(block.sum(dtype=np.float64)) for block in _blocks(ratings.values))
    return Summary(
        n_users=ratings.n_users,
        n_items=ratings.n_items,
        n_ratings=ratings.n_ratings,
        density=ratings.density,
        scale=ratings.scale,
        mean_rating=total / ratings.n_ratings,
        histogram=_histogram_of(ratings),
        activity=Spread.of(ratings.activity),
        popularity=Spread.of(popularity),
        top_shares=top_shares_of(popularity),
        times=None if ratings.times is None else _time_span(ratings.times),
        n_rows=max(ratings.intake.n_rows, ratings.n_ratings),
        n_repeated=ratings.intake.n_repeated,
        n_skipped=ratings.intake.n_skipped,
        notes=ratings.intake.notes,
        kind=ratings.kind,
    )


def iso_time(seconds: int) -> str:
    """Return a time as ISO 8601 in UTC; one that no calendar holds stays a number."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(array), _BLOCK):
        yield array[start : start + _BLOCK]


def top_shares_of(popularity: NDArray[np.int64]) -> tuple[tuple[int, float], ...]:
    """Return the share of the ratings that the n most rated items hold."""
    held = np.cumsum(np.sort(popularity)[::-1]) / popularity.sum()
    return tuple((n, float(held[n - 1])) for n in TOPS if n <= len(held))


def _histogram_of(ratings: Ratings) -> tuple[Bar, ...]:
    """Return the histogram; counts with a long tail in bars of 1, 2 to 3, 4 to 7 and so on."""
    if ratings.kind is not COUNTS or ratings.scale.span < _MOST_BARS:
        return histogram(ratings.values, ratings.scale)
    n_bars = int(ratings.scale.high).bit_length()
    counts = np.zeros(n_bars, np.int64)
    for block in _blocks(ratings.values):
        counts += np.bincount(np.frexp(block)[1] - 1, minlength=n_bars)
    shares = counts / ratings.n_ratings
    return tuple(Bar(float(1 << n), float((2 << n) - 1), int(counts[n]), float(shares[n])) for n in range(n_bars))


def histogram(values: NDArray[np.float32], scale: Scale) -> tuple[Bar, ...]:
    """Count the ratings at each step of the scale, or in equal bins where it has none or too many."""
    n_steps = None if scale.step is None else round(scale.span / scale.step)
    if n_steps is not None and n_steps < _MOST_BARS:
        lows = scale.low + np.arange(n_steps + 1) * (scale.step or 0)
        return _bars(values, lows, lows, scale.low, scale.step or 1)
    width = scale.span / _N_BINS
    lows = scale.low + np.arange(_N_BINS) * width
    return _bars(values, lows, lows + width, scale.low + width / 2, width)


def _bars(
    values: NDArray[np.float32], lows: NDArray[np.floating], highs: NDArray[np.floating], middle: float, width: float
) -> tuple[Bar, ...]:
    """Count each value in the bar whose middle it is nearest to."""
    last = len(lows) - 1
    counts = np.zeros(len(lows), np.int64)
    for block in _blocks(values):
        places = np.clip(np.rint((block - middle) / width), 0, last).astype(np.int32)
        counts += np.bincount(places, minlength=len(lows))
    shares = counts / len(values)
    return tuple(
        Bar(float(low), float(high), int(n), float(share))
        for low, high, n, share in zip(lows, highs, counts, shares, strict=True)
    )


def _time_span(times: NDArray[np.int64]) -> TimeSpan:
    first, last = int(times.min()), int(times.max())
    years: dict[int, int] = {}
    for block in _blocks(times):
        found, counts = np.unique(
            block.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64), return_counts=True
        )
        for year, n in zip(found, counts, strict=True):
            years[int(year) + 1970] = years.get(int(year) + 1970, 0) + int(n)
    return TimeSpan(first, last, tuple(sorted(years.items())))
