"""Paper 003 to the letter: SUPP and PERM for multiple release, as printed. For reproduction only: it leaves violations.

Items are handled in the order of their numbers, each once. Where the text is ambiguous: a replacement is the next most
similar item outside the list with an empty S that is no threat in this one list; if there is none the list closes up; a
permuted item swaps positions with the first item at or below its safe position that is no threat in this one list. The
join of `_generate_border` skips sets that nobody holds together with the target: it finds the same sets sooner.
"""

from dataclasses import dataclass, field

import numpy as np

from recloak._related.leaks import Observer
from recloak._related.model import EMPTY, Lists

Background = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """State of one run: the lists being made, the earlier ones, and the holders of every item as bits."""

    observer: Observer
    ranking: list[list[int]]
    lists: list[list[int]]
    earlier: list[list[dict[int, int]]]  # per earlier release and item: position of each entry
    holders: list[int]  # per item: bit u is set if user u holds it
    moved: dict[int, set[int]] = field(default_factory=dict)  # S_i over all earlier releases
    latest_only: bool = False  # check replacements against the last release alone
    trusting: bool = False  # swap positions without checking the other item
    any_replacement: bool = False  # also use a replacement that moved elsewhere (the text's "S is sufficiently small")


def literal(observer: Observer, ranking: Lists, top: int, *, permute: bool, **readings: bool) -> Lists:
    """Return the lists of the printed algorithm: 3 with ``permute``, else 1 with its extension to windows.

    ``readings`` are the last fields of `_Run`: less careful readings of what the text leaves open.
    """
    rows = [[int(i) for i in row if i != EMPTY] for row in ranking.items]
    earlier = [
        [{int(i): p for p, i in enumerate(row) if i != EMPTY} for row in release.lists.items]
        for release in observer.earlier
    ]
    bits = [sum(1 << user for user in observer.holders.at(item, observer.time)) for item in range(len(rows))]
    run = _Run(observer, rows, [row[:top] for row in rows], earlier, bits, {}, **readings)
    borders = _all_borders(run)
    for target in sorted(borders):
        _anonymise(run, target, borders[target], permute=permute)
    return _as_lists(run.lists, top)


def _as_lists(rows: list[list[int]], top: int) -> Lists:
    items = np.full((len(rows), top), EMPTY, np.int32)
    for owner, row in enumerate(rows):
        items[owner, : len(row)] = row
    return Lists(items)


def _all_borders(run: _Run) -> dict[int, list[Background]]:
    """Return V_i of every target: the union of its borders against the earlier releases, supersets pruned."""
    borders: dict[int, set[Background]] = {}
    for positions in run.earlier:
        sets: dict[int, list[int]] = {}
        for owner, row in enumerate(run.lists):
            for place, target in enumerate(row):
                if place < positions[owner].get(target, len(row) + place + 1):
                    sets.setdefault(target, []).append(owner)
        for target, members in sets.items():
            run.moved.setdefault(target, set()).update(members)
            borders.setdefault(target, set()).update(_generate_border(run, target, members))
    return {target: _pruned(found) for target, found in borders.items() if found}


def _generate_border(run: _Run, target: int, members: list[int]) -> list[Background]:
    """GenerateViolatingBorder: levelwise join of the sets that do not violate, with the paper's cut."""
    delta, raters = run.observer.bound.delta, run.holders[target]
    held_by_all = run.holders[members[0]]
    for member in members[1:]:
        held_by_all &= run.holders[member]
    if delta and held_by_all.bit_count() >= raters.bit_count() / delta:
        return []
    border: list[Background] = []
    level: dict[Background, int] = {(member,): run.holders[member] for member in members}
    while level:
        kept: dict[Background, int] = {}
        for background, held in level.items():
            above = (held & raters).bit_count()
            if above and above / held.bit_count() > delta:
                border.append(background)
            elif above:
                kept[background] = held
        level = _joined(kept)
    return border


def _joined(kept: dict[Background, int]) -> dict[Background, int]:
    """Join sets that agree in all but the last member."""
    by_prefix: dict[Background, list[Background]] = {}
    for background in kept:
        by_prefix.setdefault(background[:-1], []).append(background)
    joined = {}
    for alike in by_prefix.values():
        for number, one in enumerate(alike):
            for other in alike[number + 1 :]:
                joined[(*one, other[-1])] = kept[one] & kept[other]
    return joined


def _pruned(found: set[Background]) -> list[Background]:
    minimal: list[set[int]] = []
    for background in sorted(found, key=lambda one: (len(one), one)):
        if not any(other <= set(background) for other in minimal):
            minimal.append(set(background))
    return [tuple(sorted(one)) for one in minimal]


def _anonymise(run: _Run, target: int, border: list[Background], *, permute: bool) -> None:
    safe = _safe_positions(run, target, {j for one in border for j in one}) if permute else {}
    chosen = _locations(border, safe)
    for owner in [j for j in chosen if j not in safe]:
        _suppress(run, target, owner)
    for owner in [j for j in chosen if j in safe]:
        _permute(run, target, owner, safe[owner])


def _safe_positions(run: _Run, target: int, owners: set[int]) -> dict[int, int]:
    """Return the safe position of the target in the lists that held it in every earlier release (label *permute*)."""
    in_all = [owner for owner in owners if all(target in release[owner] for release in run.earlier)]
    return {owner: max(release[owner][target] for release in run.earlier) for owner in in_all}


def _locations(border: list[Background], safe: dict[int, int]) -> list[int]:
    """Identify locations: greedy hitting set, weight 1 for *suppress* and 1 / (|V| + 1) for *permute* (algorithm 2)."""
    weight = 1 / (len(border) + 1)
    left, chosen = list(border), []
    while left:
        counts: dict[int, float] = {}
        for background in left:
            for owner in background:
                counts[owner] = counts.get(owner, 0) + (1 / weight if owner in safe else 1)
        best = max(sorted(counts), key=lambda owner: counts[owner])
        chosen.append(best)
        left = [background for background in left if best not in background]
    return chosen


def _suppress(run: _Run, target: int, owner: int) -> None:
    """Replace the target by the next most similar harmless item, or close the list up."""
    row = run.lists[owner]
    if target not in row:
        return
    place = row.index(target)
    for item in run.ranking[owner]:
        lone = run.any_replacement or not run.moved.get(item)
        if item not in row and lone and not _threat(run, item, owner, place):
            row[place] = item
            run.moved.setdefault(item, set()).add(owner)
            return
    row.pop(place)


def _permute(run: _Run, target: int, owner: int, safe: int) -> None:
    """Swap positions with an item at or below the safe position, or suppress."""
    row = run.lists[owner]
    if target not in row:
        return
    place = row.index(target)
    if place >= safe:
        return
    for other in range(safe, len(row)):
        if run.trusting or not _threat(run, row[other], owner, place):
            row[place], row[other] = row[other], row[place]
            return
    _suppress(run, target, owner)


def _threat(run: _Run, item: int, owner: int, place: int) -> bool:
    """Return whether an item at a position of one list, taken alone, would distinguish it and exceed delta."""
    compared = run.earlier[-1:] if run.latest_only else run.earlier
    if all(place >= release[owner].get(item, place + 1) for release in compared):
        return False
    held = run.holders[owner]
    above = (held & run.holders[item]).bit_count()
    return bool(above) and above / held.bit_count() > run.observer.bound.delta
