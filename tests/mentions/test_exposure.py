"""One person's exposure: exports as the sites write them, one's own record, and what leaving out a mention brings."""

import json

import numpy as np
import polars as pl
import pytest

import recloak
import recloak.mentions
from recloak._cli.main import run
from recloak._core.errors import InputError
from recloak._mentions.own_exports import match_items, read_own_ratings
from recloak._mentions.titles import parse

NAMES = "Zorgon|Quimbly|Vextar|Plontheim|Dravik|Oskuleth|Brimvale|Tandrosk|Wexholm|Yolandrix|Krumble|Fenwhistle"
TITLES = [parse(n, f"{name} ({1990 + n})") for n, name in enumerate(NAMES.split("|"))]
MINE = {0: 4.0, 1: 5.0, 2: 3.0, 3: 2.0, 4: 4.5, 5: 1.0}


def rows(mine):
    """Return a dump of 60 people who rate mostly the last six titles, and perhaps one's own record."""
    rng = np.random.default_rng(5)
    made = []
    for user in range(60):
        liked = [*rng.choice(np.arange(6, 12), 4, replace=False), *rng.choice(6, 1)]
        made += [(user, int(item), float(rng.integers(2, 11)) / 2) for item in liked]
    own = [(77, item, rating) for item, rating in MINE.items()] if mine else []
    return pl.DataFrame(made + own, schema=["userId", "movieId", "rating"], orient="row")


@pytest.fixture(params=[True, False], ids=["in the dump", "not in it"])
def dump(request, tmp_path):
    rows(request.param).write_csv(tmp_path / "ratings.csv")
    lines = [f'{title.id},"{title}"' for title in TITLES]
    (tmp_path / "movies.csv").write_text("movieId,title\n" + "\n".join(lines) + "\n")
    return tmp_path, request.param


def letterboxd(folder):
    lines = [f"2021-05-0{n + 1},{TITLES[n].names[0]},{TITLES[n].year},https://x/{n},{MINE[n]}" for n in MINE]
    (folder / "mine.csv").write_text("Date,Name,Year,Letterboxd URI,Rating\n" + "\n".join(lines) + "\n")
    return folder / "mine.csv"


POSTS = ["I watched Zorgon (1990) last night", "Quimbly (1991) is great", "never seen Vextar (1992)", "hello"]


def test_two_rare_mentions_name_somebody_outright_whether_in_the_dump_or_put_in(dump):
    folder, inside = dump
    found = recloak.mentions.exposure(letterboxd(folder), POSTS, folder)
    assert found.place == 1
    assert (found.in_dump, found.n_mentions, found.n_own, found.n_matched) == (inside, 2, 6, 6)
    assert found.n_records == 61
    assert found.layout == "Letterboxd"


def test_a_mention_of_what_everybody_rated_hides_more_than_a_rare_one(dump):
    folder, _ = dump
    mine = pl.DataFrame({"title": [str(title) for title in TITLES[4:]], "rating": [4.0] * 8})
    common = recloak.mentions.exposure(mine, ["I watched Brimvale (1996)"], folder, k=1)
    assert common.place > 1
    assert common.leave_out == ()
    assert common.to_json()["hidden"] is True


def test_leaving_out_what_is_told_brings_what_is_told(dump):
    folder, _ = dump
    found = recloak.mentions.exposure(letterboxd(folder), POSTS, folder, k=3)
    assert found.leave_out is not None
    (step,) = found.leave_out
    left = [post for post in POSTS if step.title.split(" (")[0] not in post]
    assert recloak.mentions.exposure(letterboxd(folder), left, folder, k=3).place == pytest.approx(step.place)
    assert step.place > 3


def test_where_nothing_small_helps_it_is_said(dump):
    folder, _ = dump
    found = recloak.mentions.exposure(letterboxd(folder), POSTS[:1], folder, k=50)
    assert found.place <= 50
    assert found.leave_out is None


