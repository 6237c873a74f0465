"""What goes into `recloak.related` and `recloak.mentions`, and the values that come out."""

import datetime
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
import recloak.mentions
import recloak.related
from recloak._cli.main import run as run_command
from recloak._core.errors import InputError, OptionError
from recloak._ratings.readers import read
from tests.library.small_world import small_ratings, write_world

ANYTHING: Any = {None: None, "some": "some"}  # what the types forbid
USER = 7_000_000  # an id of a user that is recognised wherever it shows


@pytest.fixture(autouse=True)
def world(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    write_world(small_ratings())


def sources():
    table = small_ratings()
    return {
        "path": "ratings.csv",
        "several": ["ratings.csv"],
        "source": recloak.Source("ratings.csv", user="user"),
        "ratings": read("ratings.csv"),
        "polars": table,
        "lazy": table.lazy(),
        "pandas": table.to_pandas(),
        "arrow": table.to_arrow(),
    }


def test_any_source_gives_the_same_lists_and_the_same_releases():
    for name, source in sources().items():
        with recloak.related.History(f"{name}.db") as history:
            for until in (200, None):
                recloak.related.publish(history, source, until=until, delta=0.4)
            assert recloak.related.verify(history, source).passed
            made = history.to_polars()
        if name == "path":
            first, built = made, recloak.related.build(source).to_polars()
        assert made.equals(first), name
        assert recloak.related.build(source).to_polars().equals(built), name


def test_any_source_gives_the_same_identification():
    wanted = recloak.mentions.identify("ratings.csv", "mentions.csv").to_json()
    said = pl.read_csv("mentions.csv")
    for source in sources().values():
        for mentions in (said, said.to_pandas(), said.to_arrow(), Path("mentions.csv")):
            assert recloak.mentions.identify(source, mentions).to_json() == wanted


def test_a_history_is_counted_and_used_again_while_it_is_open():
    with recloak.related.History("lists.db") as history:
        assert (len(history), bool(history)) == (0, True)
        for number, until in enumerate((150, 250, 399), 1):
            made = recloak.related.publish(history, "ratings.csv", until=until, delta=0.4)
            assert (made.number, len(history)) == (number, number)
        # What was published while it was open is compared with: the ids are read back as the numbers they are.
        assert made.verdict.n_pairs == 2
        assert history.to_polars()["item"].dtype == pl.Int64
        assert [one.number for one in history.releases] == [1, 2, 3]
        by_path = recloak.related.export("lists.db").to_polars()
        assert recloak.related.export(history).to_polars().equals(by_path)
        assert repr(history) == "<History: 3 releases, 6 items>"
        assert {row["change"] for row in history.changes(1, 3).to_json()["changes"]} <= {
            "appeared", "vanished", "rose", "sank",
        }  # fmt: skip


def test_a_history_that_cannot_be_read_still_has_a_repr():
    history = recloak.related.History("lists.db")
    history.close()
    Path("lists.db").write_bytes(b"no database" * 100)
    assert repr(history) == "<History: not readable>"
    history.close()


def test_a_mistyped_history_is_not_made_by_those_who_read():
    for read_only in (recloak.related.verify, recloak.related.attack):
        with pytest.raises(InputError, match="there is no history store"):
            read_only("none.db", "ratings.csv")
    with pytest.raises(InputError, match="there is no history store"):
        recloak.related.export("none.db")
    assert not Path("none.db").exists()


def test_lists_of_another_recommender_come_as_file_or_table():
    ours = recloak.related.build("ratings.csv", top=6)
    ours.write("theirs.csv")
    made = []
    for number, lists in enumerate(["theirs.csv", Path("theirs.csv"), ours, ours.to_pandas(), ours.to_arrow()]):
        made.append(recloak.related.publish(f"{number}.db", "ratings.csv", lists=lists).to_polars())
    assert all(one.equals(made[0]) for one in made)
    with pytest.raises(InputError, match="score is missing"):
        recloak.related.publish("x.db", "ratings.csv", lists=pl.DataFrame({"item": [1], "related": [2]}))


def test_times_are_seconds_dates_or_texts():
    wanted = recloak.related.build("ratings.csv", until=86_400).to_polars()
    for until in ("86400", "1970-01-02", datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC)):
        assert recloak.related.build("ratings.csv", until=until).to_polars().equals(wanted)
    early = recloak.related.build("ratings.csv", until=datetime.datetime(1970, 1, 1, 0, 1)).to_polars()
    assert early.equals(recloak.related.build("ratings.csv", until=60).to_polars())
    with pytest.raises(OptionError, match="a time is whole seconds"):
        recloak.related.build("ratings.csv", until="soon")


