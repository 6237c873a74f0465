"""Hostile files: each is read as it was meant, or refused in one sentence with exit code 2; nothing else happens."""

import datetime as dt
import decimal
import gzip
import io
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.ratings.readers.test_pipes import piped

from recloak._core.errors import SourceError
from recloak._ratings import delimited
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import read

ROOT = Path(__file__).parents[3]
HEAD = b"user,item,rating,time\n"
ROW = b"1,2,3,4\n"
DATES = "its times look like calendar dates without separators"
DAYS = "its times look like numbers of days"
SOLD = [(1, 2, 2.0), (2, 2, 1.0)]
CUT = "the gzip file is cut short or damaged"
ITEM = "an item must be a whole number of up to 18 digits and a colon"
LONG = "a line must not be longer than 1,048,576 bytes"

# What the file is -> its bytes, the options, and its rows or a part of the sentence.
TEXTS: dict[str, tuple[bytes, dict[str, Any], Any]] = {
    "CR in an early line": (b"user,item,rating\n1,a\rb,3\n", {}, [(1, "a\rb", 3.0)]),
    "CR in a quoted field": (b'user,item,rating\n1,"a\rb",3\n', {}, [(1, "a\rb", 3.0)]),
    "CR between tabs": (b"user\titem\trating\n1\ta\rb\t3\n", {}, [(1, "a\rb", 3.0)]),
    "CR for some line ends": (b"user,item,rating\n1,2,3\r2,3,4\n", {}, "line 2: a row must have 3 fields, got 5"),
    "mixed line ends": (b"user,item,rating\r\n1,2,3\n2,3,4\r\n3,4,5", {}, [(1, 2, 3.0), (2, 3, 4.0), (3, 4, 5.0)]),
    "a header over two lines": (b'"user\nid",item,rating\n1,2,3\n', {"user": "user\nid"}, [(1, 2, 3.0)]),
    "a header of 100 kB": (b"user,item,rating," + b"x" * 100_000 + b"\n" + ROW, {}, [(1, 2, 3.0)]),
    "a header behind a mark": (b"#item,user,rating\n1,2,3\n", {}, [(2, 1, 3.0)]),
    "a header behind a mark and a blank": (b"# item\tuser\trating\n1\t2\t3\n", {}, [(2, 1, 3.0)]),
    "a header whose first name is a mark": (b"#,user,item,rating\n1,2,3,4\n", {}, [(2, 3, 4.0)]),
    "a row that begins with a mark": (b"#1,2,3\n4,5,3\n", {}, "line 1: a line that begins with '#' is a comment, but"),
    "rows that all begin with a mark": (b"#1,2,3\n#4,5,3\n", {}, "there is nothing but comments"),
    "a comment, then a header": (b"# my data, a, b\nuser,item,rating\n1,2,3\n", {}, [(1, 2, 3.0)]),
    "NUL": (HEAD + b"1,\0,3,4\n", {}, "is a binary file"),
    "NUL far below": (HEAD + ROW * 20_000 + b"1,\0,3,4\n", {}, "line 20002: a line must not hold a NUL byte"),
    "a byte order mark": (b"\xef\xbb\xbf" + HEAD + ROW, {}, [(1, 2, 3.0, 4)]),
    "a byte order mark and no header": (b"\xef\xbb\xbf1,2,3\n", {}, [(1, 2, 3.0)]),
    "a byte order mark between joined files": (b"1,2,3\n\xef\xbb\xbf1,3,4\n", {}, "must not begin with a byte"),
    "a byte order mark inside of an id": ("user,item,rating\n1,a\ufeffb,3\n".encode(), {}, [(1, "a\ufeffb", 3.0)]),
    "half a JSON object": (b'{"user": 1,\n', {}, "its first line is no whole JSON object"),
    "a byte order mark alone": (b"\xef\xbb\xbf", {}, "the file is empty"),
    "digits of another script": (HEAD + "1,2,٣,4\n".encode(), {}, "a rating must be a number, got '٣'"),
    "a time in another script": (HEAD + "1,2,3,٢٠٠٥-03-04\n".encode(), {}, "a time must be in seconds"),
    "an id in another script": (HEAD + "١,2,3,4\n".encode(), {}, [("١", 2, 3.0, 4)]),
    "an id with a blank of no width": (
        b"user,item,rating\n1,2,3\n1\xe2\x80\x8b,2,4\n",
        {},
        [("1", 2, 3.0), ("1\u200b", 2, 4.0)],
    ),
    "one letter in two spellings": (
        "user,item,rating\n\u00e9,1,3\ne\u0301,1,4\n".encode(),
        {},
        [("e\u0301", 1, 4.0), ("\u00e9", 1, 3.0)],
    ),
    "other separators of lines": (
        "user,item,rating\n1,a\u2028b,3\n2,c\x85d,4\n".encode(),
        {},
        [(1, "a\u2028b", 3.0), (2, "c\x85d", 4.0)],
    ),
    "control characters that end lines elsewhere": (
        b"user,item,rating\n1,a\x1eb,3\n2,c\x0cd,4\n",
        {},
        [(1, "a\x1eb", 3.0), (2, "c\x0cd", 4.0)],
    ),
    "the end of a file of DOS": (HEAD + ROW + b"\x1a", {}, "line 3: a row must have 4 fields, got 1"),
    "UTF-8 in too many bytes": (
        b"user,item,rating\n\xc0\xafx,1,3\n/x,1,4\n",
        {},
        [("/x", 1, 4.0), ("\u00c0\u00afx", 1, 3.0)],
    ),
    "a blank that is no ASCII, before a rating": ("user,item,rating\n1,2,\u00a03\n".encode(), {}, [(1, 2, 3.0)]),
    "a percentage": (b"user,item,rating\n1,2,70%\n", {}, "a rating must be a number, got '70%'"),
    "a part of ten": (b"user,item,rating\n1,2,7/10\n", {}, "a rating must be a number, got '7/10'"),
    "a header again below": (HEAD + ROW + HEAD + ROW, {}, "line 3: a rating must be a number, got 'rating'"),
    "a leap second": (HEAD + b"1,2,3,2016-12-31T23:59:60Z\n", {}, "a time must be in seconds"),
    "an hour 24": (HEAD + b"1,2,3,2005-03-04T24:00:00\n", {}, "a time must be in seconds"),
    "another separator below": (b"user;item;rating\n1;2;3\n4,5,6\n", {}, "line 3: a row must have 3 fields, got 1"),
    "500 empty gzip members before one": (gzip.compress(b"") * 500 + gzip.compress(HEAD + ROW), {}, [(1, 2, 3.0, 4)]),
    "gzip and zeros": (gzip.compress(HEAD + ROW) + b"\0" * 1000, {}, CUT),
    "zstd inside of gzip": (gzip.compress(zstandard.compress(HEAD + ROW)), {}, "is packed twice"),
    "JSON: a comment": (b'{"user":1,"item":2,"rating":3}\n// c\n', {}, "line 2: a line must be one JSON object"),
    "JSON: NaN": (b'{"user":1,"item":2,"rating":NaN}\n', {}, "a rating must be a finite number (row 1)"),
    "JSON: an object for an id": (
        b'{"user":{"$oid":"5a"},"item":2,"rating":3}\n',
        {},
        "no column for the user was recognised among 'item', 'rating', 'user.$oid'",
    ),
    "JSON: two objects in a line": (
        b'{"user":1,"item":2}{"user":2,"item":2}\n',
        {},
        "its first line is no whole JSON object",
    ),
    "JSON: 5,000 lists in each other": (
        b'{"user":1,"x":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
        {},
        "its first line is no whole",
    ),
    "two signs": (HEAD + b"1,2,++nan,4\n", {}, "a rating must be a number, got '++nan'"),
    "a huge exponent": (HEAD + b"1,2,1e999,4\n", {}, "a rating must be a finite number"),
    "an underscore": (HEAD + b"1,2,1_0,4\n", {}, "a rating must be a number"),
    "a rating of 72 digits": (HEAD + b"1,2,3." + b"0" * 71 + b",4\n", {}, [(1, 2, 3.0, 4)]),
    "a rating of 5,000 digits": (HEAD + b"1,2," + b"3" * 5000 + b",4\n", {}, "a rating must be a number, got '333"),
    "a time of 20 digits": (HEAD + b"1,2,3," + b"9" * 20 + b"\n", {}, "a time must be in seconds"),
    "the first moment": (HEAD + b"1,2,3,0001-01-01T00:00:00+14:00\n", {}, [(1, 2, 3.0, -62_135_647_200)]),
    "the last moment": (HEAD + b"1,2,3,9999-12-31T23:59:59-14:00\n", {}, [(1, 2, 3.0, 253_402_351_199)]),
    "a zone by name": (HEAD + b"1,2,3,2005-03-04 12:00:00 EST\n", {}, "a time must be in seconds"),
    "UTC by name": (HEAD + b"1,2,3,2005-03-04 12:00:00 UTC\n", {}, [(1, 2, 3.0, 1_109_937_600)]),
    "dates of eight digits": (HEAD + b"1,2,3,20050304\n1,3,3,20051231\n", {}, DATES),
    "dates of ten digits": (HEAD + b"1,2,3,2005030412\n", {}, DATES),
    "dates of twelve digits": (HEAD + b"1,2,3,200503041200\n", {}, DATES),
    "dates of fourteen digits": (HEAD + b"1,2,3,20050304120000\n", {}, DATES),
    "days of a spreadsheet": (HEAD + b"1,2,3,45354\n1,3,3,45360\n", {}, DAYS),
    "days and hours of a spreadsheet": (HEAD + b"1,2,3,45354.75\n1,3,3,45360.5\n", {}, DAYS),
    "the first and last days of a spreadsheet": (HEAD + b"1,2,3,30000\n1,3,3,60000\n", {}, DAYS),
    "seconds, one like a day": (HEAD + b"1,2,3,45354\n1,2,4,60001\n", {}, [(1, 2, 4.0, 60_001)]),
    "a returned good": (b"customer,product,quantity\n1,2,1\n1,3,-1\n", {}, "line 3: a count must be a whole number"),
    "a returned good that is skipped": (b"user,item,quantity\n1,2,2\n2,2,1\n1,3,-1\n", {"skip_bad": True}, SOLD),
    "half a good": (b"customer,product,quantity\n1,2,1\n1,3,0.5\n", {}, "line 3: a count must be a whole number"),
    "years": (HEAD + b"1,2,3,2005\n1,3,3,1999\n", {}, DATES),
    "dates that are left out": (HEAD + b"1,2,3,20050304\n", {"time": "none"}, [(1, 2, 3.0)]),
    "seconds, one like a date": (HEAD + b"1,2,3,20050304\n1,2,4,20059304\n", {}, [(1, 2, 4.0, 20059304)]),
    "ids at the ends of 64 bits": (
        b"user,item,rating\n9223372036854775807,1,2\n-9223372036854775807,1,2\n",
        {},
        [(-(2**63) + 1, 1, 2.0), (2**63 - 1, 1, 2.0)],
    ),
    "an id beyond 64 bits": (b"user,item,rating\n9223372036854775808,1,2\n", {}, [("9223372036854775808", 1, 2.0)]),
    "one user in two encodings, sorted": (
        "user,item,rating\na,x,3\nzé,x,1\n".encode() + "zé,x,5\nzé,y,5\n".encode("latin-1"),
        {},
        [("a", "x", 3.0), ("zé", "x", 5.0), ("zé", "y", 5.0)],
    ),
    "a line of 3 MB": (b"user,item,rating\n1,2,3\n" + b"a" * 3_000_000 + b",1,2\n", {}, f"line 3: {LONG}"),
    "a line of 1.5 MB": (b"user,item,rating\n1,2,3\n" + b"a" * 1_500_000 + b",1,2\n", {}, f"line 3: {LONG}"),
    "a first line of 3 MB": (b"a" * 3_000_000, {}, f"line 1: {LONG}"),
    "a quoted field of 3 MB": (b'user,item,rating\n1,"' + b"a" * 3_000_000 + b'",2\n', {}, LONG),
    "a gzip file that is cut short": (gzip.compress(HEAD + ROW * 9999)[:-9], {}, CUT),
    "a gzip file and garbage": (gzip.compress(HEAD + ROW) + b"xx", {}, CUT),
    "packed twice": (gzip.compress(gzip.compress(HEAD)), {}, "is packed twice"),
    "nothing, packed": (zstandard.compress(b""), {}, "the file is empty"),
    "the first bytes of gzip": (b"\x1f\x8b", {}, "the gzip file is cut short"),
    "the first bytes of zstd": (b"\x28\xb5\x2f\xfd", {}, "the zstd file is cut short"),
    "a tar archive": (b"ratings.csv".ljust(257, b"\0") + b"ustar\x0000", {}, "is a tar archive"),
    "Netflix: item 2^63": (b"9223372036854775808:\n1,3,2005-01-01\n", {}, "line 1: " + ITEM),
    "Netflix: item of 5,000 digits": (b"9" * 5000 + b":\n1,3,2005-01-01\n", {}, "line 1: " + ITEM),
    "Netflix: item in words": (b"1:\n1,3,2005-01-01\nabc:\n", {}, "line 3: " + ITEM),
    "Netflix: one item in two spellings": (b"7:\n1,3,2005-01-01\n007:\n1,3,2005-01-01\n", {}, "line 3: " + ITEM),
    "Netflix: no times": (b"7:\n1,3,2005-01-01\n", {"time": "none"}, [(1, 7, 3.0)]),
    "Netflix: a column by name": (b"7:\n1,3,2005-01-01\n", {"user": "who"}, "user=... is not for the Netflix layout"),
    "Netflix: a line of 3 MB": (b"7:\n1,3,2005-01-01\n" + b"1" * 3_000_000, {}, f"line 3: {LONG}"),
}  # fmt: skip


