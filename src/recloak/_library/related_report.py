"""Report on a history of related-item lists to its operator: `recloak.related.report`."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.spelling import suggests_keywords
from recloak._library.pages import drawn_by
from recloak._library.related_arguments import HistoryLike, opened
from recloak._library.related_attack import attack
from recloak._mentions.post_files import read_titles
from recloak._related.operator_view import OperatorView, view_of
from recloak._report.provenance import versions
from recloak._report.related_page import related_page

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike


@suggests_keywords
def report(
    history: HistoryLike,
    source: RatingsLike | None = None,
    *,
    titles: Any = None,
    seed: int | None = None,
    rng: Rng = None,
) -> OperatorView:
    """Return what the operator of a history wants to see, with a page: tonight, over time, the promise, warnings.

    This says more than was published; keep it private.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    source
        Ratings with times: then the learned observer of `attack` is run on the published lists too.
    titles
        Names of the items: a table or a file with an id and a title.
    seed, rng
        A seed or a numpy generator for the observer; with neither the system draws a seed.

    Returns
    -------
    OperatorView
        Figures of every release, tonight's changes with reasons, coverage and warnings; `write_page` writes the page.

    Raises
    ------
    InputError
        If the history holds no release, or the source cannot be read or is not the one behind it.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", until=200)
    >>> _ = recloak.related.publish("lists.db", "ratings.csv")
    >>> recloak.related.report("lists.db").last.number
    2
    """
    generator = seed_or_rng(seed, rng)
    with opened(history) as store:
        view = view_of(store, now=int(time.time()))
        if source is not None:
            found = attack(store, source, rng=generator)
            view = replace(view, observers=tuple(one for one in found.observers if one.lists == "published"))
    named = None if titles is None else {str(one.id): str(one) for one in read_titles(titles).titles}
    return replace(view, draw=drawn_by(partial(related_page, titles=named, provenance=(("Versions", versions()),))))
