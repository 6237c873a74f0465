"""The compiled loops of `_releases.diversity`. Which groups hold an item is one bit per group, by item."""

import numpy as np

from recloak._core.compiling import njit


@njit(cache=True)
def bits_of(indptr, items, n_items):  # type: ignore[no-untyped-def]
    """Set bit g of row i where group g has item i."""
    n_groups = len(indptr) - 1
    bits = np.zeros((n_items, (n_groups + 63) // 64), np.uint64)
    for group in range(n_groups):
        for c in range(indptr[group], indptr[group + 1]):
            bits[items[c], group >> 6] |= np.uint64(1) << np.uint64(group & 63)
    return bits


@njit(cache=True)
def _has(bits, item, group):  # type: ignore[no-untyped-def]
    return (bits[item, group >> 6] >> np.uint64(group & 63)) & np.uint64(1) != 0


@njit(cache=True)
def _ones(word):  # type: ignore[no-untyped-def]
    """Count the set bits of a word by adding neighbours in parallel."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True)
def _distance(a, b):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for f in range(len(a)):
        total += (a[f] - b[f]) * (a[f] - b[f])
    return total


@njit(cache=True)
def _nearest(point, points):  # type: ignore[no-untyped-def]
    """Order all groups by their distance from a point; equal distances by number."""
    distances = np.empty(len(points), np.float32)
    for group in range(len(points)):
        distances[group] = _distance(point, points[group])
    return np.argsort(distances, kind="mergesort")


@njit(cache=True)
def feed_items(starved, bits, points, starts, chosen):  # type: ignore[no-untyped-def]
    """Choose for each starved item the groups nearest to the mean of those that have it."""
    for s in range(len(starved)):
        item, centre, n = starved[s], np.zeros(points.shape[1], np.float32), 0
        for group in range(len(points)):
            if _has(bits, item, group):
                centre += points[group]
                n += 1
        place = starts[s]
        for group in _nearest(centre / np.float32(n), points):
            if place == starts[s + 1]:
                break
            if not _has(bits, item, group):
                chosen[place] = group
                place += 1


@njit(cache=True)
def _holders(items, chosen, bits, enough):  # type: ignore[no-untyped-def]
    """Count the groups that hold all chosen items, up to enough of them."""
    n = 0
    for w in range(bits.shape[1]):
        word = bits[items[chosen[0]], w]
        for c in range(1, len(chosen)):
            word &= bits[items[chosen[c]], w]
        if word:
            n += _ones(word)
            if n >= enough:
                return enough
    return n


@njit(cache=True)
def _feed(items, chosen, bits, order, missing_groups):  # type: ignore[no-untyped-def]
    """Add the chosen items to further groups: those that lack the fewest of them, nearest first."""
    for lacking in range(1, len(chosen) + 1):
        for group in order:
            n = 0
            for c in chosen:
                n += not _has(bits, items[c], group)
            if n == lacking:
                for c in chosen:
                    bits[items[c], group >> 6] |= np.uint64(1) << np.uint64(group & 63)
                missing_groups -= 1
                if missing_groups == 0:
                    return


@njit(cache=True)
def _advance(chosen, n):  # type: ignore[no-untyped-def]
    """Step to the next combination of n things in lexicographic order; False after the last."""
    b = len(chosen)
    place = b - 1
    while place >= 0 and chosen[place] == n - b + place:
        place -= 1
    if place < 0:
        return False
    chosen[place] += 1
    for later in range(place + 1, b):
        chosen[later] = chosen[later - 1] + 1
    return True


@njit(cache=True)
def feed_sets(first, last, starts, members, row_starts, row_items, bits, points, b, wanted):  # type: ignore[no-untyped-def]
    """Look at every set of b items of every user of some groups, and feed those that fewer than wanted groups hold.

    Feeding only adds cells, so a set once held by enough groups stays so, and one pass over all groups is enough.
    """
    for home in range(first, last):
        order = np.empty(0, np.int64)
        for m in range(starts[home], starts[home + 1]):
            items = row_items[row_starts[members[m]] : row_starts[members[m] + 1]]
            if len(items) < b:
                continue
            chosen = np.arange(b)
            more = True
            while more:
                held = _holders(items, chosen, bits, wanted)
                if held < wanted:
                    if len(order) == 0:
                        order = _nearest(points[home], points)
                    _feed(items, chosen, bits, order, wanted - held)
                more = _advance(chosen, len(items))


@njit(cache=True)
def added_bits(before, after):  # type: ignore[no-untyped-def]
    """List the (group, item) cells whose bit was set in between."""
    n = 0
    for item in range(before.shape[0]):
        for w in range(before.shape[1]):
            n += _ones(after[item, w] & ~before[item, w])
    groups, items = np.empty(n, np.int32), np.empty(n, np.int32)
    place = 0
    for item in range(before.shape[0]):
        for w in range(before.shape[1]):
            word = after[item, w] & ~before[item, w]
            for bit in range(64):
                if (word >> np.uint64(bit)) & np.uint64(1):
                    groups[place], items[place] = w * 64 + bit, item
                    place += 1
    return groups, items


@njit(cache=True)
def bundle_gaps(starts, groups, indptr, items, n_items):  # type: ignore[no-untyped-def]
    """List the (group, item) cells that a bundle's union has and the group lacks."""
    held_by = np.full(n_items, -1, np.int64)
    in_union = np.full(n_items, -1, np.int64)
    gap_groups, gap_items = np.empty(0, np.int32), np.empty(0, np.int32)
    for filling in (False, True):
        place = 0
        in_union[:] = -1
        held_by[:] = -1
        for bundle in range(len(starts) - 1):
            union = np.empty(n_items, np.int32)
            n = 0
            for m in range(starts[bundle], starts[bundle + 1]):
                for c in range(indptr[groups[m]], indptr[groups[m] + 1]):
                    if in_union[items[c]] != bundle:
                        in_union[items[c]] = bundle
                        union[n] = items[c]
                        n += 1
            for m in range(starts[bundle], starts[bundle + 1]):
                group = groups[m]
                for c in range(indptr[group], indptr[group + 1]):
                    held_by[items[c]] = group
                for u in range(n):
                    if held_by[union[u]] != group:
                        if filling:
                            gap_groups[place], gap_items[place] = group, union[u]
                        place += 1
        if not filling:
            gap_groups, gap_items = np.empty(place, np.int32), np.empty(place, np.int32)
    return gap_groups, gap_items


@njit(cache=True)
def merge_cells(indptr, items, labels, extra_indptr, extra_items, extra_labels):  # type: ignore[no-untyped-def]
    """Merge two sets of cells by group, items ascending; they share no cell."""
    n_groups = len(indptr) - 1
    merged = indptr + extra_indptr
    new_items, new_labels = np.empty(merged[-1], np.int32), np.empty(merged[-1], np.float32)
    for group in range(n_groups):
        a, e = indptr[group], extra_indptr[group]
        for place in range(merged[group], merged[group + 1]):
            from_extra = e < extra_indptr[group + 1] and (a == indptr[group + 1] or extra_items[e] < items[a])
            if from_extra:
                new_items[place], new_labels[place] = extra_items[e], extra_labels[e]
                e += 1
            else:
                new_items[place], new_labels[place] = items[a], labels[a]
                a += 1
    return merged, new_items, new_labels
