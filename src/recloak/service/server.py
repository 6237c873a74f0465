"""The process: load, listen, answer, stop."""

from __future__ import annotations

import uvicorn

from recloak.mentions.sources import read_titles
from recloak.mentions.tables import read_mentions
from recloak.ratings import read
from recloak.service.app import create_app
from recloak.service.options import ServeOptions
from recloak.service.parts import Parts
from recloak.service.state import Advisor, prepare
from recloak.service.tokens import Guard


def load(options: ServeOptions) -> Parts:
    """Load everything that the options name."""
    guard = None if options.tokens is None else Guard(options.tokens)
    advisor = _advisor(options)
    return Parts(advisor, None if advisor is None else advisor.catalogue, guard, options)


def _advisor(options: ServeOptions) -> Advisor | None:
    if options.ratings is None or options.titles is None:
        return None
    titles = read_titles(options.titles)
    ratings = read(options.ratings)
    mentions = None if options.mentions is None else read_mentions(options.mentions, ratings)
    return prepare(ratings, titles, mentions)


def serve(options: ServeOptions) -> None:
    """Serve until told to stop."""
    uvicorn.run(create_app(load(options)), host=options.host, port=options.port)