def check(path: Path, options: dict[str, Any], expected: Any) -> None:
    if isinstance(expected, str):
        with pytest.raises(SourceError) as caught:
            read(path, options=ReadOptions(**options))
        assert expected in str(caught.value)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < len(str(path)) + 300
    else:
        assert read(path, options=ReadOptions(**options)).to_polars().rows() == expected


@pytest.mark.parametrize("what", TEXTS)
def test_a_text_is_read_as_it_was_meant_or_refused(tmp_path, what):
    data, options, expected = TEXTS[what]
    (tmp_path / "FILE").write_bytes(data)
    check(tmp_path / "FILE", options, expected)


@pytest.mark.parametrize("what", ["CR in a quoted field", "a line of 3 MB", "NUL far below", "packed twice"])
def test_a_pipe_is_refused_or_read_alike(what):
    data, options, expected = TEXTS[what]
    with piped(data) as path:
        check(Path(path), options, expected)


def test_an_owner_may_read_long_lines_and_what_unpacks_to_much(tmp_path):
    (tmp_path / "long.csv").write_bytes(b"user,item,rating\n" + b"a" * 3_000_000 + b",1,2\n")
    assert read(tmp_path / "long.csv", options=ReadOptions(no_limit=True)).n_ratings == 1
    path = tmp_path / "bomb.csv.zst"
    path.write_bytes(zstandard.compress(HEAD + ROW * 9_000_000))
    with pytest.raises(SourceError, match="unpacks to more than 200 times its size; unpack it first, or no_limit=True"):
        read(path)
    assert read(path, options=ReadOptions(no_limit=True)).intake.n_rows == 9_000_000


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_a_look_at_a_packed_file_unpacks_no_more_than_it_needs(tmp_path, packed):
    raw = bytes(1 << 28)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(raw, 1) if packed == "gzip" else zstandard.compress(raw))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SourceError, match="is a binary file"):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB; unpacked it has 268,435


