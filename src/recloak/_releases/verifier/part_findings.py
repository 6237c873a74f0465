"""One part of a released table, read and judged by itself, wherever it lies: hash, form, order, grid, counts, marks.

One machine calls `inspect_part` for one part after the other, Spark in a task for each; what it returns can be put
together in either place.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.terminal_text import printable
from recloak._ratings.ids import IdMap
from recloak._releases.model.statistics import STATISTICS
from recloak._releases.verifier.arrow_arrays import as_numpy
from recloak._releases.verifier.claims import Claims, Part, digest_of
from recloak._releases.verifier.factor_parts import FactorRows, kind_of, look_at_groups, look_at_items
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.parquet_structure import WrongTableError
from recloak._releases.verifier.scan import DISORDER, CellBlock, Rows, allowed, codes_of, scan
from recloak._releases.verifier.statistics_parts import look_at_statistics
from recloak._releases.verifier.table_blocks import Unreadable, blocks, cell_blocks, most_rows, number_blocks

CHANGED, UNREADABLE, READ = "changed", "unreadable", "read"  # how far the look at a part came


class PartSummary(NamedTuple):
    """What the judge must know of a part; small, whatever the part holds."""

    table: str
    state: str
    problems: list[str]
    first: int = 0  # the smallest and the largest user or group
    last: int = 0
    kind: str = ""  # the type of the items' ids


class PartFindings(NamedTuple):
    """What was found in a part; members are counted by group."""

    summary: PartSummary
    rows: Rows


def inspect_part(
    part: Part, claims: Claims, items: ItemNumbers, advance: Callable[[int], object] = lambda _: None
) -> PartFindings:
    """Read a part once and say what it holds; ``items`` learns the items met, and ``advance`` is told of cells read.

    A file that is not the one in the manifest is not opened.
    """
    path, look = claims.path(part), _LOOKS.get(part.table, _look_at_cells)
    try:
        if digest_of(path) != part.sha256:
            return _refused(part, CHANGED, f"{part.name}: its SHA-256 is not the one in the manifest")
        _check_size(part, path)
        return look(part, claims, items, advance)
    except WrongTableError as error:
        return _refused(part, UNREADABLE, f"{part.name}: {error}")
    except Unreadable as error:
        return _refused(part, UNREADABLE, f"a table cannot be read: {printable(str(error).strip())}")


def _refused(part: Part, state: str, problem: str) -> PartFindings:
    return PartFindings(PartSummary(part.table, state, [problem]), Rows.joined([]))


def _check_size(part: Part, path: Path) -> None:
    """Refuse a count that the file cannot hold."""
    held = most_rows(path)
    if not 1 <= part.n_rows <= held:
        raise WrongTableError(f"{part.label} holds at most {held} rows, the manifest says {part.n_rows}")


def _look_at_cells(part: Part, claims: Claims, items: ItemNumbers, advance: Callable[[int], object]) -> PartFindings:
    labels, most, last = allowed(claims.low, claims.high, claims.grid), claims.n_names, None
    found, problems, kind, known, grid = [], [], "", None, None if claims.grid is None else labels.values
    for block in cell_blocks(claims.path(part), claims.stored(part), grid, canonical=not claims.content):
        ids = block.items
        if known is None or ids is not known[0]:  # of full rows, all blocks have the same items
            known = (ids, *items.encode(ids))
        codes, faults = codes_of(block.labels, labels)
        rows, more = scan(CellBlock(*block.runs, *known[1:], codes), items.words(), most)
        names = block.runs.names
        if last is not None and (int(names[0]), ids[0].as_py()) <= last:
            faults = [*faults, DISORDER]
        last, kind = (int(names[-1]), ids[-1].as_py()), kind_of(ids)
        problems += [fault.format(name=claims.row_name, most=most) for fault in (*more, *faults)]
        found.append(rows)
        advance(len(codes))
    return _findings(part, found, problems, kind)


def _findings(part: Part, found: list[Rows], problems: list[str], kind: str) -> PartFindings:
    rows = Rows.joined(found)
    problems += _count_problem(part, int(rows.counts.sum()))
    ends = (int(rows.names[0]), int(rows.names[-1])) if len(rows.names) else (0, 0)
    return PartFindings(PartSummary(part.table, READ, list(dict.fromkeys(problems)), *ends, kind), rows)


def _count_problem(part: Part, n_rows: int) -> list[str]:
    return [] if n_rows == part.n_rows else [f"{part.label} has {n_rows} rows, the manifest says {part.n_rows}"]


def _look_at_members(part: Part, claims: Claims, *_: object) -> PartFindings:
    """Read who is in which group: the users of a part must follow each other; count them by group."""
    source = number_blocks(claims.path(part), claims.stored(part), canonical=not claims.content)
    read = [(users, groups) for users, groups in source]
    users, groups = (np.concatenate(column) for column in zip(*read, strict=True)) if read else (np.empty(0, int),) * 2
    problems = _count_problem(part, len(users))
    first, last = (int(users[0]), int(users[-1])) if len(users) else (0, 0)
    if not np.array_equal(users, np.arange(first, first + len(users))):
        problems.append(f"members must name the users 1 to {claims.n_users} in order, each once")
    if len(groups) and not (groups.min() >= 1 and groups.max() <= claims.n_groups):
        problems.append(f"a member's group is not in 1 to {claims.n_groups}")
    names, counts = np.unique(groups, return_counts=True)
    rows = Rows(names.astype(np.int64), counts, np.zeros((len(names), 2), np.uint64))
    return PartFindings(PartSummary(part.table, READ, problems, first, last), rows)


def _look_at_groups(part: Part, claims: Claims, items: ItemNumbers, _: object) -> PartFindings:
    return _factor_findings(part, look_at_groups(part, claims, items.secret))


def _look_at_items(part: Part, claims: Claims, items: ItemNumbers, _: object) -> PartFindings:
    return _factor_findings(part, look_at_items(part, claims, items))


def _look_at_statistics(part: Part, claims: Claims, items: ItemNumbers, _: object) -> PartFindings:
    n_rows, problems = look_at_statistics(part, claims, items)
    problems = list(dict.fromkeys([*problems, *_count_problem(part, n_rows)]))
    return PartFindings(PartSummary(part.table, READ, problems, 1, n_rows), Rows.joined([]))


def _factor_findings(part: Part, found: FactorRows) -> PartFindings:
    n_rows = found.last - found.first + 1 if found.last else 0
    problems = list(dict.fromkeys([*found.problems, *_count_problem(part, n_rows)]))
    return PartFindings(PartSummary(part.table, READ, problems, found.first, found.last, found.kind), found.rows)


_LOOKS: dict[str, Callable[..., PartFindings]] = {
    "members": _look_at_members,
    "groups": _look_at_groups,
    "items": _look_at_items,
    **dict.fromkeys(STATISTICS, _look_at_statistics),
}


def shown_cells(
    claims: Claims, parts: Iterable[Part], item_ids: IdMap
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Read parts that were found in order again: users or groups and items by block, -1 for one not in ``item_ids``."""
    items, known = ItemNumbers(), np.empty(0, np.int32)
    for part in parts:
        for names, ids, _ in blocks(claims.path(part), claims.columns(part)):
            numbers = items.encode(ids)[0]
            if len(items) > len(known):
                known = item_ids.encode(items.ids())
            yield as_numpy(names), known[numbers]
