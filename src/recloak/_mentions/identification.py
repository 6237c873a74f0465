"""Re-identify people by what they mention: every algorithm, by number of mentions, with the reasons for failure.

The algorithms of the paper come with the target's own rating where a mention voices no opinion, as in the paper. The
panel (`_mentions.panel`) uses what the mentions tell and nothing else.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._mentions.algorithms import (
    ALGORITHMS,
    NEED_RATINGS,
    Candidates,
    failures,
    ignoring_popular,
    intersect,
    rank_targets,
)
from recloak._mentions.likelihood import Likelihoods, decide_open_set, rank_by_likelihood, rated_by_mentioner
from recloak._mentions.model import LEVELS, Bin, Identification, Mentions, OpenSet, Panel, Standing, mean
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.panel import PanelRanks, rank_by_panel
from recloak._mentions.prediction import Prediction, predict
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

    Rates count all targets, including those who are not in the data and cannot be identified. The open-set decision is
    made if some targets are absent, or if ``absent`` removes a share of them for the trial.
    """
    options = options or IdentifyOptions()
    if not mentions.n_targets:
        raise InputError("there is nobody to identify: no target mentions an item")
    candidates = Candidates.of(ratings, options)
    possible = intersect(candidates, mentions)
    left_out = NEED_RATINGS if ratings.kind.name == "presence" else ()
    standings = {"set_intersection": possible[0], **_rank_all(candidates, mentions, options, left_out)}
    with task("likelihood ratio"):
        ranked = rank_by_likelihood(candidates, mentions, ratings)
    standings[LIKELIHOOD] = ranked.standing
    with task("panel of attackers"):
        panel = rank_by_panel(ratings, candidates, mentions, options)
    standings |= {name: standing for name, standing in panel.standings.items() if name not in standings}
    rated_share = _rated_share(mentions, ratings)
    predicted = predict(ratings, mentions, levels, rated_share)

    def decided(one: Likelihoods) -> OpenSet | None:
        return _open_set(one, mentions, absent, threshold, rng)

    return Identification(
        algorithms={name: standing.rates(levels) for name, standing in standings.items()},
        n_targets=mentions.n_targets,
        n_candidates=ratings.n_users,
        n_heavy=int(candidates.heavy.sum()),
        rated_share=rated_share,
        bins=_bins(mentions, standings, failures(*possible, 1), predicted),
        reasons={str(k): {why: round(mean(who), 6) for why, who in failures(*possible, k).items()} for k in levels},
        open_set=decided(ranked),
        intake=mentions.intake,
        panel=_panel(panel, levels, decided(panel.learned)),
        predicted={str(k): round(mean(predicted.probabilities[:, n]), 6) for n, k in enumerate(levels)},
        not_applicable=left_out,
    )


def _panel(ranks: PanelRanks, levels: tuple[int, ...], open_set: OpenSet | None) -> Panel:
    rates = {name: standing.rates(levels) for name, standing in ranks.standings.items()}
    return Panel(ranks.uses, ranks.strongest.rates(levels), rates, ranks.weights, open_set)


def _rank_all(
    candidates: Candidates, mentions: Mentions, options: IdentifyOptions, left_out: tuple[str, ...]
) -> dict[str, Standing]:
    """Return the places by the paper's algorithms except Set Intersection, and by the adaptive attacker."""
    standings = {}
    with task("identifying", len(ALGORITHMS)) as advance:
        for name in ALGORITHMS[1:]:
            if name not in left_out:
                standings[name] = rank_targets(name, candidates, mentions, options)
            advance(1)
        read = ignoring_popular(mentions, candidates.raters, options.ignore)
        standings[ADAPTIVE] = rank_targets("scoring", candidates, read, options)
        advance(1)
    return standings


def _rated_share(mentions: Mentions, ratings: Ratings) -> float | None:
    """Return the share of the mentions by present targets whose item the mentioner rated (82 % in the paper)."""
    n_mentions = int(mentions.totals[mentions.present].sum())
    return float(rated_by_mentioner(mentions, ratings).sum()) / n_mentions if n_mentions else None


def _bins(
    mentions: Mentions, standings: dict[str, Standing], failed: dict[str, NDArray[np.bool_]], predicted: Prediction
) -> tuple[Bin, ...]:
    """Return the rates at k = 1 and Set Intersection's reasons by number of mentions (figures 3 and 5)."""
    first = {name: standing.expected(1) for name, standing in standings.items()}
    bins = []
    for low, high, inside in mention_bins(mentions.totals):
        rates = {name: mean(expected[inside]) for name, expected in first.items()}
        reasons = {reason: mean(flags[inside]) for reason, flags in failed.items()}
        foreseen = predicted.probabilities[inside[predicted.targets], 0]
        if inside.any():
            bins.append(Bin(low, high, int(inside.sum()), rates, reasons, mean(foreseen) if len(foreseen) else None))
    return tuple(bins)


def mention_bins(counts: NDArray[np.int64], n_bins: int = 7) -> list[tuple[int, int | None, NDArray[np.bool_]]]:
    """Return the bins of the paper's table 1 (1, 2-3, 4-7, ..., 64 and more mentions) and who is in each."""
    edges = [(2**power, 2 ** (power + 1) - 1) for power in range(n_bins - 1)]
    closed = [(low, high, (counts >= low) & (counts <= high)) for low, high in edges]
    return [*closed, (2 ** (n_bins - 1), None, counts >= 2 ** (n_bins - 1))]


def _open_set(ranked: Likelihoods, mentions: Mentions, absent: float, threshold: float, rng: Rng) -> OpenSet | None:
    if absent == 0.0 and mentions.present.all():
        return None
    return decide_open_set(ranked, mentions.present, absent=absent, threshold=threshold, rng=rng)
