"""Re-identify people by what they mention: every algorithm, by number of mentions, with the reasons of failure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._mentions.algorithms import ALGORITHMS, Candidates, failures, ignoring_popular, intersect, stand_by
from recloak._mentions.likelihood import Likelihoods, decide, rated_by_mentioner, stand_by_likelihood
from recloak._mentions.model import LEVELS, Bin, Identification, Mentions, OpenSet, Standing
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.rates import mention_bins, rates_of, share
from recloak._ratings.model import Ratings

ADAPTIVE = "adaptive"
LIKELIHOOD = "likelihood_ratio"


def identify(
    ratings: Ratings,
    mentions: Mentions,
    options: IdentifyOptions | None = None,
    *,
    levels: tuple[int, ...] = LEVELS,
    absent: float = 0.0,
    threshold: float = 0.5,
    rng: Rng = 0,
) -> Identification:
    """Attack every target with every algorithm.

    Rates count all targets, also those who are not in the data (nobody can identify them). The open-set decision is
    made where some targets are absent, by themselves or because ``absent`` takes that share out for the trial.
    """
    options = options or IdentifyOptions()
    _require_targets(mentions)
    candidates = Candidates.of(ratings, options)
    possible = intersect(candidates, mentions)
    standings = {"set_intersection": possible[0], **_stand_all(candidates, mentions, options)}
    with task("likelihood ratio"):
        found = stand_by_likelihood(candidates, mentions, ratings)
    standings[LIKELIHOOD] = found.standing
    return Identification(
        algorithms={name: rates_of(standing, levels) for name, standing in standings.items()},
        n_targets=mentions.n_targets,
        n_candidates=ratings.n_users,
        n_heavy=int(candidates.heavy.sum()),
        rated_share=_rated_share(mentions, ratings),
        bins=_bins(mentions, standings, failures(*possible, 1)),
        reasons={str(k): _shares(failures(*possible, k)) for k in levels},
        open_set=_open_set(found, mentions, absent, threshold, rng),
        intake=mentions.intake,
    )


def _require_targets(mentions: Mentions) -> None:
    if not mentions.n_targets:
        raise InputError("there is nobody to identify: no target mentions an item")


def _stand_all(candidates: Candidates, mentions: Mentions, options: IdentifyOptions) -> dict[str, Standing]:
    """Run the paper's algorithms after Set Intersection, and the adaptive attacker."""
    standings = {}
    with task("identifying", len(ALGORITHMS)) as advance:
        for name in ALGORITHMS[1:]:
            standings[name] = stand_by(name, candidates, mentions, options)
            advance(1)
        read = ignoring_popular(mentions, candidates.raters, options.ignore)
        standings[ADAPTIVE] = stand_by("scoring", candidates, read, options)
        advance(1)
    return standings


def _rated_share(mentions: Mentions, ratings: Ratings) -> float | None:
    """Give the share of the mentions by present targets whose item the mentioner rated (82 % in the paper)."""
    n_mentions = int(mentions.totals[mentions.present].sum())
    return float(rated_by_mentioner(mentions, ratings).sum()) / n_mentions if n_mentions else None


def _shares(why: dict[str, NDArray[np.bool_]]) -> dict[str, float]:
    return {reason: round(share(flags), 6) for reason, flags in why.items()}


def _bins(mentions: Mentions, standings: dict[str, Standing], why: dict[str, NDArray[np.bool_]]) -> tuple[Bin, ...]:
    """Tell the rates at k = 1 and Set Intersection's reasons by number of mentions (figures 3 and 5)."""
    first = {name: standing.expected(1) for name, standing in standings.items()}
    return tuple(
        Bin(
            low,
            high,
            int(inside.sum()),
            {name: share(chances[inside]) for name, chances in first.items()},
            {reason: share(flags[inside]) for reason, flags in why.items()},
        )
        for low, high, inside in mention_bins(mentions.totals)
        if np.any(inside)
    )


def _open_set(found: Likelihoods, mentions: Mentions, absent: float, threshold: float, rng: Rng) -> OpenSet | None:
    if absent == 0.0 and mentions.present.all():
        return None
    return decide(found, mentions.present, absent=absent, threshold=threshold, rng=rng)
