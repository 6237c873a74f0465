"""The homogeneity attack: what is learned of a target although the user stays hidden in a group.

Definition 5 of Chang et al.: when all candidates of the label-based attack have one profile, the profile is known
without knowing which candidate is the target. We let the tolerant attacker try, and then measure what the profile of
the best match really tells about the ratings that were not known before.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings, on_both_sides
from recloak._attacks.clue_matching import ANY_LABEL, match, paper_kernel, score
from recloak._attacks.model import Clues, Hits, Public, expected_share, step_of
from recloak._attacks.public_columns import columns_of, item_means, place_of
from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings

_LITTLE = 100


def homogeneity(public: Public, clues: Clues, ratings: Ratings) -> Hits:
    """Attack the profile instead of the user; ``ratings`` is the truth the guesses are held against."""
    pinned = _pinned(public, clues)
    found = score(public, clues, paper_kernel(public))
    half_step = step_of(public.scale) / 2 + 1e-6
    truth = _Rows(ratings.indptr, ratings.items, ratings.values)
    known = _Rows(clues.indptr, clues.items, clues.ratings)
    told = learned, guessed, hidden = np.zeros((3, clues.n_targets), np.int64)
    given = columns_of(public), item_means(public), found.winner.astype(np.int32), truth, clues.targets, known
    in_shares(_learned, clues.n_targets, *given, half_step, *told, little=_LITTLE)
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
    """Return, for each target, whether exactly one profile remains, and it is the target's."""
    by_items = match(public, clues, ANY_LABEL)
    by_labels = match(public, clues, step_of(public.scale))
    return ((by_items.n_profiles == 1) & by_items.has_own) | ((by_labels.n_profiles == 1) & by_labels.has_own)


class _Rows(NamedTuple):
    """Sparse rows as the compiled functions take them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]


@njit(cache=True, nogil=True, inline="always")
def _is_clue(known, t, item):  # type: ignore[no-untyped-def]
    for c in range(known.indptr[t], known.indptr[t + 1]):  # noqa: SIM110 (numba compiles no generator)
        if known.indices[c] == item:
            return True
    return False


@njit(cache=True, nogil=True)
def _learned(share, n_shares, columns, means, winner, truth, targets, known, half_step, learned, guessed, hidden):  # type: ignore[no-untyped-def]
    """Count per target the hidden ratings, those the winner's profile tells, and those the item's mean tells."""
    for t in range(share, len(targets), n_shares):
        for r in range(truth.indptr[targets[t]], truth.indptr[targets[t] + 1]):
            item, value = truth.indices[r], truth.values[r]
            if _is_clue(known, t, item):
                continue
            hidden[t] += 1
            place = place_of(columns, item, winner[t])
            learned[t] += place >= 0 and abs(columns.values[columns.codes[place]] - value) <= half_step
            guessed[t] += abs(means[item] - value) <= half_step


def _run(given: AttackInput) -> Findings:
    return on_both_sides(lambda public, clues: homogeneity(public, clues, given.ratings))(given)


ATTACK = Attack(
    name="homogeneity",
    remedy="raise k, or ask for diversity (--diversity), so that what is known fits several groups.",
    kind=Kind.PINS_DOWN,
    title="Profile pinned down (homogeneity)",
    short="homogeneity",
    attacker="looks whether all candidates share one profile, and reads the target's other ratings off it",
    unit="targets whose profile is pinned down",
    baseline="nobody, for without the release no profile is known",
    criterion="inference",
    run=_run,
    varied=Varied.KNOWN,
    needs=(),
    order=40,
)
