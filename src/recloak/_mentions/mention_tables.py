"""Mentions from tables: who mentioned which item, and where known with which rating."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._mentions.model import MentionIntake, Mentions
from recloak._ratings.column_roles import NAMES, fold
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._ratings.table_input import as_polars

_TIER = "tier"


def mentions_from_table(
    table: Any,
    ratings: Ratings,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
) -> Mentions:
    """Make mentions from a polars, pandas or Arrow table, in the numbers of ``ratings``.

    Columns are recognised by name or named here. Where the table gives no rating, a target's own rating of the item
    stands in for what a reader of the post would guess (paper 004, section 4.4).
    """
    frame = as_polars(table)
    columns = _columns(frame.columns, user=user, item=item, rating=rating)
    frame = frame.select(target=columns["user"], named=columns["item"], said=_said(frame, columns.get("rating")))
    if frame["target"].null_count():
        raise SourceError(f"a mention must name its user (row {int(frame['target'].is_null().arg_max() or 0) + 1})")
    return _assemble(frame, ratings)


def read_mentions(given: Any, ratings: Ratings, *, sure_only: bool = True, **names: str | None) -> Mentions:
    """Return mentions from a CSV, TSV, JSONL or Parquet file, or from a table; see `mentions_from_table`.

    A find of tier *possible* waits for a person, so of what the finder found only the *sure* rows count, unless
    ``sure_only`` is off.
    """
    path = Path(given) if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_frame(path)
    if sure_only and _TIER in frame.columns:
        frame = frame.filter(pl.col(_TIER) == "sure")
    try:
        return mentions_from_table(frame, ratings, **names)
    except SourceError as error:
        raise SourceError(error.rule, file=path, value=error.value) from error


def read_frame(path: str | Path) -> pl.DataFrame:
    """Return the table of a CSV, TSV, JSONL or Parquet file; the name's ending tells which."""
    file = Path(path)
    if not file.is_file():
        raise SourceError("there is no such file", file=file)
    suffix = next((s for s in reversed(file.suffixes) if s not in (".gz", ".zst")), ".csv")
    try:
        if suffix == ".parquet":
            return pl.read_parquet(file)
        if suffix in (".jsonl", ".ndjson"):
            return pl.read_ndjson(file)
        return _plain_header(
            pl.read_csv(file, separator="\t" if suffix in (".tsv", ".inter") else ",", infer_schema_length=None)
        )
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise SourceError(f"it cannot be read as {suffix[1:]}: {str(error).splitlines()[0]}", file=file) from error


def _plain_header(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the types that RecBole writes behind a column's name (``user_id:token``)."""
    return frame.rename({name: name.split(":")[0] for name in frame.columns})


def _columns(names: list[str], **given: str | None) -> dict[str, str]:
    """Find which column is the user, the item and, where there is one, the rating; names given win."""
    folded = {fold(name): name for name in reversed(names)}
    found = {}
    for role in ("user", "item", "rating"):
        wanted = given.get(role)
        if wanted is not None and wanted not in names:
            raise SourceError(f"there is no column {wanted!r} for the {role}; the columns are {', '.join(names)}")
        match = wanted or next((folded[name] for name in NAMES[role] if name in folded), None)
        if match is not None:
            found[role] = match
        elif role != "rating":
            raise SourceError(f"no column for the {role} was recognised among {', '.join(names)}")
    return found


def _said(frame: pl.DataFrame, column: str | None) -> pl.Series:
    if column is None:
        return pl.Series("said", np.full(len(frame), np.nan, np.float32))
    if not frame[column].dtype.is_numeric():
        raise SourceError("a mention's rating must be a number", value=str(frame[column].dtype))
    return frame[column].cast(pl.Float32).fill_null(np.nan)


def _encode(ids: IdMap, wanted: pl.Series) -> NDArray[np.int32]:
    """Give ids the numbers of the ratings, whichever of text and number each side wrote them in."""
    if ids.is_text:
        return ids.encode(wanted.cast(pl.String))
    if wanted.dtype.is_integer():
        return ids.encode(wanted)
    numbers = wanted.cast(pl.String).cast(pl.Int64, strict=False)
    codes = ids.encode(numbers.fill_null(0))
    return np.where(numbers.is_not_null().to_numpy(), codes, -1).astype(np.int32)


def _assemble(rows: pl.DataFrame, ratings: Ratings) -> Mentions:
    """Sort rows by target and item, keep the last of a repeated pair, and count what is left out."""
    named = rows.drop_nulls("named")
    once = named.unique(["target", "named"], keep="last", maintain_order=True)
    numbered = once.with_columns(item=_encode(ratings.item_ids, once["named"])).sort(
        "target", "item", maintain_order=True
    )
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
    said = _with_own_ratings(ratings, np.repeat(users, counts), items, inside["said"].to_numpy())
    indptr = np.concatenate(([0], np.cumsum(counts)))
    outside = per_target["outside"].to_numpy().astype(np.int64)
    return Mentions(per_target["target"], users, indptr, items, said, outside, intake)


def own_ratings(ratings: Ratings, users: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
    """Look up one rating per (user, item) pair; nan where there is none."""
    found = np.full(len(users), np.nan, np.float32)
    for position, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
        if user < 0:
            continue
        row = ratings.row(user)
        place = row.start + int(np.searchsorted(ratings.items[row], item))
        if place < row.stop and ratings.items[place] == item:
            found[position] = ratings.values[place]
    return found


def _with_own_ratings(
    ratings: Ratings, users: NDArray[np.int32], items: NDArray[np.int32], said: NDArray[np.float32]
) -> NDArray[np.float32]:
    filled = said.astype(np.float32, copy=True)
    missing = np.isnan(filled)
    filled[missing] = own_ratings(ratings, users[missing], items[missing])
    return filled
