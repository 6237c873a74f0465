"""A differential fuzzer: damaged files of every layout, read by us and by independent readers written on the spot.

Each case is made from a seed: a small lawful file is mutated at the level of bytes, fields, lines or packing. Then

- if we refuse it, it must be one sentence and an `InputError`; anything else is a bug;
- if an independent reader accepts it as well, rows, ids, ratings and times must agree.

The independent readers (`other_readers`) share no code with ours.
"""

import gzip
import io
import random
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from tests.ratings.readers.made_files import LAYOUTS, PACKERS, Row, made_rows
from tests.ratings.readers.other_readers import OTHERS, Table

from recloak._core.errors import InputError
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import read

_BYTES = (
    b"\0", b"\r", b"\n", b'"', b'""', b",", b";", b"\t", b"::", b":", b" ", b"#", b"\xef\xbb\xbf", b"\xff",
    b"\xc3", b"\xe9", b"-", b"+", b".", b"e", b"_", b"\x1f\x8b",
)  # fmt: skip
_FIELDS = (
    "", " ", "nan", "inf", "-inf", "1e400", "1e-400", "-0", "007", "+7", " 7", "7 ", "9" * 19, "9" * 25, "-1", "0",
    "3.5", "3,5", "1_0", "0x10", "٣", "é", "a,b", '"', '"a"', '"a', 'a"b', "a\rb", "#1", "%", "None", "NULL", "true",
    "2005-03-04", "2005-03-04T05:06:07Z", "2005-03-04 05:06:07", "2005-02-30", "20050304", "978300760", "978300760000",
    "978300760123456", "978300760.25", "1e9", "1969-12-31", "3.4028236e38", "16777217", "0.1", "5" * 400, "5" * 401,
    "1:", ":", "::", "x" * 300,
)  # fmt: skip


@dataclass
class Findings:
    """What happened to the cases so far."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        """Add the findings of other cases."""
        self.counts.update(other.counts)
        self.problems += other.problems


KINDS = {"r.parquet": "parquet", "combined_data_1.txt": "netflix", "r.jsonl": "jsonl"}


def run_case(seed: int, folder: Path, bases: dict[str, bytes]) -> Findings:
    """Make the case of a seed, read it in both ways and compare."""
    chance = random.Random(seed)
    special = [name for name in bases if "parquet" in name or "combined" in name]
    name = chance.choice([*sorted(bases), *special, *special])
    kind = KINDS.get(name, "text")
    data = _mutated(bases[name], kind, chance)
    packed = chance.choice(sorted(PACKERS)) if chance.random() < 0.25 else ""
    raw = PACKERS[packed](data)
    if packed and chance.random() < 0.3:
        raw = _mutate_bytes(raw, chance)
    path = folder / f"case{seed}.{name}"
    path.write_bytes(raw)
    found = Findings()
    try:
        _compare(path, raw, name, kind, seed, found)
    finally:
        path.unlink()
    return found


def _compare(path: Path, raw: bytes, name: str, kind: str, seed: int, found: Findings) -> None:
    options = ReadOptions(reader="netflix") if kind == "netflix" else ReadOptions()
    ours = _ours(path, options, seed, found)
    plain = _unpacked(raw)
    # What we refuse nobody else is asked about: polars may abort where Parquet is damaged.
    theirs = None if ours is None or plain is None else OTHERS[kind](plain, name)
    found.counts[f"{kind}: {'accepted' if ours is not None else 'refused'}"] += 1
    if ours is None or theirs is None:
        return
    found.counts[f"{kind}: compared"] += 1
    if (told := _difference(ours, theirs)) is not None:
        found.problems.append(f"seed {seed} ({path.name}): {told}")


def _ours(path: Path, options: ReadOptions, seed: int, found: Findings) -> tuple[int, Table] | None:
    try:
        ratings = read(path, options=options)
    except InputError as error:
        sentence = str(error)
        if "\n" in sentence or len(sentence) > 500 + len(str(path)):
            found.problems.append(f"seed {seed} ({path.name}): not one sentence: {sentence[:300]!r}")
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        found.problems.append(f"seed {seed} ({path.name}): {type(error).__name__}: {error}"[:300])
        return None
    table: Table = {}
    for row in ratings.to_polars().iter_rows(named=True):  # what lost the name of its ratings is read as uses
        table[str(row["user"]), str(row["item"])] = (row.get("rating", 1.0), row.get("time"))
    return ratings.intake.n_rows, table


def _difference(ours: tuple[int, Table], theirs: tuple[int, Table]) -> str | None:
    if ours[0] != theirs[0]:
        return f"{ours[0]} rows against {theirs[0]}"
    if ours[1].keys() != theirs[1].keys():
        odd = sorted(ours[1].keys() ^ theirs[1].keys())[:3]
        return f"pairs differ: {odd}"
    for pair, (value, time) in ours[1].items():
        other, moment = theirs[1][pair]
        if value != other or (time is not None and moment is not None and time != moment):
            return f"{pair} has {(value, time)} against {(other, moment)}"
    return None


def _unpacked(raw: bytes) -> bytes | None:
    try:
        if raw.startswith(b"\x1f\x8b"):
            return gzip.decompress(raw)
        if raw.startswith(b"\x28\xb5\x2f\xfd"):
            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            return reader.read()
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        return None
    return raw


# Mutations.


def _mutated(data: bytes, kind: str, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
        ways: Sequence[Callable[[bytes, random.Random], bytes]] = (
            (_mutate_bytes, _mutate_parquet)
            if kind == "parquet"
            else (_mutate_bytes, _mutate_field, _mutate_field, _mutate_lines)
        )
        data = chance.choice(ways)(data, chance)
    return data


def _mutate_bytes(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data)) if chance.random() < 0.7 else min(len(data) - 1, chance.randrange(60))
    way = chance.randrange(6)
    if way == 0:
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if way == 1:
        return data[:at] + chance.choice(_BYTES) + data[at:]
    if way == 2:
        return data[:at] + data[at + chance.randrange(1, 9) :]
    if way == 3:
        return data[:at]
    if way == 4:
        end = min(len(data), at + chance.randrange(1, 200))
        return data[:end] + data[at:end] + data[end:]
    return data[:at] + chance.choice(_BYTES) + data[at + 1 :]


def _mutate_field(data: bytes, chance: random.Random) -> bytes:
    """Put an odd value in place of a field."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    mark = next((mark for mark in (b"::", b",", b";", b"\t", b"  ") if mark in lines[at]), b",")
    fields = lines[at].split(mark)
    fields[chance.randrange(len(fields))] = chance.choice(_FIELDS).encode(
        chance.choice(("utf-8", "utf-8", "utf-8", "utf-16-le"))
    )
    lines[at] = mark.join(fields)
    return b"\n".join(lines)