def published_twice():
    for until in (200, None):
        recloak.related.publish("lists.db", "ratings.csv", until=until, delta=0.4)


def values():
    published_twice()
    found = recloak.mentions.find("posts.csv", "movies.csv", ratings="ratings.csv")
    history = recloak.related.History("lists.db")
    yield history
    yield history.changes(1, 2)
    yield history.releases[0]
    history.close()
    yield recloak.related.build("ratings.csv")
    yield recloak.related.publish("one.db", "ratings.csv", delta=1)
    yield recloak.related.verify("lists.db", "ratings.csv", delta=0.05, window="all", residual=2, seed=0)
    yield recloak.related.attack("lists.db", "ratings.csv", known=2, seed=0)
    yield recloak.related.advise("ratings.csv", deltas=[0.5], gap=40)
    yield recloak.related.simulate("ratings.csv", gap=40, horizon="all", delta=0.5)
    yield found
    yield recloak.mentions.identify("ratings.csv", "mentions.csv")
    yield recloak.mentions.defend("ratings.csv", "mentions.csv")
    advisor = recloak.mentions.prepare_advisor("ratings.csv", exact=True)
    yield advisor
    someone = read("ratings.csv").user_ids.ids[0]
    yield (advice := recloak.mentions.advise(advisor, someone, [0], [1, 2, 3], k=5))
    yield advice.drops[0]


def test_a_repr_is_one_short_line_that_names_nobody():
    write_world(small_ratings(USER))
    for value in values():
        told = repr(value)
        assert re.fullmatch(rf"<{type(value).__name__}: [^\n]{{1,100}}>", told), told
        assert "7000" not in told.replace(",", "")


def test_values_are_tables_of_all_three_kinds_and_plain_json():
    for value in values():
        if hasattr(value, "to_polars"):
            table = value.to_polars()
            assert value.to_pandas().shape == table.shape
            assert value.to_arrow().column_names == table.columns
        if hasattr(value, "to_json"):
            json.dumps(value.to_json(), allow_nan=False)


def test_a_table_of_nothing_has_its_columns():
    recloak.related.publish("lists.db", "ratings.csv")
    verdict = recloak.related.verify("lists.db", "ratings.csv")
    assert verdict.to_polars().columns[:4] == ["earlier", "later", "item", "background"]


def test_violations_are_told_with_their_ids():
    published_twice()
    verdict = recloak.related.verify("lists.db", "ratings.csv", delta=0.0)
    assert not verdict.passed
    table = verdict.to_polars()
    assert len(table) == len(verdict.violations) > 0
    assert table["breach"].max() == verdict.max_breach


def test_finds_go_on_into_the_attack_and_only_the_sure_ones_count():
    found = recloak.mentions.find("posts.csv", "movies.csv")
    assert found.counts["sure"] == 3
    by_value = recloak.mentions.identify("ratings.csv", found)
    found.write("found.parquet")
    assert by_value.to_json() == recloak.mentions.identify("ratings.csv", "found.parquet").to_json()
    doubtful = found.to_polars().with_columns(tier=pl.lit("possible"))
    with pytest.raises(InputError, match="nobody to identify"):
        recloak.mentions.identify("ratings.csv", doubtful)
    assert recloak.mentions.identify("ratings.csv", doubtful, possible=True).to_json() == by_value.to_json()


def test_posts_titles_and_popularity_come_as_file_or_table():
    posts, titles = pl.read_csv("posts.csv"), pl.read_csv("movies.csv")
    counts = {1: 5.0, 2: 1.0}
    table = pl.DataFrame({"item": [1, 2], "n": [5.0, 1.0]})
    table.write_csv("counts.csv")
    wanted = recloak.mentions.find("posts.csv", "movies.csv", popularity="counts.csv").to_polars()
    for popularity in (counts, table, table.to_pandas()):
        for said in (posts, posts.to_pandas()):
            made = recloak.mentions.find(said, titles, popularity=popularity).to_polars()
            assert made.equals(wanted)
    texts = recloak.mentions.find(posts["text"].fill_null("").to_list(), titles)
    assert texts.to_polars()["item"].to_list() == wanted["item"].to_list()
    with pytest.raises(OptionError, match=r"give popularity=... or ratings=..., not both"):
        recloak.mentions.find(posts, titles, popularity=counts, ratings="ratings.csv")
    with pytest.raises(InputError, match="no column for the title"):
        recloak.mentions.find(posts, pl.DataFrame({"id": [1]}))


