"""When ratings are made: users join, rate a first session at once, and come back in later sessions.

Time runs as x in [0, 1], the share of all ratings made so far, so that ratings arrive at a constant pace in x. With
share a of the ratings made on joining and users joining by J(x) = (1 + r) x - r x^2 (r: the rush), the pace of all
ratings stays constant when each rating that is still to come fires at the rate

    (1 - a J'(x)) / (J(x) - x) = A / x + B / (1 - x),   A = (1 - a (1 + r)) / r,   B = (1 - a (1 - r)) / r,

(arrivals that are due over ratings that are pending). Its waiting time is the smaller of two independent ones:
x = s U^(-1/A) and x = 1 - (1 - s) V^(1/B) after joining at s. Hence the years hold exactly, in expectation.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._ratings.synthetic.kernel_random import below, uniform
from recloak._ratings.synthetic.presets import SessionHabits

_GAP = 20.0  # mean seconds between two ratings of a session


class Calendar(NamedTuple):
    """A clock in the form the kernels take."""

    x: NDArray[np.float64]  # shares of the ratings made at each tick
    seconds: NDArray[np.float64]  # the ticks
    at_joining: float
    rush: float
    session: float
    resolution: int


def calendar(clock: SessionHabits) -> Calendar:
    """Make the kernels' form of a clock."""
    made = np.concatenate(([0.0], np.cumsum(clock.share)))
    return Calendar(
        made / made[-1],
        np.array(clock.ticks, np.float64),
        clock.at_joining,
        clock.rush,
        clock.session,
        clock.resolution,
    )


def x_of(clock: SessionHabits, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of all ratings made until a time."""
    form = calendar(clock)
    return np.interp(seconds, form.seconds, form.x)


@njit(cache=True)
def joining(cal, state):  # type: ignore[no-untyped-def]
    """Draw when a user joins: the inverse of J."""
    r = cal.rush
    return ((1.0 + r) - math.sqrt((1.0 + r) ** 2 - 4.0 * r * uniform(state))) / (2.0 * r)


@njit(cache=True)
def returning(cal, joined, state):  # type: ignore[no-untyped-def]
    """Draw when a later session happens: the smaller of two waiting times."""
    a, r = cal.at_joining, cal.rush
    A, B = (1.0 - a * (1.0 + r)) / r, (1.0 - a * (1.0 - r)) / r
    soon = joined * (1.0 - uniform(state)) ** (-1.0 / max(A, 1e-9))
    late = 1.0 - (1.0 - joined) * (1.0 - uniform(state)) ** (1.0 / B)
    return min(soon, late)


@njit(cache=True)
def _sessions(cal, n, joined, state):  # type: ignore[no-untyped-def]
    """Draw n later sessions, ascending (insertion sort: they are few)."""
    sessions = np.empty(n, np.float64)
    for s in range(n):
        x, place = returning(cal, joined, state), s
        while place > 0 and sessions[place - 1] > x:
            sessions[place] = sessions[place - 1]
            place -= 1
        sessions[place] = x
    return sessions


@njit(cache=True)
def moments(cal, n, state):  # type: ignore[no-untyped-def]
    """Draw the n moments, as x, at which one user rates, ascending: the first session, then later ones."""
    joined = joining(cal, state)
    n_first = 0
    for _ in range(n):
        n_first += uniform(state) < cal.at_joining
    sessions = _sessions(cal, 1 + int((n - n_first) / cal.session), joined, state)
    sizes = np.zeros(len(sessions), np.int64)
    for _ in range(n - n_first):
        sizes[below(state, len(sessions))] += 1
    xs = np.full(n, joined)
    r = n_first
    for s in range(len(sessions)):
        xs[r : r + sizes[s]] = sessions[s]
        r += sizes[s]
    return xs


@njit(cache=True)
def _second(cal, x):  # type: ignore[no-untyped-def]
    """Return the time at which share x of all ratings is made."""
    k = 1
    while k < len(cal.x) - 1 and cal.x[k] < x:
        k += 1
    within = (x - cal.x[k - 1]) / (cal.x[k] - cal.x[k - 1])
    return cal.seconds[k - 1] + within * (cal.seconds[k] - cal.seconds[k - 1])


@njit(cache=True)
def seconds_of(cal, xs, state):  # type: ignore[no-untyped-def]
    """Turn ascending moments into seconds; ratings of one session follow each other after short gaps."""
    times = np.empty(len(xs), np.int64)
    at = 0.0
    for r in range(len(xs)):
        if r == 0 or xs[r] > xs[r - 1]:
            at = max(at, _second(cal, xs[r]))
        else:
            at -= _GAP * math.log(1.0 - uniform(state))
        times[r] = int(min(at, cal.seconds[-1] - 1.0)) // cal.resolution * cal.resolution
    return times
