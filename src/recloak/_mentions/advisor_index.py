"""Ratings prepared once for advice: the candidates that the attackers of the panel would rank, and what they know."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.clues import ClueCounts, default_constants, make_pool, proposed
from recloak._mentions.model import Mentions
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.panel_kernels import CandidatePool, Constants
from recloak._mentions.shared_beginnings import members_by_name
from recloak._ratings.model import Ratings

Item = int | str


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class AdvisorIndex:
    """Ratings prepared once, so that every question is answered in a few milliseconds; threads may share it."""

    ratings: Ratings
    raters: NDArray[np.int64]  # (n_items + n_series,) public numbers; of a series those of its best-known title
    pool: CandidatePool  # the candidates; columns beyond the items are series
    known: Constants
    listed: NDArray[np.int64]  # (n_users,) number among the candidates, -1: not one of them
    norms: NDArray[np.float64]  # (n_users,)
    proposals: NDArray[np.int64]  # items that may be added, the most-rated first
    series_of: dict[int, int]  # by item: the column of its series
    members: dict[int, list[int]]  # by column of a series: its items
    series_names: dict[int, str]
    user_numbers: dict[Item, int]
    item_numbers: dict[Item, int]
    item_ids: list[Item]
    guard: OracleGuard | None  # None: exact, for the owner of the ratings only
    secret: bytes  # draws what may be added, so that nobody can work it out


def prepare_advisor(
    ratings: Ratings,
    options: IdentifyOptions | None = None,
    *,
    guard: OracleGuard | None = None,
    mentions: Mentions | None = None,
    series: Mapping[Item, str] | None = None,
) -> AdvisorIndex:
    """Prepare ratings for advice to their users, guarded so that an answer is no oracle on other people.

    Without a guard, make one with a new secret. A service stores its secret, so that a restart draws the same sample.
    From ``mentions`` of people in the sample the attackers learn, as in `_mentions.clues`; ``series`` names the series
    of items, which a writer may name instead.
    """
    return _prepare(ratings, options or IdentifyOptions(), guard or OracleGuard(), mentions, series or {})


def prepare_exact_advisor(
    ratings: Ratings,
    options: IdentifyOptions | None = None,
    *,
    mentions: Mentions | None = None,
    series: Mapping[Item, str] | None = None,
    secret: bytes | None = None,
) -> AdvisorIndex:
    """Prepare ratings for exact advice: for those who may see all ratings, never for their users.

    The secret draws what may be added; without one, a new one is made.
    """
    made = _prepare(ratings, options or IdentifyOptions(), None, mentions, series or {})
    return made if secret is None else replace(made, secret=secret)


def _prepare(
    ratings: Ratings,
    options: IdentifyOptions,
    guard: OracleGuard | None,
    mentions: Mentions | None,
    series: Mapping[Item, str],
) -> AdvisorIndex:
    candidates = Candidates.of(ratings, options)
    user_ids, item_ids = ratings.user_ids.ids.to_list(), ratings.item_ids.ids.to_list()
    listed = np.ones(ratings.n_users, np.bool_) if guard is None else guard.in_sample(user_ids)
    numbers = np.where(listed, np.cumsum(listed) - 1, -1)
    weights = gains(candidates.raters, candidates.n_users, options)
    least = 0.0 if guard is None else guard.widely * ratings.n_users
    pool = make_pool(ratings, candidates, weights, listed, least_raters=least)
    known = _learn(pool, mentions, ratings, numbers)
    item_numbers = {id_: number for number, id_ in enumerate(item_ids)}
    named = members_by_name(series, item_numbers)
    members = {ratings.n_items + place: group for place, group in enumerate(named.values())}
    return AdvisorIndex(
        ratings=ratings,
        raters=np.concatenate((candidates.raters, _most(candidates.raters, members))),
        pool=with_series(pool, list(members.values())),
        known=known,
        listed=numbers,
        norms=candidates.norms,
        proposals=_counted(proposed(pool.ignored, candidates.raters), candidates.raters, ratings.n_users, guard),
        series_of={item: column for column, group in members.items() for item in group},
        members=members,
        series_names=dict(zip(members, named, strict=True)),
        user_numbers={id_: number for number, id_ in enumerate(user_ids)},
        item_numbers=item_numbers,
        item_ids=item_ids,
        guard=guard,
        secret=secrets.token_bytes(32) if guard is None else guard.secret,
    )


def _counted(
    items: NDArray[np.int64], raters: NDArray[np.int64], n_users: int, guard: OracleGuard | None
) -> NDArray[np.int64]:
    """Return the items that count although the writer did not rate them, as the guard has it; all where none do."""
    if guard is None:
        return items
    widely = items[raters[items] >= guard.widely * n_users]
    return widely if len(widely) else items


def _learn(pool: CandidatePool, mentions: Mentions | None, ratings: Ratings, numbers: NDArray[np.int64]) -> Constants:
    """Return what the attackers know, learned from people among the candidates only."""
    if mentions is None or not mentions.n_targets:
        return default_constants()
    return ClueCounts(pool, mentions, ratings, numbers).constants(np.ones(mentions.n_targets, np.bool_))


def _most(numbers: NDArray[np.int64], members: Mapping[int, list[int]]) -> NDArray[np.int64]:
    return np.array([numbers[group].max() for group in members.values()], np.int64)


def with_series(pool: CandidatePool, groups: list[list[int]]) -> CandidatePool:
    """Return the candidates with a column for each series: who rated one of its items, when last, with no opinion.

    A series counts as rated as often as its best-known item, which is public; it was rated more often, so that this
    makes it tell more than it does, never less.
    """
    columns = [_union(pool, group) for group in groups]
    ends = pool.indptr[-1] + np.cumsum([len(users) for users, _ in columns], dtype=np.int64)
    best = [max(group, key=lambda item: pool.rates[item]) for group in groups]
    timed = len(pool.times) > 0
    return pool._replace(
        indptr=np.concatenate((pool.indptr, ends)),
        users=np.concatenate((pool.users, *(users for users, _ in columns))).astype(np.int32),
        values=np.concatenate((pool.values, np.zeros(sum(len(users) for users, _ in columns), np.float32))),
        times=np.concatenate((pool.times, *(times for _, times in columns))) if timed else pool.times,
        **{
            name: np.concatenate((getattr(pool, name), getattr(pool, name)[best])) if best else getattr(pool, name)
            for name in ("rates", "gains", "squared_idf", "ignored")
        },
    )


def _union(pool: CandidatePool, group: list[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return who rated one of some items, ascending, and when last."""
    spans = [slice(int(pool.indptr[item]), int(pool.indptr[item + 1])) for item in group]
    users = np.concatenate([pool.users[span] for span in spans])
    if not len(pool.times):
        return np.unique(users), np.zeros(0, np.int64)
    times = np.concatenate([pool.times[span] for span in spans])
    order = np.lexsort((times, users))
    last = np.append(users[order][1:] != users[order][:-1], True) if len(order) else np.zeros(0, np.bool_)
    return users[order][last], times[order][last]
