"""A database as a source: the same rows as a file holds, read-only, and no secret in a message."""

import sqlite3
from contextlib import closing
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from tests.related.postgres import server

import recloak
from recloak._cli.main import run
from recloak._core.errors import InputError, OptionError, SourceError

ROWS = [(1 + n // 6, f"item {n % 6}", 1.0 + n % 5, 1_300_000_000 + n) for n in range(60)]
MADE = "CREATE TABLE ratings (user_id INTEGER, item_id TEXT, rating DOUBLE PRECISION, ts BIGINT)"


@pytest.fixture(scope="module")
def postgres():
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path):
    """Give the URL of a database with one table of ratings, and what runs SQL in it."""
    name, mark = request.param, "%s" if request.param == "postgresql" else "?"
    if name == "postgresql":
        url = request.getfixturevalue("postgres")
        with psycopg.connect(url, autocommit=True) as opened:
            opened.execute("DROP SCHEMA public CASCADE")
            opened.execute("CREATE SCHEMA public")
    else:
        url = f"{name}:///{tmp_path}/r.db"
    connect: Any = {
        "sqlite": lambda: sqlite3.connect(tmp_path / "r.db"),
        "duckdb": lambda: duckdb.connect(str(tmp_path / "r.db")),
        "postgresql": lambda: psycopg.connect(url),
    }[name]

    def execute(sql, rows=None):
        opened = connect()
        cursor = opened.cursor()
        cursor.executemany(sql.replace("?", mark), rows) if rows else cursor.execute(sql)
        opened.commit()
        opened.close()

    execute(MADE)
    execute("INSERT INTO ratings VALUES (?, ?, ?, ?)", ROWS)
    return url, execute


def test_the_only_table_is_read_as_a_file_would_be(database):
    url, _ = database
    plain = recloak.read(pl.DataFrame(ROWS, ["user", "item", "rating", "time"], orient="row"))
    assert recloak.read(url).to_polars().equals(plain.to_polars())


def test_several_tables_must_be_told_apart_and_a_query_may_join_them(database):
    url, execute = database
    execute("CREATE TABLE orders (customer_id INTEGER, product_id TEXT)")
    execute("INSERT INTO orders VALUES (?, ?)", [(1, "a"), (2, "a"), (2, "b")])
    with pytest.raises(InputError, match="'orders', 'ratings'"):
        recloak.read(url)
    with pytest.raises(InputError, match="no table 'nothing'"):
        recloak.read(url, table="nothing")
    assert recloak.read(url, table="orders").kind.name == "presence"
    asked = recloak.read(url, query="SELECT user_id, item_id, rating FROM ratings WHERE rating > 3;")
    assert asked.values.min() > 3
    assert asked.times is None


def test_nothing_can_be_written(database):
    url, _ = database
    for query in ("DELETE FROM ratings RETURNING *", "DROP TABLE ratings"):
        with pytest.raises(InputError):
            recloak.read(url, query=query)
    assert len(recloak.read(url)) == len(ROWS)


def test_a_wrong_query_is_one_sentence(database, capsys):
    url, _ = database
    assert run(["inspect", url, "--query", "SELECT nonsense FROM ratings"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_line_reads_a_table(database, capsys):
    url, _ = database
    assert run(["inspect", url, "--table", "ratings", "--json", "--seed", "1"]) == 0
    assert '"n_ratings": 60' in capsys.readouterr().out


def test_bad_rows_are_told_by_their_number(database):
    url, execute = database
    execute("INSERT INTO ratings VALUES (?, ?, ?, ?)", [(None, "x", 3.0, 1)])
    with pytest.raises(InputError, match=r"the user's id must not be empty \(row 61\)"):
        recloak.read(url)
    assert recloak.read(url, skip_bad=True).intake.n_skipped == 1


def test_a_password_in_the_url_is_refused_and_not_repeated():
    with pytest.raises(InputError, match="PGPASSWORD") as caught:
        recloak.read("postgresql://ann:hunter2@localhost/db")
    assert "hunter2" not in str(caught.value)


def test_dates_of_postgres_are_times(postgres):
    rows = "VALUES (1, 2, 3.5, DATE '2005-03-04'), (2, 2, 4, DATE '2005-03-05')"
    read = recloak.read(postgres, query=f"SELECT * FROM ({rows}) AS t (u, i, rating, date)", user="u", item="i")
    assert read.times is not None
    assert read.times.tolist() == [1_109_894_400, 1_109_980_800]


def test_what_is_for_databases_only_is_refused_for_files(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n1,2,3\n")
    with pytest.raises(InputError, match="URL of a database"):
        recloak.read(tmp_path / "r.csv", table="x")
    with pytest.raises(InputError, match="for files, not for a database"):
        recloak.read(f"sqlite:///{tmp_path}/r.db", reader="csv")
    with pytest.raises(InputError, match="no such file"):
        recloak.read(f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(OptionError, match="does not go with"):
        recloak.read(f"sqlite:///{tmp_path}/r.db", table="a", query="SELECT 1")
    with pytest.raises(InputError, match="by itself"):
        recloak.read([f"sqlite:///{tmp_path}/r.db", str(tmp_path / "r.csv")])


def test_bytes_are_no_id(tmp_path):
    with closing(sqlite3.connect(tmp_path / "r.db")) as database:
        database.executescript("CREATE TABLE r (user, item, rating); INSERT INTO r VALUES (1, 2, 3), (x'00ff', 2, 4)")
    with pytest.raises(SourceError, match="must hold numbers or texts, but one is a BLOB"):
        recloak.read(f"sqlite:///{tmp_path / 'r.db'}")


def test_a_store_of_related_lists_is_no_source(tmp_path):
    times = range(1_000_000_000, 1_000_000_012)
    rows = {"user": [1, 2, 3] * 4, "item": [1, 2, 3, 4] * 3, "rating": [3.0] * 12, "time": times}
    recloak.related.publish(tmp_path / "lists.db", pl.DataFrame(rows))
    for source in (tmp_path / "lists.db", f"sqlite:///{tmp_path / 'lists.db'}"):
        with pytest.raises(SourceError, match="is a store of related lists, not a source of ratings"):
            recloak.read(source)
