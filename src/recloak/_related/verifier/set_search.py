"""The exact search of the verifier: users grouped by what they hold, and a search over all sets that matter.

The users who hold something of S_i are grouped by what they hold of it; a group carries how many of its users count
above the line and how many below. The largest breach is found by branch and bound over these groups: a set B that keeps
a group g has at least c(g) users below the line, those who hold all that g holds.
"""

import numpy as np

from recloak._core.compiling import njit

_ONE = np.uint64(1)
NO_LIMIT = np.int64(2**31)


@njit(cache=True)
def _grouped(target, members, moments, data, place):  # type: ignore[no-untyped-def]
    """Group the users by what they hold of S: masks, users above the line and below it. ``place`` (-1) is scratch."""
    (earlier, later, fresh), (starts, users, times) = moments, data
    known_at = earlier if fresh else later
    for p in range(starts[target], starts[target + 1]):
        if fresh and times[p] <= earlier:
            place[users[p]] = -2
    n = 0
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            if times[p] <= known_at and place[users[p]] == -1:
                place[users[p]] = n
                n += 1
    masks, above = np.zeros((n, (len(members) + 63) // 64), np.uint64), np.zeros(n, np.int64)
    for m in range(len(members)):
        for p in range(starts[members[m]], starts[members[m] + 1]):
            if times[p] <= known_at and place[users[p]] >= 0:
                masks[place[users[p]], m >> 6] |= _ONE << np.uint64(m & 63)
    for p in range(starts[target], starts[target + 1]):
        if times[p] <= later and place[users[p]] >= 0:
            above[place[users[p]]] = 1
        place[users[p]] = -1
    _clear(members, starts, users, place)
    return _merged(masks, above)


@njit(cache=True)
def _clear(members, starts, users, place):  # type: ignore[no-untyped-def]
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            place[users[p]] = -1


@njit(cache=True)
def _merged(masks, above):  # type: ignore[no-untyped-def]
    order = np.arange(len(masks))
    for w in range(masks.shape[1]):
        order = order[np.argsort(masks[order, w], kind="mergesort")]
    kinds, over, under, n = np.zeros_like(masks), np.zeros(len(masks), np.int64), np.zeros(len(masks), np.int64), 0
    for u in order:
        if n == 0 or (kinds[n - 1] != masks[u]).any():
            for w in range(masks.shape[1]):
                kinds[n, w] = masks[u, w]
            n += 1
        over[n - 1] += above[u]
        under[n - 1] += 1
    return kinds[:n], over[:n], under[:n]


@njit(cache=True)
def _inside(one, other):  # type: ignore[no-untyped-def]
    """Return whether a set is inside another (by a loop: an array expression would allocate)."""
    outside = np.uint64(0)
    for w in range(len(one)):
        outside |= one[w] & ~other[w]
    return outside == 0


@njit(cache=True)
def _holding_all(kinds, over, under):  # type: ignore[no-untyped-def]
    """Return c(g): the users who hold all that group g holds, for groups with someone above the line."""
    c = np.zeros(len(kinds), np.int64)
    for g in range(len(kinds)):
        if over[g]:
            for h in range(len(kinds)):
                if _inside(kinds[g], kinds[h]):
                    c[g] += under[h]
    return c


@njit(cache=True)
def _narrow(kinds, over, under, c, kept, n_kept, member, out):  # type: ignore[no-untyped-def]
    """Keep the groups that hold one more member: their number, users above and below, and the smallest c."""
    n = above = below = 0
    least = NO_LIMIT
    for k in range(n_kept):
        g = kept[k]
        if (kinds[g, member >> 6] >> np.uint64(member & 63)) & _ONE:
            out[n] = g
            n += 1
            above += over[g]
            below += under[g]
            if over[g]:
                least = min(least, c[g])
    return n, above, below, least


@njit(cache=True)
def _contains_any(sets, mask):  # type: ignore[no-untyped-def]
    found = False
    for one in sets:
        found = found or _inside(one, mask)
    return found


@njit(cache=True)
def _counted(kinds, over, under, mask):  # type: ignore[no-untyped-def]
    above = below = 0
    for g in range(len(kinds)):
        if _inside(mask, kinds[g]):
            above += over[g]
            below += under[g]
    return above, below


@njit(cache=True)
def _quick(kinds, over, under, n_members, largest):  # type: ignore[no-untyped-def]
    """Return the largest breach of a single member, or of all that somebody above the line holds, and that set."""
    best, best_set, mask = -1.0, np.zeros(kinds.shape[1], np.uint64), np.zeros(kinds.shape[1], np.uint64)
    for m in range(n_members):
        mask[:] = 0
        mask[m >> 6] = _ONE << np.uint64(m & 63)
        above, below = _counted(kinds, over, under, mask)
        if above / max(below, 1) > best:
            best, best_set = above / max(below, 1), mask.copy()
    if largest >= n_members:
        for g in range(len(kinds)):
            if over[g]:
                above, below = _counted(kinds, over, under, kinds[g])
                if above / below > best:
                    best, best_set = above / below, kinds[g].copy()
    return best, best_set


@njit(cache=True)
def _walk(kinds, over, under, n_members, limits, floor, minimal):  # type: ignore[no-untyped-def]
    """Search all sets that matter, subsets before supersets.

    Return every minimal violating set with ``minimal``, else one set of largest breach if that is above ``floor``; the
    largest breach; and whether the budget was enough.
    """
    delta, largest, budget = limits
    size = (n_members + 63) // 64
    sets = [np.zeros(size, np.uint64)]
    sets.pop()
    c = _holding_all(kinds, over, under)
    best, spent = floor, 0
    kept, counts = [np.arange(len(kinds))], [len(kinds)]
    path, trial = [n_members], [-1]
    mask = np.zeros(size, np.uint64)
    while len(path) > 0:
        trial[-1] += 1
        member = trial[-1]
        if member >= path[-1]:
            gone = path.pop()
            trial.pop()
            kept.pop()
            counts.pop()
            if len(path) > 0:
                mask[gone >> 6] ^= _ONE << np.uint64(gone & 63)
            continue
        spent += counts[-1] + len(sets)
        if spent > budget:
            return sets, best, False
        out = np.empty(counts[-1], np.int64)
        n, above, below, least = _narrow(kinds, over, under, c, kept[-1], counts[-1], member, out)
        if above == 0:
            continue
        mask[member >> 6] |= _ONE << np.uint64(member & 63)
        deeper = len(path) < largest
        if minimal:
            known = _contains_any(sets, mask)
            if not known and above / below > delta:
                sets.append(mask.copy())
            deeper = deeper and not known and above / below <= delta and above / least > delta
        else:
            if above / below > best:
                best = above / below
                sets.clear()
                sets.append(mask.copy())
            deeper = deeper and min(above / least, 1.0) > best
        if deeper:
            path.append(member)
            trial.append(-1)
            kept.append(out)
            counts.append(n)
        else:
            mask[member >> 6] ^= _ONE << np.uint64(member & 63)
    return sets, best, True


@njit(cache=True)
def sets_of(target, members, arguments, minimal):  # type: ignore[no-untyped-def]
    """Return all minimal violating sets of a target, or one of largest breach; and whether the budget was enough."""
    moments, limits, data, n_users = arguments
    kinds, over, under = _grouped(target, members, moments, data, np.full(n_users, -1, np.int64))
    if minimal:
        sets, _, enough = _walk(kinds, over, under, len(members), limits, 0.0, minimal)
        return sets, enough
    floor, quick = _quick(kinds, over, under, len(members), limits[1])
    sets, best, enough = _walk(kinds, over, under, len(members), limits, floor, minimal)
    return sets if best > floor else [quick], enough


@njit(cache=True)
def _held_members(target, members, moments, data, place):  # type: ignore[no-untyped-def]
    """Return the members that somebody holds who counts above the line: a set with another one tells nothing.

    ``place`` (-1) is scratch.
    """
    (earlier, later, fresh), (starts, users, times) = moments, data
    known_at, n_counted, n = earlier if fresh else later, 0, 0
    for p in range(starts[target], starts[target + 1]):
        if times[p] <= later and not (fresh and times[p] <= earlier):
            place[users[p]] = -3
            n_counted += 1
    kept = np.empty(len(members) if n_counted else 0, np.int64)
    for j in members[: len(kept)]:
        for p in range(starts[j], starts[j + 1]):
            if place[users[p]] == -3 and times[p] <= known_at:
                kept[n] = j
                n += 1
                break
    for p in range(starts[target], starts[target + 1]):
        place[users[p]] = -1
    return kept[:n]


@njit(cache=True, nogil=True)
def worst_of_all(  # type: ignore[no-untyped-def]
    share, n_shares, targets, starts, owners, moments, limits, data, n_users, floor, breaches, known
):
    """Write the largest breach of every target, by a quick look where ``floor`` is negative, else only if above it."""
    place = np.full(n_users, -1, np.int64)
    for t in range(share, len(targets), n_shares):
        members = _held_members(targets[t], owners[starts[t] : starts[t + 1]], moments, data, place)
        if len(members) == 0:
            continue
        kinds, over, under = _grouped(targets[t], members, moments, data, place)
        if floor < 0:
            breaches[t] = _quick(kinds, over, under, len(members), limits[1])[0]
        elif over.any():
            _, best, known[t] = _walk(kinds, over, under, len(members), limits, floor, np.bool_(False))
            breaches[t] = max(breaches[t], best if best > floor else 0.0)
