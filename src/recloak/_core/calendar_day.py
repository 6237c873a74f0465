"""The day on which something is made."""

import os
from datetime import UTC, date, datetime


def today() -> date:
    """Return the day in UTC, or that of SOURCE_DATE_EPOCH, which makes what is dated repeatable."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdigit() else datetime.now(UTC)
    return moment.date()
