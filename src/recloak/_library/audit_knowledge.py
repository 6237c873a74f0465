"""What an owner gives to make an audit harder, brought to the numbers of the source."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack_input import OutsideRatings, OwnerKnowledge
from recloak._core.errors import InputError, SourceError
from recloak._core.logger import log
from recloak._library.opened_releases import open_release
from recloak._library.sources import as_ratings
from recloak._ratings.ids import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recloak._attacks.audit_result import Audit
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._ratings.model import Ratings

WORST_OFF = "worst-off.csv"


def owner_knowledge(
    ratings: Ratings,
    *,
    more: Sequence[ReleaseLike] = (),
    held_out: RatingsLike | None = None,
    later: RatingsLike | None = None,
    mentions: RatingsLike | None = None,
    attribute: PathLike | None = None,
    sensitive: PathLike | None = None,
) -> OwnerKnowledge:
    """Return what the owner knows; raise InputError for a table that has nothing to do with the source."""
    held_out, later, mentions = (
        None if one is None else _in_values(ratings, one) for one in (held_out, later, mentions)
    )
    return OwnerKnowledge(
        None if held_out is None else _strangers(ratings, held_out),
        None if later is None else _later(ratings, later),
        None if attribute is None else _classes(ratings, Path(attribute)),
        None if sensitive is None else _items(ratings, Path(sensitive)),
        None if mentions is None else _same_people(ratings, mentions, "mentions"),
        tuple(open_release(one, None, ratings) for one in more),
    )


def _in_values(ratings: Ratings, given: RatingsLike) -> Ratings:
    """Return what the owner gives in the values of the source: a rating, that something was used, or a level."""
    from recloak._ratings.event_values import as_levels
    from recloak._ratings.value_kinds import COUNTS, RATINGS

    others = as_ratings(given)
    if ratings.kind is RATINGS:
        return others
    if ratings.kind is COUNTS and others.kind is COUNTS:
        return as_levels(others, round(ratings.scale.high))
    return replace(others, values=np.ones(others.n_ratings, np.float32), scale=ratings.scale, kind=ratings.kind)


def _strangers(ratings: Ratings, others: Ratings) -> OutsideRatings:
    """Return the people held out; raise InputError if one of them is in the source."""
    if n_known := int((ratings.user_ids.encode(others.user_ids.ids) != UNKNOWN).sum()):
        raise InputError(f"{n_known} of the people held out are in the source too: leave them out of it first")
    return _numbered(ratings, others, others.users(), others.n_users, "held_out")


def _later(ratings: Ratings, others: Ratings) -> OutsideRatings:
    from recloak._evaluation.holdout import probe_from

    probe = probe_from(ratings, others)
    return _rows(probe.users, probe.items, probe.values, ratings.n_users)


def _same_people(ratings: Ratings, others: Ratings, what: str) -> OutsideRatings:
    users = ratings.user_ids.encode(others.user_ids.ids)[others.users()]
    return _numbered(ratings, others, users, ratings.n_users, what)


def _numbered(ratings: Ratings, others: Ratings, users: NDArray[Any], n_users: int, what: str) -> OutsideRatings:
    items = ratings.item_ids.encode(others.item_ids.ids)[others.items]
    known = (items != UNKNOWN) & (users != UNKNOWN)
    if not known.any():
        raise InputError(f"{what}=... has no rating of an item and a person of this kind")
    kept = np.unique(users[known], return_inverse=True) if what == "held_out" else (None, users[known])
    n_users = n_users if kept[0] is None else len(kept[0])
    return _rows(kept[1], items[known], others.values[known], n_users)


def _rows(users: NDArray[Any], items: NDArray[Any], values: NDArray[Any], n_users: int) -> OutsideRatings:
    order = np.lexsort((items, users))
    indptr = np.searchsorted(users[order], np.arange(n_users + 1)).astype(np.int64)
    return OutsideRatings(indptr, items[order].astype(np.int32), values[order].astype(np.float32))


def _classes(ratings: Ratings, path: Path) -> NDArray[np.int64]:
    """Read the value of each user from a CSV file whose columns are called user and value."""
    rows = _read_csv(path)
    if not rows or not {"user", "value"} <= set(rows[0]):
        raise SourceError("an attribute is a CSV file with the columns user and value", file=path)
    users = ratings.user_ids.encode(_like(ratings.user_ids.is_text, [row["user"] for row in rows], path))
    classes = {value: number for number, value in enumerate(sorted({row["value"] for row in rows}))}
    found = np.full(ratings.n_users, -1, np.int64)
    for user, row in zip(users, rows, strict=True):
        if user != UNKNOWN and row["value"]:
            found[user] = classes[row["value"]]
    if (found < 0).all():
        raise SourceError("no user of the attribute is in the source", file=path)
    return found


def _items(ratings: Ratings, path: Path) -> NDArray[np.bool_]:
    """Read sensitive items, one in a line."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    numbers = ratings.item_ids.encode(_like(ratings.item_ids.is_text, lines, path)) if lines else np.empty(0, int)
    found = np.zeros(ratings.n_items, bool)
    found[numbers[numbers != UNKNOWN]] = True
    if not found.any():
        raise SourceError("no sensitive item is in the source", file=path)
    return found


def _like(is_text: bool, ids: list[str], path: Path) -> list[str] | list[int]:
    """Return ids of the source's kind."""
    try:
        return ids if is_text else [int(one) for one in ids]
    except ValueError:
        raise SourceError("the ids of the source are whole numbers, and one here is not", file=path) from None


def _read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_worst_off(found: Audit, ratings: Ratings, private: Path | None) -> None:
    """Write the people at the greatest risk into the private folder, where there is one."""
    if private is None or not (worst := found.worst_off()):
        return
    ids = ratings.user_ids.decode(np.array([user for user, _, _ in worst]))
    rows = [(one, name, f"{above:.4f}") for one, (_, above, name) in zip(ids, worst, strict=True)]
    try:
        with (private / WORST_OFF).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("user", "attack", "above_baseline"), *rows])
        (private / WORST_OFF).chmod(0o600)
    except OSError as error:  # the audit is worth more than its list
        log.warning("the list of the people at the greatest risk was not written: %s", error)
