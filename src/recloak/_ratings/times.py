"""Times as people write them, brought to whole seconds since 1970-01-01 UTC."""

import math
import re
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.text_kernels import whole_seconds

# Written without a zone means UTC. Day and month are never guessed: 03/04/2005 is refused.
_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%a %b %d %H:%M:%S %z %Y",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%m %d, %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_UTC = re.compile(r"(?<=[0-9]) ?(UTC|GMT)$")  # no other name of a zone is read: many mean several
# Calendar dates written as numbers, and what is left of them once milliseconds are brought to seconds: YYYYMMDD,
# YYYYMMDDhhmm (taken for milliseconds), YYYYMMDDhh, YYYYMMDDhhmmss (likewise).
_DATE_TAILS = (1, 10, 100, 1000)
_MOST_DIGITS = 400
DATE_RULE = (
    "its times look like calendar dates without separators, such as 20050304 or 2005; "
    "write 2005-03-04 (time='none' leaves times out)"
)
DAY_RULE = (
    "its times look like numbers of days, as spreadsheets keep dates, such as 45354 for 2024-03-03; "
    "write 2024-03-03 (time='none' leaves times out)"
)
DAY_NUMBERS = (30_000, 60_000)  # days since 1899-12-30: dates from 1982 to 2064
FIRST_DAY = "all times lie on 1 January 1970: they are probably not seconds"
_DAY = 86_400


def number_of(text: str) -> float | None:
    """Read a number as data files have it; None if it is no number (``nan`` and ``inf`` are refused later)."""
    text = text.strip()
    return float(text) if len(text) <= _MOST_DIGITS and _NUMBER.fullmatch(text) else None


@lru_cache(maxsize=1 << 16)
def seconds_of(text: str) -> int | None:
    """Read a time; None if the text is no time."""
    text = text.strip()
    number = int(text) if _WHOLE.fullmatch(text) else number_of(text)
    if number is not None:
        return whole_seconds(math.floor(number)) if math.isfinite(number) and abs(number) < 2**63 else None
    moment = _moment(_UTC.sub("", text)) if text.isascii() else None
    if moment is None:
        return None
    try:
        return math.floor((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (OverflowError, ValueError):
        return None  # a zone that leads out of the calendar


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007,RUF100 (a missing zone is UTC, see above)
        except ValueError:
            continue
    return None


def odd_times(times: NDArray[np.int64]) -> str | None:
    """Return the rule that all of these times break if they were written as dates or days and taken for seconds."""
    if are_dates(times):
        return DATE_RULE
    return DAY_RULE if are_days(times) else None


def are_days(times: NDArray[np.int64]) -> bool:
    """Return whether numbers taken for seconds are all days of a spreadsheet."""
    return len(times) > 0 and bool(DAY_NUMBERS[0] <= times.min() and times.max() <= DAY_NUMBERS[1])


def on_first_day(times: NDArray[np.int64]) -> bool:
    """Return whether all times lie on 1 January 1970, so that they count something else than seconds."""
    return len(times) > 0 and bool(times.min() >= 0 and times.max() < _DAY)


def are_dates(times: NDArray[np.int64]) -> bool:
    """Return whether numbers taken for seconds are all calendar dates written as numbers, which cannot be seconds too.

    Seconds of real ratings are none of these: the first three kinds lie in 1970, 1976 and after 2030, the last beyond
    the year 2500, and of any other seconds most have no such month and day.
    """
    return len(times) > 0 and (_all_years(times) or any(_all_dates(times, tail) for tail in _DATE_TAILS))


def _all_dates(times: NDArray[np.int64], tail: int) -> bool:
    if not _is_date(times[:1] // tail).all():
        return False  # one is enough to know, and mostly the first
    return bool(_is_date(times // tail).all())


def _is_date(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    month, day = numbers // 100 % 100, numbers % 100
    inside = (numbers >= 19000101) & (numbers <= 21001231)
    return inside & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)


def _all_years(times: NDArray[np.int64]) -> bool:
    return bool(1900 <= times[0] <= 2100 and ((times >= 1900) & (times <= 2100)).all())
