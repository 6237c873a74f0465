"""The data sets that synthetic ratings are shaped after, as summary figures only.

The quantiles, histograms and years are those of the real data sets. The shares of variance and the pull of taste on
choice are what `benchmarks/synthetic.py` was run with until its ladder of held-out errors met the real one;
docs/decisions/synthetic-data.md tells how. The presets ``music`` and ``shop`` are shaped after what such logs have in
common, and after no single one.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak._ratings.value_kinds import RATINGS, VALUE_KINDS, ValueKind


@dataclass(frozen=True, slots=True)
class CountCurve:
    """A distribution of counts, given by some of its quantiles: ``counts[k]`` at probability ``at[k]``.

    ``smallest`` and ``largest`` close its ends.
    """

    at: tuple[float, ...]
    counts: tuple[float, ...]
    smallest: int
    largest: int


@dataclass(frozen=True, slots=True)
class SessionHabits:
    """When ratings are made: ``share[k]`` of them between ``ticks[k]`` and ``ticks[k + 1]`` (seconds since 1970).

    ``at_joining`` is the share of the ratings made in a user's first session, ``rush`` how much earlier than ratings
    the joining of users happens (0: at the same pace; at most 1), ``session`` the ratings of a later session,
    ``resolution`` the seconds that times are cut to, ``newcomers`` the share of the items that appear during the span.
    """

    ticks: tuple[int, ...]
    share: tuple[float, ...]
    at_joining: float
    rush: float
    session: float
    resolution: int = 1
    newcomers: float = 0.0


@dataclass(frozen=True, slots=True)
class Taste:
    """What a rating is made of: shares of its variance, and how they hang together with activity and popularity.

    ``item``, ``user``, ``factors`` and what is left to 1 for noise; ``decay`` of the factors' spectrum, ``rank`` their
    number; ``quality`` is the correlation of an item's mean with its log popularity, ``severity`` that of a user's
    mean with the log activity.

    What is chosen: items lie on ``themes`` axes that say nothing of how they are liked; ``interest`` is how strongly
    people keep to their themes, ``pull`` how strongly they choose what they will like, ``reserve`` how much they leave.
    """

    item: float
    user: float
    factors: float
    rank: int
    decay: float
    quality: float
    severity: float
    themes: int
    interest: float
    pull: float
    reserve: float


@dataclass(frozen=True, slots=True)
class Preset:
    """One data set's shape."""

    n_users: int
    n_items: int
    n_ratings: int
    activity: CountCurve
    popularity: CountCurve
    histogram: tuple[float, ...]  # shares of the ratings 1, 2, 3, 4, 5, or of the levels of counts
    clock: SessionHabits
    taste: Taste
    values: str = RATINGS.name  # what the numbers are: ratings, counts, or presence, which has none

    @property
    def kind(self) -> ValueKind:
        """What the numbers are."""
        return VALUE_KINDS[self.values]


def _tuples(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in figures.items()}


def _preset(figures: dict[str, Any]) -> Preset:
    kinds = {"activity": CountCurve, "popularity": CountCurve, "clock": SessionHabits, "taste": Taste}
    parts = {name: kind(**_tuples(figures[name])) for name, kind in kinds.items()}
    return Preset(**{**_tuples(figures), **parts})


_TABLE = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
PRESETS = {name: _preset(figures) for name, figures in _TABLE.items()}
