"""Mentions from tables: who mentioned which item, and with which opinion and when, where it is known."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._mentions.model import NO_TIME, MentionIntake, Mentions
from recloak._mentions.table_files import match_column, read_table
from recloak._ratings.column_roles import NAMES
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._ratings.table_input import as_polars

_TIER, _HELD = "tier", "held"
_NAMES = {**NAMES, "opinion": ("opinion", "polarity", "sentiment")}


def mentions_from_table(
    table: Any,
    ratings: Ratings,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
) -> Mentions:
    """Return the mentions of a polars, pandas or Arrow table, in the numbers of ``ratings``.

    Columns are recognised by name or named here. An opinion is a ``rating`` in stars or an ``opinion`` from -1 (bad) to
    1 (good), which is read as that place on the scale; the time is a date or seconds since 1970. For the algorithms of
    the paper, the target's own rating replaces an opinion that is not known (paper 004, section 4.4).
    """
    frame = as_polars(table)
    columns = _columns(frame.columns, user=user, item=item, rating=rating, time=time)
    said, when = _opinion_column(frame, columns, ratings), _time_column(frame, columns.get("time"))
    frame = frame.select(target=columns["user"], item_id=columns["item"], said=said, time=when)
    if frame["target"].null_count():
        raise SourceError(f"a mention must name its user (row {int(frame['target'].is_null().arg_max() or 0) + 1})")
    return _assemble(frame, ratings)


def read_mentions(given: Any, ratings: Ratings, *, sure_only: bool = True, **names: str | None) -> Mentions:
    """Return the mentions of a CSV, TSV, JSONL or Parquet file, or of a table; see `mentions_from_table`.

    A find of tier *possible* must be confirmed by a person, so only *sure* rows count unless ``sure_only`` is off. What
    the writer says they have not seen (``held`` is false) is no holding, so it does not count either.
    """
    path = Path(given) if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_table(path)
    if sure_only and _TIER in frame.columns:
        frame = frame.filter(pl.col(_TIER) == "sure")
    if _HELD in frame.columns and frame[_HELD].dtype == pl.Boolean:
        frame = frame.filter(pl.col(_HELD).fill_null(value=True))
    try:
        return mentions_from_table(frame, ratings, **names)
    except SourceError as error:
        raise SourceError(error.rule, file=path, value=error.value) from error


def _columns(names: list[str], **given: str | None) -> dict[str, str]:
    """Return the columns of the user, the item and, where there are any, opinion and time; given names win."""
    columns = {}
    for role in ("user", "item", "rating", "opinion", "time"):
        wanted = given.get(role)
        if wanted is not None and wanted not in names:
            raise SourceError(f"there is no column {wanted!r} for the {role}; the columns are {', '.join(names)}")
        match = wanted or match_column(names, _NAMES[role])
        if match is not None:
            columns[role] = match
        elif role in ("user", "item"):
            raise SourceError(f"no column for the {role} was recognised among {', '.join(names)}; call it {role}")
    return columns


def _opinion_column(frame: pl.DataFrame, columns: dict[str, str], ratings: Ratings) -> pl.Series:
    """Return opinions in stars: a given rating, else the place of a polarity on the scale, else nan.

    Where the data tell only who used what, no opinion can be compared with anything, so there is none.
    """
    if ratings.kind.name == "presence":
        return pl.Series("said", np.full(len(frame), np.nan), pl.Float32)
    stars = _numbers(frame, columns.get("rating"), "rating")
    polarity = _numbers(frame, columns.get("opinion"), "opinion")
    if polarity.is_not_nan().any() and not polarity.drop_nans().is_between(-1.0, 1.0).all():
        raise SourceError("a mention's opinion must be from -1 (bad) to 1 (good); stars belong in a column rating")
    placed = ratings.scale.low + (polarity + 1) / 2 * ratings.scale.span
    return pl.Series("said", np.where(stars.is_nan().to_numpy(), placed.to_numpy(), stars.to_numpy()), pl.Float32)


def _numbers(frame: pl.DataFrame, column: str | None, role: str) -> pl.Series:
    if column is None or frame[column].null_count() == len(frame):  # an empty column of a CSV has no type of its own
        return pl.Series(role, np.full(len(frame), np.nan, np.float32))
    if not frame[column].dtype.is_numeric():
        raise SourceError(f"a mention's {role} must be a number", value=str(frame[column].dtype))
    return frame[column].cast(pl.Float32).fill_null(np.nan)


def _time_column(frame: pl.DataFrame, column: str | None) -> pl.Series:
    """Return the seconds of numbers or dates; a text that is no date counts as a time that is not known."""
    if column is None or frame[column].dtype == pl.Null:
        return pl.Series("time", np.full(len(frame), NO_TIME, np.int64))
    given = frame[column]
    if given.dtype == pl.String:
        given = _seconds_or_date(given)
    if given.dtype.is_temporal():
        given = given.cast(pl.Datetime("us")).dt.epoch("s")
    elif given.dtype.is_float():
        given = given.fill_nan(None)
    return given.cast(pl.Int64, strict=False).fill_null(NO_TIME)


def _seconds_or_date(texts: pl.Series) -> pl.Series:
    seconds = texts.cast(pl.Int64, strict=False)
    if seconds.null_count() < len(texts):
        return seconds
    plain = texts.str.head(19).str.replace("T", " ")
    full = plain.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    return full.fill_null(plain.str.head(10).str.to_datetime("%Y-%m-%d", strict=False))


def _encode(ids: IdMap, wanted: pl.Series) -> NDArray[np.int32]:
    """Return the numbers of ids in the ratings, whether each side has them as text or as numbers."""
    if ids.is_text:
        return ids.encode(wanted.cast(pl.String))
    if wanted.dtype.is_integer():
        return ids.encode(wanted)
    numbers = wanted.cast(pl.String).cast(pl.Int64, strict=False)
    codes = ids.encode(numbers.fill_null(0))
    return np.where(numbers.is_not_null().to_numpy(), codes, -1).astype(np.int32)


def _assemble(rows: pl.DataFrame, ratings: Ratings) -> Mentions:
    """Return rows sorted by target and item, the last of a repeated pair; count what is left out."""
    named = rows.drop_nulls("item_id")
    once = named.unique(["target", "item_id"], keep="last", maintain_order=True)
    numbered = once.with_columns(item=_encode(ratings.item_ids, once["item_id"]))
    numbered = numbered.sort("target", "item", maintain_order=True)
    known = pl.col("item") >= 0
    per_target = numbered.group_by("target", maintain_order=True).agg(counts=known.sum(), outside=(~known).sum())
    users = _encode(ratings.user_ids, per_target["target"])
    intake = MentionIntake(
        n_rows=len(rows),
        n_repeated=len(named) - len(once),
        n_unknown_items=int(per_target["outside"].sum()),
        n_unknown_users=int((users < 0).sum()),
        n_without=rows["target"].n_unique() - len(per_target),
    )
    counts = per_target["counts"].to_numpy().astype(np.int64)
    inside = numbered.filter(known)
    items = inside["item"].to_numpy().astype(np.int32)
    said = inside["said"].to_numpy().astype(np.float32, copy=True)
    values, when = said.copy(), inside["time"].to_numpy().astype(np.int64, copy=True)
    missing = np.isnan(values)
    values[missing] = own_ratings(ratings, np.repeat(users, counts)[missing], items[missing])
    indptr = np.concatenate(([0], np.cumsum(counts)))
    outside = per_target["outside"].to_numpy().astype(np.int64)
    return Mentions(per_target["target"], users, indptr, items, values, said, when, outside, intake)


def own_ratings(ratings: Ratings, users: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return one rating per (user, item) pair, nan where there is none."""
    values = np.full(len(users), np.nan, np.float32)
    for position, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
        if user < 0:
            continue
        row = ratings.row(user)
        place = row.start + int(np.searchsorted(ratings.items[row], item))
        if place < row.stop and ratings.items[place] == item:
            values[position] = ratings.values[place]
    return values
