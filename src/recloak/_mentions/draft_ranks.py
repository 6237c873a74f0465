"""Where a user stands in the attacker's list, for a draft and for every change of it that the advisor looks at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.draft_rank_kernels import survey
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import Bands, OracleGuard
from recloak._ratings.model import Ratings

_IGNORED = (0.0, 0.01, 0.02)  # what each attacker ignores, as shares of all items; the first is the plain one
_MOST_DRAFT = 12  # of a longer draft only the rarest are tried for leaving out together
_MOST_ADDS = 10

Item = int | str


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class AdvisorIndex:
    """Ratings prepared once, so that every question is answered in a few milliseconds; threads may share it."""

    ratings: Ratings
    raters: NDArray[np.int64]  # (n_items,)
    weights: NDArray[np.float64]  # (n_items,) gain of a rated mention
    indptr: NDArray[np.int64]  # (n_items + 1,) the columns of the listed candidates, who are numbered anew
    users: NDArray[np.int32]
    listed: NDArray[np.int64]  # (n_users,) number among the listed candidates, -1: not listed
    n_listed: int
    proposals: NDArray[np.int64]  # items that every attacker hears, the most-rated first
    heard: NDArray[np.int64]  # (n_items, n_attackers) 1 where the attacker does not ignore the item
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
    lures: NDArray[np.int64]
    mine: NDArray[np.int64]  # 1 where the user rated it, for all three in turn
    n_unknown: int

    def mine_of_draft(self) -> NDArray[np.int64]:
        """Tell which mentions of the draft the user rated."""
        return self.mine[len(self.earlier) : len(self.earlier) + len(self.draft)]


@dataclass(frozen=True, eq=False, slots=True)
class DraftRanks:
    """Expected places before the worst attacker: those above the user, and half of those level."""

    before: float  # by earlier mentions alone
    after: float
    without: NDArray[np.float64]  # (n_draft,) each mention of the draft left out
    added: NDArray[np.float64]  # (n_shown,) each of the first lures added
    order: NDArray[np.int64]  # places in the draft, which to leave out first
    table: NDArray[np.float64]  # (n_order + 1, n_lures + 1) that many left out, that many lures added; see `survey`


def prepare_advisor(
    ratings: Ratings, options: IdentifyOptions | None = None, *, guard: OracleGuard | None = None
) -> AdvisorIndex:
    """Prepare ratings for advice to their users, guarded so that an answer is no oracle on other people.

    Without a guard, make one with a fresh secret. A service keeps its secret, so that a restart draws the same crowd.
    """
    return _prepare(ratings, options or IdentifyOptions(), guard or OracleGuard())


def prepare_exact_advisor(ratings: Ratings, options: IdentifyOptions | None = None) -> AdvisorIndex:
    """Prepare ratings for exact advice: for who may see all ratings anyhow, never for their users."""
    return _prepare(ratings, options or IdentifyOptions(), None)


def _prepare(ratings: Ratings, options: IdentifyOptions, guard: OracleGuard | None) -> AdvisorIndex:
    candidates = Candidates.of(ratings, options)
    user_ids = ratings.user_ids.ids.to_list()
    listed = ~candidates.heavy if guard is None else ~candidates.heavy & guard.crowd_of(user_ids)
    indptr, users = _columns_of(candidates, listed)
    popular = np.argsort(-candidates.raters, kind="stable")
    heard = _heard(popular, int(np.count_nonzero(candidates.raters)))
    item_ids = ratings.item_ids.ids.to_list()
    return AdvisorIndex(
        ratings=ratings,
        raters=candidates.raters,
        weights=gains(candidates.raters, candidates.n_users, options),
        indptr=indptr,
        users=users,
        listed=np.where(listed, np.cumsum(listed) - 1, -1),
        n_listed=int(listed.sum()),
        proposals=popular[heard[popular].all(axis=1)],
        heard=heard,
        user_numbers={id_: number for number, id_ in enumerate(user_ids)},
        item_numbers={id_: number for number, id_ in enumerate(item_ids)},
        item_ids=item_ids,
        guard=guard,
    )


def _columns_of(candidates: Candidates, listed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Give the columns of the listed users only, numbered anew."""
    columns = candidates.columns
    keep = listed[columns.users]
    ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    return ends[columns.indptr], (np.cumsum(listed) - 1)[columns.users[keep]].astype(np.int32)


