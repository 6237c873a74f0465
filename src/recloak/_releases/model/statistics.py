"""Statistics beside a release: which tables there are, what they promise, and the words for it.

They are noisy counts with differential privacy for each person. The rows of the release are not part of that promise.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

# table -> column -> what is stored, as in `release_format.STORED`
STATISTICS: dict[str, dict[str, str]] = {
    "statistics_items": {"item": "items", "raters": "numbers"},
    "statistics_ratings": {"item": "items", "rating": "decimals", "raters": "numbers"},
    "statistics_activity": {"at_least": "numbers", "people": "numbers"},
    "statistics_pairs": {"item": "items", "other": "items", "raters": "numbers"},
}
MEANINGS = {
    "statistics_items": "how many people rated each item",
    "statistics_ratings": "how many gave it each rating (or one that is nearest to it)",
    "statistics_activity": "how many people rated at least so many items, and fewer than the next line says",
    "statistics_pairs": "how many people rated both of two of the most rated items",
}
ACTIVITY_FROM = (0, *(2**power for power in range(11)))  # the least activity of each class
MOST_PAIRED = 45  # items whose pairs are counted
MOST_LEVELS = 20  # of ratings; beyond, ten classes of equal width


class StatisticsFacts(NamedTuple):
    """What is true of the statistics of a release."""

    epsilon: float
    delta: float
    noise: dict[str, list[float]]  # by table, the smallest and largest standard deviation, three digits

    def to_json(self) -> dict[str, Any]:
        """Return them as the manifest has them."""
        return self._asdict()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables there are, in order."""
        return tuple(table for table in STATISTICS if table in self.noise)


def delta_for(n_people: int) -> float:
    """Return the delta for so many people: a tenth of one in all, rounded down to two digits."""
    share = 0.1 / n_people
    digits = 1 - math.floor(math.log10(share))
    return math.floor(share * 10**digits) / 10**digits


def rounded_noise(deviation: float) -> float:
    """Return a standard deviation with three digits; more could say anything."""
    return float(f"{deviation:.3g}")


def levels_of(low: float, high: float, step: float | None) -> list[float]:
    """Return the ratings that are counted: those of the scale, or the middles of ten classes where there are many."""
    span = high - low
    if step is not None and span / step <= MOST_LEVELS - 1 + 1e-9:
        n, start, width = round(span / step) + 1, low, step
    else:
        n, width = (10, span / 10) if span > 0 else (1, 0.0)
        start = low + width / 2
    return [round(start + width * number, 6) + 0.0 for number in range(n)]


def sentences(facts: StatisticsFacts) -> list[str]:
    """Return what the statistics promise, in words."""
    scale = (
        ", and so are the ends and steps of the scale of ratings, which one rating can change"
        if "statistics_ratings" in facts.tables
        else ""
    )
    return [
        f"The tables of statistics together are differentially private for each person, epsilon {facts.epsilon:g} and "
        f"delta {facts.delta:g}: with one person more or less, all ratings of that person included, every outcome is "
        "nearly as likely (by the method; the verifier cannot see it). Which items there are and how many people is "
        f"taken as known{scale}. The rows of this release are not part of this promise."
    ]


def description(facts: StatisticsFacts, file_format: str) -> str:
    """Return the paragraph of the data card."""
    lines = [
        f"- `{table}.{file_format}`: {', '.join(f'`{column}`' for column in STATISTICS[table])}; {MEANINGS[table]} "
        f"(standard deviation of the noise {_between(*facts.noise[table])})."
        for table in facts.tables
    ]
    return "\n".join(
        [
            "Counts of the source with noise; they are not those of the rows above. What one person adds to each table "
            "is bounded, and discrete Gaussian noise is added to the sums (zero-concentrated differential privacy, "
            f"in all epsilon {facts.epsilon:g} at delta {facts.delta:g}). Small counts are mostly noise.\n",
            *lines,
        ]
    )


def _between(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"from {low:g} where there are many to {high:g} where there are few"
