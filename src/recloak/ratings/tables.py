"""Ratings from tables in memory: polars, pandas, Arrow, or plain columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak.errors import InputError, SourceError
from recloak.ratings.ids import IdMap
from recloak.ratings.model import Ratings, Scale, assemble

USER_NAMES = (
    "user",
    "user_id",
    "userid",
    "uid",
    "customer",
    "customer_id",
    "customerid",
    "reviewer",
    "reviewer_id",
    "reviewerid",
    "member",
    "member_id",
    "account",
)
ITEM_NAMES = (
    "item",
    "item_id",
    "itemid",
    "iid",
    "movie",
    "movie_id",
    "movieid",
    "book",
    "book_id",
    "bookid",
    "product",
    "product_id",
    "productid",
    "asin",
    "isbn",
    "track",
    "song",
    "artist",
    "business_id",
    "game",
    "title",
)
RATING_NAMES = ("rating", "score", "stars", "overall", "value", "rate", "ratings")
TIME_NAMES = ("timestamp", "time", "date", "datetime", "created_at", "unixreviewtime", "rated_at", "ts")


def find_columns(
    names: list[str],
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
) -> dict[str, str]:
    """Find which column is the user, item, rating and, where there is one, time; names given win."""
    found: dict[str, str] = {}
    wanted = {
        "user": (user, USER_NAMES),
        "item": (item, ITEM_NAMES),
        "rating": (rating, RATING_NAMES),
        "time": (time, TIME_NAMES),
    }
    folded = {_fold(name): name for name in names}
    for role, (given, known) in wanted.items():
        if given is not None:
            if given not in names:
                raise SourceError(f"there is no column {given!r} for the {role}; the columns are {', '.join(names)}")
            found[role] = given
            continue
        match = next((folded[_fold(name)] for name in known if _fold(name) in folded), None)
        if match is not None:
            found[role] = match
        elif role != "time":
            raise SourceError(
                f"no column for the {role} was recognised among {', '.join(names)}; name it with --{role}"
            )
    return found


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", "").replace(" ", "").replace("-", "")


def ratings_from_table(
    table: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    scale: Scale | None = None,
) -> Ratings:
    """Make ratings from a polars, pandas or Arrow table."""
    frame = _as_polars(table)
    columns = find_columns(frame.columns, user=user, item=item, rating=rating, time=time)
    times = frame[columns["time"]] if "time" in columns else None
    return ratings_from_columns(
        frame[columns["user"]], frame[columns["item"]], frame[columns["rating"]], times, scale=scale
    )


def _as_polars(table: Any) -> pl.DataFrame:
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(table)
    raise InputError(f"a table must be of polars, pandas or Arrow, got {type(table).__name__}")


def ratings_from_columns(
    users: Any, items: Any, values: Any, times: Any = None, *, scale: Scale | None = None
) -> Ratings:
    """Make ratings from equally long columns."""
    user_column, item_column = pl.Series("user", users), pl.Series("item", items)
    ratings = _checked_values(
        pl.Series("rating", np.asarray(values) if isinstance(values, (list, tuple)) else values), scale
    )
    seconds = None if times is None else _seconds(pl.Series("time", times))
    lengths = {len(user_column), len(item_column), len(ratings)} | (set() if seconds is None else {len(seconds)})
    if len(lengths) > 1:
        raise InputError(f"the columns must be equally long, got {sorted(lengths)}")
    if not len(ratings):
        raise SourceError("there are no ratings")
    user_ids, item_ids = IdMap.of(user_column), IdMap.of(item_column)
    return assemble(
        user_ids.encode(user_column),
        item_ids.encode(item_column),
        ratings,
        seconds,
        user_ids=user_ids,
        item_ids=item_ids,
        scale=scale,
    )


def _checked_values(values: pl.Series, scale: Scale | None) -> NDArray[np.float32]:
    if not values.dtype.is_numeric():
        raise SourceError("a rating must be a number", value=values.dtype)
    if values.null_count():
        raise SourceError("a rating must not be empty")
    numbers = values.to_numpy().astype(np.float32)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        raise SourceError(f"a rating must be a finite number (row {row + 1})", value=float(numbers[row]))
    if scale is not None and ((numbers < scale.low) | (numbers > scale.high)).any():
        row = int(np.argmax((numbers < scale.low) | (numbers > scale.high)))
        raise SourceError(
            f"a rating must lie between {scale.low:g} and {scale.high:g} (row {row + 1})",
            value=float(numbers[row]),
        )
    return numbers


def _seconds(times: pl.Series) -> NDArray[np.int64]:
    if times.null_count():
        raise SourceError("a time must not be empty")
    if times.dtype.is_temporal():
        return times.cast(pl.Datetime("ms")).dt.epoch("s").to_numpy().astype(np.int64)
    if not times.dtype.is_numeric():
        raise SourceError("times must be numbers or dates", value=times.dtype)
    return times.to_numpy().astype(np.int64)