def _mutate_lines(data: bytes, chance: random.Random) -> bytes:
    """Repeat, drop, swap or end lines in another way."""
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    way = chance.randrange(7)
    if way == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 1:
        lines.insert(at, lines[other])
    elif way == 2:
        del lines[at]
    elif way == 3:
        lines.insert(at, chance.choice((b"", b" ", b"# note", b"% note", b"\r", b",,,", b"7:")))
    elif way == 4:
        return b"\r\n".join(lines)
    elif way == 5:
        lines[at] += b"\r"
    else:
        return data.rstrip(b"\n")
    return b"\n".join(lines)


def _mutate_parquet(data: bytes, chance: random.Random) -> bytes:
    """Write the table again with another type, encoding, order, gap or value; damaged ones stay as they are."""
    try:
        table = pq.read_table(io.BytesIO(data))
    except Exception:
        return data
    names = table.column_names
    at = chance.randrange(len(names))
    way = chance.randrange(4)
    try:
        if way == 0:
            table = table.set_column(at, names[at], table[at].cast(chance.choice(_TYPES), safe=False))
        elif way == 1:
            values = table[at].to_pylist()
            values[chance.randrange(len(values))] = chance.choice((None, 0, -1, 2**31, 2**62, 7))
            table = table.set_column(at, names[at], pa.array(values, table[at].type))
        elif way == 2:
            table = table.take(pa.array(chance.choices(range(len(table)), k=chance.randrange(len(table) + 1))))
        raw = io.BytesIO()
        pq.write_table(
            table,
            raw,
            compression=chance.choice(("none", "snappy", "zstd", "gzip", "lz4", "brotli")),
            use_dictionary=chance.random() < 0.5,
            data_page_version=chance.choice(("1.0", "2.0")),
            row_group_size=chance.choice((1, 3, 1000)),
            write_statistics=chance.random() < 0.7,
            store_schema=chance.random() < 0.7,
        )
        return raw.getvalue()
    except (pa.ArrowException, OverflowError, TypeError, ValueError, IndexError):
        return data


_TYPES: tuple[Any, ...] = (
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(),
    pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.binary(), pa.bool_(), pa.timestamp("s"),
    pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ms", "Asia/Tokyo"), pa.date32(),
    pa.date64(), pa.decimal128(20, 3), pa.dictionary(pa.int32(), pa.string()), pa.time32("s"), pa.duration("ms"),
    pa.list_(pa.int64()),
)  # fmt: skip


def made_bases(rows: Sequence[Row] | None = None) -> dict[str, bytes]:
    """Return a small lawful file of every layout."""
    return {name: make(rows or made_rows(12)) for name, make in LAYOUTS.items()}


def run_cases(first: int, n: int, folder: Path, bases: dict[str, bytes]) -> Findings:
    """Run n cases from a seed on."""
    found = Findings()
    for seed in range(first, first + n):
        found.add(run_case(seed, folder, bases))
    return found
