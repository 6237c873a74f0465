"""The time of a release: never one ahead of the clock, never far from the last one without a word, always after it."""

import itertools
import time as clock
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError

_DAY = 86_400
_MONTH = 30 * _DAY
_FIRST_GAP = 400 * _DAY  # between the first two releases, when no other gap is known
_TIMES_LONGER = 10  # than the longest gap so far


def release_time(times: NDArray[np.int64], until: int | None, earlier: Sequence[int], *, accept_times: bool) -> int:
    """Return the time of the next release: ``until``, else that of the newest rating.

    ``times`` are those of the ratings, ``earlier`` those of the releases so far. A newest rating that is dated ahead of
    the clock, or far beyond the last release, is most likely a mistake that would make every later night look old; it
    needs ``accept_times``. What is dated ahead then gives the release no time: a jump would end the horizon of all that
    was added before it.
    """
    newest, now, last = int(times.max()), int(clock.time()), earlier[-1] if earlier else None
    if until is not None and until > max(newest, now):
        raise InputError(f"a release must not be of a time that is yet to come, got {moment(until)}")
    if not accept_times:
        asked, what = (newest, "newest rating") if until is None else (until, "release")
        _require_plausible(asked, now, earlier, what)
    time = until if until is not None else _newest_past(times, now)
    if last is None or time > last:
        return time
    if until is not None and time < last:
        raise InputError(f"a release must not be older than the last one of {moment(last)}, got {moment(time)}")
    return last + 1  # what came in late, or is dated before the last release, still has its own release


def _newest_past(times: NDArray[np.int64], now: int) -> int:
    past = times[times <= now + _DAY]
    return int(past.max()) if len(past) else now


def _require_plausible(newest: int, now: int, earlier: Sequence[int], what: str) -> None:
    if newest > now + _DAY:
        raise InputError(
            f"the {what} is of {_day(newest)}, which is yet to come; correct it, or pass accept_times=True"
        )
    gaps = [after - before for before, after in itertools.pairwise(earlier)]
    longest = max(_TIMES_LONGER * max(gaps), _MONTH) if gaps else _FIRST_GAP
    if earlier and newest - earlier[-1] > longest:
        raise InputError(
            f"the {what} is of {_day(newest)}, far beyond the last release of {_day(earlier[-1])}; correct it, "
            "or pass accept_times=True"
        )


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return f"time {seconds}"


def moment(seconds: int) -> str:
    """Return a time as people write it; one that no calendar holds stays a number."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"time {seconds}"
