"""What keeps the advisor from telling its askers about other people.

An asker chooses the mentions, the earlier mentions and k, may hold several tokens and may even have made accounts that
are in the ratings. Whatever depends on one person's rating could be asked for, so the guard draws the line before any
question is asked:

- **A secret crowd.** Every person is in the crowd or not, by a keyed hash of their id. Only the crowd is ever looked
  at, so nothing that anybody can ask, however often, with however many tokens, depends on a person outside it
  (the numbers of raters of the items apart, which are taken to be public).
- **Own or widely rated mentions.** A mention that the asker has not rated counts only if many have rated it, so nobody
  can be singled out by mentions that the asker has nothing to do with.
- **Far borders.** There is no border below 10: one person more or less among a handful changes nothing.
- **Public choices.** What to leave out and what to add is chosen by the public numbers of raters.

Each of them can only lower the place that the asker is told, so guarded advice never says hidden where exact advice
does not. docs/decisions/advisor-oracle.md holds the attacks and what they learn.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError

Bands = tuple[tuple[float, str], ...]

LAST_BAND = "beyond 1,000"
EXACT_BANDS: Bands = (
    (1, "1"),
    (5, "2 to 5"),
    (10, "6 to 10"),
    (100, "11 to 100"),
    (1000, "101 to 1,000"),
    (math.inf, LAST_BAND),
)
BANDS: Bands = ((10, "1 to 10"), *EXACT_BANDS[3:])
_LEAST_SECRET = 16  # bytes
_WIDTH = 8  # bytes of the hash that decide


@dataclass(frozen=True, slots=True)
class OracleGuard:
    """How the advisor is kept from being an oracle.

    The secret must stay the same for as long as the same people are served: another one draws another crowd, and two
    crowds together cover more people than one.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    crowd: float = 0.5  # chance of a person to be in the crowd
    widely: float = 0.1  # share of the users who must have rated a mention that the asker did not rate

    def __post_init__(self) -> None:
        if len(self.secret) < _LEAST_SECRET:
            raise OptionError(f"secret must be at least {_LEAST_SECRET} bytes, got {len(self.secret)}")
        for name in ("crowd", "widely"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise OptionError(f"{name} must be more than 0 and at most 1, got {getattr(self, name)}")

    def crowd_of(self, user_ids: list[int] | list[str]) -> NDArray[np.bool_]:
        """Tell who is in the crowd."""
        border = int(self.crowd * 2 ** (8 * _WIDTH))
        key = hashlib.sha256(self.secret).digest()
        return np.fromiter((_hashed(one, key) < border for one in user_ids), np.bool_, len(user_ids))


def _hashed(user_id: int | str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(str(user_id).encode(), digest_size=_WIDTH, key=key).digest(), "big")


def band_of(place: float, bands: Bands = EXACT_BANDS) -> str:
    """Give the band of a place in the attacker's list."""
    return next(name for top, name in bands if place <= top)


def border_from(k: int, bands: Bands) -> float:
    """Give the first border at k or beyond: whoever wishes to stay beyond k is told hidden beyond it only."""
    return next(top for top, _ in bands if k <= top)
