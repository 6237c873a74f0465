"""How sure a measured share is: Wilson's 95 % interval.

Every share that recloak reports from a sample carries its interval. Wilson's stays inside [0, 1] and keeps its coverage
where the plain normal interval fails: at 0 %, at 100 %, and in small samples (Brown, Cai and DasGupta 2001,
doi:10.1214/ss/1009213286).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from recloak._core.errors import OptionError

Z_95 = 1.959963984540054  # the 97.5 % point of the standard normal distribution


@dataclass(frozen=True, slots=True)
class Share:
    """A share measured on ``n`` cases, with its 95 % interval."""

    rate: float
    low: float
    high: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """Return ``rate``, ``low``, ``high`` and ``n``."""
        return {"rate": self.rate, "low": self.low, "high": self.high, "n": self.n}


def wilson(successes: float, n: int) -> Share:
    """Return the share of successes among n cases with its interval.

    With p = successes / n and z = 1.96 (Wilson 1927):

        (p + z^2 / 2n  ±  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    """
    if n < 1:
        raise OptionError(f"a share needs at least 1 case, got {n}")
    if not 0 <= successes <= n:
        raise OptionError(f"successes must lie between 0 and the {n} cases, got {successes}")
    p, z = successes / n, Z_95
    centre = p + z * z / (2 * n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    below, above = (centre - reach) / (1 + z * z / n), (centre + reach) / (1 + z * z / n)
    # The ends are exactly 0 and 1 where no or every case succeeded; rounding must not push them off.
    return Share(p, 0.0 if successes == 0 else below, 1.0 if successes == n else above, n)


def census(successes: int, n: int) -> Share:
    """Return the share of successes of a count of all cases there are, which needs no interval."""
    rate = successes / n if n else 0.0
    return Share(rate, rate, rate, n)
