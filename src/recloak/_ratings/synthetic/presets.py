"""The data sets that synthetic ratings are shaped after, as summary figures only.

The quantiles, histograms and years are those of the real data sets. The shares of variance and the pull of taste on
choice are what `benchmarks/synthetic.py` was run with until its ladder of held-out errors met the real one;
docs/decisions/synthetic-data.md tells how.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    histogram: tuple[float, ...]  # shares of the ratings 1, 2, 3, 4, 5
    clock: SessionHabits
    taste: Taste


_DAY = 86_400
_YEARS_2000_TO_2006 = (946_684_800, 978_307_200, 1_009_843_200, 1_041_379_200, 1_072_915_200, 1_104_537_600)

_ML_1M = Preset(
    n_users=6_040,
    n_items=3_706,
    n_ratings=1_000_209,
    activity=CountCurve(
        (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99), (20, 23, 27, 44, 96, 208, 400, 556, 906), 20, 2_314
    ),
    popularity=CountCurve(
        (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99), (1, 2, 7, 33, 123, 350, 729, 1051, 1784), 1, 3_428
    ),
    histogram=(0.056, 0.108, 0.261, 0.349, 0.226),
    clock=SessionHabits(
        # Starts of 2000-04-26, 2000-07, 2000-08, 2000-09, 2000-11, 2000-12, 2001, 2001-07, 2002, 2003; end 2003-02-28.
        ticks=(
            956_703_932,
            962_409_600,
            965_088_000,
            967_766_400,
            973_036_800,
            975_628_800,
            978_307_200,
            993_945_600,
            1_009_843_200,
            1_041_379_200,
            1_046_454_590,
        ),
        share=(0.1333, 0.0903, 0.1821, 0.0947, 0.2907, 0.1135, 0.0473, 0.0208, 0.0240, 0.0033),
        at_joining=0.52,
        rush=0.9,
        session=40,
    ),
    taste=Taste(
        item=0.276,
        user=0.114,
        factors=0.166,
        rank=24,
        decay=1.0,
        quality=0.52,
        severity=-0.20,
        themes=6,
        interest=3.5,
        pull=0.7,
        reserve=2.7,
    ),
)

_NETFLIX = Preset(
    n_users=480_189,
    n_items=17_770,
    n_ratings=100_480_507,
    activity=CountCurve(
        (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999),
        (3, 12, 18, 38, 96, 258, 539, 777, 1389, 2511),
        1,
        17_653,
    ),
    popularity=CountCurve(
        (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999),
        (69, 98, 117, 192, 561, 2667, 12_295, 29_110, 96_660, 155_037),
        3,
        232_944,
    ),
    histogram=(0.046, 0.101, 0.287, 0.336, 0.231),
    clock=SessionHabits(
        ticks=(*_YEARS_2000_TO_2006, 1_135_987_200),
        share=(0.009, 0.018, 0.043, 0.100, 0.300, 0.530),
        at_joining=0.30,
        rush=0.8,
        session=12,
        resolution=_DAY,
        newcomers=0.3,
    ),
    taste=Taste(
        item=0.121,
        user=0.142,
        factors=0.185,
        rank=32,
        decay=1.0,
        quality=0.5,
        severity=-0.2,
        themes=6,
        interest=3.5,
        pull=0.7,
        reserve=2.7,
    ),
)

# The shape of MovieLens-1M, small enough for tests and the demo.
_TINY = Preset(
    n_users=500,
    n_items=200,
    n_ratings=10_000,
    activity=CountCurve((0.01, 0.10, 0.25, 0.50, 0.75, 0.90, 0.99), (5, 6, 8, 13, 25, 44, 90), 5, 150),
    popularity=CountCurve((0.01, 0.10, 0.25, 0.50, 0.75, 0.90, 0.99), (2, 5, 13, 30, 67, 122, 220), 2, 280),
    histogram=_ML_1M.histogram,
    clock=_ML_1M.clock,
    taste=_ML_1M.taste,
)

PRESETS = {"tiny": _TINY, "ml-1m": _ML_1M, "netflix": _NETFLIX}
