"""The average's fingerprint: a label gives away how many people are behind it, or one person's rating.

A mean of k' whole ratings shows k' by its denominator: 3.2 in a group of five means that all five rated. We let an
attacker learn, on one half of the groups, which k' goes with which label (the strongest attacker there is without the
truth of the group itself), and guess on the other half. Guessing from the group's size and the item's spread alone is
the baseline.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import WITH_NUMBERS, Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.factor_release import codes_of
from recloak._attacks.model import Hits, Public
from recloak._attacks.released_cells import raters_of
from recloak._core.intervals import wilson
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings

_MOST_CELLS = 400_000
_SPREAD_BINS = 20


def fingerprint(public: Public, ratings: Ratings, *, rng: Rng = None) -> Hits:
    """Attack the number of raters behind each label; details hold the baseline and bare single ratings."""
    stream = randomness(rng).stream("fingerprint")
    cells = np.sort(stream.choice(public.n_cells, min(_MOST_CELLS, public.n_cells), replace=False))
    profiles, items = _place(public, cells)
    truth, total = raters_of(public, ratings, profiles, items)
    codes, prior = _codes(public, cells, profiles, items), _prior_key(public, profiles, items)
    labels, with_label = public.values[codes], _combine(prior, codes)
    learn = (stream.permutation(public.n_profiles) % 2 == 0)[profiles]
    from_prior = _guess(prior, truth, learn, fallback=None)
    from_label = _guess(with_label, truth, learn, fallback=from_prior)
    tested = ~learn
    return Hits(
        user=wilson(int((from_label == truth)[tested].sum()), max(int(tested.sum()), 1)),
        details={
            "baseline": float((from_prior == truth)[tested].mean()) if tested.any() else 0.0,
            "cells_with_one_rater": float((truth == 1).mean()),
            "bare_single_ratings": float(((truth == 1) & (np.abs(total - labels) < 1e-6)).mean()),
        },
    )


def _place(public: Public, cells: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the profile and the item of each cell."""
    items = np.searchsorted(public.indptr, cells, side="right") - 1
    return public.holders[cells - public.indptr[items] if public.is_complete else cells], items


def _codes(
    public: Public, cells: NDArray[np.int64], profiles: NDArray[np.int32], items: NDArray[np.int64]
) -> NDArray[np.unsignedinteger]:
    """Return the code of the label of each cell."""
    if public.factors is None:
        return public.codes[cells]
    return codes_of(public.factors, public.factors.cells(profiles, items))


def _prior_key(public: Public, profiles: NDArray[np.int32], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one number for what is known without the label: the group's size and how widespread the item is."""
    spread = np.diff(public.indptr)
    bins = np.searchsorted(np.quantile(spread, np.linspace(0, 1, _SPREAD_BINS + 1)[1:-1]), spread)
    return _combine(public.weights[profiles], bins[items])


def _combine(one: NDArray[np.integer], other: NDArray[np.integer]) -> NDArray[np.int64]:
    pairs = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    return np.unique(pairs, return_inverse=True)[1]


def _guess(
    key: NDArray[np.int64], truth: NDArray[np.int64], learn: NDArray[np.bool_], *, fallback: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Guess the most frequent truth of each key in the learned half; keys never seen fall back."""
    width = int(truth.max(initial=0)) + 1
    seen, counts = np.unique(key[learn] * width + truth[learn], return_counts=True)
    order = np.lexsort((counts, seen // width))  # the most frequent truth of a key comes last
    best = np.full(int(key.max(initial=0)) + 1, -1, np.int64)
    best[seen[order] // width] = seen[order] % width
    guess = best[key]
    missing = int(np.bincount(truth[learn]).argmax()) if learn.any() else 0
    return np.where(guess >= 0, guess, missing if fallback is None else fallback)


def _run(given: AttackInput) -> Findings:
    hits = fingerprint(given.public_release(), given.ratings, rng=given.randomness)
    return Findings(hits, baseline=float(hits.details["baseline"]))


ATTACK = Attack(
    name="fingerprint",
    remedy="leave --labels at model, or use a coarser grid (--grid).",
    kind=Kind.TELLS_CELLS,
    values=WITH_NUMBERS,
    title="How many are behind a label? (fingerprint of the average)",
    short="fingerprint",
    attacker="guesses from a label how many people are behind it",
    unit="labels whose number of raters is guessed",
    baseline="guessing without the label",
    criterion="inference",
    run=_run,
    details={
        "baseline": "",
        "cells_with_one_rater": "Labels with one rater behind them",
        "bare_single_ratings": "Labels that are that one rating itself",
    },
    order=100,
)
