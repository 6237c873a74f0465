"""What the tables of a release hold, derived from their rows: users, groups, counts, and k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recloak._core import progress
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import TABLES
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.scan import FAULTS, CellBlock, RowMarks, allowed, scan
from recloak._releases.verifier.table_blocks import Unreadable, WrongTableError, blocks, most_rows


@dataclass(frozen=True, eq=False, slots=True)
class Contents:
    """What was derived; ``readable`` tells whether all tables could be read to their end."""

    problems: tuple[str, ...]
    readable: bool = False
    k_found: int | None = None
    n_users: int | None = None
    n_groups: int | None = None
    items: ItemNumbers | None = None
    firsts: NDArray[np.int64] | None = None  # one user or group (from 0 on) of each distinct row
    distinct: NDArray[np.int64] | None = None  # the distinct row of each user or group


def read_contents(claims: Claims) -> Contents:
    """Read every table once and derive what it holds."""
    table = "ratings" if claims.layout == "long" else "profiles"
    n_rows = claims.n_users if claims.layout == "long" else claims.n_groups
    try:
        _check_sizes(claims)
        rows, items = RowMarks.of(n_rows), ItemNumbers(claims.n_items)
        problems = list(dict.fromkeys(_read_rows(claims, table, rows, items)))
        sizes = np.ones(n_rows, np.int64) if claims.layout == "long" else _read_members(claims, problems)
    except WrongTableError as error:
        return Contents((str(error),))
    except Unreadable as error:
        return Contents((f"a table cannot be read: {error}",))
    if problems:
        return Contents(tuple(problems))
    return _derive(claims, rows, items, sizes)


def _check_sizes(claims: Claims) -> None:
    """Refuse counts that the files cannot hold, before memory is taken for them."""
    for table, n_rows in claims.rows.items():
        held = most_rows(claims.folder / f"{table}.{claims.file_format}")
        if not 1 <= n_rows <= held:
            raise WrongTableError(f"{table} holds at most {held} rows, the manifest says {n_rows}")
    n_rows = claims.rows["ratings" if claims.layout == "long" else "profiles"]
    if max(claims.n_items, claims.n_users if claims.layout == "long" else claims.n_groups) > n_rows:
        raise WrongTableError("the manifest says more users, groups or items than there are rows")
    if claims.rows.get("members", claims.n_users) != claims.n_users:
        raise WrongTableError("the manifest says more or fewer users than there are members")


def _read_rows(claims: Claims, table: str, rows: RowMarks, items: ItemNumbers) -> Iterator[str]:
    columns = TABLES[claims.layout][table]
    labels_allowed = allowed(claims.low, claims.high, claims.grid)
    n_cells, last = 0, None
    with progress.task("verifying", claims.rows[table]) as advance:
        for names, ids, labels in blocks(claims.folder / f"{table}.{claims.file_format}", columns):
            numbers, ranks = items.encode(ids)
            if last is not None and (names[0].as_py(), ids[0].as_py()) <= last:
                yield FAULTS[0].format(name=columns[0])
            last = (names[-1].as_py(), ids[-1].as_py())
            found = scan(rows, CellBlock(names.to_numpy(), numbers, ranks, labels.to_numpy()), labels_allowed)
            yield from (FAULTS[fault].format(name=columns[0], most=len(rows.counts)) for fault in found)
            n_cells += len(names)
            advance(len(names))
    if n_cells != claims.rows[table]:
        yield f"{table} has {n_cells} rows, the manifest says {claims.rows[table]}"


def _read_members(claims: Claims, problems: list[str]) -> NDArray[np.int64]:
    """Read who is in which group and give the groups' sizes; users must be 1 to n, each once, in order."""
    path = claims.folder / f"members.{claims.file_format}"
    parts = list(blocks(path, TABLES["grouped"]["members"]))
    users, groups = (_joined([part[column] for part in parts]) for column in (0, 1))
    if not np.array_equal(users, np.arange(1, claims.n_users + 1)):
        problems.append(f"members must name the users 1 to {claims.n_users} in order, each once")
    if len(groups) and not (groups.min() >= 1 and groups.max() <= claims.n_groups):
        problems.append(f"a member's group is not in 1 to {claims.n_groups}")
        return np.zeros(claims.n_groups, np.int64)
    return np.bincount(groups - 1, minlength=claims.n_groups)


def _joined(parts: list[pa.Array]) -> NDArray[np.int32]:
    return np.concatenate([part.to_numpy() for part in parts]) if parts else np.empty(0, np.int32)


def _derive(claims: Claims, rows: RowMarks, items: ItemNumbers, sizes: NDArray[np.int64]) -> Contents:
    """Find k: users whose rows have the same fingerprint share their items and labels."""
    marks = rows.marks.view([("a", np.uint64), ("b", np.uint64)]).reshape(-1)
    _, firsts, same = np.unique(marks, return_index=True, return_inverse=True)
    shared = np.bincount(same, weights=sizes).astype(np.int64)
    n_groups = len(firsts) if claims.layout == "long" else len(sizes)
    problems = tuple(_count_problems(claims, rows, items, sizes, n_groups))
    return Contents(problems, True, int(shared.min()), int(sizes.sum()), n_groups, items, firsts, same)


def _count_problems(
    claims: Claims, rows: RowMarks, items: ItemNumbers, sizes: NDArray[np.int64], n_groups: int
) -> Iterator[str]:
    row = "user" if claims.layout == "long" else "group"
    if not rows.counts.all():
        yield f"{row} {int(np.argmin(rows.counts)) + 1} has no ratings"
    if not sizes.all():
        yield f"group {int(np.argmin(sizes)) + 1} has no members"
    if len(items) != claims.n_items:
        yield f"there are {len(items)} items, the manifest says {claims.n_items}"
    n_ratings = int((rows.counts * sizes).sum())
    if n_ratings != claims.n_ratings:
        yield f"there are {n_ratings} ratings, the manifest says {claims.n_ratings}"
    if MODES[claims.mode].is_complete and (rows.counts != claims.n_items).any():
        yield f"in a {claims.mode} release every row must have every item"
    if n_groups > claims.n_groups:
        yield f"there are {n_groups} distinct rows, the manifest says {claims.n_groups} groups"
