"""What a contest asks, so that asking tells as little as can be.

A question names a **group** and an item, never a person: questions about one pseudonym would link what one person
rated, which is what the release hides. Of every few questions only one is about a hidden rating; the others are fakes,
of groups as busy and items as popular, so that neither a question nor a count says that somebody rated it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._core.results import sizes_only
from recloak._evaluation.holdout import Probe
from recloak._ratings.ids import IdMap

_CLASSES = (24, 16, 12, 8, 6, 4, 3, 2, 1)  # of groups, and of items
_ASKED = 0.5  # the least share of the questions that could be asked with fewer classes
_MOST_LISTED = 1_000_000  # pairs of a class that are listed; beyond, they are drawn


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The questions, and the answers that stay with the owner."""

    asked: pl.DataFrame  # question, group, item
    answers: pl.DataFrame  # question, group, rating, is_board

    __repr__ = sizes_only


def make_questions(probe: Probe, group: NDArray[np.int64], item_ids: IdMap, fakes: int, rng: Randomness) -> Questions:
    """Ask about hidden ratings by their groups; ``group`` is the public number of each user's group.

    A hidden rating is left out where there are too few fakes like it.
    """
    groups, items = group[probe.users], probe.items.astype(np.int64)
    names, inside = np.unique(groups, return_inverse=True)
    keys = inside * len(item_ids) + items
    real, fake = fair_questions(inside, items, len(item_ids), fakes, rng.stream("fake questions"))
    asked = np.union1d(real, fake)
    table = pl.DataFrame({
        "question": np.arange(1, len(asked) + 1),
        "group": names[asked // len(item_ids)],
        "item": item_ids.decode(asked % len(item_ids)),
    })  # fmt: skip
    scored = np.isin(keys, real)
    number = np.searchsorted(asked, keys[scored]) + 1
    is_board = rng.stream("board half").random(len(asked) + 1)[number] < 0.5
    answers = {"question": number, "group": groups[scored], "rating": probe.values[scored], "is_board": is_board}
    return Questions(table, pl.DataFrame(answers).sort("question", "rating"))


def fair_questions(
    groups: NDArray[np.integer], items: NDArray[np.int64], n_items: int, fakes: int, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return real questions and fakes as ``group * n_items + item``, so that no count of either tells them apart.

    Groups are put into classes by how many hidden ratings they have, and items too. In each class of groups and items
    there are ``fakes`` fakes for each real question, drawn from half of the pairs that nobody hid; where those are too
    few, some real ones are not asked. There are as many classes as leave half of the questions asked.
    """
    real = np.unique(groups * n_items + items)
    if fakes == 0:
        return real, real[:0]
    tried = [_Cells.of(groups, items, n_items, real, n_classes) for n_classes in _CLASSES]
    kept = [int(cells.most_asked(fakes).sum()) for cells in tried]
    cells = next(one for one, n in zip(tried, kept, strict=True) if n >= _ASKED * max(kept))
    asked, made = [], []
    for some in cells.split(real):
        members = cells.members(some[0] // n_items, some[0] % n_items)
        fake = _fakes_in(*members, some, n_items, fakes * len(some), draw)
        asked.append(draw.permutation(some)[: len(fake) // fakes])
        made.append(fake[: fakes * len(asked[-1])])
    return np.sort(np.concatenate(asked)), np.sort(np.concatenate(made))


class _Cells(NamedTuple):
    """Classes of groups and of items, and the cell of each real question."""

    of_group: NDArray[np.int64]
    of_item: NDArray[np.int64]
    of_question: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(
        cls,
        groups: NDArray[np.integer],
        items: NDArray[np.int64],
        n_items: int,
        real: NDArray[np.int64],
        n_classes: int,
    ) -> _Cells:
        """Put groups and items into so many classes at most."""
        of_group = _classes(groups, int(groups.max()) + 1, n_classes)
        of_item = _classes(items, n_items, n_classes)
        return cls(of_group, of_item, of_group[real // n_items] * n_classes + of_item[real % n_items], n_classes)

    def most_asked(self, fakes: int) -> NDArray[np.int64]:
        """Return how many real questions of each cell can be asked."""
        sizes = [np.bincount(of[of >= 0], minlength=self.n_classes) for of in (self.of_group, self.of_item)]
        n_pairs, n_real = np.outer(*sizes).ravel(), np.bincount(self.of_question, minlength=self.n_classes**2)
        return np.minimum(n_real, (n_pairs - n_real) // 2 // fakes)

    def split(self, real: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the real questions of each cell that has some."""
        order = np.argsort(self.of_question, kind="stable")
        return np.split(real[order], np.flatnonzero(np.diff(self.of_question[order])) + 1)

    def members(self, group: int, item: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the groups and the items in the classes of these."""
        same_group = np.flatnonzero(self.of_group == self.of_group[group])
        return same_group, np.flatnonzero(self.of_item == self.of_item[item])


def _classes(of: NDArray[np.integer], n: int, n_classes: int) -> NDArray[np.int64]:
    """Return a class for each of n numbers: equally frequent ones together, with about as many questions in each."""
    counts = np.bincount(of, minlength=n)
    order = np.argsort(counts, kind="stable")
    below = np.cumsum(counts[order]) - counts[order]
    classes = np.empty(n, np.int64)
    classes[order] = below * n_classes // max(int(counts.sum()), 1)
    classes[counts == 0] = -1
    return classes


def _fakes_in(
    groups: NDArray[np.int64], items: NDArray[np.int64], real: NDArray[np.int64], n_items: int, wanted: int,
    draw: np.random.Generator,
) -> NDArray[np.int64]:  # fmt: skip
    """Draw pairs of some groups and items that are not real, at most half of those there are."""
    n_pairs = len(groups) * len(items)
    wanted = min(wanted, (n_pairs - len(real)) // 2)
    if n_pairs <= _MOST_LISTED:
        pairs = np.setdiff1d((groups[:, None] * n_items + items[None, :]).ravel(), real)
        return draw.permutation(pairs)[:wanted]
    found = np.empty(0, np.int64)
    while len(found) < wanted:
        n = 2 * (wanted - len(found)) + 8
        pairs = groups[draw.integers(0, len(groups), n)] * n_items + items[draw.integers(0, len(items), n)]
        found = np.setdiff1d(np.union1d(found, pairs), real)
    return draw.permutation(found)[:wanted]
