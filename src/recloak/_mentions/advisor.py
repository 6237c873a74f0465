"""The posting privacy advisor that paper 004 asks for (section 6.3): told before posting, not after.

Given what a user has said before and is about to say, it works out where the user would stand in the attacker's list,
and which small change would hide them among at least k. It answers for the user who asks and is no oracle on others:

- a place is given as a band, never as a number;
- no other user, and no count of other users, is ever named;
- what to leave out and to add is chosen by the public popularity of items and the asker's own ratings;
- a secret part of the people is never looked at, whoever asks (`_mentions.oracle_guard`).

The place is the worst over the plain attacker (Scoring) and attackers who ignore the most-rated items, so advice that
works only on an attacker who has not heard of misdirection is not given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recloak._core.errors import OptionError
from recloak._core.results import counted
from recloak._mentions.draft_ranks import (
    AdvisorIndex,
    DraftRanks,
    Item,
    Question,
    coarse,
    places_of,
    prepare_advisor,
    prepare_exact_advisor,
    question,
)
from recloak._mentions.oracle_guard import BANDS, EXACT_BANDS, LAST_BAND, Bands, OracleGuard, band_of, border_from


@dataclass(frozen=True, slots=True, repr=False)
class DraftChange:
    """A change of the draft and the band it would lead to."""

    drop: tuple[Item, ...]
    add: tuple[Item, ...]
    band: str

    def __repr__(self) -> str:
        return counted(self, f"drop {len(self.drop)}", f"add {len(self.add)}", f"place {self.band}")

    def to_json(self) -> dict[str, Any]:
        """Return the items and the band, ready for JSON."""
        return {"drop": list(self.drop), "add": list(self.add), "band": self.band}


@dataclass(frozen=True, slots=True, repr=False)
class Advice:
    """What the advisor says; every place is a band."""

    k: int
    before: str  # the band by earlier mentions alone
    after: str  # the band once the draft is posted
    hidden: bool  # whether the draft as it is keeps the user beyond the first k
    telling: Item | None  # the mention of the draft that gives most away; None where the user rated none of them
    drops: tuple[DraftChange, ...]  # each mention of the draft left out
    adds: tuple[DraftChange, ...]  # a few single additions
    cheapest: DraftChange | None  # the fewest changes that keep the user beyond the first k; None where none was found
    n_unknown: int  # mentions of items that nobody rated: they give nothing away

    def __repr__(self) -> str:
        state = "hidden" if self.hidden else "not hidden"
        return counted(self, f"k = {self.k}", f"place {self.before} before, {self.after} after", state)

    def to_json(self) -> dict[str, Any]:
        """Return the advice, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("k", "before", "after", "hidden", "telling", "n_unknown")}
        changes = {name: [one.to_json() for one in getattr(self, name)] for name in ("drops", "adds")}
        return {**plain, **changes, "cheapest": None if self.cheapest is None else self.cheapest.to_json()}


def advise(index: AdvisorIndex, user: Item, earlier: Iterable[Item], draft: Iterable[Item], *, k: int = 10) -> Advice:
    """Advise one user, who wishes to stay beyond the first k, on a draft post that mentions items.

    An index of `prepare_advisor` gives guarded advice: bands of `BANDS`, and hidden means beyond the first border at k
    or more (10, 100, 1,000). One of `prepare_exact_advisor` gives exact advice, in `EXACT_BANDS`.
    """
    if not 1 <= k < index.ratings.n_users:
        raise OptionError(f"k must be at least 1 and below the number of users, got {k}")
    asked = question(index, user, earlier, draft)
    bands = EXACT_BANDS if index.guard is None else BANDS
    border = k if index.guard is None else border_from(k, bands)
    exact = places_of(index, asked, border)
    places = exact if index.guard is None else coarse(exact, bands)
    say = _Words(index, bands)
    return Advice(
        k=k,
        before=band_of(places.before, bands),
        after=band_of(places.after, bands),
        hidden=places.after > border,
        telling=_telling(index, asked, places),
        drops=tuple(say.change([item], [], place) for item, place in zip(asked.draft, places.without, strict=True)),
        adds=tuple(say.change([], [item], place) for item, place in zip(asked.lures, places.added, strict=False)),
        cheapest=_cheapest(say, asked, places, border),
        n_unknown=asked.n_unknown,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """What turns numbers into words."""

    index: AdvisorIndex
    bands: Bands

    def change(self, drop: Iterable[int], add: Iterable[int], place: float) -> DraftChange:
        dropped, added = (tuple(self.index.item_ids[item] for item in items) for items in (drop, add))
        return DraftChange(dropped, added, band_of(place, self.bands))


def _telling(index: AdvisorIndex, asked: Question, places: DraftRanks) -> Item | None:
    """Name the rated mention of the draft whose loss would hide best; among equals the one that fewest rated."""
    mine = zip(asked.draft.tolist(), asked.mine_of_draft().tolist(), places.without.tolist(), strict=True)
    rated = [(-place, int(index.raters[item]), item) for item, own, place in mine if own]
    return index.item_ids[min(rated)[2]] if rated else None


def _cheapest(say: _Words, asked: Question, places: DraftRanks, border: float) -> DraftChange | None:
    """Find the fewest changes that reach beyond the border; among equally few the one that hides best."""
    n_rows, n_columns = places.table.shape
    for cost in range(n_rows + n_columns - 1):
        mixes = [(drops, cost - drops) for drops in range(n_rows) if 0 <= cost - drops < n_columns]
        reached = [places.table[mix] for mix in mixes]
        best = int(np.argmax(reached))
        if reached[best] > border:
            n_drops, n_adds = mixes[best]
            return say.change(asked.draft[places.order[:n_drops]], asked.lures[:n_adds], reached[best])
    return None


__all__ = [
    "BANDS",
    "EXACT_BANDS",
    "LAST_BAND",
    "Advice",
    "AdvisorIndex",
    "DraftChange",
    "OracleGuard",
    "advise",
    "band_of",
    "prepare_advisor",
    "prepare_exact_advisor",
]
