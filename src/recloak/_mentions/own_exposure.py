"""How findable one person is by their own posts in a public dump: without the forum's help.

The person's own ratings are either in the dump already (a record that agrees with nearly all of them) or are put in as
one more record: what an attacker would find if the dump had them. Then every attacker of the panel ranks all records by
the mentions in the posts. What each mention gives away is the place without it; what to leave out is searched greedily.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.results import Result, counted, plural
from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.clues import ClueCounts, default_constants, make_pool
from recloak._mentions.identification_kernels import in_parts
from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.model import NO_TIME, Mentions
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.panel import members
from recloak._mentions.panel_kernels import PANEL, panel_standings
from recloak._ratings.model import Ratings

ME = "me"
_AGREEING, _FEWEST = 0.7, 5  # share of the own ratings, and their number, that a record must hold to be one's own
_CLOSE = 0.5  # how far apart two ratings may be to agree
_MOST_DROPPED = 50  # mentions that the search leaves out at most
_SHOWN = 5  # mentions that are told as giving most away


@dataclass(frozen=True, slots=True)
class TellingMention:
    """One mention, and the place that the person would have without it."""

    item: int | str
    title: str
    place: float

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {"item": self.item, "title": self.title, "place_without": round(self.place, 1)}


@dataclass(frozen=True, slots=True, repr=False)
class OwnExposure(Result):
    """How findable one person is in a public dump by what they posted."""

    places: dict[str, float]  # by attacker: the place among all records, ties at their middle
    place: float  # before the attacker who comes nearest
    closest: str  # that attacker
    k: int
    telling: tuple[TellingMention, ...]  # the mentions that give most away, the worst first
    leave_out: (
        tuple[TellingMention, ...] | None
    )  # each with the place once it and those before are gone; None: not enough
    in_dump: bool  # a record of the dump agrees with the own ratings
    n_records: int
    n_mentions: int
    n_own: int
    n_matched: int  # own ratings of items of the dump
    uses: tuple[str, ...]
    layout: str

    def __repr__(self) -> str:
        return counted(self, plural(self.n_mentions, "mention"), plural(self.n_records, "record"))

    def to_polars(self) -> pl.DataFrame:
        """Return a row per attacker."""
        return pl.DataFrame({"attacker": list(self.places), "place": list(self.places.values())})

    def to_json(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        left = None if self.leave_out is None else [one.to_json() for one in self.leave_out]
        plain = ("k", "in_dump", "n_records", "n_mentions", "n_own", "n_matched", "layout")
        return {
            "place": round(self.place, 1),
            "closest": self.closest,
            "places": {name: round(place, 1) for name, place in self.places.items()},
            "hidden": self.place > self.k,
            "telling": [one.to_json() for one in self.telling],
            "leave_out": left,
            "uses": list(self.uses),
            **{name: getattr(self, name) for name in plain},
        }


@dataclass(frozen=True, eq=False, slots=True)
class _Attack:
    """The dump with one's own record, ready to rank any part of the mentions."""

    ratings: Ratings
    mentions: Mentions  # of one target
    counted: ClueCounts
    uses: tuple[str, ...]

    def places(self, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the place before each attacker for each row of mentions that are kept: (rows, attackers)."""
        rows, mentions = np.nonzero(kept)[1], self.mentions
        indptr = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int64)
        by_mention = (mentions.items[rows], mentions.times[rows], self.counted.opinions[rows])
        users = np.full(len(kept), mentions.users[0], np.int32)
        counts, _ = in_parts(panel_standings, indptr, by_mention, (users,), (self.counted.pool, default_constants()))
        better, tied = counts[:, :, 0], counts[:, :, 1]
        places = np.where(tied > 0, better + (tied + 1) / 2, float(self.ratings.n_users))
        return places[:, [PANEL.index(name) for name in members(self.uses)]]


def measure_exposure(
    dump: Ratings, own: pl.DataFrame, found: pl.DataFrame, *, k: int, n_own: int, layout: str
) -> OwnExposure:
    """Return how findable the person is; ``own`` has item, rating (0 to 1) and time, ``found`` the mentions."""
    if own.is_empty():
        raise InputError(f"nothing can be measured: 0 of your {n_own} ratings are of items of the public dump")
    if found.is_empty():
        raise InputError("nothing can be measured: the posts name nothing of the public dump for sure")
    ratings, in_dump = _with_own_record(dump, own)
    attack = _prepare(ratings, found)
    n = attack.mentions.n_mentions
    if n == 0:
        raise InputError("nothing can be measured: nobody in the public dump rated what the posts name")
    variants = np.vstack((np.ones(n, bool), ~np.eye(n, dtype=bool)))
    places = attack.places(variants)
    nearest = places.min(axis=1)
    names = members(attack.uses)
    titles = _titles(attack, found)
    order = np.argsort(-nearest[1:], kind="stable")[:_SHOWN]
    return OwnExposure(
        places=dict(zip(names, places[0].tolist(), strict=True)),
        place=float(nearest[0]),
        closest=names[int(places[0].argmin())],
        k=k,
        telling=tuple(_telling(titles, i, nearest[i + 1]) for i in order.tolist() if nearest[i + 1] > nearest[0]),
        leave_out=_leave_out(attack, titles, k, float(nearest[0])),
        in_dump=in_dump,
        n_records=ratings.n_users,
        n_mentions=n,
        n_own=n_own,
        n_matched=len(own),
        uses=attack.uses,
        layout=layout,
    )


def _telling(titles: list[tuple[int | str, str]], mention: int, place: float) -> TellingMention:
    return TellingMention(*titles[mention], float(place))


def _prepare(ratings: Ratings, found: pl.DataFrame) -> _Attack:
    said = found.with_columns(user=pl.lit(ME))
    mentions = mentions_from_table(said, ratings, user="user", item="item")
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    weights = gains(candidates.raters, candidates.n_users, options)
    pool = make_pool(ratings, candidates, weights, np.ones(ratings.n_users, np.bool_))
    opinions = ("opinions",) if np.isfinite(mentions.opinions).any() else ()
    times = ("times",) if len(pool.times) and (mentions.times != NO_TIME).any() else ()
    return _Attack(ratings, mentions, ClueCounts(pool, mentions, ratings), ("titles", *opinions, *times))


def _titles(attack: _Attack, found: pl.DataFrame) -> list[tuple[int | str, str]]:
    """Return id and title of each mention."""
    named = dict(zip(found["item"].to_list(), found["title"].to_list(), strict=True))
    ids = attack.ratings.item_ids.decode(attack.mentions.items).to_list()
    return [(id_, named.get(id_) or named.get(str(id_)) or str(id_)) for id_ in ids]


def _leave_out(
    attack: _Attack, titles: list[tuple[int | str, str]], k: int, place: float
) -> tuple[TellingMention, ...] | None:
    """Return mentions to leave out, each the one that helps most, until the place lies beyond k; None if none do."""
    kept = np.ones(attack.mentions.n_mentions, bool)
    steps: list[TellingMention] = []
    while place <= k and kept.sum() > 1 and len(steps) < _MOST_DROPPED:
        left = np.flatnonzero(kept)
        tried = np.tile(kept, (len(left), 1))
        tried[np.arange(len(left)), left] = False
        places = attack.places(tried)
        best = int(np.lexsort((-places.mean(axis=1), -places.min(axis=1)))[0])
        kept[left[best]], place = False, float(places[best].min())
        steps.append(_telling(titles, int(left[best]), place))
    return tuple(steps) if place > k else None


def _with_own_record(dump: Ratings, own: pl.DataFrame) -> tuple[Ratings, bool]:
    """Return the dump with one's own record named `ME`, and whether it was there before."""
    low, top = dump.scale.low, dump.scale.high
    numbers = np.repeat(np.arange(dump.n_users), np.diff(dump.indptr))
    rows = {"user": pl.Series(numbers).cast(pl.String), "item": dump.item_ids.decode(dump.items)}
    rows["rating"] = pl.Series(dump.values).cast(pl.Float64)
    if dump.times is not None:
        rows["time"] = pl.Series(dump.times)
    table = pl.DataFrame(rows)
    mine = own.select("item", rating=(pl.col("rating") * top).clip(low, top), time="time")
    presence = dump.kind.name == "presence"
    found = _own_record(table, mine, same_number=presence)
    if found is not None:
        named = pl.when(pl.col("user") == found).then(pl.lit(ME)).otherwise(pl.col("user"))
        return _dump_of(table.with_columns(user=named), dump), True
    step = dump.scale.step
    if step:
        snapped = low + ((pl.col("rating") - low) / step).round() * step
        mine = mine.with_columns(rating=snapped.clip(low, top))
    record = mine.with_columns(user=pl.lit(ME), item=pl.col("item").cast(table["item"].dtype))
    record = record.with_columns(time=pl.col("time").fill_null(0)).select(table.columns)
    return _dump_of(pl.concat([table, record]), dump), False


def _dump_of(table: pl.DataFrame, dump: Ratings) -> Ratings:
    """Return a changed table as ratings of the same kind."""
    if dump.kind.name == "presence":
        return Ratings.from_table(table.drop("rating"))
    return Ratings.from_table(table, scale=dump.scale)


def _own_record(table: pl.DataFrame, mine: pl.DataFrame, *, same_number: bool) -> str | None:
    """Return the user of the dump whose ratings agree with nearly all of one's own, None if nobody's do.

    Without ratings who has everything would agree with everybody, so the ``same_number`` of items is asked for too.
    """
    if same_number:
        few = table.group_by("user").len().filter(pl.col("len") * _AGREEING <= len(mine))
        table = table.join(few.select("user"), on="user")
    joined = table.join(mine.with_columns(pl.col("item").cast(table["item"].dtype)), on="item", suffix="_own")
    agree = joined.filter((pl.col("rating") - pl.col("rating_own")).abs() <= _CLOSE)
    counts = agree.group_by("user").len().sort("len", "user", descending=[True, False])
    needed = max(_AGREEING * len(mine), _FEWEST)
    return None if counts.is_empty() or counts["len"][0] < needed else str(counts["user"][0])
