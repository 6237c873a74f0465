"""Readers that share no code with ours, to compare with: they return None where they refuse, or where it is a matter
of taste what is right.

Text is split by Python where it has no quotes, and by polars where it has; Netflix files are read line by line;
Parquet, which we read by pyarrow, is read by polars.
"""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from tests.ratings.readers.made_files import LAYOUTS, made_rows

Table = dict[tuple[str, str], tuple[float, int | None]]
Read = tuple[int, Table]  # rows, and the latest rating of each pair

_NUMBER = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *\r?")
_MARKS = {
    "ratings.csv": ",", "bare.csv": ",", "quoted.csv": ",", "semi.csv": ";", "ratings.tsv": "\t", "x.inter": "\t",
    "ratings.dat": "::",
}  # fmt: skip
_NO_HEADER = ("bare.csv", "ratings.dat", "blanks.txt")
_UNITS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (math.inf, 10**9))


def by_polars(data: bytes, name: str) -> Read | None:
    """Read text whose header is still whole."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    head, _, body = data.partition(b"\n")
    if name in _NO_HEADER:
        body = data.removeprefix(b"# a comment\n")
        if any(line.lstrip().startswith((b"#", b"%")) for line in body.split(b"\n")[:5]):
            return None
    elif head.rstrip(b"\r") != LAYOUTS[name](made_rows(1)).partition(b"\n")[0].rstrip(b"\r"):
        return None
    quoted = b'"' in body and name in ("ratings.csv", "bare.csv", "quoted.csv", "semi.csv")
    if name == "ratings.tsv" and b'"' in body:
        return None
    rows = _quoted_rows(body, _MARKS[name]) if quoted else _plain_rows(body, _MARKS.get(name))
    return None if rows is None else _table(rows)


def _plain_rows(body: bytes, mark: str | None) -> list[list[str]]:
    lines = [_text(line.removesuffix(b"\r")) for line in body.split(b"\n") if line.strip(b" \t\r")]
    return [re.split("[ \t]+", line.strip(" \t\r")) if mark is None else line.split(mark) for line in lines]


def _quoted_rows(body: bytes, mark: str) -> list[list[str]] | None:
    """Split by polars; where a quote stands inside a field or three in a row, parsers differ by taste."""
    sign = re.escape(mark.encode())
    without = re.sub(rb"(?:^|(?<=[\n" + sign + rb']))"[^"\n]*"(?=\r?\n|\r?$|' + sign + rb")", b"", body)
    if b'"' in without:
        return None
    try:
        frame = pl.read_csv(body, separator=mark, has_header=False, infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return None
    rows = [list(row) for row in frame.iter_rows()]
    return None if any(None in row for row in rows) else [[part.removesuffix("\r") for part in row] for row in rows]


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _table(rows: Sequence[Sequence[str]]) -> Read | None:
    made: list[tuple[str, str, float, int]] = []
    for row in rows:
        value = _value(row[2]) if len(row) == 4 and row[0] and row[1] else None
        time = None if value is None else _seconds(row[3].strip())
        if value is None or time is None:
            return None
        made.append((row[0], row[1], value, time))
    return (len(made), _latest(made)) if made else None


def _value(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    with np.errstate(over="ignore"):
        value = float(np.float32(float(text)))
    return value if math.isfinite(value) else None


def _seconds(text: str) -> int | None:
    if re.fullmatch(r"-?[0-9]{1,11}(\.[0-9]{1,3})?", text):
        return math.floor(float(text))
    if re.fullmatch(r"[1-9][0-9]{11,18}", text):
        return _of_unit(int(text))
    for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S"):
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007,RUF100
        except ValueError:
            continue
        return int(moment.replace(tzinfo=UTC).timestamp()) if text.isascii() else None
    return None


def _of_unit(time: int) -> int:
    return time // next(unit for bound, unit in _UNITS if abs(time) < bound)


def _latest(rows: Sequence[tuple[str, str, float, int]]) -> Table:
    table: Table = {}
    for user, item, value, time in rows:
        known = table.get((user, item))
        if known is None or known[1] is None or time >= known[1]:
            table[user, item] = (value, time)
    return table


def by_json(data: bytes, _: str) -> Read | None:
    """Read JSON Lines with nothing but Python, where every value is of the usual type."""
    made = []
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not raw.strip():
            continue
        try:
            record = json.loads(_text(raw), object_pairs_hook=lambda pairs: pairs)
        except (ValueError, RecursionError):
            return None
        if not isinstance(record, list) or [name for name, _ in record] != ["user_id", "business_id", "stars", "date"]:
            return None
        user, item, value, time = (value for _, value in record)
        rating = _value(str(value)) if type(value) in (int, float) else None
        if type(user) is not int or type(item) is not int or rating is None or type(time) is not int:
            return None
        made.append((str(user), str(item), rating, _of_unit(time)))
    return (len(made), _latest(made)) if made else None


def by_lines(data: bytes, _: str) -> Read | None:
    """Read the Netflix layout with nothing but Python."""
    made, item = [], None
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = _text(raw.removesuffix(b"\r"))
        if not line.strip(" \t\r"):
            continue
        if re.fullmatch(r"\s*(0|[1-9][0-9]{0,17}):\s*", line):
            item = line.strip()[:-1]
            continue
        fields = line.split(",")
        if item is None or len(fields) != 3 or not re.fullmatch(r"0|-?[1-9][0-9]{0,17}", fields[0]):
            return None
        value, time = _value(fields[1]), _seconds(fields[2].strip())
        if value is None or time is None:
            return None
        made.append((fields[0], item, value, time))
    return (len(made), _latest(made)) if made else None


def parquet_by_polars(data: bytes, _: str) -> Read | None:
    """Read Parquet by polars, and every value by Python."""
    try:
        columns = pl.read_parquet(io.BytesIO(data), columns=["user", "item", "rating", "time"]).to_dict(as_series=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError):
        return None
    made = []
    for user, item, rating, time in zip(*(columns[role] for role in ("user", "item", "rating", "time")), strict=True):
        if user is None or item is None or rating is None or (seconds := _moment(time)) is None:
            return None
        with np.errstate(over="ignore"):
            made.append((_id(user), _id(item), float(np.float32(rating)), seconds))
    return (len(made), _latest(made)) if made else None


def _moment(time: Any) -> int | None:
    if isinstance(time, datetime):
        return math.floor(time.replace(tzinfo=time.tzinfo or UTC).timestamp())
    if isinstance(time, date):
        return int(datetime(time.year, time.month, time.day, tzinfo=UTC).timestamp())
    if isinstance(time, str):
        return _seconds(time.strip())
    if isinstance(time, int) or (isinstance(time, float | Decimal) and math.isfinite(time)):
        return _of_unit(math.floor(time))
    return None


def _id(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)


OTHERS: dict[str, Callable[[bytes, str], Read | None]] = {
    "text": by_polars,
    "netflix": by_lines,
    "jsonl": by_json,
    "parquet": parquet_by_polars,
}
