"""Every layout gives the same ratings, plain or packed, whole or in parts."""

import csv
import gzip
import io
import itertools

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import SourceError
from recloak._ratings import delimited
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import detect, read
from recloak._ratings.times import seconds_of

DAY = 86400
ROWS = [(1, 10, 5.0, 100 * DAY), (1, 20, 3.0, 200 * DAY), (2, 10, 4.0, 300 * DAY)]


def joined(separator: str) -> str:
    return "\n".join(separator.join(map(str, row)) for row in ROWS) + "\n"


LAYOUTS = {
    "ratings.csv": ("csv", "userId,movieId,rating,timestamp\n" + joined(",")),
    "bare.csv": ("csv", joined(",")),
    "ratings.dat": ("movielens", joined("::")),
    "u.data": ("csv", joined("\t")),
    "x.inter": ("recbole", "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + joined("\t")),
    "semi.csv": ("csv", '"User-ID";"ISBN";"Book-Rating";"Timestamp"\r\n' + joined(";").replace("\n", "\r\n")),
    "bars.txt": ("csv", joined("|")),
    "blanks.txt": ("csv", "% a comment\n" + joined("  ")),
    "combined_data_1.txt": (
        "netflix",
        "10:\n1,5,1970-04-11\n2,4,1970-10-28\n20:\n1,3,1970-07-20\n",
    ),
}
PACKERS = {"": lambda raw: raw, ".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_ratings(tmp_path, name, packed):
    reader, text = LAYOUTS[name]
    path = tmp_path / (name + packed)
    path.write_bytes(PACKERS[packed](text.encode()))
    assert detect(path) == reader
    assert read(path).to_polars().rows() == ROWS
    assert read(path, options=ReadOptions(reader=reader)).to_polars().rows() == ROWS


@pytest.mark.parametrize("packed", PACKERS)
def test_parquet_gives_the_same_ratings(tmp_path, packed):
    raw = io.BytesIO()
    pl.DataFrame(ROWS, ["user", "movie_id", "stars", "ts"], orient="row").write_parquet(raw)
    (tmp_path / f"r.parquet{packed}").write_bytes(PACKERS[packed](raw.getvalue()))
    assert read(tmp_path / f"r.parquet{packed}").to_polars().rows() == ROWS


def test_a_folder_of_parts_and_a_list_of_files_are_one_source(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "a.csv").write_text("movie,user,rating,time\n10,1,5,8640000\n20,1,3,17280000\n")
    (parts / "b.csv").write_text("10,2,4,25920000\n")  # a part without a header has the columns of the first
    (parts / "_SUCCESS").write_text("")
    assert read(parts).to_polars().rows() == ROWS
    assert read([parts / "a.csv", parts / "b.csv"]).to_polars().rows() == ROWS


def test_a_folder_of_parquet_parts_is_one_source(tmp_path):
    for number, row in enumerate(ROWS):
        pl.DataFrame([row], ["user", "item", "rating", "time"], orient="row").write_parquet(
            tmp_path / f"{number}.parquet"
        )
    assert read(tmp_path).to_polars().rows() == ROWS


def test_a_netflix_folder_is_one_source_and_names_the_file_of_a_bad_row(tmp_path):
    (tmp_path / "mv_0000010.txt").write_text("10:\n1,5,1970-04-11\n2,4,1970-10-28\n")
    (tmp_path / "mv_0000020.txt").write_text("20:\n1,3,1970-07-20\n")
    (tmp_path / "readme.md").write_text("x")
    assert read(tmp_path).to_polars().rows() == ROWS
    (tmp_path / "mv_0000030.txt").write_text("30:\n1,3,1970-07-20\n\n1,x,1970-07-20")
    with pytest.raises(SourceError, match=r"mv_0000030.txt, line 4: a rating must be a number, got 'x'"):
        read(tmp_path)


def test_a_folder_with_titles_and_tags_gives_its_ratings(tmp_path):
    (tmp_path / "movies.csv").write_text("movieId,title\n1,x\n")
    (tmp_path / "ratings.csv").write_text(LAYOUTS["ratings.csv"][1])
    assert read(tmp_path).n_ratings == 3


@pytest.mark.parametrize("packed", PACKERS)
def test_the_line_of_a_bad_row_is_counted_over_blocks_in_packed_files_too(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 32)
    lines = ["user,title,rating", *(f'{n},"two\nlines",3' if n % 7 == 0 else f"{n},x,3" for n in range(100))]
    bad = sum(line.count("\n") + 1 for line in lines) + 1
    path = tmp_path / f"r.csv{packed}"
    path.write_bytes(PACKERS[packed]("\n".join([*lines, "7,x,bad"]).encode()))
    with pytest.raises(SourceError, match=f"line {bad}: a rating must be a number"):
        read(path)
    assert read(path, options=ReadOptions(skip_bad=True)).intake.n_skipped == 1


def test_bad_rows_are_dropped_and_counted_where_that_is_asked(tmp_path):
    text = "user,item,rating,time\n1,1,3,4\n,1,3,4\n1,,3,4\n1,2\n1,2,x,4\n1,2,inf,4\n1,2,9,4\n1,2,3,soon\n2,2,4,4\n"
    (tmp_path / "r.csv").write_text(text)
    ratings = read(tmp_path / "r.csv", options=ReadOptions(skip_bad=True, scale="1,5"))
    assert ratings.to_polars().rows() == [(1, 1, 3.0, 4), (2, 2, 4.0, 4)]
    assert (ratings.intake.n_rows, ratings.intake.n_skipped) == (9, 7)
    assert (ratings.scale.low, ratings.scale.high, ratings.scale.step) == (1, 5, 1)


WORDS = st.text(st.sampled_from("ab0 \",;\n'é日"), min_size=1, max_size=4)
IDS = st.one_of(WORDS, st.integers(-20, 20).map(str), st.integers(0, 200).map(lambda n: f"{n:03d}"))


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(IDS, IDS, st.sampled_from(["1", "2.5", "-3", "1e1"])), min_size=1, max_size=12),
    block=st.integers(8, 64),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_ids_come_back_exactly_as_they_were_written(tmp_path_factory, rows, block, end):
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerows([("user", "item", "rating"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", block)
        ratings = read(path)
    expected = {(user, item): float(value) for user, item, value in rows}
    made = {(str(user), str(item)): value for user, item, value in ratings.to_polars().rows()}
    assert made == expected
    assert ratings.user_ids.is_text == any(str(canonical(user)) != user for user, _, _ in rows)


@pytest.mark.parametrize("block", range(8, 40))
def test_a_quote_written_twice_survives_a_record_that_goes_on_in_the_next_block(tmp_path, monkeypatch, block):
    (tmp_path / "r.csv").write_text('user,item,rating\n"0""ab","0\n1",1.0\n', encoding="utf-8")
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    assert read(tmp_path / "r.csv").to_polars().rows() == [('0"ab', "0\n1", 1.0)]


def canonical(text: str) -> object:
    try:
        return int(text) if text.isascii() else None
    except ValueError:
        return None


def test_the_order_of_the_rows_changes_nothing_where_times_tell_repeated_pairs_apart(tmp_path):
    lines = ["1,2,3,10", "1,2,5,20", "0,2,4,30", "1,x,1,40"]
    tables = []
    for order in itertools.permutations(lines):
        (tmp_path / "r.csv").write_text("user,item,rating,time\n" + "\n".join(order))
        tables.append(read(tmp_path / "r.csv").to_polars().rows())
    assert tables[0] == [(0, "2", 4.0, 30), (1, "2", 5.0, 20), (1, "x", 1.0, 40)]
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("978300760", 978300760),
        ("978300760000", 978300760),
        ("978300760123456", 978300760),
        ("978300760123456789", 978300760),
        ("978300760.9", 978300760),
        ("9.783e8", 978300000),
        ("-1", -1),
        ("1969-12-31", -DAY),
        ("2000-02-29", 951782400),
        ("2000-03-01T00:00:01Z", 951868801),
        ("2000-03-01 00:00:01", 951868801),
        ("2000-03-01T02:00:01+02:00", 951868801),
        ("2000-03-01 00:00:01.999", 951868801),
        ("Wed Mar 01 00:00:01 +0000 2000", 951868801),
    ],
)
def test_times_are_brought_to_whole_seconds(tmp_path, written, seconds):
    (tmp_path / "r.csv").write_text(f"user,item,rating,time\n1,1,1,{written}\n")
    times = read(tmp_path / "r.csv").times
    assert times is not None
    assert times.tolist() == [seconds]
    assert seconds_of(written) == seconds


@pytest.mark.parametrize(
    ("header", "user", "item", "rating"),
    [
        ("rating,title,movieId,userId", 4, 3, 1),
        ('"User-ID","ISBN","Book-Rating"', 1, 2, 3),
        ("reviewerID,asin,overall,unixReviewTime", 1, 2, 3),
        ("review_id,user_id,business_id,stars", 2, 3, 4),
        ("CustomerID,Podcast_ID,score", 1, 2, 3),
        ("user,user_id,item,item_id,rating", 2, 4, 5),
        (",uid,iid,rate", 2, 3, 4),
    ],
)
def test_columns_are_recognised_by_common_names_in_any_order(tmp_path, header, user, item, rating):
    n = header.count(",") + 1
    (tmp_path / "r.csv").write_text(f"{header}\n{','.join(str(k) for k in range(1, n + 1))}\n")
    made = read(tmp_path / "r.csv", options=ReadOptions(time="none")).to_polars().rows()
    assert made == [(user, item, float(rating))]


def test_what_was_taken_for_granted_without_a_header_is_told(tmp_path):
    (tmp_path / "r.csv").write_text("B00005N7NQ,A2NWSAGRHCP8N5,1.0,1367193600\n")
    ratings = read(tmp_path / "r.csv")
    assert ratings.to_polars().rows() == [("A2NWSAGRHCP8N5", "B00005N7NQ", 1.0, 1367193600)]
    assert ratings.intake.notes == (
        "no header: user in column 2, item in column 1, rating in column 3, time in column 4",
    )


def test_latin_1_ids_are_read_and_told(tmp_path):
    (tmp_path / "r.csv").write_bytes("user,item,rating\nzoë,x,3\n".encode("latin-1"))
    ratings = read(tmp_path / "r.csv")
    assert ratings.user_ids.ids.to_list() == ["zoë"]
    assert "Latin-1" in ratings.intake.notes[0]


def test_one_id_in_two_encodings_is_one_id(tmp_path):
    (tmp_path / "r.csv").write_bytes("user,item,rating\nzoë,x,3\n".encode("latin-1") + "zoë,y,4\nadam,y,4\n".encode())
    ratings = read(tmp_path / "r.csv")
    assert ratings.user_ids.ids.to_list() == ["adam", "zoë"]
    assert ratings.indptr.tolist() == [0, 1, 3]


def test_files_with_and_without_times_are_not_mixed(tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating,time\n1,1,3,4\n")
    (tmp_path / "b.csv").write_text("user,item,rating\n2,1,3\n")
    for order in (["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        with pytest.raises(SourceError, match="some files have times and others have none"):
            read([tmp_path / name for name in order])
    assert read(tmp_path, options=ReadOptions(time="none")).n_ratings == 2
