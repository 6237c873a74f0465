"""Exact violating borders: the minimal sets of background items that tell too much about one target item.

For a target i and S = the items whose lists it distinguishes, a set B inside S violates if

    |holders of B among the raters of i| / |holders of B| > delta     (`model.populations` says who counts)

The holders of each j in S are kept as bits over the few users who matter; the raters of i come first, so that numerator
and denominator are two counts over one intersection. Only sets inside Tran(u) n S of a rater u can violate.

Sets are visited in the order of their bit masks read as numbers, in which every subset comes before its supersets; so
a violating set that contains no earlier one is minimal, and nothing above a violating set is looked at. A branch ends
when no set in it can violate: with n raters left at B, every larger set that keeps rater u has at least c(u) holders,
c(u) the number of users who hold all of Tran(u) n S; if n / c(u) <= delta for every rater left, nothing below B
violates. (The paper's cut, Sup(S) >= Sup(i) / delta, is the special case of a rater who holds all of S.)

The search counts its steps, words that are intersected or compared; it reports when ``budget`` of them are used up, and
the caller must treat the unknown as unsafe.
"""

import numpy as np

from recloak._core.compiling import njit

_ONE = np.uint64(1)
_GROW = 16

# What the scratch array says about a user while one target is searched.
_RATER = np.int8(1)
_LEFT_OUT = np.int8(2)


@njit(cache=True)
def _popcount(word):  # type: ignore[no-untyped-def]
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _mark(target, earlier, rule, data, code):  # type: ignore[no-untyped-def]
    """Mark who rated the target: counted above the line, or left out because already known to hold it."""
    (later, fresh, _, _, _), (starts, users, times) = rule, data
    n_raters = 0
    for p in range(starts[target], starts[target + 1]):
        if times[p] > later:
            continue
        known = fresh and times[p] <= earlier
        code[users[p]] = _LEFT_OUT if known else _RATER
        n_raters += not known
    return n_raters


@njit(cache=True)
def _unmark(target, data, code):  # type: ignore[no-untyped-def]
    starts, users, _ = data
    for p in range(starts[target], starts[target + 1]):
        code[users[p]] = 0


@njit(cache=True)
def _single(j, known_at, data, code):  # type: ignore[no-untyped-def]
    """Count the holders of one background item: raters of the target among them, and all."""
    starts, users, times = data
    above = below = 0
    for p in range(starts[j], starts[j + 1]):
        if times[p] <= known_at and code[users[p]] != _LEFT_OUT:
            below += 1
            above += code[users[p]] == _RATER
    return above, below


@njit(cache=True)
def _number_users(members, known_at, data, code, row):  # type: ignore[no-untyped-def]
    """Assign a row to every holder of a member: raters of the target first, others from the next whole word on."""
    starts, users, times = data
    n_raters = n_others = 0
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            u = users[p]
            if times[p] > known_at or code[u] == _LEFT_OUT or row[u] >= 0:
                continue
            row[u] = n_raters if code[u] == _RATER else n_others
            n_raters += code[u] == _RATER
            n_others += code[u] != _RATER
    return n_raters, n_others