def test_chance_comes_as_a_seed_or_a_generator():
    published_twice()
    runs: dict[str, Callable[..., Any]] = {
        "attack": lambda **chance: recloak.related.attack("lists.db", "ratings.csv", known=2, targets=9, **chance),
        "verify": lambda **chance: recloak.related.verify("lists.db", "ratings.csv", residual=3, **chance),
        "identify": lambda **chance: recloak.mentions.identify("ratings.csv", "mentions.csv", absent=0.5, **chance),
        "simulate": lambda **chance: [
            one.cost for one in recloak.related.simulate("ratings.csv", method="rp", gap=45, window=2, **chance).records
        ],
    }
    for name, run in runs.items():
        first, again = (run(seed=3) for _ in range(2))
        by_generator = [run(rng=np.random.default_rng(1)) for _ in range(2)]
        for one, two in ((first, again), by_generator, (first, run(rng=3))):
            assert (one if isinstance(one, list) else one.to_json()) == (
                two if isinstance(two, list) else two.to_json()
            )
        with pytest.raises(OptionError, match="two names for one thing"):
            run(seed=3, rng=3)
        assert name


def test_identifying_without_a_seed_is_repeatable():
    first, again, other = (
        recloak.mentions.identify("ratings.csv", "mentions.csv", absent=0.5, seed=seed).to_json()["open_set"]
        for seed in (None, 0, 4)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: recloak.related.publish("x.db", "ratings.csv", window=ANYTHING["some"]),
            "window must be a number of releases",
        ),
        (lambda: recloak.related.publish("x.db", "ratings.csv", method="rp"), "rp protects nobody"),
        (lambda: recloak.related.publish("x.db", "ratings.csv", delta=3), "delta must be at most 1"),
        (lambda: recloak.related.verify("x.db", "ratings.csv", residual=1), "residual must be at least 2"),
        (lambda: recloak.related.attack("x.db", "ratings.csv", window=1), "window must be at least 2"),
        (lambda: recloak.related.build("ratings.csv", top=0), "top must be at least 1"),
        (lambda: recloak.related.build(small_ratings(), engine="spark"), "engine='spark' reads files"),
        (lambda: recloak.mentions.identify("ratings.csv", "mentions.csv", absent=2), "absent must be at least 0"),
        (lambda: recloak.mentions.advise("ratings.csv", 1, [], [1]), "advice on ratings needs secret"),
        (lambda: recloak.mentions.prepare_advisor("ratings.csv", secret=b"0" * 16, exact=True), "has no use for"),
        (lambda: recloak.mentions.prepare_advisor("ratings.csv", secret=b"short"), "secret must be at least 16"),
    ],
)
def test_mistakes_get_one_sentence_before_anything_is_made(call, sentence):
    with pytest.raises(OptionError, match=sentence):
        call()
    assert not Path("x.db").exists()


def test_a_secret_decides_whose_ratings_advice_rests_on():
    secret = b"kept by the operator"
    advisor = recloak.mentions.prepare_advisor("ratings.csv", secret=secret)
    asked = (1, [0], [1, 2])
    once = recloak.mentions.advise("ratings.csv", *asked, secret=secret)
    assert recloak.mentions.advise(advisor, *asked) == once
    with pytest.raises(OptionError, match="a prepared advisor has its secret"):
        recloak.mentions.advise(advisor, *asked, secret=secret)


def test_results_draw_the_page_of_the_command_line():
    for name in ("identify", "defend"):
        assert run_command(["mentions", name, "ratings.csv", "--mentions", "mentions.csv", "-o", "page.html"]) == 0
        found = getattr(recloak.mentions, name)("ratings.csv", "mentions.csv")
        assert found.to_html() == Path("page.html").read_text(encoding="utf-8")
        in_memory = getattr(recloak.mentions, name)(pl.read_csv("ratings.csv"), pl.read_csv("mentions.csv"))
        assert "ratings in memory" in in_memory.to_html()