@pytest.mark.parametrize("options", [{}, {"no_limit": True}])
def test_bytes_handled_are_linear_in_the_length_of_a_line(tmp_path, monkeypatch, options):
    look, handled = delimited._refused_line, []

    def counting(data, stop, longest):
        handled.append(stop)
        return look(data, stop, longest)

    monkeypatch.setattr(delimited, "_refused_line", counting)
    n = 1 << 26
    (tmp_path / "r.csv").write_bytes(b"user,item,rating\n" + b"a" * n + b",1,2\n")
    if options:
        assert read(tmp_path / "r.csv", options=ReadOptions(**options)).n_ratings == 1
    else:
        check(tmp_path / "r.csv", options, LONG)
    assert sum(handled) <= (4 * n if options else 1 << 22)


NEW_YEARS = [1_104_537_600, 1_136_073_600]
VALUES: dict[str, Any] = {
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "list": pa.array([[1], [2]]),
    "map": pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
    "float16": pa.array(np.array([3, 4], np.float16)),
    "bool": pa.array([True, False]),
    "decimal": pa.array([decimal.Decimal("3.50"), decimal.Decimal("4.25")]),
    "decimal256": pa.array([decimal.Decimal("3.50"), decimal.Decimal("4.25")], pa.decimal256(50, 2)),
    "binary": pa.array([b"a", b"\xff"]),
    "fixed binary": pa.array([b"ab", b"cd"], pa.binary(2)),
    "category": pa.array(["a", "b"]).dictionary_encode(),
    "numbers by dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([7, 8])),
    "date32": pa.array([dt.date(2005, 1, 1), dt.date(2006, 1, 1)]),
    "date64": pa.array([dt.date(2005, 1, 1), dt.date(2006, 1, 1)], pa.date64()),
    "timestamp": pa.array([dt.datetime(2005, 1, 1), dt.datetime(2006, 1, 1)], pa.timestamp("ns")),
    "timestamp in Tokyo": pa.array(NEW_YEARS, pa.timestamp("s", "Asia/Tokyo")),
    "time32": pa.array([1, 2], pa.time32("s")),
    "duration": pa.array([1, 2], pa.duration("s")),
    "null": pa.array([None, None]),
    "uint64": pa.array([2**63, 2**64 - 1], pa.uint64()),
    "int64": pa.array([-(2**63), 2**63 - 1]),
    "large floats": pa.array([1e300, 2.0]),
    "nan": pa.array([float("nan"), 2.0]),
    "large string": pa.array(["1", "2"], pa.large_string()),
    "string view": pa.array(["1", "2"], pa.string_view()),
    "whole floats": pa.array([1.0, 2.0]),
    "eight digits": pa.array([20050304, 20060101]),
}  # fmt: skip
ACCEPTED: dict[tuple[str, str], list[Any]] = {
    ("user", "float16"): [3, 4],
    ("user", "category"): ["a", "b"],
    ("user", "numbers by dictionary"): [7, 8],
    ("user", "uint64"): [str(2**63), str(2**64 - 1)],
    ("user", "int64"): [-(2**63), 2**63 - 1],
    ("user", "large string"): ["1", "2"],
    ("user", "string view"): ["1", "2"],
    ("user", "whole floats"): [1, 2],
    ("user", "eight digits"): [20050304, 20060101],
    ("rating", "float16"): [3.0, 4.0],
    ("rating", "decimal"): [3.5, 4.25],
    ("rating", "numbers by dictionary"): [7.0, 8.0],
    ("rating", "uint64"): [2.0**63, 2.0**64],
    ("rating", "int64"): [-(2.0**63), 2.0**63],
    ("rating", "whole floats"): [1.0, 2.0],
    ("rating", "eight digits"): [20050304.0, 20060100.0],  # ratings are 32-bit floats
    ("time", "float16"): [3, 4],
    ("time", "decimal"): [3, 4],
    ("time", "numbers by dictionary"): [7, 8],
    ("time", "date32"): NEW_YEARS,
    ("time", "date64"): NEW_YEARS,
    ("time", "timestamp"): NEW_YEARS,
    ("time", "timestamp in Tokyo"): NEW_YEARS,
    ("time", "large string"): [1, 2],
    ("time", "string view"): [1, 2],
    ("time", "whole floats"): [1, 2],
}


