"""Paper 003 as one would write it down from the page, in Python: sets, dicts and loops; scipy for the similarities.

PERM with an attack window (algorithm 3) over the protocol of section 6. It stands beside ours in the benchmark and
shares no line with it. It is kept kind in two places: sets of items that nobody holds together with the target are not
joined further (as printed the join would not end on this data), and the similarities come from scipy.
"""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import combinations

Borders = dict[int, set[frozenset[int]]]


def printed(path: str, limit: float, delta: float = 0.1, top: int = 5, window: int = 4) -> list[float]:
    """Release until ``limit`` CPU seconds are used up; give the CPU seconds of every release."""
    from recloak._ratings.readers import read
    from recloak._related.options import ProtocolOptions
    from recloak._related.simulation import schedule

    ratings = read(path)
    releases: list[list[list[int]]] = []
    spent: list[float] = []
    for moment in schedule(ratings, ProtocolOptions()):
        started = time.process_time()
        now = ratings.until(moment)
        holders = raters_of(now)
        ranking = whole_ranking(now)
        lists = [[int(item) for item in row[:top] if item >= 0] for row in ranking]
        earlier = releases[-(window - 1) :]
        if earlier:
            permute_all(lists, earlier, ranking, holders, delta)
        releases.append(lists)
        spent.append(time.process_time() - started)
        if sum(spent) > limit:
            break
    return spent


def raters_of(ratings) -> dict[int, set[int]]:
    raters: dict[int, set[int]] = defaultdict(set)
    for user, item in zip(ratings.users().tolist(), ratings.items.tolist(), strict=True):
        raters[item].add(user)
    return raters


def whole_ranking(ratings):
    """Give the whole ranking of every item by cosine, -1 where nothing is left."""
    import numpy as np
    import scipy.sparse

    matrix = scipy.sparse.csc_array(ratings.matrix, dtype=np.float64)
    lengths = np.sqrt((matrix**2).sum(axis=0))
    normed = matrix / np.where(lengths == 0, 1, lengths)
    scores = (normed.T @ normed).toarray()
    np.fill_diagonal(scores, 0)
    order = np.argsort(-scores, axis=1, kind="stable").astype(np.int32)
    order[np.take_along_axis(scores, order, 1) <= 0] = -1
    return order


def permute_all(lists, earlier, ranking, holders, delta) -> None:
    """Algorithm 3: the borders against every earlier release, united; then one item after the other."""
    borders: Borders = defaultdict(set)
    moved: dict[int, set[int]] = defaultdict(set)
    for before in earlier:
        for target, owners in distinguished(before, lists).items():
            moved[target] |= owners
            borders[target] |= violating_border(target, owners, holders, delta)
    for target in sorted(borders):
        found = minimal(borders[target])
        safe = safe_positions(target, found, earlier)
        chosen = locations(found, safe)
        for owner in chosen:
            if owner not in safe:
                suppress(target, owner, lists, earlier, ranking, holders, moved, delta)
        for owner in chosen:
            if owner in safe:
                permute(target, owner, safe[owner], lists, earlier, ranking, holders, moved, delta)


def distinguished(before, lists) -> dict[int, set[int]]:
    """Give S_i of every item i that appears or moves up."""
    sets: dict[int, set[int]] = defaultdict(set)
    for owner, row in enumerate(lists):
        for place, item in enumerate(row):
            if item not in before[owner] or before[owner].index(item) > place:
                sets[item].add(owner)
    return sets


def violating_border(target, owners, holders, delta) -> set[frozenset[int]]:
    """GenerateViolatingBorder: check the level, join what does not violate, until nothing is left."""
    together = set.intersection(*(holders[owner] for owner in owners))
    if len(together) >= len(holders[target]) / delta:
        return set()
    border = set()
    level: dict[tuple[int, ...], set[int]] = {(owner,): holders[owner] for owner in sorted(owners)}
    while level:
        kept = {}
        for background, users in level.items():
            both = len(users & holders[target])
            if both and both / len(users) > delta:
                border.add(frozenset(background))
            elif both:
                kept[background] = users
        level = {
            (*one, other[-1]): kept[one] & kept[other] for one, other in combinations(kept, 2) if one[:-1] == other[:-1]
        }
    return border


def minimal(sets: set[frozenset[int]]) -> list[frozenset[int]]:
    return [one for one in sets if not any(other < one for other in sets)]


def safe_positions(target, border, earlier) -> dict[int, int]:
    """Label *permute*, with the lowest position, where the item stood in every earlier release."""
    owners = {owner for background in border for owner in background}
    return {
        owner: max(before[owner].index(target) for before in earlier)
        for owner in owners
        if all(target in before[owner] for before in earlier)
    }


def locations(border, safe) -> list[int]:
    """IdentifyAnonymizationLocation: weighted greedy hitting set."""
    left, chosen, weight = list(border), [], 1 / (len(border) + 1)
    while left:
        owners = sorted({owner for background in left for owner in background})
        score = {owner: sum(owner in one for one in left) / (weight if owner in safe else 1) for owner in owners}
        best = max(owners, key=lambda owner: score[owner])
        chosen.append(best)
        left = [background for background in left if best not in background]
    return chosen


def suppress(target, owner, lists, earlier, ranking, holders, moved, delta) -> None:
    """Take the next most similar item outside the list that has an empty S and is no threat here, or close up."""
    row = lists[owner]
    if target not in row:
        return
    place = row.index(target)
    for item in ranking[owner].tolist():
        if item < 0:
            break
        if item not in row and not moved[item] and not threat(item, owner, place, earlier, holders, delta):
            row[place] = item
            moved[item].add(owner)
            return
    row.pop(place)


def permute(target, owner, safe, lists, earlier, ranking, holders, moved, delta) -> None:
    """Change places with an item at or below the safe position that is no threat here, or suppress."""
    row = lists[owner]
    if target not in row or row.index(target) >= safe:
        return
    place = row.index(target)
    for other in range(safe, len(row)):
        if not threat(row[other], owner, place, earlier, holders, delta):
            row[place], row[other] = row[other], row[place]
            return
    suppress(target, owner, lists, earlier, ranking, holders, moved, delta)


def threat(item, owner, place, earlier, holders, delta) -> bool:
    """Tell whether an item at a position of one list would distinguish it and exceed delta."""
    if all(item in before[owner] and before[owner].index(item) <= place for before in earlier):
        return False
    return len(holders[owner] & holders[item]) / len(holders[owner]) > delta
