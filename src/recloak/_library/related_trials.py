"""Replay ratings before anything is published: `recloak.related.simulate`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.spelling import suggests_keywords
from recloak._library.related_arguments import HistoryLike, Window, bound_of, opened
from recloak._library.sources import as_ratings
from recloak._related import simulation
from recloak._related.options import MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.simulation import Simulation

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike


@suggests_keywords
def simulate(
    source: RatingsLike,
    *,
    initial: float = 10.0,
    gap: float = 5.0,
    releases: int | None = None,
    delta: float = 0.1,
    horizon: str = "30d",
    min_support: int = 5,
    evidence: str = "fresh",
    knowledge: int | None = None,
    window: Window | None = None,
    top: int = 5,
    method: str = "perm",
    literal: bool = False,
    candidates: int = 20,
    budget: int = 10**8,
    similarity: str = "cosine",
    shrinkage: float = 0.0,
    history: HistoryLike | None = None,
    seed: int | None = None,
    rng: Rng = None,
) -> Simulation:
    """Replay timestamped ratings as if lists had been published all along, and measure cost and breach.

    Parameters
    ----------
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    initial
        Percent of the ratings before the first release.
    gap
        Percent of the ratings between two releases.
    releases
        Most releases to make; by default up to the last rating.
    delta, horizon, min_support, evidence, knowledge, window
        The promise; see `publish`.
    top, method, literal, candidates, budget
        How safe lists are made; see `publish`. Method ``rp`` adds noise to the ratings instead and protects nobody.
    similarity, shrinkage
        How similar items are found; see `build`.
    history
        Where to store the releases, so that an interrupted run continues from there.
    seed, rng
        A seed or a numpy generator for the noise of ``rp``; with neither the system draws a seed.

    Returns
    -------
    Simulation
        The cost of every release, and what it gave away.

    Raises
    ------
    InputError
        If the source cannot be read or carries no times, or the history is of another run.

    Examples
    --------
    >>> import recloak.related
    >>> run = recloak.related.simulate("ratings.csv", gap=30, horizon="all", min_support=1, delta=0.5)
    >>> len(run.records), run.max_breach <= 0.5
    (4, True)
    """
    protocol = ProtocolOptions(initial=initial, gap=gap, releases=releases)
    promise = {"delta": delta, "horizon": horizon, "min_support": min_support, "evidence": evidence}
    bound = bound_of(window, literal=literal, **promise, knowledge=knowledge)
    how = MethodOptions(top=top, method=method, literal=literal, candidates=candidates, budget=budget)
    options = SimilarityOptions(similarity=similarity, shrinkage=shrinkage)
    generator, ratings = seed_or_rng(seed, rng), as_ratings(source)
    with nullcontext() if history is None else opened(history, create=True) as store:
        return simulation.simulate(
            ratings, protocol=protocol, bound=bound, method=how, similarity=options, history=store, rng=generator
        )
