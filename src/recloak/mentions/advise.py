"""The posting privacy advisor that paper 004 asks for (section 6.3): told before posting, not after.

Given what a user has said before and is about to say, it works out where the user would stand in the attacker's list,
and which small change would hide them among at least k. It answers for the user who asks and is no oracle on others:

- a place is given as a band, never as a number;
- no other user, and no count of other users, is ever named;
- what to add is chosen by the public popularity of items and the asker's own ratings alone.

The place is the worst over the plain attacker (Scoring) and attackers who ignore the most-rated items, so advice that
works only on an attacker who has not heard of misdirection is not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak.errors import OptionError
from recloak.mentions.algorithms import Candidates, gains
from recloak.mentions.kernels import standings
from recloak.mentions.options import IdentifyOptions
from recloak.ratings import Ratings

BANDS = ((1, "1"), (5, "2 to 5"), (10, "6 to 10"), (100, "11 to 100"), (1000, "101 to 1,000"))
LAST_BAND = "beyond 1,000"
_IGNORED = (0.01, 0.02)  # what the adaptive attackers ignore, as shares of all items
_MOST_DRAFT = 12  # of a longer draft only the rarest are tried for leaving out
_MOST_DROPS, _MOST_ADDS, _SHOWN_ADDS = 4, 10, 3

Item = int | str


@dataclass(frozen=True, eq=False, slots=True)
class AdvisorIndex:
    """Ratings prepared once, so that every question is answered in a few milliseconds."""

    ratings: Ratings
    candidates: Candidates
    weights: NDArray[np.float64]  # (n_items,) gain of a rated mention
    popular: NDArray[np.int64]  # (n_items,) the most-rated first
    ignored: tuple[frozenset[int], ...]  # by attacker: the most-rated items that it ignores


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the draft and the band it would lead to."""

    drop: tuple[Item, ...]
    add: tuple[Item, ...]
    band: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What the advisor says; every place is a band."""

    k: int
    before: str  # the band by earlier mentions alone
    after: str  # the band once the draft is posted
    hidden: bool  # whether the draft as it is keeps the user beyond the first k
    telling: Item | None  # the mention of the draft that gives most away; None where the user rated none of them
    drops: tuple[Change, ...]  # each mention of the draft left out
    adds: tuple[Change, ...]  # a few single additions
    cheapest: Change | None  # the fewest changes that keep the user beyond the first k; None where none was found
    n_unknown: int  # mentions of items that nobody rated: they give nothing away

    def to_json(self) -> dict[str, Any]:
        """Give a plain value, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("k", "before", "after", "hidden", "telling", "n_unknown")}
        changes = {name: [_plain(one) for one in getattr(self, name)] for name in ("drops", "adds")}
        return {**plain, **changes, "cheapest": None if self.cheapest is None else _plain(self.cheapest)}


def _plain(change: Change) -> dict[str, Any]:
    return {"drop": list(change.drop), "add": list(change.add), "band": change.band}


def prepare_advisor(ratings: Ratings, options: IdentifyOptions | None = None) -> AdvisorIndex:
    """Prepare ratings for advice."""
    options = options or IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    weights = gains(candidates.raters, candidates.n_users, options)
    popular = np.argsort(-candidates.raters, kind="stable")
    n_rated = int(np.count_nonzero(candidates.raters))
    ignored = (frozenset[int](), *(frozenset(popular[: int(np.ceil(s * n_rated))].tolist()) for s in _IGNORED))
    return AdvisorIndex(ratings, candidates, weights, popular, ignored)


def band_of(place: float) -> str:
    """Give the band of a place in the attacker's list."""
    return next((name for top, name in BANDS if place <= top), LAST_BAND)


def advise(index: AdvisorIndex, user: Item, earlier: Iterable[Item], draft: Iterable[Item], *, k: int = 10) -> Advice:
    """Advise one user, who wishes to stay beyond the first k, on a draft post that mentions items."""
    if not 1 <= k < index.candidates.n_users:
        raise OptionError(f"k must be at least 1 and below the number of users, got {k}")
    asked = _Question(index, index.ratings.user_ids.number(user), *_numbers(index, earlier, draft))
    places = asked.places([(), *([one] for one in asked.draft)], [])
    after, without = places[0], places[1:]
    drops = tuple(Change((index_id(index, one),), (), band_of(p)) for one, p in zip(asked.draft, without, strict=True))
    return Advice(
        k=k,
        before=band_of(asked.places([asked.draft], [])[0]),
        after=band_of(after),
        hidden=after > k,
        telling=_telling(asked, without),
        drops=drops,
        adds=_single_adds(asked),
        cheapest=Change((), (), band_of(after)) if after > k else _cheapest(asked, k),
        n_unknown=asked.n_unknown,
    )


def index_id(index: AdvisorIndex, item: int) -> Item:
    """Give the outside id of an item."""
    found: Item = index.ratings.item_ids.ids[item]
    return found


def _numbers(index: AdvisorIndex, earlier: Iterable[Item], draft: Iterable[Item]) -> tuple[list[int], list[int], int]:
    """Give the items' numbers; one said before is not news in the draft, one that nobody rated is only counted."""
    old, new = ([_code(index, item) for item in items] for items in (earlier, draft))
    known = list(dict.fromkeys(code for code in old if code >= 0))
    fresh = [code for code in dict.fromkeys(new) if code >= 0 and code not in set(known)]
    return known, fresh, sum(code < 0 for code in (*old, *new))