def written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("role", ["user", "rating", "time"])
@pytest.mark.parametrize("kind", VALUES)
def test_every_kind_of_parquet_column_is_read_right_or_refused(tmp_path, role, kind, capfd):
    columns = {"user": [1, 2], "item": [1, 2], "rating": [3.0, 4.0], role: VALUES[kind]}
    path = written(tmp_path / "r.parquet", columns)
    if (role, kind) in ACCEPTED:
        assert sorted(read(path).to_polars()[role].to_list()) == sorted(ACCEPTED[role, kind])
    else:
        check(path, {}, str(path))
        assert not capfd.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        *({"compression": name} for name in ("none", "snappy", "gzip", "brotli", "lz4", "zstd")),
        *({"use_dictionary": False, "column_encoding": name} for name in ("PLAIN", "DELTA_BINARY_PACKED")),
        {"use_dictionary": False, "column_encoding": "BYTE_STREAM_SPLIT"},
        {"data_page_version": "2.0"},
        {"write_statistics": False},
        {"row_group_size": 1},
        {"version": "1.0"},
    ],
    ids=str,
)
def test_every_encoding_of_parquet_is_read(tmp_path, options):
    path = written(tmp_path / "r.parquet", {"user": [1, 2, 3], "item": [4, 5, 6], "rating": [1, 2, 3]}, **options)
    assert read(path).to_polars().rows() == [(1, 4, 1.0), (2, 5, 2.0), (3, 6, 3.0)]


