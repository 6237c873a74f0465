"""Small files of every layout, all with the same ratings, and ways to pack them."""

import gzip
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import polars as pl
import zstandard

DAY = 86_400
Row = tuple[int, int, float, int]


def made_rows(n: int) -> list[Row]:
    """Return ratings without a repeated pair, at whole days."""
    return [(1 + k // 7, 1 + k % 7 * 3, 1.0 + (k * 5 % 9) / 2, (10_000 + k % 4000) * DAY) for k in range(n)]


def _joined(rows: Sequence[Row], separator: str) -> bytes:
    return "".join(
        separator.join(f"{part:g}" if part == row[2] else str(part) for part in row) + "\n" for row in rows
    ).encode()


def _netflix(rows: Sequence[Row]) -> bytes:
    by_item: dict[int, list[Row]] = {}
    for row in rows:
        by_item.setdefault(row[1], []).append(row)
    parts = []
    for item, its in by_item.items():
        parts.append(f"{item}:\n")
        parts += [f"{user},{value:g},{datetime.fromtimestamp(time, UTC):%Y-%m-%d}\n" for user, _, value, time in its]
    return "".join(parts).encode()


def _parquet(rows: Sequence[Row]) -> bytes:
    raw = io.BytesIO()
    pl.DataFrame(rows, ["user", "item", "rating", "time"], orient="row").write_parquet(raw)
    return raw.getvalue()


def _json_lines(rows: Sequence[Row]) -> bytes:
    names = ("user_id", "business_id", "stars", "date")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode()


LAYOUTS: dict[str, Callable[[Sequence[Row]], bytes]] = {
    "ratings.csv": lambda rows: b"userId,movieId,rating,timestamp\n" + _joined(rows, ","),
    "bare.csv": lambda rows: _joined(rows, ","),
    "quoted.csv": lambda rows: (
        b'"user","item","rating","time"\n' + b'"' + _joined(rows, '","').replace(b"\n", b'"\n"')[:-1]
    ),
    "semi.csv": lambda rows: b"user;item;rating;time\r\n" + _joined(rows, ";").replace(b"\n", b"\r\n"),
    "ratings.tsv": lambda rows: b"user\titem\trating\ttime\n" + _joined(rows, "\t"),
    "ratings.dat": lambda rows: _joined(rows, "::"),
    "blanks.txt": lambda rows: b"# a comment\n" + _joined(rows, "  "),
    "x.inter": lambda rows: b"user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + _joined(rows, "\t"),
    "combined_data_1.txt": _netflix,
    "r.jsonl": _json_lines,
    "r.parquet": _parquet,
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda raw: raw,
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".two.gz": lambda raw: gzip.compress(raw[:99]) + gzip.compress(raw[99:]),
    ".two.zst": lambda raw: zstandard.compress(raw[:99]) + zstandard.compress(raw[99:]),
}
