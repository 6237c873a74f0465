"""When a release must be looked at again: on a date, after a time, or never set."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime

from recloak._core.errors import OptionError

_PERIOD = re.compile(r"([1-9]\d{0,3}) (day|month|year)s?")
_FORM = "a date such as 2027-11-01, or a time such as '12 months'"


@dataclass(frozen=True, slots=True)
class Review:
    """A date, or a number of days, months or years after the certificate; with neither no review was set."""

    on: date | None = None
    after: int = 0
    unit: str = ""

    @classmethod
    def parse(cls, given: object) -> Review:
        """Read a date, ``"12 months"``, or nothing."""
        if given is None or isinstance(given, Review):
            return given or cls()
        if isinstance(given, date) and not isinstance(given, datetime):
            return cls(given)
        if isinstance(given, str) and (found := _PERIOD.fullmatch(given.strip())):
            return cls(after=int(found[1]), unit=found[2])
        if isinstance(given, str):
            try:
                return cls(date.fromisoformat(given.strip()))
            except ValueError:
                pass
        raise OptionError(f"review must be {_FORM}, got {given!r}")

    def date_from(self, day: date) -> date | None:
        """Return the date of the review of something made on ``day``; None if no review was set."""
        if not self.after:
            return self.on
        if self.unit == "day":
            return date.fromordinal(min(day.toordinal() + self.after, date.max.toordinal()))
        months = day.year * 12 + day.month - 1 + self.after * (12 if self.unit == "year" else 1)
        year, month = min(months // 12, date.max.year), months % 12 + 1
        return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))

    def __str__(self) -> str:
        if self.after:
            return f"{self.after} {self.unit}{'s' * (self.after != 1)}"
        return "none" if self.on is None else self.on.isoformat()
