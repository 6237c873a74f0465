"""Every documented message is really produced, and every message produced here is documented."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

from recloak._cli import common
from recloak._cli.main import as_flags
from recloak._core.errors import InputError
from recloak._ratings.options import READERS, ReadOptions
from recloak._ratings.readers import read

DOC = Path(__file__).parents[3] / "docs" / "bad-input.md"
HEAD = "userId,movieId,rating,timestamp\n"
LONG = (HEAD + "1,2,3,4\n" * 50_000).encode()

Maker = Callable[[Path], None]


def text(content: str) -> Maker:
    return raw(content.encode())


def raw(content: bytes) -> Maker:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def folder(*names: str) -> Maker:
    def make(path: Path) -> None:
        path.mkdir()
        for name in names:
            (path / name).write_text("x\n")

    return make


def parquet(**columns: object) -> Maker:
    return lambda path: pl.DataFrame(columns, strict=False).write_parquet(path)


# What is done -> how the file is made, and the options.
CASES: dict[str, tuple[Maker, dict[str, object]]] = {
    "A file that does not exist": (lambda _: None, {}),
    "An empty file": (text(""), {}),
    "A header and nothing below it": (text(HEAD), {}),
    "An empty folder": (folder(), {}),
    "A folder of unrelated files": (folder("movies.csv", "notes.md", "x.png"), {}),
    "A binary file": (raw(bytes(range(256))), {}),
    "A zip archive": (raw(b"PK\x03\x04rest"), {}),
    "A bzip2 file": (raw(b"BZh91AY"), {}),
    "A list in JSON": (text('[{"user": 1, "item": 2, "rating": 3}]\n'), {}),
    "A line that is no JSON object": (text('{"user": 1, "item": 2, "rating": 3}\nnone\n'), {}),
    "A saved web page": (text("<html><body>Not found</body></html>\n"), {}),
    "A UTF-16 file": (raw("user,item,rating\n".encode("utf-16")), {}),
    "Lines that end with a carriage return only": (text("user,item,rating\r1,2,3\r"), {}),
    "A gzip file that is cut short": (raw(gzip.compress(LONG)[:-20]), {}),
    "A zstd file that is cut short": (raw(zstandard.compress(LONG)[:-5]), {}),
    "A packed file that unpacks to very much": (raw(zstandard.compress(HEAD.encode() + b"1,2,3,4\n" * 9_000_000)), {}),
    "A line of more than 1 MB": (text(HEAD + "x" * 3_000_000), {}),
    "A NUL byte far below": (raw(LONG + b"1,2,\0,4\n"), {}),
    "Dates written as numbers": (text(HEAD + "1,2,3,20050304\n"), {}),
    "Days of a spreadsheet for times": (text("user,item,rating,time\n1,2,3,45354\n2,2,4,45360.5\n"), {}),
    "A row that begins with `#`": (text("#1,2,3\n4,5,3\n"), {}),
    "A Netflix item that is no number": (text("007:\n8,3,2005-09-06\n"), {}),
    "`--user` with the Netflix layout": (text("7:\n8,3,2005-09-06\n"), {"user": "who"}),
    "A damaged Parquet file": (raw(b"PAR1 and nothing else"), {}),
    "`--reader parquet` for a CSV file": (text(HEAD + "1,2,3,4\n"), {"reader": "parquet"}),
    "A file of one column": (text("abc\ndef\n"), {}),
    "No column for the user": (text("a,movieId,rating\n1,2,3\n"), {}),
    "`--values ratings` and no column for the rating": (
        text("userId,movieId,tag\n1,2,fun\n"),
        {"values": "ratings"},
    ),
    "`--values ratings`, two columns and no header": (text("1,2\n3,4\n"), {"values": "ratings"}),
    "`--values counts` and a fraction": (text("user,item,n\n1,2,2.5\n"), {"values": "counts", "rating": "n"}),
    "A negative number in a column of counts": (text("customer,product,quantity\n1,2,1\n1,3,-1\n"), {}),
    "A text in the third column and no header": (text("1,2,good\n3,4,bad\n"), {}),
    "`--item isbn` where there is none": (text(HEAD + "1,2,3,4\n"), {"item": "isbn"}),
    "`--user name` without a header": (text("1,2,3\n"), {"user": "name"}),
    "`--item userId` beside the user": (text(HEAD + "1,2,3,4\n"), {"user": "userId", "item": "userId"}),
    "A store of related lists as a source": (raw(b"SQLite format 3\0 ... CREATE TABLE recloak_store ..."), {}),
    "A released folder as a source": (folder("manifest.json", "README.md", "profiles.parquet"), {}),
    "Two columns of one name": (text("user,item,rating,rating\n1,2,3,4\n"), {}),
    "A row with too few fields": (text(HEAD + "1,2,3,4\n1,2,3\n"), {}),
    "A row with too many fields": (text(HEAD + "1,2,3,4,5\n"), {}),
    "An empty user": (text(HEAD + ",2,3,4\n"), {}),
    "An empty item": (text(HEAD + '1,"",3,4\n'), {}),
    "An empty rating": (text(HEAD + "1,2,,4\n"), {}),
    "A text for a rating": (text(HEAD + "1,2,good,4\n"), {}),
    "A decimal comma": (text("user;item;rating\n1;2;3,5\n"), {}),
    "A rating that is not a number": (text(HEAD + "1,2,NaN,4\n"), {}),
    "An infinite rating": (text(HEAD + "1,2,inf,4\n"), {}),
    "A rating outside `--scale 1,5`": (text(HEAD + "1,2,3,4\n1,3,6,4\n"), {"scale": "1,5"}),
    "An empty time": (text(HEAD + "1,2,3,\n"), {}),
    "A date whose day and month are unclear": (text(HEAD + "1,2,3,03/04/2005\n"), {}),
    "A quote that is never closed": (text('user,title,rating\n1,"abc,3\n2,x,4\n'), {}),
    "Nothing but bad rows, with `--skip-bad`": (text(HEAD + "1,2,x,4\n"), {"skip_bad": True}),
    "Netflix ratings above the first item line": (text("8,3,2005-09-06\n"), {"reader": "netflix"}),
    "A Netflix user that is no number": (text("1:\nx8,3,2005-09-06\n"), {}),
    "A Netflix line without a rating": (text("1:\n30878\n"), {}),
    "An empty rating in Parquet": (parquet(user=[1, 2], item=[1, 2], rating=[1.0, None]), {}),
    "An infinite rating in Parquet": (parquet(user=[1, 2], item=[1, 2], rating=[1.0, np.inf]), {}),
    "An empty id in Parquet": (parquet(user=["a", ""], item=[1, 2], rating=[1.0, 2.0]), {}),
    "A negative number in a column of counts in Parquet": (
        parquet(user=[1, 2], item=[1, 2], quantity=[1, -1]),
        {"skip_bad": False},
    ),
    "Texts for ratings in Parquet": (parquet(user=[1], item=[1], rating=["good"]), {}),
    "Fractions for ids in Parquet": (parquet(user=[1.5], item=[1], rating=[1.0]), {}),
    "A time in Parquet that cannot be read": (parquet(user=[1], item=[1], rating=[1], time=["soon"]), {}),
    "`--scale 5`": (text(HEAD), {"scale": "5"}),
    "`--scale 5,1`": (text(HEAD), {"scale": "5,1"}),
    "`--reader excel`": (text(HEAD), {"reader": "excel"}),
}


def documented() -> dict[str, str]:
    rows = re.findall(r"^\| (.+?) \| `` (.+?) `` \|$", DOC.read_text(), re.MULTILINE)
    return dict(rows)


def message(tmp_path: Path, what: str) -> str:
    make, options = CASES[what]
    source = tmp_path / "FILE"
    make(source)
    with pytest.raises(InputError) as caught:
        read(source, options=ReadOptions.from_mapping(options))
    assert caught.value.exit_code == 2
    return as_flags(str(caught.value)).replace(str(source), "FILE")


@pytest.mark.parametrize("what", CASES)
def test_the_message_is_the_documented_one(tmp_path, what):
    assert message(tmp_path, what) == documented()[what]


def test_every_documented_message_has_its_case():
    assert list(documented()) == list(CASES)


def test_a_message_is_one_line(tmp_path):
    for number, what in enumerate(CASES):
        (tmp_path / str(number)).mkdir()
        assert "\n" not in message(tmp_path / str(number), what)


def test_permission_denied_is_one_sentence(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"FILE: may not be read: permission denied"):
        read(tmp_path / "FILE")


def test_the_command_line_offers_what_the_options_hold():
    @common.source_options
    def command() -> None: ...

    flags = {flag for parameter in command.__click_params__ for flag in parameter.opts}  # type: ignore[attr-defined]
    assert flags == {
        "--reader",
        "--user",
        "--item",
        "--rating",
        "--time",
        "--values",
        "--table",
        "--query",
        "--scale",
        "--skip-bad",
        "--no-limit",
    }
    assert set(READERS) == {"csv", "jsonl", "tsv", "movielens", "recbole", "netflix", "parquet"}
