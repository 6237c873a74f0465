"""The guard that keeps the advisor from revealing other people's ratings to those who ask.

An asker chooses the mentions, the earlier mentions and k, may have several tokens and may even have made accounts that
are in the ratings. An answer that depended on one person's rating would reveal it, so the guard limits what any answer
can depend on:

- **A secret sample** (the *crowd* in files and messages). A keyed hash of the id decides whether a person is in it.
  No answer depends on a person outside it, however often and with however many tokens somebody asks (except through
  the numbers of raters of the items, which are taken to be public).
- **Own or widely rated mentions.** A mention that the asker has not rated counts only if many have rated it, so nobody
  can be singled out by such mentions.
- **Wide bands.** There is no border below 10: one person more or less among a few changes nothing.
- **Public choices.** What to leave out and what to add is chosen by the public numbers of raters.

Each of them can only lower the place in an answer, so guarded advice never says hidden where exact advice does not.
docs/decisions/advisor-oracle.md describes the attacks and what they learn.
"""

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
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class OracleGuard:
    """The limits on what an answer of the advisor can depend on.

    The secret must stay the same while the same people are served: another one draws another sample, and two samples
    together contain more people than one.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    sample_share: float = 0.3  # probability of a person to be in the sample; no guess is better than 0.5 + half of it
    widely: float = 0.1  # share of the users who must have rated a mention that the asker did not rate

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes):
            raise OptionError(f"secret must be bytes, such as b'...', got {type(self.secret).__name__}")
        if len(self.secret) < _LEAST_SECRET:
            raise OptionError(f"secret must be at least {_LEAST_SECRET} bytes, got {len(self.secret)}")
        for name in ("sample_share", "widely"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise OptionError(f"{name} must be more than 0 and at most 1, got {getattr(self, name)}")

    def in_sample(self, user_ids: list[int] | list[str]) -> NDArray[np.bool_]:
        """Return True for each user in the sample."""
        border = int(self.sample_share * 2 ** (8 * _HASH_BYTES))
        key = hashlib.sha256(self.secret).digest()
        return np.fromiter((_hashed(one, key) < border for one in user_ids), np.bool_, len(user_ids))


def _hashed(user_id: int | str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(str(user_id).encode(), digest_size=_HASH_BYTES, key=key).digest(), "big")


def band_of(place: float, bands: Bands = EXACT_BANDS) -> str:
    """Return the band of a place in the attacker's list."""
    return next(name for top, name in bands if place <= top)


def border_from(k: int, bands: Bands) -> float:
    """Return the first border at k or beyond; only a place beyond it counts as hidden."""
    return next(top for top, _ in bands if k <= top)
