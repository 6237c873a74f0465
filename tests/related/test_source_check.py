"""A history is verified and attacked with the ratings behind it only: against others every list looks harmless."""

import polars as pl
import pytest

import recloak
import recloak.related
from tests.library.small_world import small_ratings

TABLE = small_ratings()
OTHERS = {
    "items": (TABLE.with_columns(pl.col("item") + 10_000), "0 of its 6 items"),
    "few rows": (
        TABLE.head(10),
        "of its 6 items have ratings|10 of the 200 ratings it has seen|10 of them come before",
    ),
    "one item gone": (TABLE.filter(pl.col("item") != 3), "5 of its 6 items"),
    "later": (TABLE.with_columns(pl.col("time") + 10**9), "0 of them come before release 1"),
    "earlier": (TABLE.with_columns(pl.col("time") - 10**9), "come before release 1; it was made from"),
    "half": (
        TABLE.sample(len(TABLE) // 2, seed=1),
        "come before release 1|100 of the 200 ratings it has seen are in them",
    ),
    "other people": (TABLE.with_columns(pl.col("user") + 10_000), "0 of its 40 users|come before"),
}
BY_TIME = ("later", "earlier")  # the ledger knows when ratings came, whatever times they carry now


@pytest.fixture
def history(tmp_path):
    with recloak.related.History(tmp_path / "lists.db") as store:
        for until in (100, 200, 399):
            recloak.related.publish(store, TABLE, until=until, delta=0.5)
        yield store


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("check", [recloak.related.verify, recloak.related.attack])
def test_other_ratings_are_refused_and_what_was_found_is_told(history, what, check):
    table, told = OTHERS[what]
    if what in BY_TIME and check is recloak.related.verify:
        assert check(history, table).passed
        return
    with pytest.raises(recloak.SourceError, match=f"lists.db: the ratings are not those of this history: .*({told})"):
        check(history, table)


def test_ratings_without_a_row_are_refused(history):
    with pytest.raises(recloak.SourceError, match="0 of its 6 items have ratings"):
        recloak.related.verify(history, recloak.read(TABLE).until(-1))


def test_the_ratings_behind_it_and_those_with_a_few_late_ones_are_taken(history):
    late = pl.concat(
        [TABLE, TABLE[-2:].with_columns(user=pl.lit(900, dtype=pl.Int64), time=pl.lit(50, dtype=pl.Int64))]
    )
    for table in (TABLE, late, TABLE[2:]):
        assert recloak.related.verify(history, table).n_pairs == 3


def test_a_history_without_releases_is_not_verified(tmp_path):
    with recloak.related.History(tmp_path / "empty.db") as store:
        for history in (store, tmp_path / "empty.db"):
            with pytest.raises(recloak.InputError, match=r"empty\.db: there is no release to verify"):
                recloak.related.verify(history, TABLE)
