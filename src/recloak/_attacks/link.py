"""Link existence: whether a member of a group really rated an item that the group's profile shows.

The theorems of Chang et al. claim a confidence of at most 1/k. That is false: given that at least one of k independent
members rated the item and prior p, the posterior is p / (1 - (1 - p)^k), never below 1/k; and members of a group of
*similar* users are not independent. So we measure. The attacker is told the target's group (the worst case) and bets on
ten items of which he is surest; how popularity, the row and its labels tell what was rated he has learned from people
of other groups (`link_beliefs`).
"""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, DetailChart, Kind
from recloak._attacks.attack_input import LINK_CAP, AttackInput, Findings
from recloak._attacks.link_beliefs import learned_beliefs
from recloak._attacks.model import Hits, Line, PersonRisks, Public
from recloak._attacks.released_cells import count_cells
from recloak._core.intervals import Share, census, wilson
from recloak._ratings.model import Ratings

N_BETS = 10
_MOST_BELIEFS = 10_000_000
_QUANTILES = (0.5, 0.9, 0.99)


def link(
    public: Public, ratings: Ratings, targets: NDArray[np.integer], *, k: int,
    believed: NDArray[np.float32] | None = None,
) -> Hits:  # fmt: skip
    """Attack the links of each target; details hold the share k'/|C| over the released cells and the theorems."""
    bets = best_bets(learned_beliefs(public, ratings, public.owner[targets]) if believed is None else believed)
    right = bets_right(bets, ratings, targets)
    won, people = wilson(int(right.sum()), bets.size), PersonRisks(targets, right / max(bets.shape[1], 1))
    return Hits(won, details=_confidence(public, ratings, k), people=people)


def above_cap(public: Public, ratings: Ratings, cap: float) -> tuple[Hits, float]:
    """Count the released cells with a share k'/|C| above a cap, and those whose item so many people rated anyway.

    Every cell is looked at, so the interval has no width.
    """
    possible, cells = count_cells(public, ratings)
    common = ratings.popularity > cap * ratings.n_users
    baseline = np.diff(public.indptr)[common].sum() / max(int(cells.sum()), 1)
    n_above = int(cells[possible > cap].sum())
    details = {"cells_above": n_above, "max_share": float(possible[cells > 0].max(initial=0.0)), "cap": cap}
    return Hits(user=census(n_above, int(cells.sum())), details=details), float(baseline)


def betting_on_the_popular(ratings: Ratings, targets: NDArray[np.integer]) -> float:
    """Return the success of somebody who bets on the ten most rated items without looking at the release."""
    popular = np.argsort(-ratings.popularity, kind="stable")[:N_BETS]
    return bets_won(np.tile(popular, (len(targets), 1)), ratings, targets).rate


