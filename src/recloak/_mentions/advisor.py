"""The posting privacy advisor that paper 004 asks for (section 6.3): advice before a post is published.

From what a user has mentioned before and is about to mention, it works out the user's place in the attacker's list, and
which small change would hide them among at least k. It answers for the user who asks and is no oracle on others:

- a place is given as a band, never as a number;
- no other user, and no count of other users, is ever named;
- what to leave out and to add is chosen by the public popularity of items and the asker's own ratings;
- a secret part of the people is never used, whoever asks (`_mentions.oracle_guard`).

The place is the worst over the plain attacker (Scoring) and attackers who ignore the most-rated items, so advice that
only works on an attacker who does not know about misdirection is not given.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.results import counted, plural
from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.draft_rank_kernels import survey
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import BANDS, EXACT_BANDS, Bands, OracleGuard, band_of, border_from
from recloak._ratings.model import Ratings

_IGNORED = (0.0, 0.01, 0.02)  # share of all items that each attacker ignores; the first is the plain one
_MOST_DRAFT = 12  # of a longer draft only the rarest mentions are tried for leaving out together
_MOST_ADDS = 10

Item = int | str


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class AdvisorIndex:
    """Ratings prepared once, so that every question is answered in a few milliseconds; threads may share it."""

    ratings: Ratings
    raters: NDArray[np.int64]  # (n_items,)
    weights: NDArray[np.float64]  # (n_items,) gain of a rated mention
    indptr: NDArray[np.int64]  # (n_items + 1,) the columns of the listed candidates
    users: NDArray[np.int32]  # numbers among the listed candidates
    listed: NDArray[np.int64]  # (n_users,) number among the listed candidates, -1: not listed
    n_listed: int
    proposals: NDArray[np.int64]  # items that no attacker ignores, the most-rated first
    not_ignored: NDArray[np.int64]  # (n_items, n_attackers) 1 where the attacker does not ignore the item
    user_numbers: dict[Item, int]
    item_numbers: dict[Item, int]
    item_ids: list[Item]
    guard: OracleGuard | None  # None: exact, for the owner of the ratings only


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Question:
    """One user, their earlier mentions and their draft, in the numbers of the ratings, and what might be added."""

    user: int
    earlier: NDArray[np.int64]
    draft: NDArray[np.int64]
    decoys: NDArray[np.int64]
    rated: NDArray[np.int64]  # 1 where the user rated it, for all three in turn
    n_unknown: int

    def draft_rated(self) -> NDArray[np.int64]:
        """Return 1 for each mention of the draft that the user rated, else 0."""
        return self.rated[len(self.earlier) : len(self.earlier) + len(self.draft)]


@dataclass(frozen=True, eq=False, slots=True)
class DraftRanks:
    """Expected places before the worst attacker: those above the user, and half of those tied."""

    before: float  # by earlier mentions alone
    after: float
    without: NDArray[np.float64]  # (n_draft,) each mention of the draft left out
    added: NDArray[np.float64]  # (n_shown,) each of the first decoys added
    order: NDArray[np.int64]  # positions in the draft, in the order of leaving out
    table: NDArray[np.float64]  # (n_order + 1, n_decoys + 1) that many left out, that many added; see `survey`


@dataclass(frozen=True, slots=True, repr=False)
class DraftChange:
    """A change of the draft and the band after it."""

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
    """The advisor's answer; every place is a band."""

    k: int
    before: str  # the band by earlier mentions alone
    after: str  # the band once the draft is posted
    hidden: bool  # whether the draft as it is keeps the user beyond the first k
    telling: Item | None  # the mention of the draft that reveals most; None where the user rated none of them
    drops: tuple[DraftChange, ...]  # each mention of the draft left out
    adds: tuple[DraftChange, ...]  # a few single additions
    cheapest: DraftChange | None  # the fewest changes that keep the user beyond the first k; None where none was found
    n_unknown: int  # mentions of items that nobody rated: they reveal nothing

    def __repr__(self) -> str:
        state = "hidden" if self.hidden else "not hidden"
        unknown = [plural(self.n_unknown, "unknown item")] if self.n_unknown else []
        return counted(self, f"k = {self.k}", f"place {self.before} before, {self.after} after", state, *unknown)

    def to_json(self) -> dict[str, Any]:
        """Return the advice, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("k", "before", "after", "hidden", "telling", "n_unknown")}
        changes = {name: [one.to_json() for one in getattr(self, name)] for name in ("drops", "adds")}
        return {**plain, **changes, "cheapest": None if self.cheapest is None else self.cheapest.to_json()}


def prepare_advisor(
    ratings: Ratings, options: IdentifyOptions | None = None, *, guard: OracleGuard | None = None
) -> AdvisorIndex:
    """Prepare ratings for advice to their users, guarded so that an answer is no oracle on other people.

    Without a guard, make one with a new secret. A service stores its secret, so that a restart draws the same sample.
    """
    return _prepare(ratings, options or IdentifyOptions(), guard or OracleGuard())


def prepare_exact_advisor(ratings: Ratings, options: IdentifyOptions | None = None) -> AdvisorIndex:
    """Prepare ratings for exact advice: for those who may see all ratings, never for their users."""
    return _prepare(ratings, options or IdentifyOptions(), None)


def _prepare(ratings: Ratings, options: IdentifyOptions, guard: OracleGuard | None) -> AdvisorIndex:
    candidates = Candidates.of(ratings, options)
    user_ids, item_ids = ratings.user_ids.ids.to_list(), ratings.item_ids.ids.to_list()
    listed = ~candidates.heavy if guard is None else ~candidates.heavy & guard.in_sample(user_ids)
    numbers = np.where(listed, np.cumsum(listed) - 1, -1)
    columns = candidates.columns
    keep = listed[columns.users]
    ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    popular = np.argsort(-candidates.raters, kind="stable")
    not_ignored = _not_ignored(popular, int(np.count_nonzero(candidates.raters)))
    return AdvisorIndex(
        ratings=ratings,
        raters=candidates.raters,
        weights=gains(candidates.raters, candidates.n_users, options),
        indptr=ends[columns.indptr],
        users=numbers[columns.users[keep]].astype(np.int32),
        listed=numbers,
        n_listed=int(listed.sum()),
        proposals=popular[not_ignored[popular].all(axis=1)],
        not_ignored=not_ignored,
        user_numbers={id_: number for number, id_ in enumerate(user_ids)},
        item_numbers={id_: number for number, id_ in enumerate(item_ids)},
        item_ids=item_ids,
        guard=guard,
    )


def _not_ignored(popular: NDArray[np.int64], n_rated: int) -> NDArray[np.int64]:
    not_ignored = np.ones((len(popular), len(_IGNORED)), np.int64)
    for attacker, share in enumerate(_IGNORED):
        not_ignored[popular[: int(np.ceil(share * n_rated))], attacker] = 0
    return not_ignored


def advise(index: AdvisorIndex, user: Item, earlier: Iterable[Item], draft: Iterable[Item], *, k: int = 10) -> Advice:
    """Return advice for one user, who wants to stay beyond the first k, on a draft post that mentions items.

    An index of `prepare_advisor` gives guarded advice: bands of `BANDS`, and hidden means beyond the first border at k
    or more (10, 100, 1,000). One of `prepare_exact_advisor` gives exact advice, in `EXACT_BANDS`.
    """
    if not 1 <= k < index.ratings.n_users:
        raise OptionError(f"k must be at least 1 and below the number of users, got {k}")
    question = make_question(index, user, earlier, draft)
    bands = EXACT_BANDS if index.guard is None else BANDS
    border = k if index.guard is None else border_from(k, bands)
    exact = rank_draft(index, question, border)
    ranks = exact if index.guard is None else _round_to_bands(exact, bands)

    def change(drop: Iterable[int], add: Iterable[int], place: float) -> DraftChange:
        dropped, added = (tuple(index.item_ids[item] for item in items) for items in (drop, add))
        return DraftChange(dropped, added, band_of(place, bands))

    fewest = _fewest_changes(ranks, border)
    cheapest = None
    if fewest is not None:
        dropped = question.draft[ranks.order[: fewest[0]]]
        cheapest = change(dropped, question.decoys[: fewest[1]], ranks.table[fewest])
    return Advice(
        k=k,
        before=band_of(ranks.before, bands),
        after=band_of(ranks.after, bands),
        hidden=ranks.after > border,
        telling=_telling(index, question, ranks),
        drops=tuple(change([item], [], place) for item, place in zip(question.draft, ranks.without, strict=True)),
        adds=tuple(change([], [item], place) for item, place in zip(question.decoys, ranks.added, strict=False)),
        cheapest=cheapest,
        n_unknown=question.n_unknown,
    )


def _telling(index: AdvisorIndex, question: Question, ranks: DraftRanks) -> Item | None:
    """Return the rated mention of the draft whose removal hides best; among equals the one that fewest rated."""
    mentions = zip(question.draft.tolist(), question.draft_rated().tolist(), ranks.without.tolist(), strict=True)
    rated = [(-place, int(index.raters[item]), item) for item, own, place in mentions if own]
    return index.item_ids[min(rated)[2]] if rated else None


def _fewest_changes(ranks: DraftRanks, border: float) -> tuple[int, int] | None:
    """Return the fewest drops and adds that reach beyond the border; among equally few those that hide best."""
    n_rows, n_columns = ranks.table.shape
    for cost in range(n_rows + n_columns - 1):
        mixes = [(drops, cost - drops) for drops in range(n_rows) if 0 <= cost - drops < n_columns]
        best = max(mixes, key=lambda mix: ranks.table[mix])
        if ranks.table[best] > border:
            return best
    return None


def make_question(index: AdvisorIndex, user: Item, earlier: Iterable[Item], draft: Iterable[Item]) -> Question:
    """Return a question in the numbers of the ratings.

    An item mentioned before is not new in the draft, and one that nobody rated is only counted.
    """
    old, new = ([_number(index, item) for item in items] for items in (earlier, draft))
    known = dict.fromkeys(code for code in old if code >= 0)
    fresh = [code for code in dict.fromkeys(new) if code >= 0 and code not in known]
    number = index.user_numbers.get(user)
    if number is None:
        number = index.ratings.user_ids.number(user)  # raises InputError
    own = set(index.ratings.items[index.ratings.row(number)].tolist())
    decoys = _decoys(index, {*own, *known, *fresh})
    rated = [item in own for item in (*known, *fresh, *decoys)]
    earlier_items, new_items, added, own_flags = (np.array(list(x), np.int64) for x in (known, fresh, decoys, rated))
    n_unknown = sum(code < 0 for code in (*old, *new))
    return Question(number, earlier_items, new_items, added, own_flags, n_unknown)


def _number(index: AdvisorIndex, item: Item) -> int:
    return index.item_numbers.get(item, -1) if isinstance(item, (int, str)) else -1


def _decoys(index: AdvisorIndex, taken: set[int]) -> list[int]:
    """Return the most-rated items that no attacker ignores and that the user has neither rated nor mentioned."""
    fresh = (item for item in index.proposals[: len(taken) + _MOST_ADDS].tolist() if item not in taken)
    return list(itertools.islice(fresh, _MOST_ADDS))


def rank_draft(index: AdvisorIndex, question: Question, border: float = np.inf) -> DraftRanks:
    """Return every place that the advice on a question needs; hidden means beyond the border."""
    mentions = np.concatenate((question.earlier, question.draft, question.decoys))
    before, singles, order, table = survey(
        int(index.listed[question.user]),
        question.earlier,
        question.draft,
        question.decoys,
        question.rated,
        index.not_ignored[mentions],
        _weights(index, mentions, question.rated),
        _drop_order(index, question),
        index.guard is None,
        float(border),
        index.indptr,
        index.users,
        index.n_listed,
    )
    n_draft = len(question.draft)
    return DraftRanks(float(before), float(singles[0]), singles[1 : n_draft + 1], singles[n_draft + 1 :], order, table)


def _round_to_bands(ranks: DraftRanks, bands: Bands) -> DraftRanks:
    """Return every place as the first of its band, so that no answer or choice depends on anything finer."""
    tops = np.array([0.0, *(top for top, _ in bands)])
    lowest = [tops[np.searchsorted(tops, part) - 1] + 1 for part in (ranks.without, ranks.added, ranks.table)]
    before, after = (float(tops[np.searchsorted(tops, place) - 1] + 1) for place in (ranks.before, ranks.after))
    return DraftRanks(before, after, lowest[0], lowest[1], ranks.order, lowest[2])


def _weights(index: AdvisorIndex, mentions: NDArray[np.int64], rated: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of each mention; the guard sets it to 0 if the user did not rate it and few others did.

    A weight below 0, of an item that nearly everybody rated, speaks for the user and stays.
    """
    weights = index.weights[mentions]
    if index.guard is None:
        return weights
    widely = index.raters[mentions] >= index.guard.widely * index.ratings.n_users
    return np.where((rated == 1) | widely | (weights < 0), weights, 0.0)


def _drop_order(index: AdvisorIndex, question: Question) -> NDArray[np.int64]:
    """Return the positions of the draft's rarest mentions, the rarest first; the guard tries rated ones only."""
    rarest = np.argsort(index.raters[question.draft], kind="stable")
    if index.guard is not None:
        rarest = rarest[question.draft_rated()[rarest] == 1]
    return rarest[:_MOST_DRAFT]
