"""What a night carries over: the same lists as bytes, and sights brought up to date by changed lists."""

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa

from recloak import related
from recloak._core.errors import InputError
from recloak._related.history import History, published
from recloak._related.history_database import PACKED_LISTS
from recloak._related.history_writing import ledger_of
from recloak._related.model import EMPTY, ListRelease, Lists, Sight, move_keys, seen_after
from recloak._related.packed_lists import latest_releases


def random_lists(rng, last=None):
    lists = np.full((8, 3), EMPTY, np.int32)
    for j in range(8):
        if last is not None and rng.random() < 0.6:
            lists[j] = last[j]
            continue
        others = rng.permutation([i for i in range(8) if i != j])[: rng.integers(0, 4)]
        lists[j, : len(others)] = others
    return lists


@pytest.mark.parametrize("seed", range(30))
def test_sights_brought_up_to_date_by_changed_lists_are_those_of_all_lists(seed):
    rng, lists = np.random.default_rng(seed), None
    sights: tuple[Sight, ...] = ()
    plain: tuple[Sight, ...] = ()
    for number in range(6):
        lists = random_lists(rng, lists)
        release = ListRelease(number + 1, number, Lists(lists.copy()))
        plain = (*(sight.after(release.lists) for sight in plain), Sight.of(release.time, release.lists))
        sights = seen_after(sights, release)
        for one, other in zip(sights, plain, strict=True):
            lasts = one.lasting != EMPTY
            assert np.array_equal(one.lasting, other.lasting)
            assert np.array_equal(one.past, other.past)
            assert np.array_equal(one.lowest[lasts], other.lowest[lasts])
            probe = Lists(random_lists(rng, lists))
            assert np.array_equal(move_keys(probe, one.moving(probe)), move_keys(probe, other.moving(probe)))


def nights(store, n_nights, rng, top=2):
    """Publish some nights in which items come whose ids stand before those known."""
    rows = []
    for night in range(n_nights):
        items = rng.integers(0, 6 + night, 60) if night < 2 else 40 - rng.integers(0, 12, 60)
        rows += [(int(u), int(i) + 10, int(r), 1_000_000_000 + 86_400 * night) for u, i, r in
                 zip(rng.integers(0, 15, 60), items, rng.integers(1, 6, 60), strict=True)]  # fmt: skip
        table = pl.DataFrame(rows, schema=["user", "item", "rating", "time"], orient="row")
        related.publish(store, table, min_support=1, delta=0.5, top=top + night % 2, loosen=True)
    return table


@pytest.mark.parametrize("seed", range(5))
def test_lists_as_bytes_are_the_entries(seed, tmp_path):
    with History(tmp_path / "lists.db") as store:
        nights(store, 4, np.random.default_rng(seed))
        ledger, records = ledger_of(store), store.releases
        assert ledger is not None
        assert store._database.rows(sa.select(sa.func.count()).select_from(PACKED_LISTS))[0][0] == len(records) > 2
        for one, other in zip(latest_releases(store, ledger, records), published(store, ledger.items()), strict=True):
            assert (one.number, one.time) == (other.number, other.time)
            assert np.array_equal(one.lists.items, other.lists.items)


@pytest.mark.parametrize("change", ["missing", "no table"])
def test_a_store_without_the_bytes_goes_on_with_the_same_lists(change, tmp_path):
    shown = []
    for name in ("whole", "without"):
        with History(tmp_path / f"{name}.db") as store:
            table = nights(store, 3, np.random.default_rng(1))
        if name == "without":
            with History(tmp_path / "without.db") as store, store._database.writing() as connection:
                connection.execute(
                    sa.delete(PACKED_LISTS) if change == "missing" else sa.text("DROP TABLE recloak_packed_lists")
                )
        more = table.with_columns(pl.col("user") + 7, pl.col("time") + 86_400)
        related.prune(tmp_path / f"{name}.db")
        made = related.publish(
            tmp_path / f"{name}.db", pl.concat([table, more]), min_support=1, delta=0.5, top=3, loosen=True
        )
        shown.append(made.to_polars().to_dicts())
    assert shown[0] == shown[1]


def test_damaged_bytes_are_refused(tmp_path):
    with History(tmp_path / "lists.db") as store:
        table = nights(store, 3, np.random.default_rng(1))
        with store._database.writing() as connection:
            connection.execute(sa.update(PACKED_LISTS).values(lists=b"nothing"))
        more = table.with_columns(pl.col("user") + 7, pl.col("time") + 86_400)
        with pytest.raises(InputError, match="damaged"):
            related.publish(store, pl.concat([table, more]), min_support=1, delta=0.5, top=3, loosen=True)