def surest(ratings: Ratings, targets: NDArray[np.integer], believed: NDArray[np.float32]) -> Line:
    """Return how often the surest hundredth of all beliefs is right, beside that of popularity."""
    rated = np.zeros(believed.shape, bool)
    for place, user in enumerate(targets):
        rated[place, ratings.items[ratings.row(int(user))]] = True
    n_sure = max(believed.size // 100, 1)
    sure = np.argpartition(-believed.ravel(), n_sure - 1)[:n_sure]
    n_popular = max(n_sure // len(targets), 1)
    popular = np.argsort(-ratings.popularity, kind="stable")[:n_popular]
    return Line("surest_right", wilson(int(rated.ravel()[sure].sum()), n_sure), float(rated[:, popular].mean()))


def best_bets(believed: NDArray[np.float32]) -> NDArray[np.int64]:
    """Choose the ten items believed in most, ties by item number: (len, at most 10)."""
    n_bets = min(N_BETS, believed.shape[1])
    return np.array([_largest(row, n_bets) for row in believed], np.int64).reshape(len(believed), n_bets)


def _largest(row: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """Return the places of the n largest numbers, ties by place; the whole row is not sorted for a few of it."""
    if n < 1:
        return np.empty(0, np.int64)
    at_least = np.flatnonzero(row >= np.partition(row, len(row) - n)[len(row) - n])
    return at_least[np.argsort(-row[at_least], kind="stable")[:n]]


def bets_won(bets: NDArray[np.int64], ratings: Ratings, targets: NDArray[np.integer]) -> Share:
    """Count the bets that are right."""
    return wilson(int(bets_right(bets, ratings, targets).sum()), bets.size)


def bets_right(bets: NDArray[np.int64], ratings: Ratings, targets: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count the bets on each target that are right."""
    rows = (ratings.items[ratings.row(int(user))] for user in targets)
    return np.array([np.isin(bet, row).sum() for bet, row in zip(bets, rows, strict=True)], np.int64)


def _confidence(public: Public, ratings: Ratings, k: int) -> dict[str, Any]:
    """Return the share of real raters per released cell, and what the theorems say about it."""
    possible, counted = count_cells(public, ratings)
    share, cells = possible[counted > 0], counted[counted > 0]  # (n_kinds,) the shares there are, the cells of each
    rated, p = share > 0, ratings.density
    exact = p / (1 - (1 - p) ** k) if p > 0 else 0.0
    return {
        "cells": int(cells.sum()),
        "max_share": float(share.max(initial=0.0)),
        **{f"share_at_{100 * q:g}_%": _quantile(share, cells, q) for q in _QUANTILES},
        "mean_share": _mean(share, cells),
        "mean_share_of_rated_cells": _mean(share[rated], cells[rated]),
        f"cells_above_{LINK_CAP:g}": _mean(share > LINK_CAP, cells),
        "cells_by_share": _by_share(share, cells),
        "base_rate": p,
        "theorem_without_prior": 1 / k,
        "theorem_with_prior": 1 / k + p / (2 - k * p) if k * p < 2 else 1.0,
        "independent_posterior": exact,
    }


def _mean(x: NDArray[Any], cells: NDArray[np.int64]) -> float:
    return float(np.average(x, weights=cells)) if len(x) else 0.0


def _quantile(share: NDArray[np.float64], cells: NDArray[np.int64], q: float) -> float:
    """Return the q-quantile of the shares: the smallest that a fraction q of the cells does not exceed."""
    return float(np.quantile(share, q, weights=cells, method="inverted_cdf")) if len(share) else 0.0


def _by_share(share: NDArray[np.float64], cells: NDArray[np.int64]) -> dict[str, float]:
    """Count the cells by fifths of the share, those that nobody rated apart."""
    edges = np.linspace(0, 1, 6)
    fifths = np.where(share > 0, np.ceil(5 * share - 1e-6), 0).astype(np.int64)
    counts = np.bincount(fifths, cells, minlength=6)
    names = ["nobody", *(f"{100 * low:.0f}–{100 * high:.0f} %" for low, high in itertools.pairwise(edges))]
    return dict(zip(names, (counts / max(cells.sum(), 1)).tolist(), strict=True))


def _run(given: AttackInput) -> Findings:
    targets, public = given.targets(), given.public_release()
    believed = learned_beliefs(public, given.ratings, public.owner[targets])
    hits = link(public, given.ratings, targets, k=given.k, believed=believed)
    some = slice(None, None, max(believed.size // _MOST_BELIEFS, 1))
    line = surest(given.ratings, targets[some], believed[some])
    return Findings(
        hits, Hits(_on_original(given.ratings, targets)), betting_on_the_popular(given.ratings, targets), lines=(line,)
    )


def _on_original(ratings: Ratings, targets: NDArray[np.integer]) -> Share:
    """Return the bets won where everybody sees a person's row: one for each item there is, up to ten."""
    n_items = np.diff(ratings.indptr)[targets]
    return wilson(int(np.minimum(n_items, N_BETS).sum()), N_BETS * len(targets))


def _run_cap(given: AttackInput) -> Findings:
    hits, baseline = above_cap(given.public_release(), given.ratings, given.link_cap)
    return Findings(hits, baseline=baseline)


LINK = Attack(
    name="link",
    remedy="raise k; in mode pure cap how sure a link can be (--max-link). Groups always tell something of members.",
    drawn_rows=True,
    kind=Kind.TELLS_CELLS,
    title="Did this person rate it? (link existence)",
    short="link",
    attacker="knows the target's group and bets on ten items that the target rated",
    unit="bets won",
    baseline="betting on the most popular items",
    criterion="inference",
    run=_run,
    details={
        "cells": "Cells looked at",
        "surest_right": "The surest hundredth of all links, right",
        "max_share": "Largest share of a group that rated an item",
        "share_at_50_%": "Share that half of the cells do not exceed",
        "share_at_90_%": "Share that 90 % of the cells do not exceed",
        "share_at_99_%": "Share that 99 % of the cells do not exceed",
        "mean_share": "Mean share of a group that rated an item",
        "mean_share_of_rated_cells": "The same where anybody rated it",
        "cells_above_0.5": "Cells that more than half of the group rated",
        "base_rate": "Share of all people who rated an item, on average",
        "theorem_without_prior": "The paper's bound on the confidence, 1/k",
        "theorem_with_prior": "The paper's bound with the base rate known",
        "independent_posterior": "What is true even of independent members",
    },
    charts=(
        DetailChart(
            "cells_by_share",
            title="How sure a link can be",
            text="Whoever knows a person's group believes that the person rated an item as strongly as the share of "
            "members who did: at most {max_share}, above one half in {cells_above_0.5} of the cells. The paper's bound "
            "of 1/k ({theorem_without_prior}) does not hold: even among independent members the belief is "
            "{independent_posterior}.",
            x="share of the group's members who rated the item",
            y="released cells",
        ),
    ),
    order=80,
)
LINK_CAPPED = Attack(
    name="link-cap",
    remedy="cap how sure a link can be (--max-link, mode pure), or raise k.",
    kind=Kind.TELLS_CELLS,
    title="Cells that most of a group rated (link confidence)",
    short="link, sure cells",
    attacker="knows the target's group and is sure of an item as far as the members of the group rated it",
    unit="cells in which more than {link_cap} of the group rated the item",
    baseline="items that so many people rated anyway",
    criterion="inference",
    run=_run_cap,
    details={
        "cap": "",
        "cells_above": "Cells above the cap",
        "max_share": "Largest share of a group that rated an item",
    },
    order=90,
)
ATTACKS = (LINK, LINK_CAPPED)
