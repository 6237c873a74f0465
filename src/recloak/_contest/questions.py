"""What a contest asks, so that asking tells as little as can be.

A question names a **group** and an item, never a person: questions about one pseudonym would link what one person
rated, which is what the release hides. Of every few questions only one is about a hidden rating; the others are fakes,
drawn like the real ones (groups as often, items as popular), so that a question does not say that somebody rated it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._core.results import sizes_only
from recloak._evaluation.holdout import Probe
from recloak._ratings.ids import IdMap

_TRIES = 4


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The questions, and the answers that stay with the owner."""

    asked: pl.DataFrame  # question, group, item
    answers: pl.DataFrame  # question, group, rating, is_board

    __repr__ = sizes_only


def make_questions(probe: Probe, group: NDArray[np.int64], item_ids: IdMap, fakes: int, rng: Randomness) -> Questions:
    """Ask about every hidden rating by its group; ``group`` is the public number of each user's group."""
    groups, items = group[probe.users], probe.items.astype(np.int64)
    names, inside = np.unique(groups, return_inverse=True)
    keys = inside * len(item_ids) + items
    real = np.unique(keys)
    asked = np.union1d(real, _fake_pairs(inside, items, real, fakes, len(item_ids), rng))
    number = np.searchsorted(asked, keys) + 1
    table = pl.DataFrame({
        "question": np.arange(1, len(asked) + 1),
        "group": names[asked // len(item_ids)],
        "item": item_ids.decode(asked % len(item_ids)),
    })  # fmt: skip
    is_board = rng.stream("board half").random(len(asked) + 1)[number] < 0.5
    answers = {"question": number, "group": groups, "rating": probe.values, "is_board": is_board}
    return Questions(table, pl.DataFrame(answers).sort("question", "rating"))


def _fake_pairs(
    groups: NDArray[np.integer], items: NDArray[np.int64], real: NDArray[np.int64], fakes: int, n_items: int,
    rng: Randomness,
) -> NDArray[np.int64]:  # fmt: skip
    """Draw pairs that are not real: the group of one hidden rating with the item of another."""
    draw, wanted = rng.stream("fake questions"), fakes * len(real)
    found = np.empty(0, np.int64)
    for _ in range(_TRIES):
        if len(found) >= wanted:
            break
        n = 2 * (wanted - len(found)) + 8
        pairs = groups[draw.integers(0, len(groups), n)] * n_items + items[draw.integers(0, len(items), n)]
        found = np.setdiff1d(np.union1d(found, pairs), real)
    return draw.permutation(found)[:wanted]
