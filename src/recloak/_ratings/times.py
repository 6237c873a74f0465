"""Times as people write them, brought to whole seconds since 1970-01-01 UTC."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache

from recloak._ratings.text_kernels import whole_seconds

# Written without a zone means UTC. Day and month are never guessed: 03/04/2005 is refused.
_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S %Z",
    "%a %b %d %H:%M:%S %z %Y",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%m %d, %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def number_of(text: str) -> float | None:
    """Read a number as data files have it; None where it is none (``nan`` and ``inf`` are refused later)."""
    text = text.strip()
    if _NUMBER.fullmatch(text) or text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    return None


@lru_cache(maxsize=1 << 16)
def seconds_of(text: str) -> int | None:
    """Read a time; None where it is none."""
    number = number_of(text)
    if number is not None:
        return whole_seconds(math.floor(number)) if math.isfinite(number) and abs(number) < 2**63 else None
    moment = _moment(text.strip())
    if moment is None:
        return None
    return math.floor((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


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
