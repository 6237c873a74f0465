"""Publish again with copies of some people planted, to see whether they are left alone with them (sybils)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recloak._attacks.attack_input import SybilRelease
from recloak._core.errors import InputError
from recloak._library.arguments import at_least
from recloak._library.opened_releases import publish_again
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOWN = 64  # ratings of the target that each copy has, at most
_MOST_TARGETS, _SHARE = 100, 50  # one person in so many is a target


def publish_planted(
    account: dict[str, Any], ratings: Ratings, sybils: int, stream: np.random.Generator
) -> SybilRelease:
    """Return the release of the same people with so many copies of some of them planted; nothing of it is kept."""
    sybils = at_least(1, "sybils", sybils)
    if ratings.compact().shape != ratings.shape:
        raise InputError("sybils needs a source in which every user and every item has a rating")
    n = int(np.clip(ratings.n_users // _SHARE, 1, _MOST_TARGETS))
    people = np.sort(stream.choice(ratings.n_users, n, replace=False))
    known = [_known(ratings, int(user), stream) for user in people]
    names = _fresh_names(ratings, n * sybils)
    planted = _with_copies(ratings, known, names, sybils)
    numbers = planted.user_ids.encode(np.asarray(ratings.user_ids.ids)[people])
    copies = planted.user_ids.encode(names).reshape(n, sybils)
    seed = int(stream.integers(2**62))
    unknown = tuple(_unknown(ratings, int(user), at) for user, at in zip(people, known, strict=True))
    return SybilRelease(publish_again(account, planted, seed=seed), numbers, copies, people, unknown)


def _known(ratings: Ratings, user: int, stream: np.random.Generator) -> NDArray[np.int64]:
    row = ratings.row(user)
    return np.sort(stream.permutation(row.stop - row.start)[:KNOWN] + row.start)


def _unknown(ratings: Ratings, user: int, known: NDArray[np.int64]) -> NDArray[np.int32]:
    row = ratings.row(user)
    return np.delete(ratings.items[row], known - row.start)


def _fresh_names(ratings: Ratings, n: int) -> Any:
    """Return ids that no user has, of the source's kind."""
    ids = np.asarray(ratings.user_ids.ids)
    if not ratings.user_ids.is_text:
        return np.arange(n) + int(ids.max()) + 1
    taken = set(ids.tolist())
    fresh = (name for i in range(n + len(taken)) if (name := f"copy {i}") not in taken)
    return np.array([next(fresh) for _ in range(n)], dtype=object)


def _with_copies(ratings: Ratings, known: list[NDArray[np.int64]], names: Any, sybils: int) -> Ratings:
    places = np.concatenate([np.tile(at, sybils) for at in known])
    lengths = np.repeat([len(at) for at in known], sybils)
    users = np.concatenate((np.asarray(ratings.user_ids.ids)[ratings.users()], np.repeat(names, lengths)))
    items = np.concatenate((ratings.items, ratings.items[places]))
    values = np.concatenate((ratings.values, ratings.values[places]))
    names, is_rated = np.asarray(ratings.item_ids.ids)[items], ratings.kind is RATINGS
    kind, scale = (None, ratings.scale) if is_rated else (ratings.kind.name, None)
    return Ratings.from_arrays(users, names, values, scale=scale, kind=kind)
