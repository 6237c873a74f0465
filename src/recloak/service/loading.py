"""From options to the parts of a service: the start-up checks, each with one sentence."""

from __future__ import annotations

from pathlib import Path

from recloak.mentions.guard import Guard as Crowd
from recloak.mentions.sources import read_titles
from recloak.mentions.tables import read_mentions
from recloak.ratings import read
from recloak.service.buckets import Buckets
from recloak.service.catalogue import Catalogue, catalogue_of
from recloak.service.checks import check
from recloak.service.crowd import crowd_secret
from recloak.service.options import ServeOptions
from recloak.service.parts import Parts
from recloak.service.shelf import Shelf
from recloak.service.state import Advisor, prepare
from recloak.service.tokens import Guard


def load(options: ServeOptions, folder: str | Path) -> Parts:
    """Load everything that the options name; ``folder`` holds what the workers of one server share."""
    check(options)
    advisor = _advisor(options)
    catalogue = _catalogue(options, advisor)
    return Parts(
        advisor=advisor,
        catalogue=catalogue,
        shelf=None if options.history is None else Shelf(options.history, catalogue),
        guard=None if options.tokens is None else Guard(options.tokens),
        buckets=Buckets(Path(folder) / "buckets", options.rate, options.burst),
        options=options,
    )


def _advisor(options: ServeOptions) -> Advisor | None:
    if options.ratings is None or options.titles is None or options.tokens is None:
        return None
    titles = read_titles(options.titles)
    ratings = read(options.ratings, options=options.reading)
    mentions = None if options.mentions is None else read_mentions(options.mentions, ratings)
    return prepare(ratings, titles, mentions, guard=Crowd(crowd_secret(options.tokens)))


def _catalogue(options: ServeOptions, advisor: Advisor | None) -> Catalogue | None:
    if advisor is not None:
        return advisor.catalogue
    return None if options.titles is None else catalogue_of(read_titles(options.titles), None)