def test_nothing_is_measured_without_ratings_or_mentions_of_the_dump(dump):
    folder, _ = dump
    with pytest.raises(InputError, match="nothing can be measured: the posts name nothing"):
        recloak.mentions.exposure(letterboxd(folder), ["never seen Zorgon (1990)"], folder)
    other = pl.DataFrame({"title": ["Something Else"], "rating": [3.0]})
    with pytest.raises(InputError, match="nothing can be measured: 0 of your 1 ratings"):
        recloak.mentions.exposure(other, POSTS, folder)


def test_a_dump_without_titles_or_ratings_is_refused(tmp_path, dump):
    folder, _ = dump
    with pytest.raises(InputError, match="needs titles="):
        recloak.mentions.exposure(letterboxd(folder), POSTS, folder / "ratings.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there is no file of title list"):
        recloak.mentions.exposure(letterboxd(folder), POSTS, tmp_path / "empty")


@pytest.mark.parametrize(
    ("text", "layout", "first"),
    [
        ("Date,Name,Year,Letterboxd URI,Rating\n2021-05-01,Zorgon,1990,u,4.5\n", "Letterboxd", 0.9),
        ("Const,Your Rating,Date Rated,Title,URL,Title Type,Year\ntt1,8,2020-01-02,Zorgon,u,movie,1990\n", "IMDb", 0.8),
        ("Book Id,Title,Author,My Rating,Date Read\n1,Zorgon,A,4,2021/05/01\n2,Unrated,B,0,\n", "Goodreads", 0.8),
        ("movie_id,imdb_id,rating,average_rating,title\n9,1,5,3.5,Zorgon (1990)\n", "MovieLens", 1.0),
        ("userId,movieId,rating,timestamp\n1,0,4,1600000000\n", "MovieLens", 0.8),
        ("title,rating\nZorgon (1990),2\nQuimbly (1991),4\n", "table", 0.5),
    ],
)
def test_exports_are_recognised_by_their_columns(tmp_path, text, layout, first):
    (tmp_path / "mine.csv").write_text(text)
    own = read_own_ratings(tmp_path / "mine.csv")
    assert (own.layout, own.table["rating"][0]) == (layout, first)
    assert match_items(own, TITLES)[0] == 0


def test_what_an_export_lists_without_a_rating_is_left_out(tmp_path):
    (tmp_path / "mine.csv").write_text("Book Id,Title,Author,My Rating,Date Read\n1,A,x,4,\n2,B,x,0,\n3,C,x,1,\n")
    assert read_own_ratings(tmp_path / "mine.csv").table["rating"].to_list() == [0.8, 0.2]


def test_dates_of_exports_are_read(tmp_path):
    (tmp_path / "mine.csv").write_text("Book Id,Title,Author,My Rating,Date Read\n1,Zorgon,A,4,2021/05/01\n")
    assert read_own_ratings(tmp_path / "mine.csv").table["time"].to_list() == [1619827200]


def test_a_table_that_is_no_export_is_refused(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no export of MovieLens, Letterboxd, IMDb or Goodreads was recognised"):
        read_own_ratings(tmp_path / "mine.csv")


def test_the_command_tells_writes_a_page_and_prints_json(dump, capsys):
    folder, _ = dump
    (folder / "posts.txt").write_text("\n".join(POSTS))
    command = ["mentions", "exposure", "--ratings", str(letterboxd(folder)), "--posts", str(folder / "posts.txt")]
    command += ["--public", str(folder)]
    assert run([*command, "-o", str(folder / "page.html")]) == 0
    told = capsys.readouterr().out
    assert "2 mentions put you at place 1.0 of 61 records" in told
    page = (folder / "page.html").read_text()
    assert "Named outright" in page
    assert "Zorgon (1990)" in page
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["place"] == 1
    assert run([*command[:-1], str(folder / "none")]) == 2
