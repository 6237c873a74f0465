"""Times as callers write them, in whole seconds since 1970."""

from __future__ import annotations

from datetime import date

from recloak._core.errors import OptionError

Moment = int | str | date


def as_seconds(moment: Moment) -> int:
    """Return a time in whole seconds since 1970; dates and texts are UTC unless a zone is named.

    A date alone is its first second.

    Raises
    ------
    OptionError
        If the text is no time.
    """
    try:
        return int(moment)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        pass
    from recloak._ratings.times import seconds_of

    seconds = seconds_of(str(moment))
    if seconds is None:
        raise OptionError(
            "a time is whole seconds since 1970 or a date such as 2005-12-31 or 2005-12-31T23:59:59, "
            f"got {str(moment)!r}"
        )
    return seconds