def test_row_groups_of_no_rows_are_passed_over(tmp_path):
    table = pa.table({"user": [1, 2], "item": [1, 2], "rating": [3.0, 4.0]})
    with pq.ParquetWriter(tmp_path / "r.parquet", table.schema) as writer:
        for part in (table[:1], table[:0], table[1:]):
            writer.write_table(part)
    assert read(tmp_path / "r.parquet").to_polars().rows() == [(1, 1, 3.0), (2, 2, 4.0)]
    with pq.ParquetWriter(tmp_path / "none.parquet", table.schema):
        pass
    check(tmp_path / "none.parquet", {}, "there are no ratings")


def test_damaged_and_doubled_parquet_names_are_one_sentence(tmp_path):
    for store in (True, False):
        raw = io.BytesIO()
        pq.write_table(pa.table({"userXYZ": [1], "item": [1], "rating": [1]}), raw, store_schema=store)
        (tmp_path / "r.parquet").write_bytes(raw.getvalue().replace(b"userXYZ", b"user\xff\xfe\xfd"))
        check(tmp_path / "r.parquet", {}, "the Parquet file is cut short, damaged or of a kind not supported")
    doubled = pa.Table.from_arrays([pa.array([1])] * 4, names=["user", "item", "rating", "rating"])
    pq.write_table(doubled, tmp_path / "r.parquet")
    check(tmp_path / "r.parquet", {}, "two columns are named 'rating', so it is not clear which is the rating")


