"""The homogeneity attack: what is learned of a target although the user stays hidden in a group.

Definition 5 of Chang et al.: when all candidates of the label-based attack have one profile, the profile is known
without knowing which candidate is the target. We let the tolerant attacker try, and then measure what the profile of
the best match really tells about the ratings that were not known before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from recloak.attacks.columns import columns_of, item_means, place_of
from recloak.attacks.matching import ANY_LABEL, match, paper_kernel, score
from recloak.attacks.model import Clues, Hits, Public, expected_share, step_of
from recloak.ratings import Ratings

ATTACKER = "looks whether all candidates share one profile, and reads the target's other ratings off it"


def homogeneity(public: Public, clues: Clues, ratings: Ratings) -> Hits:
    """Attack the profile instead of the user; ``ratings`` is the truth the guesses are held against."""
    pinned = _pinned(public, clues)
    found = score(public, clues, paper_kernel(public))
    half_step = step_of(public.scale) / 2 + 1e-6
    truth = _Rows(ratings.indptr, ratings.items, ratings.values)
    known = _Rows(clues.indptr, clues.items, clues.ratings)
    learned, guessed, hidden = _learned(
        columns_of(public), item_means(public), found.winner.astype(np.int64), truth, clues.targets, known, half_step
    )
    n_hidden = max(int(hidden.sum()), 1)
    return Hits(
        user=expected_share(pinned.astype(np.float64)),
        details={
            "hidden_ratings": int(hidden.sum()),
            "learned_within_half_a_step": float(learned.sum() / n_hidden),
            "guessed_from_item_mean": float(guessed.sum() / n_hidden),
        },
    )


def _pinned(public: Public, clues: Clues) -> NDArray[np.bool_]:
    """Tell for each target whether exactly one profile remains, and it is the target's."""
    by_items = match(public, clues, ANY_LABEL)
    by_labels = match(public, clues, step_of(public.scale))
    return ((by_items.n_profiles == 1) & by_items.has_own) | ((by_labels.n_profiles == 1) & by_labels.has_own)


class _Rows(NamedTuple):
    """Sparse rows as the compiled functions take them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]


@njit(cache=True, parallel=True)
def _learned(columns, means, winner, truth, targets, known, half_step):  # type: ignore[no-untyped-def]
    """Count per target the hidden ratings, those the winner's profile tells, and those the item's mean tells."""
    n_targets = len(targets)
    learned, guessed = np.zeros(n_targets, np.int64), np.zeros(n_targets, np.int64)
    hidden = np.zeros(n_targets, np.int64)
    for t in prange(n_targets):
        clue_items = known.indices[known.indptr[t] : known.indptr[t + 1]]
        for r in range(truth.indptr[targets[t]], truth.indptr[targets[t] + 1]):
            item, value = truth.indices[r], truth.values[r]
            if (clue_items == item).any():
                continue
            hidden[t] += 1
            place = place_of(columns, item, winner[t])
            learned[t] += place >= 0 and abs(columns.values[columns.codes[place]] - value) <= half_step
            guessed[t] += abs(means[item] - value) <= half_step
    return learned, guessed, hidden
