"""What a source holds is seen from its values: ratings, who used what, or how often."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recloak
from recloak._core.errors import InputError, SourceError
from recloak._ratings.assemble import RowChunk, add_up_chunks
from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS

PAIRS = [(user, item) for user in range(10) for item in range(user % 4 + 1)]


def csv(path, header, rows):
    lines = ([header] if header else []) + [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_pairs_without_a_value_are_presence_and_it_is_told(tmp_path):
    for header in ("user,item", "customer_id,product_id", ""):
        read = recloak.read(csv(tmp_path / "r.csv", header, PAIRS))
        assert read.kind is PRESENCE
        assert read.n_ratings == len(PAIRS)
        assert (read.values == 1).all()
        assert any("read as presence" in note for note in read.intake.notes)
        assert read.to_polars().columns == ["user", "item"]


def test_a_third_column_of_times_is_no_rating(tmp_path):
    rows = [(user, item, 1_300_000_000 + item) for user, item in PAIRS]
    read = recloak.read(csv(tmp_path / "r.csv", "", rows))
    assert read.kind is PRESENCE
    assert read.times is not None
    assert read.times.min() == 1_300_000_000
    dated = [(user, item, "2011-03-04") for user, item in PAIRS]
    assert recloak.read(csv(tmp_path / "r.csv", "", dated)).kind is PRESENCE


def test_a_value_that_never_varies_is_presence(tmp_path):
    rows = [(user, item, 1) for user, item in PAIRS]
    read = recloak.read(csv(tmp_path / "r.csv", "user,item,rating", rows))
    assert read.kind is PRESENCE
    assert recloak.read(csv(tmp_path / "r.csv", "user,item,rating", rows), values="ratings").kind is RATINGS


def test_a_few_equal_ratings_stay_ratings():
    assert recloak.read(pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [4, 4]})).kind is RATINGS


def test_orders_are_counts_added_up_with_their_first_and_last_time(tmp_path):
    orders = [("c1", "p1", 2, "2024-01-05"), ("c1", "p1", 1, "2024-03-01"), ("c2", "p1", 1, "2024-02-01")]
    read = recloak.read(csv(tmp_path / "o.csv", "customer_id,product_id,quantity,order_date", orders))
    assert read.kind is COUNTS
    table = read.to_polars().sort("user")
    assert table["count"].to_list() == [3.0, 1.0]
    assert read.first_times is not None
    assert read.times is not None
    assert [read.first_times[0], read.times[0]] == [1_704_412_800, 1_709_251_200]


def test_whole_numbers_with_a_long_tail_are_counts_and_a_scale_of_a_hundred_is_not(tmp_path):
    rng = np.random.default_rng(3)
    plays = [(user, item, int(rng.pareto(1) * 50) + 1) for user in range(50) for item in range(20)]
    assert recloak.read(csv(tmp_path / "r.csv", "user,artist,value", plays)).kind is COUNTS
    scores = [(user, item, int(rng.integers(0, 101))) for user in range(50) for item in range(20)]
    assert recloak.read(csv(tmp_path / "r.csv", "user,artist,value", scores)).kind is RATINGS
    assert recloak.read(csv(tmp_path / "r.csv", "user,artist,value", plays), scale="0,1000000").kind is RATINGS


def test_a_log_in_which_pairs_repeat_is_one_of_events(tmp_path):
    read = recloak.read(csv(tmp_path / "r.csv", "user,item", [*PAIRS, *PAIRS[:5]]))
    assert read.kind is COUNTS
    assert read.values.sum() == len(PAIRS) + 5
    assert any("5 of" in note for note in read.intake.notes)
    said = recloak.read(csv(tmp_path / "r.csv", "user,item", [*PAIRS, *PAIRS[:5]]), values="presence")
    assert said.kind is PRESENCE
    assert (said.values == 1).all()


def test_parquet_is_read_as_the_same_kind_both_ways(tmp_path):
    table = pl.DataFrame(PAIRS, ["user", "item"], orient="row")
    table.write_parquet(tmp_path / "r.parquet")
    assert recloak.read(tmp_path / "r.parquet").kind is PRESENCE
    pl.concat([table, table.head(9)]).write_parquet(tmp_path / "log.parquet")
    log = recloak.read(tmp_path / "log.parquet")
    assert log.kind is COUNTS
    assert log.values.sum() == len(PAIRS) + 9


def test_counts_that_are_said_must_be_whole_and_not_negative(tmp_path):
    for wrong in ("-1", "2.5"):
        path = csv(tmp_path / "r.csv", "user,item,n", [(1, 1, 3), (1, 2, wrong)])
        with pytest.raises(SourceError, match="a count must be a whole number"):
            recloak.read(path, rating="n", values="counts")


def test_pairs_that_count_nothing_are_left_out_and_told(tmp_path):
    read = recloak.read(csv(tmp_path / "r.csv", "user,item,quantity", [(1, 1, 3), (1, 2, 0), (2, 2, 1)]))
    assert read.n_ratings == 2
    assert any("count of 0" in note for note in read.intake.notes)


def test_files_with_and_without_values_are_not_mixed(tmp_path):
    one, other = csv(tmp_path / "a.csv", "user,item", PAIRS), csv(tmp_path / "b.csv", "user,item,rating", [(1, 2, 3)])
    with pytest.raises(SourceError, match="others have none"):
        recloak.read([one, other])


def test_steps_that_need_ratings_say_so(tmp_path):
    path = csv(tmp_path / "r.csv", "user,item", PAIRS)
    with pytest.raises(InputError, match="contest prepare takes ratings, but this source holds presence"):
        recloak.contest.prepare(path, tmp_path / "kit")


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 9), st.integers(0, 1 << 33)), min_size=1),
    st.booleans(),
)
def test_sums_and_times_are_those_of_a_plain_group_by(rows, timed):
    users, items, values, times = (np.array(column) for column in zip(*rows, strict=True))
    chunk = RowChunk(
        users.astype(np.int32), items.astype(np.int32), values.astype(np.float32), times if timed else None
    )
    indptr, of, sums, last, first = add_up_chunks([chunk], np.arange(6, dtype=np.int32), np.arange(5, dtype=np.int32))
    table = pl.DataFrame({"u": users, "i": items, "v": values, "t": times})
    plain = table.group_by("u", "i").agg(pl.col("v").sum(), pl.col("t").max().alias("l"), pl.col("t").min().alias("f"))
    plain = plain.sort("u", "i")
    assert of.tolist() == plain["i"].to_list()
    assert sums.tolist() == plain["v"].to_list()
    assert np.diff(indptr).sum() == plain.height
    if timed:
        assert last is not None
        assert first is not None
        assert last.tolist() == plain["l"].to_list()
        assert first.tolist() == plain["f"].to_list()


def test_a_long_tail_is_drawn_in_bars_that_double():
    values = [1, 1, 1, 2, 3, 4, 7, 8, 100, 352_698]
    ratings = recloak.Ratings.from_arrays(list(range(10)), [1] * 10, values, kind="counts")
    found = recloak.inspect(ratings, seed=1)
    bars = [(bar.low, bar.high, bar.n) for bar in found.summary.histogram if bar.n]
    assert bars == [(1, 1, 3), (2, 3, 2), (4, 7, 2), (8, 15, 1), (64, 127, 1), (262_144, 524_287, 1)]
    assert found.to_json()["values"] == "counts"
    assert "Which counts there are" in found.to_html()


def test_the_page_of_presence_tells_of_items_only():
    pairs = recloak.Ratings.from_arrays(*zip(*PAIRS, strict=True))
    page = recloak.inspect(pairs, seed=1).to_html()
    assert "What is in these uses" in page
    assert "Which" not in page
    assert "By items and" not in page


def test_one_returned_order_makes_no_ratings_of_quantities(tmp_path):
    orders = [(user, item, 1 + (user + item) % 3) for user, item in PAIRS]
    path = csv(tmp_path / "o.csv", "customer_id,product_id,quantity", [*orders, ("3", "1", -2)])
    with pytest.raises(SourceError, match="leave returned goods out"):
        recloak.read(path)
    assert recloak.read(path, values="ratings").kind is RATINGS
