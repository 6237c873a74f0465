"""Which cells hold real ratings? Labels that a low-rank fit of the released table cannot explain were moved by raters.

A padded label with enough raters is the group's mean prediction plus the raters' surprises divided by the group's size.
The predictions are low rank and the surprises are not, so a robust fit (`table_fit`) tells them apart, from the release
alone. The flagged cells then win bets on rare items, where popularity says little.

How well a label fits also depends on the item: items of which little is known fit best, and have few raters. Whoever
knows how popular each item is knows that much without looking at a label, so only cells of one item are compared.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import WITH_NUMBERS, Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.link import N_BETS, best_bets, bets_won
from recloak._attacks.model import Hits, Line, PersonRisks, Public
from recloak._attacks.released_cells import count_raters, rows_of
from recloak._attacks.table_fit import Floats, fit_of
from recloak._attacks.two_samples import auc, auc_within, clustered_share
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings

RARE = 0.1  # an item that fewer people rated than this share is rare
_SOME_CELLS = 2_000_000


@dataclass(frozen=True, eq=False, slots=True)
class FlaggedCells:
    """The residuals of some profiles, and what is true of their cells; all of shape (n_profiles, n_items)."""

    residuals: Floats  # absolute, nan where not released
    flagged: NDArray[np.bool_]
    n_raters: NDArray[np.int16]


def flag_cells(public: Public, ratings: Ratings, profiles: NDArray[np.integer]) -> FlaggedCells:
    """Return the residuals of some profiles, the cells that are flagged, and their true number of raters."""
    fit = fit_of(public)
    residuals = np.abs(fit.residuals(rows_of(public, profiles)))
    return FlaggedCells(residuals, residuals > fit.cut, count_raters(public, ratings, profiles))


def residual(public: Public, ratings: Ratings, targets: NDArray[np.integer]) -> tuple[Hits, tuple[Line, ...]]:
    """Attack the cells of the targets' groups; the lines hold the flagged cells and the bets on rare items."""
    profiles, place = np.unique(public.owner[targets], return_inverse=True)
    cells = flag_cells(public, ratings, profiles)
    released = ~np.isnan(cells.residuals)
    real, flagged = (cells.n_raters >= 2)[released], cells.flagged[released]
    if not real.any():
        raise InputError("no released cell has two raters")
    some = slice(None, None, cells.residuals.size // _SOME_CELLS + 1)  # of the items
    told = auc_within(cells.residuals[:, some], (cells.n_raters >= 2)[:, some])
    details = {
        "flagged_cells": float(flagged.mean()),
        "flagged_found": float(flagged[real].mean()),
        "cells_with_two_raters": float(real.mean()),
        "members_who_rated_flagged": _share_of_members(public, profiles, cells),
        "rank": len(fit_of(public).basis),
        **_across_items(cells, released, ratings.popularity),
    }
    lines = (
        _flagged_right(cells, released),
        _rare_bets(ratings, targets, cells, place),
    )
    return Hits(user=told, details=details, people=_risks(ratings, targets, cells, place)), lines


def _across_items(
    cells: FlaggedCells, released: NDArray[np.bool_], popularity: NDArray[np.integer]
) -> dict[str, float]:
    """Return how well cells of any items are told apart by their residuals, and by the items' popularity alone."""
    some = np.flatnonzero(released)[:: cells.residuals.size // _SOME_CELLS + 1]
    real, residuals = (cells.n_raters >= 2).ravel()[some], cells.residuals.ravel()[some]
    popular = popularity[some % cells.residuals.shape[1]].astype(np.float64)
    if real.all() or not real.any():
        return {}
    return {"told_across_items": auc(residuals[real], residuals[~real]),
            "told_by_popularity": auc(popular[real], popular[~real])}  # fmt: skip


def _share_of_members(public: Public, profiles: NDArray[np.integer], cells: FlaggedCells) -> float:
    sizes = np.broadcast_to(public.weights[profiles][:, None], cells.flagged.shape)[cells.flagged]
    return float(cells.n_raters[cells.flagged].sum() / max(int(sizes.sum()), 1))


def _flagged_right(cells: FlaggedCells, released: NDArray[np.bool_]) -> Line:
    """Count the flagged cells that have two raters; whoever knows each item's popularity expects the baseline.

    Cells of one row are flagged together and have raters together, as members are active or not, so they are no
    independent cases.
    """
    real, flagged = (cells.n_raters >= 2) & released, cells.flagged & released
    usual = real.sum(axis=0) / np.maximum(released.sum(axis=0), 1)  # (n_items,)
    expected = float((flagged.sum(axis=0) * usual).sum() / max(int(flagged.sum()), 1))
    found = clustered_share((flagged & real).sum(axis=1), flagged.sum(axis=1))
    return Line("flagged_right", found, min(expected, 1.0))


def _rare_bets(ratings: Ratings, targets: NDArray[np.integer], cells: FlaggedCells, place: NDArray[np.int64]) -> Line:
    """Bet on ten rare items of each target's group: flagged ones first, the larger residual first."""
    rare = ratings.popularity < RARE * ratings.n_users
    if rare.sum() < N_BETS:
        rare = np.ones_like(rare)
    popular = np.where(rare, ratings.popularity, -1).astype(np.float32)
    believed = np.where(cells.flagged, 1 + np.nan_to_num(cells.residuals), 0) * (popular + 1) + popular * 1e-6
    won = bets_won(best_bets(believed)[place], ratings, targets)
    blind = bets_won(best_bets(np.tile(popular, (len(targets), 1))), ratings, targets)
    return Line("rare_bets_won", won, blind.rate)


def _risks(
    ratings: Ratings, targets: NDArray[np.integer], cells: FlaggedCells, place: NDArray[np.int64]
) -> PersonRisks:
    """Return for each target the share of the ratings that stand in flagged cells."""
    risks = [
        float(cells.flagged[row, ratings.items[ratings.row(int(user))]].mean())
        for user, row in zip(targets, place, strict=True)
    ]
    return PersonRisks(targets, np.array(risks))


def _run(given: AttackInput) -> Findings:
    hits, lines = residual(given.public_release(), given.ratings, given.targets())
    return Findings(hits, baseline=0.5, lines=lines)


ATTACK = Attack(
    name="residual",
    remedy="leave --labels at model, whose labels hold nobody's own rating; else use a coarser grid (--grid).",
    kind=Kind.TELLS_CELLS,
    values=WITH_NUMBERS,
    title="Which labels were moved by real ratings? (residual)",
    short="residual",
    attacker="fits a low-rank model to the released table and flags the cells that it cannot explain",
    unit="chance that a cell with two or more raters stands out more than another of the same item (AUC)",
    baseline="a coin",
    criterion="inference",
    actor="public",
    run=_run,
    details={
        "flagged_cells": "Cells flagged",
        "flagged_found": "Share of the cells with two or more raters that is flagged",
        "cells_with_two_raters": "Cells that have two or more raters",
        "members_who_rated_flagged": "Members of the group who rated a flagged cell",
        "flagged_right": "Flagged cells that have two or more raters",
        "rare_bets_won": "Ten bets on rare items, group known",
        "told_across_items": "The same for cells of any two items (AUC)",
        "told_by_popularity": "Cells of any two items told apart by popularity alone (AUC)",
        "rank": "Rank of the fit",
    },
    order=75,
)
