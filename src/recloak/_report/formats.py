"""How numbers are written on pages and in tables."""

from datetime import UTC, datetime

from recloak._core.intervals import Share

_SPACE = "\N{NO-BREAK SPACE}"
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip


def count(n: float) -> str:
    """Write a whole number: 1,000,209."""
    return f"{round(n):,}"


def number(x: float) -> str:
    """Write a number with at most four significant digits, or all of its whole part."""
    return count(x) if abs(x) >= 1000 else f"{x:.4g}"


def percent(share: float) -> str:
    """Write a share with one decimal, 66.2 %, or with two significant digits if it is under a tenth of a percent."""
    return f"{100 * share:{'.2g' if 0 < abs(share) < 0.001 else '.1f'}}{_SPACE}%"


def decimals(x: float | None) -> str:
    """Write a number with four decimals, or a dash for None."""
    return "–" if x is None else f"{x:.4f}"


def with_interval(share: Share | None) -> str:
    """Write a share and its 95 % interval, 66.2 % (63.2 to 69.1), or a dash for None."""
    return "–" if share is None else f"{percent(share.rate)} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def k_equals(k: int) -> str:
    """Write the k of a release, k = 5, without a place to break the line."""
    return f"k{_SPACE}={_SPACE}{k}"


def day(seconds: int) -> str:
    """Write the day of a time in UTC, 25 April 2000, or the number of seconds if it is outside the calendar."""
    try:
        date = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{seconds}{_SPACE}s"
    return f"{date.day}{_SPACE}{_MONTHS[date.month - 1]}{_SPACE}{date.year}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: 1 item, 4 items."""
    return f"{count(n)}{_SPACE}{one if n == 1 else many or one + 's'}"
