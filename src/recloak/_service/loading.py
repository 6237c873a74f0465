"""From options to the parts of a service: the start-up checks, each with one sentence."""

from __future__ import annotations

from pathlib import Path

from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.oracle_guard import OracleGuard as Crowd
from recloak._mentions.post_files import read_titles
from recloak._ratings.readers import read
from recloak._service.advisor_secret import crowd_secret
from recloak._service.options import ServeOptions
from recloak._service.parts import Parts
from recloak._service.published_lists import PublishedLists
from recloak._service.rate_limits import Buckets
from recloak._service.startup_checks import check
from recloak._service.state import Advisor, prepare
from recloak._service.title_search import TitleSearch, catalogue_of
from recloak._service.tokens import TokenGuard


def load(options: ServeOptions, folder: str | Path) -> Parts:
    """Load everything that the options name; ``folder`` holds what the workers of one server share."""
    check(options)
    advisor = _advisor(options)
    catalogue = _catalogue(options, advisor)
    return Parts(
        advisor=advisor,
        catalogue=catalogue,
        shelf=None if options.history is None else PublishedLists(options.history, catalogue),
        guard=None if options.tokens is None else TokenGuard(options.tokens),
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


def _catalogue(options: ServeOptions, advisor: Advisor | None) -> TitleSearch | None:
    if advisor is not None:
        return advisor.catalogue
    return None if options.titles is None else catalogue_of(read_titles(options.titles), None)
