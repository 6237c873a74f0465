"""A made-up world in which a poster with a few rare titles stands out of a crowd."""

from functools import cache

import numpy as np
import polars as pl

from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import title_list
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._related.history import History
from recloak._related.history_writing import append
from recloak._related.model import EMPTY, ListRelease, Lists
from recloak._service.advice import prepare

POPULAR = [
    "The Glass Orchard (1987)", "Salt and Ember (1994)", "Nine Winters (2003)", "The Lanternmaker (1999)",
    "A Quiet Meridian (2010)", "Harbour of Owls (1991)", "The Tin Cathedral (1982)", "Slow Comet (2015)",
    "Marigold Avenue (2006)", "The Cartographer's Son (1997)", "Underneath the Tide (2012)", "Velvet Static (1985)",
]  # fmt: skip
KNOWN = [
    "The Clockmaker's Daughter (1978)", "Ninety Miles of Rain (2001)", "Orchid Protocol (2018)", "Brass Weather (1969)",
    "The Last Ferryman (1974)", "Cinder and Thyme (2009)", "Paper Kingdoms (1993)", "Half a Lighthouse (2004)",
]  # fmt: skip
RARE = ["Zorgon (1950)", "Moths over Tallinn (1966)", "The Beekeeper's Alibi (1958)", "Fjordlight (1961)"]
TWINS = ["Solaris (1972)", "Solaris (2002)"]
TITLES = dict(enumerate((*POPULAR, *KNOWN, *RARE, *TWINS), start=1))
N_USERS = 400


def item(title):
    return next(number for number, known in TITLES.items() if known == title)


@cache
def ratings() -> Ratings:
    """Everybody rates some popular titles and few of the others; user 0 rates all the rare ones."""
    rng = np.random.default_rng(7)
    rows = [(0, item(title)) for title in (*POPULAR[:4], *KNOWN[:3], *RARE, TWINS[0])]
    for user in range(1, N_USERS):
        rows += [(user, item(title)) for title in POPULAR if rng.random() < 0.4]
        rows += [(user, item(title)) for title in (*KNOWN, *TWINS) if rng.random() < 0.06]
    rows += [(user, item(title)) for user, title in zip((11, 22, 33, 44), RARE, strict=True)]
    users, items = zip(*rows, strict=True)
    return Ratings.from_arrays(list(users), list(items), [4.0] * len(rows))


@cache
def advisor():
    split = [(number, title[:-7], int(title[-5:-1])) for number, title in TITLES.items()]
    guard = OracleGuard(b"a secret of tests", sample_share=1.0)
    return prepare(ratings(), title_list(split), mentions_from_table(posted(), ratings()), guard=guard)


def posted():
    """What user 44 said in public: a rare title, and what they rated besides."""
    rated = ratings().item_ids.decode(ratings().items[ratings().row(44)]).to_list()
    return pl.DataFrame({"user": [44] * len(rated), "item": rated})


def write_history(path):
    """Publish the list of the first title four times: a new entry, one that left, two that change places."""
    ids = IdMap.of(list(TITLES))
    days = [[1, 2, 3], [1, 2, 4], [1, EMPTY, 4], [4, EMPTY, 1]]
    with History(path) as store:
        for number, day in enumerate(days, start=1):
            lists = np.full((len(TITLES), 3), EMPTY, np.int32)
            lists[0] = day
            append(store, ListRelease(number, 1_700_000_000 + number * 86_400, Lists(lists)), ids, {})