@njit(cache=True)
def _holder_bits(members, known_at, data, scratch):  # type: ignore[no-untyped-def]
    """Return the holders of each member as bits, and the number of words that belong to raters of the target."""
    (starts, users, times), (code, row) = data, scratch
    n_raters, n_others = _number_users(members, known_at, data, code, row)
    rater_words = (n_raters + 63) // 64
    bits = np.zeros((len(members), rater_words + (n_others + 63) // 64), np.uint64)
    for m in range(len(members)):
        for p in range(starts[members[m]], starts[members[m] + 1]):
            u = users[p]
            if times[p] <= known_at and code[u] != _LEFT_OUT:
                r = row[u] if code[u] == _RATER else row[u] + 64 * rater_words
                bits[m, r >> 6] |= _ONE << np.uint64(r & 63)
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            row[users[p]] = -1
    return bits, rater_words, n_raters


@njit(cache=True)
def _closures(bits, n_raters):  # type: ignore[no-untyped-def]
    """Return c(u) for every rater: how many users hold all that this rater holds of S; and the most that one holds."""
    n, words = bits.shape
    closures, deepest = np.zeros(n_raters, np.int64), 0
    both = np.empty(words, np.uint64)
    for r in range(n_raters):
        both[:] = ~np.uint64(0)
        held = 0
        for m in range(n):
            if bits[m, r >> 6] >> np.uint64(r & 63) & _ONE:
                held += 1
                both &= bits[m]
        for w in range(words):
            closures[r] += _popcount(both[w])
        deepest = max(deepest, held)
    return closures, deepest


@njit(cache=True)
def _meet(held, one, rater_words, out):  # type: ignore[no-untyped-def]
    """Intersect two sets of users into ``out``; count the raters and all."""
    above = 0
    for w in range(rater_words):
        out[w] = held[w] & one[w]
        above += _popcount(out[w])
    if above == 0:
        return 0, 0
    below = above
    for w in range(rater_words, len(one)):
        out[w] = held[w] & one[w]
        below += _popcount(out[w])
    return above, below


@njit(cache=True)
def _hopeless(held, above, rater_words, closures, delta):  # type: ignore[no-untyped-def]
    """Return whether no larger set can violate, whichever rater it keeps."""
    for w in range(rater_words):
        word = held[w]
        while word:
            lowest = word & (~word + _ONE)
            if above / closures[64 * w + _popcount(lowest - _ONE)] > delta:
                return False
            word ^= lowest
    return True


@njit(cache=True)
def _covers(found, n_found, mask):  # type: ignore[no-untyped-def]
    for f in range(n_found):
        inside = True
        for w in range(len(mask)):
            if found[f, w] & ~mask[w]:
                inside = False
                break
        if inside:
            return True
    return False


@njit(cache=True)
def _append(found, n_found, mask):  # type: ignore[no-untyped-def]
    """Add a set to those found, growing the array if needed (by loops: they compile in a tenth of a slice's time)."""
    if n_found == len(found):
        larger = np.zeros((2 * n_found + _GROW, found.shape[1]), np.uint64)
        for f in range(n_found):
            for w in range(found.shape[1]):
                larger[f, w] = found[f, w]
        found = larger
    for w in range(found.shape[1]):
        found[n_found, w] = mask[w]
    return found


@njit(cache=True)
def _search(bits, rater_words, n_raters, delta, largest, first, budget):  # type: ignore[no-untyped-def]
    """Search the sets whose highest member is ``first`` or above for minimal violating ones.

    Return their masks, their number, and whether the budget was enough.
    """
    n, words = bits.shape
    found, n_found = np.zeros((0, (n + 63) // 64), np.uint64), 0
    closures, deepest = _closures(bits, n_raters)
    limit = min(deepest, largest)
    if limit == 0:
        return found, n_found, True
    held = np.empty((limit + 1, words), np.uint64)
    held[0] = ~np.uint64(0)
    path, mask, depth, spent = np.full(limit + 1, n, np.int64), np.zeros((n + 63) // 64, np.uint64), 0, 0
    trial = np.full(limit + 1, -1, np.int64)
    trial[0] = first - 1
    while depth >= 0:
        trial[depth] += 1
        c = trial[depth]
        if c >= path[depth]:
            if depth > 0:
                mask[path[depth] >> 6] ^= _ONE << np.uint64(path[depth] & 63)
            depth -= 1
            continue
        spent += words + n_found * len(mask)
        if spent > budget:
            return found, n_found, False
        above, below = _meet(held[depth], bits[c], rater_words, held[depth + 1])
        if above == 0:
            continue
        mask[c >> 6] |= _ONE << np.uint64(c & 63)
        if not _covers(found, n_found, mask):
            if above / below > delta:
                found = _append(found, n_found, mask)
                n_found += 1
            elif depth + 1 < limit and c > 0 and not _hopeless(held[depth + 1], above, rater_words, closures, delta):
                depth += 1
                path[depth] = c
                trial[depth] = -1
                continue
        mask[c >> 6] ^= _ONE << np.uint64(c & 63)
    return found, n_found, True


@njit(cache=True)
def _rater_bits(members, known_at, data, code, row, n_raters):  # type: ignore[no-untyped-def]
    """Return for each member which raters of the target hold it, as bits; ``row`` numbers the raters from 1."""
    starts, users, times = data
    bits = np.zeros((len(members), (n_raters + 63) // 64), np.uint64)
    for m in range(len(members)):
        for p in range(starts[members[m]], starts[members[m] + 1]):
            if code[users[p]] == _RATER and times[p] <= known_at:
                r = row[users[p]]
                bits[m, r >> 6] |= _ONE << np.uint64(r & 63)
    return bits


@njit(cache=True)
def _pair_tells(one, other, above, known_at, delta, data, code):  # type: ignore[no-untyped-def]
    """Return whether two lists tell too much: whether too few hold both; ``above`` raters of the target do."""
    starts, users, times = data
    p, q, below = starts[one], starts[other], 0
    while p < starts[one + 1] and q < starts[other + 1]:
        if users[p] < users[q]:
            p += 1
        elif users[p] > users[q]:
            q += 1
        else:
            below += times[p] <= known_at and times[q] <= known_at and code[users[p]] != _LEFT_OUT
            if below and above / below <= delta:
                return False
            p += 1
            q += 1
    return True


@njit(cache=True)
def _with_past(target, members, companions, earlier, rule, data, scratch):  # type: ignore[no-untyped-def]
    """Return which members tell too much together with one list in which the target moved in the past.

    The target must be marked. The past cannot be taken back, so that such a member violates by itself.
    """
    (later, fresh, delta, _, _), (starts, users, _), (code, row) = rule, data, scratch
    known_at, n_raters = earlier if fresh else later, 0
    tells = np.zeros(len(members), np.bool_)
    for p in range(starts[target], starts[target + 1]):
        if code[users[p]] == _RATER:
            row[users[p]] = n_raters
            n_raters += 1
    mine = _rater_bits(members, known_at, data, code, row, n_raters)
    theirs = _rater_bits(companions, known_at, data, code, row, n_raters)
    for p in range(starts[target], starts[target + 1]):
        row[users[p]] = -1
    for m in range(len(members)):
        for c in range(len(companions)):
            above = 0
            for w in range(mine.shape[1]):
                above += _popcount(mine[m, w] & theirs[c, w])
            if above and companions[c] != members[m] and not tells[m]:
                tells[m] = _pair_tells(members[m], companions[c], above, known_at, delta, data, code)
    return tells


@njit(cache=True)
def _singles(target, members, newly, companions, earlier, rule, data, scratch, found):  # type: ignore[no-untyped-def]
    """Add the members that violate alone to ``found``; return these, and the members that may violate with others."""
    (later, fresh, delta, largest, _), (code, _) = rule, scratch
    known_at = earlier if fresh else later
    n_raters = _mark(target, earlier, rule, data, code)
    tells = np.zeros(len(members), np.bool_)
    if n_raters and largest > 1 and len(companions):
        tells[newly] = _with_past(target, members[newly], companions, earlier, rule, data, scratch)
    kept, n_kept, n_found, mask = np.empty(len(members), np.int64), 0, 0, np.zeros(found.shape[1], np.uint64)
    for m in range(len(members)):
        above, below = _single(members[m], known_at, data, code) if n_raters else (0, 0)
        if above and (above / below > delta or tells[m]):
            mask[m >> 6] = _ONE << np.uint64(m & 63)
            found = _append(found, n_found, mask)
            mask[m >> 6] = 0
            n_found += 1
        elif above:
            kept[n_kept] = m
            n_kept += 1
    return found, n_found, kept[:n_kept]


@njit(cache=True)
def border(target, members, newly, companions, earlier, rule, data, scratch):  # type: ignore[no-untyped-def]
    """Return the violating border of a target over the lists of ``members`` since an earlier time.

    ``companions`` are the lists in which the target moved in the past, each of which counts together with a member
    that is ``newly`` moving, in this very release. The border is returned as masks over the members (bit m stands for
    ``members[m]``), their number, and whether the budget was enough. ``rule`` is (later time, fresh, delta, largest,
    budget), ``data`` the holders by item (starts, users, times), ``scratch`` two arrays with an entry per user (zeros,
    and -1), which are restored afterwards.
    """
    later, fresh, delta, largest, budget = rule
    code, _ = scratch
    empty = np.zeros((0, (len(members) + 63) // 64), np.uint64)
    found, n_found, kept = _singles(target, members, newly, companions, earlier, rule, data, scratch, empty)
    enough = True
    if len(kept) > 1 and largest > 1:
        bits, rater_words, held_by = _holder_bits(members[kept], earlier if fresh else later, data, scratch)
        sets, n_sets, enough = _search(bits, rater_words, held_by, delta, largest, np.int64(0), budget)
        mask = np.zeros(found.shape[1], np.uint64)
        for s in range(n_sets):
            mask[:] = 0
            for m in range(len(kept)):
                if sets[s, m >> 6] >> np.uint64(m & 63) & _ONE:
                    mask[kept[m] >> 6] |= _ONE << np.uint64(kept[m] & 63)
            found = _append(found, n_found, mask)
            n_found += 1
    _unmark(target, data, code)
    return found, n_found, enough


@njit(cache=True)
def breaks(target, members, added, companions, earlier, rule, data, scratch):  # type: ignore[no-untyped-def]
    """Return whether one more list violates with members that are safe among themselves, or the budget ran out."""
    later, fresh, delta, largest, budget = rule
    code, _ = scratch
    known_at = earlier if fresh else later
    n_raters = _mark(target, earlier, rule, data, code)
    above, below = _single(added, known_at, data, code) if n_raters else (0, 0)
    unsafe = above > 0 and above / below > delta
    if above > 0 and not unsafe and largest > 1 and len(companions):
        unsafe = _with_past(target, np.full(1, added, np.int32), companions, earlier, rule, data, scratch)[0]
    if above > 0 and not unsafe and len(members) and largest > 1:
        bits, rater_words, held_by = _holder_bits(np.append(members, added), known_at, data, scratch)
        _, n_sets, enough = _search(bits, rater_words, held_by, delta, largest, len(members), budget)
        unsafe = n_sets > 0 or not enough
    _unmark(target, data, code)
    return unsafe
