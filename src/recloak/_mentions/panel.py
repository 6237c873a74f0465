"""The panel: all attackers side by side on every target, each trained on other people.

The targets are dealt into `FOLDS` parts; the constants and learned weights for each part come from the others, so that
nobody helps to find themselves. *Strongest* takes, for each target, the attacker who comes nearest: no attacker knows
beforehand who that will be, so it bounds them all, and it is what advice must hold against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.clues import ClueCounts, make_pool
from recloak._mentions.identification_kernels import in_parts
from recloak._mentions.likelihood import Likelihoods, log_odds
from recloak._mentions.model import NO_TIME, Mentions, Standing
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.panel_kernels import LEARNED, PANEL, Constants, panel_standings
from recloak._ratings.model import Ratings

FOLDS = 5
CLUES = ("likelihood ratio", "opinion", "same item", "active")
_NEED_OPINIONS = ("fuzzy_rating", "exact_rating", "opinion")
_NEED_TIMES = ("same_item", "active", "time", "time_month", "time_year", "time_ever")


@dataclass(frozen=True, eq=False, slots=True)
class PanelRanks:
    """The place of every target before each attacker who can be told apart, and what the learned one weighs."""

    standings: dict[str, Standing]
    learned: Likelihoods
    weights: dict[str, float]  # of the clues, mean over the folds
    uses: tuple[str, ...]  # what is known of a mention: titles, opinions, times

    @property
    def strongest(self) -> Standing:
        """Return, for each target, the place before the attacker who comes nearest."""
        return strongest_of(list(self.standings.values()))


def strongest_of(standings: list[Standing]) -> Standing:
    """Return, for each target, the standing with the smallest expected place; who is not listed stands last."""
    better, tied = (np.stack([getattr(one, name) for one in standings]) for name in ("better", "tied"))
    place = np.where(tied > 0, better + (tied + 1) / 2, np.inf)
    best = place.argmin(axis=0)
    every = np.arange(len(best))
    return Standing(better[best, every], tied[best, every])


def rank_by_panel(ratings: Ratings, candidates: Candidates, mentions: Mentions, options: IdentifyOptions) -> PanelRanks:
    """Return the place of every target before every attacker, each trained on the other folds."""
    weights = gains(candidates.raters, candidates.n_users, options)
    pool = make_pool(ratings, candidates, weights, np.ones(ratings.n_users, np.bool_))
    counted = ClueCounts(pool, mentions, ratings)
    folds = np.arange(mentions.n_targets) % FOLDS
    counts = np.zeros((mentions.n_targets, len(PANEL), 2), np.int64)
    told = np.zeros((mentions.n_targets, 5))
    learned = []
    for fold in np.unique(folds):
        known = counted.constants(folds != fold)
        learned.append(known.learned)
        counts[folds == fold], told[folds == fold] = _attack(counted, folds == fold, known)
    uses = _uses(mentions, timed=len(pool.times) > 0)
    return PanelRanks(
        {name: Standing(counts[:, PANEL.index(name), 0], counts[:, PANEL.index(name), 1]) for name in members(uses)},
        _learned(counts[:, LEARNED], told, mentions),
        dict(zip(CLUES, np.mean(learned, axis=0).round(6).tolist(), strict=True)),
        uses,
    )


def _attack(
    counted: ClueCounts, chosen: NDArray[np.bool_], known: Constants
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the counts of some targets, and the figures of the learned attacker."""
    mentions = counted.mentions
    mine = chosen[mentions.owners()]
    indptr = np.concatenate(([0], np.cumsum(mentions.counts[chosen])))
    by_mention = (mentions.items[mine], mentions.times[mine], counted.opinions[mine])
    return in_parts(panel_standings, indptr, by_mention, (mentions.users[chosen],), (counted.pool, known))


def _uses(mentions: Mentions, *, timed: bool) -> tuple[str, ...]:
    opinions = ("opinions",) if np.isfinite(mentions.opinions).any() else ()
    times = ("times",) if timed and (mentions.times != NO_TIME).any() else ()
    return ("titles", *opinions, *times)


def members(uses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the attackers that what is known tells apart: without times, those that need times are others again."""
    left_out = (() if "opinions" in uses else _NEED_OPINIONS) + (() if "times" in uses else _NEED_TIMES)
    return tuple(name for name in PANEL if name not in left_out)


def _learned(counts: NDArray[np.int64], told: NDArray[np.float64], mentions: Mentions) -> Likelihoods:
    background = np.log(mentions.n_targets + 1)  # raw odds; the calibration moves them
    return Likelihoods(
        Standing(counts[:, 0], counts[:, 1]),
        mentions.present & (told[:, 0].astype(np.int64) == mentions.users),
        log_odds(told[:, 1], told[:, 2], background),
        log_odds(told[:, 3], told[:, 4], background),
    )
