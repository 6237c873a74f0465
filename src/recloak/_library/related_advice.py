"""Recommend a delta and a horizon before anything is published: `recloak.related.advise`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.spelling import suggests_keywords
from recloak._evaluation import list_advice
from recloak._evaluation.list_advice import DELTAS, HORIZONS, ListAdvice
from recloak._library.arguments import several
from recloak._library.pages import About, drawn_by
from recloak._library.sources import Origin, as_ratings, origin_of
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._report.list_advice_page import advice_page
from recloak._report.page import Page

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike


@suggests_keywords
def advise(
    source: RatingsLike,
    *,
    deltas: Sequence[float] = DELTAS,
    horizons: Sequence[str] = HORIZONS,
    evidence: Sequence[str] = ("fresh",),
    least_recall: float = 0.9,
    min_support: int = 5,
    initial: float = 10.0,
    gap: float = 10.0,
    releases: int | None = None,
    top: int = 5,
    candidates: int = 20,
    budget: int = 10**8,
    similarity: str = "cosine",
    shrinkage: float = 0.0,
    seed: int | None = None,
    rng: Rng = None,
) -> ListAdvice:
    """Recommend a delta and a horizon for these ratings, from what each keeps and what an observer infers.

    Every setting is replayed and attacked by the learned observer of `attack`, beside three other ways to publish:
    rarer, later, and with noise.

    Parameters
    ----------
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    deltas, horizons, evidence
        Bounds, horizons and meanings of the bound to try; see `publish`.
    least_recall
        Least recall that the recommended setting should keep, if one that protects does.
    min_support
        The static rule; see `publish`.
    initial, gap, releases
        Percent of the ratings before the first release, and between two releases; the most releases to make.
    top, candidates, budget
        How safe lists are made; see `publish`.
    similarity, shrinkage
        How similar items are found; see `build`.
    seed, rng
        A seed or a numpy generator for the observer and the noise; with neither the system draws a seed.

    Returns
    -------
    ListAdvice
        A row per setting and other way, with recall and yield; ``sentence`` recommends one, or says
        why none: ``best`` is None where no setting leaves clearly less than true lists do.

    Raises
    ------
    InputError
        If the source cannot be read or carries no times, or an option breaks its rule.

    Examples
    --------
    >>> import recloak.related
    >>> advice = recloak.related.advise("ratings.csv", deltas=[0.2, 0.5], gap=40, min_support=1, seed=0)
    >>> advice
    <ListAdvice: 4 settings, 3 others>
    >>> all(one.max_breach <= one.delta for one in advice)
    True
    """
    generator, origin = seed_or_rng(seed, rng), origin_of(source)
    found = list_advice.advise(
        as_ratings(source),
        deltas=several("deltas", deltas, "[0.1, 0.4]"),
        horizons=several("horizons", horizons, '["30d"]'),
        evidence=several("evidence", evidence, '["fresh"]'),
        least_recall=least_recall,
        protocol=ProtocolOptions(initial=initial, gap=gap, releases=releases),
        bound=BoundOptions(min_support=min_support),
        method=MethodOptions(top=top, candidates=candidates, budget=budget),
        similarity=SimilarityOptions(similarity=similarity, shrinkage=shrinkage),
        rng=generator,
    )
    return replace(found, draw=drawn_by(_page, origin=origin, seed=generator.seed))


def _page(found: ListAdvice, *, origin: Origin, seed: int) -> Page:
    return advice_page(found, source=origin.name, provenance=About(origin).rows(seed))
