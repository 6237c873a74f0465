"""The homogeneity attack: what is learned of a target although the user stays hidden in a group.

Definition 5 of Chang et al.: when all candidates of the label-based attack have one profile, the profile is known
without knowing which candidate is the target. We let the tolerant attacker try, and then measure what the profile of
the best match really tells about the ratings that were not known before.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings, on_both_sides
from recloak._attacks.clue_matching import ANY_LABEL, match, paper_kernel, score
from recloak._attacks.model import Clues, Hits, Public, expected_share, step_of
from recloak._attacks.public_columns import item_means, labels_for
from recloak._ratings.model import Ratings


def homogeneity(public: Public, clues: Clues, ratings: Ratings) -> Hits:
    """Attack the profile instead of the user; ``ratings`` is the truth the guesses are held against."""
    pinned = _pinned(public, clues)
    found = score(public, clues, paper_kernel(public))
    whose, places = _hidden(clues, ratings)
    items, values = ratings.items[places], ratings.values[places]
    half_step = np.float64(step_of(public.scale) / 2 + 1e-6)
    told = labels_for(public, found.winner.astype(np.int32)[whose], items)  # nan compares as false
    learned, guessed = (np.abs(guess - values) <= half_step for guess in (told, item_means(public)[items]))
    n_hidden = max(len(places), 1)
    return Hits(
        user=expected_share(pinned.astype(np.float64)),
        details={
            "hidden_ratings": len(places),
            "learned_within_half_a_step": float(learned.sum() / n_hidden),
            "guessed_from_item_mean": float(guessed.sum() / n_hidden),
        },
    )


def _pinned(public: Public, clues: Clues) -> NDArray[np.bool_]:
    """Return, for each target, whether exactly one profile remains, and it is the target's."""
    by_items = match(public, clues, ANY_LABEL)
    by_labels = match(public, clues, step_of(public.scale))
    return ((by_items.n_profiles == 1) & by_items.has_own) | ((by_labels.n_profiles == 1) & by_labels.has_own)


def _hidden(clues: Clues, ratings: Ratings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ratings of the targets that are not known: the place of the target, and of the rating."""
    starts, counts = ratings.indptr[clues.targets], np.diff(ratings.indptr)[clues.targets]
    whose = np.repeat(np.arange(clues.n_targets), counts)
    places = np.arange(len(whose)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
    known = np.repeat(np.arange(clues.n_targets), np.diff(clues.indptr)) * ratings.n_items + clues.items
    kept = ~np.isin(whose * ratings.n_items + ratings.items[places], known)
    return whose[kept], places[kept]


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