def test_a_small_parquet_file_of_very_many_rows_is_refused_unless_its_owner_says_so(tmp_path):
    n = 9_000_000
    columns = {"user": np.zeros(n, np.int32), "item": np.zeros(n, np.int32), "rating": np.ones(n, np.float32)}
    path = written(tmp_path / "r.parquet", columns)
    check(path, {}, "holds more than 25 rows for each of its bytes; no_limit=True reads it all the same, got 9000000")
    assert read(path, options=ReadOptions(no_limit=True)).intake.n_repeated == n - 1


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_the_zone_of_the_machine_changes_no_time(tmp_path, zone):
    """A name that the machine's own zone has was once taken for UTC."""
    (tmp_path / "r.csv").write_bytes(HEAD + b"1,2,3,2005-03-04 12:00:00 EST\n")
    (tmp_path / "plain.csv").write_bytes(HEAD + b"1,2,3,Fri Mar 04 12:00:00 2005\n")
    code = (
        "import recloak\n"
        "print(recloak.read('plain.csv').times.tolist())\n"
        "try: print(recloak.read('r.csv').times.tolist())\n"
        "except recloak.SourceError: print('refused')\n"
    )
    environment = {**os.environ, "TZ": zone, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.stdout == "[1109937600]\nrefused\n", done.stderr


def test_a_zero_with_a_minus_is_zero_in_every_layout(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n1,1,-0\n2,1,0\n3,1,1\n")
    (tmp_path / "r.jsonl").write_text('{"user":1,"item":1,"rating":-0.0}\n{"user":2,"item":1,"rating":1}\n')
    columns = {"user": [1, 2, 3], "item": [1, 1, 1], "rating": pa.array([-0.0, 0.0, 1.0], pa.float32())}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    for name in ("r.csv", "r.jsonl", "r.parquet"):
        ratings = read(tmp_path / name)
        assert not np.signbit(ratings.values).any()
        assert str(ratings.scale.low) == "0.0"


def test_an_id_with_a_nul_is_refused_where_no_text_is_read(tmp_path):
    pq.write_table(pa.table({"user": ["a\0b", "a"], "item": [1, 1], "rating": [1.0, 2.0]}), tmp_path / "r.parquet")
    check(tmp_path / "r.parquet", {}, "the user's id must not hold a NUL")