def _code(index: AdvisorIndex, item: Item) -> int:
    ids = index.ratings.item_ids
    if ids.is_text != isinstance(item, str):
        return -1
    return int(ids.encode(pl.Series([item]))[0])


@dataclass(frozen=True, eq=False, slots=True)
class _Question:
    """One user, their earlier mentions and their draft, in the numbers of the ratings."""

    index: AdvisorIndex
    user: int
    earlier: list[int]
    draft: list[int]
    n_unknown: int

    def places(self, drops: Sequence[Sequence[int]], adds: Sequence[int]) -> NDArray[np.float64]:
        """Give the user's place, for each set of dropped mentions, with the same additions, before the worst attacker.

        The place is the expected one: those above, and half of those level.
        """
        kept = [self.earlier + [one for one in self.draft if one not in dropped] + list(adds) for dropped in drops]
        return self.places_of(kept)

    def places_of(self, said: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Give the place for each set of mentions before the worst attacker."""
        if not said:
            return np.empty(0)
        read = [_read(items, ignored) for ignored in self.index.ignored for items in said]
        indptr = np.concatenate(([0], np.cumsum([len(items) for items in read]))).astype(np.int64)
        items = np.array([item for one in read for item in one], np.int32)
        counts = self._stand(indptr, items)
        places = counts[:, 0] + (counts[:, 1] + 1) / 2
        worst: NDArray[np.float64] = places.reshape(len(self.index.ignored), len(said)).min(axis=0)
        return worst

    def _stand(self, indptr: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.int64]:
        candidates = self.index.candidates
        columns = candidates.columns
        listed = ~candidates.heavy
        listed[self.user] = True  # a heavy rater asks too, and gets the answer of an attacker who lists them
        counts, _ = standings(
            indptr,
            items,
            np.full(len(items), np.nan, np.float32),
            np.full(len(indptr) - 1, self.user, np.int32),
            columns.indptr,
            columns.users,
            columns.values,
            self.index.weights,
            np.ones(candidates.n_users),
            listed,
            -1.0,
            True,
        )
        found: NDArray[np.int64] = counts
        return found

    def lures(self) -> list[int]:
        """Give the most-rated items below what any attacker ignores that the user has neither rated nor mentioned."""
        ratings = self.index.ratings
        taken = {*ratings.items[ratings.row(self.user)].tolist(), *self.earlier, *self.draft}
        below = self.index.popular[max(map(len, self.index.ignored)) :]
        fresh = (item for item in below[: len(taken) + _MOST_ADDS].tolist() if item not in taken)
        return [item for item, _ in zip(fresh, range(_MOST_ADDS), strict=False)]


def _read(items: Sequence[int], ignored: frozenset[int]) -> list[int]:
    """Read mentions as an attacker who ignores the most-rated items does, or in full if nothing else is there."""
    return [item for item in items if item not in ignored] or list(items)


def _telling(asked: _Question, without: NDArray[np.float64]) -> Item | None:
    """Name the rated mention of the draft whose loss would hide best; among equals the one that fewest rated."""
    ratings, raters = asked.index.ratings, asked.index.candidates.raters
    own = set(ratings.items[ratings.row(asked.user)].tolist())
    rated = [
        (-place, int(raters[one]), one) for one, place in zip(asked.draft, without.tolist(), strict=True) if one in own
    ]
    return index_id(asked.index, min(rated)[2]) if rated else None


def _single_adds(asked: _Question) -> tuple[Change, ...]:
    lures = asked.lures()[:_SHOWN_ADDS]
    said = asked.earlier + asked.draft
    places = asked.places_of([[*said, lure] for lure in lures])
    return tuple(Change((), (index_id(asked.index, one),), band_of(p)) for one, p in zip(lures, places, strict=True))


def _cheapest(asked: _Question, k: int) -> Change | None:
    """Find the fewest changes that reach beyond the first k; among equally few the one that hides best."""
    drops, lures = _best_drops(asked), asked.lures()
    for cost in range(1, len(drops) + len(lures) + 1):
        mixes = [(d, cost - d) for d in range(len(drops) + 1) if 0 <= cost - d <= len(lures)]
        said = [asked.earlier + [one for one in asked.draft if one not in drops[:d]] + lures[:a] for d, a in mixes]
        places = asked.places_of(said)
        best = int(np.argmax(places))
        if places[best] > k:
            d, a = mixes[best]
            dropped, added = ([index_id(asked.index, one) for one in some] for some in (drops[:d], lures[:a]))
            return Change(tuple(dropped), tuple(added), band_of(places[best]))
    return None


def _best_drops(asked: _Question) -> list[int]:
    """Choose mentions to leave out one by one, each time the one that hides best."""
    raters = asked.index.candidates.raters
    left = sorted(asked.draft, key=lambda item: int(raters[item]))[:_MOST_DRAFT]
    chosen: list[int] = []
    while left and len(chosen) < _MOST_DROPS:
        places = asked.places([[*chosen, one] for one in left], [])
        best = left[int(np.argmax(places))]
        chosen.append(best)
        left.remove(best)
    return chosen