def _heard(popular: NDArray[np.int64], n_rated: int) -> NDArray[np.int64]:
    heard = np.ones((len(popular), len(_IGNORED)), np.int64)
    for attacker, share in enumerate(_IGNORED):
        heard[popular[: int(np.ceil(share * n_rated))], attacker] = 0
    return heard


def question(index: AdvisorIndex, user: Item, earlier: Iterable[Item], draft: Iterable[Item]) -> Question:
    """Bring a question into numbers.

    An item said before is not news in the draft, and one that nobody rated is only counted.
    """
    old, new = ([_number(index, item) for item in items] for items in (earlier, draft))
    known = dict.fromkeys(code for code in old if code >= 0)
    fresh = [code for code in dict.fromkeys(new) if code >= 0 and code not in known]
    number = index.user_numbers.get(user)
    if number is None:
        number = index.ratings.user_ids.number(user)  # refuses in one sentence
    own = set(index.ratings.items[index.ratings.row(number)].tolist())
    lures = _lures(index, {*own, *known, *fresh})
    mine = [item in own for item in (*known, *fresh, *lures)]
    said, news, more, rated = (np.array(list(some), np.int64) for some in (known, fresh, lures, mine))
    return Question(number, said, news, more, rated, sum(code < 0 for code in (*old, *new)))


def _number(index: AdvisorIndex, item: Item) -> int:
    return index.item_numbers.get(item, -1) if isinstance(item, (int, str)) else -1


def _lures(index: AdvisorIndex, taken: set[int]) -> list[int]:
    """Give the most-rated items that every attacker hears and that the user has neither rated nor mentioned."""
    fresh = (item for item in index.proposals[: len(taken) + _MOST_ADDS].tolist() if item not in taken)
    return list(itertools.islice(fresh, _MOST_ADDS))


def places_of(index: AdvisorIndex, asked: Question, border: float = np.inf) -> DraftRanks:
    """Work out every place that the advice on a question rests on; to be hidden is to stand beyond the border."""
    said = np.concatenate((asked.earlier, asked.draft, asked.lures))
    before, singles, order, table = survey(
        int(index.listed[asked.user]),
        asked.earlier,
        asked.draft,
        asked.lures,
        asked.mine,
        index.heard[said],
        _weights(index, said, asked.mine),
        _tried(index, asked),
        index.guard is None,
        float(border),
        index.indptr,
        index.users,
        index.n_listed,
    )
    n_draft = len(asked.draft)
    return DraftRanks(float(before), float(singles[0]), singles[1 : n_draft + 1], singles[n_draft + 1 :], order, table)


def coarse(places: DraftRanks, bands: Bands) -> DraftRanks:
    """Bring every place down to the first of its band, so that nothing finer can be read or chosen by."""
    tops = np.array([0.0, *(top for top, _ in bands)])
    lowest = [tops[np.searchsorted(tops, part) - 1] + 1 for part in (places.without, places.added, places.table)]
    before, after = (float(tops[np.searchsorted(tops, place) - 1] + 1) for place in (places.before, places.after))
    return DraftRanks(before, after, lowest[0], lowest[1], places.order, lowest[2])


def _weights(index: AdvisorIndex, said: NDArray[np.int64], mine: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the weight of each mention; the guard silences what the user did not rate, unless many others did.

    A weight below 0, of an item that nearly everybody rated, speaks for the user and stays.
    """
    weights = index.weights[said]
    if index.guard is None:
        return weights
    widely = index.raters[said] >= index.guard.widely * index.ratings.n_users
    return np.where((mine == 1) | widely | (weights < 0), weights, 0.0)


def _tried(index: AdvisorIndex, asked: Question) -> NDArray[np.int64]:
    """Give the places of the draft's rarest mentions, the rarest first; the guard tries what the user rated only."""
    rarest = np.argsort(index.raters[asked.draft], kind="stable")
    if index.guard is not None:
        rarest = rarest[asked.mine_of_draft()[rarest] == 1]
    return rarest[:_MOST_DRAFT]
