"""The ledger and what operators do wrong: arrival counts, promises are kept, erased people are gone."""

import sqlite3
import stat
from contextlib import closing
from typing import Any

import numpy as np
import polars as pl
import pytest

from recloak import related
from recloak._cli.main import run
from recloak._core.errors import InputError, OptionError, SourceError
from recloak._related.history_writing import ledger_of
from recloak._related.ledger_bytes import packed_holdings, packed_ids, unpacked_holdings, unpacked_ids
from tests.library.small_world import small_ratings

TABLE = small_ratings()
PROMISE: dict[str, Any] = {"delta": 0.4, "min_support": 2}
AHEAD = 4_102_444_800  # 2100-01-01
DAY = 86_400


@pytest.fixture
def store(tmp_path):
    with related.History(tmp_path / "lists.db") as history:
        for until in (100, 250):
            related.publish(history, TABLE, until=until, **PROMISE)
        yield history


def row(user, item, time):
    return pl.DataFrame({"user": [user], "item": [item], "rating": [3], "time": [time]}, schema=TABLE.schema)


@pytest.mark.parametrize("seed", range(20))
def test_holdings_and_ids_come_back_from_bytes(seed):
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.integers(0, 3000, int(rng.integers(0, 400))))
    users, items = (cells // 60 * (1 + seed)).astype(np.int32), (cells % 60 * 977).astype(np.int32)
    back = unpacked_holdings(packed_holdings(users, items))
    assert [part.tolist() for part in back] == [users.tolist(), items.tolist()]
    for ids in (pl.Series([5, None, -7], dtype=pl.Int64), pl.Series(["a", None, "é\0"], dtype=pl.String)):
        assert unpacked_ids(packed_ids(ids), is_text=ids.dtype == pl.String).equals(ids)


def test_a_damaged_ledger_is_one_sentence():
    with pytest.raises(InputError, match="the ledger of the history cannot be read"):
        unpacked_holdings(b"nonsense" * 4)


def test_a_holding_counts_from_the_release_that_saw_it_first(store):
    again = TABLE.with_columns(rating=pl.lit(1, dtype=pl.Int64), time=pl.col("time").clip(260, 399))
    related.publish(store, pl.concat([again, row(900, 1, 7)]), **PROMISE)
    ledger = ledger_of(store)
    assert ledger is not None
    sizes = [len(batch.users) for batch in ledger.batches]
    assert sizes == [(TABLE["time"] <= 100).sum(), ((TABLE["time"] > 100) & (TABLE["time"] <= 250)).sum(),
                     (TABLE["time"] > 250).sum() + 1]  # fmt: skip
    assert related.verify(store, pl.concat([again, row(900, 1, 7)])).passed


def test_the_store_is_private(store, tmp_path):
    assert len(store) == 2
    for path in tmp_path.glob("lists.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_retry_does_nothing_and_says_so(store, tmp_path, capsys):
    TABLE.write_csv(tmp_path / "ratings.csv")
    command = ["related", "publish", str(tmp_path / "lists.db"), str(tmp_path / "ratings.csv"), "--delta", "0.4",
               "--min-support", "2"]  # fmt: skip
    assert run(command) == 0
    capsys.readouterr()
    assert run(command) == 0
    assert "Nothing is new since release 3, so nothing was published." in capsys.readouterr().out
    assert len(store) == 3
    changed = TABLE.with_columns(rating=pl.lit(2, dtype=pl.Int64), time=pl.lit(399, dtype=pl.Int64))
    assert not related.publish(store, changed, **PROMISE).is_new


def test_a_rating_dated_ahead_is_refused_and_counts_by_arrival_if_accepted(store):
    ahead = pl.concat([TABLE, row(901, 2, AHEAD)])
    with pytest.raises(
        InputError, match=r"the newest rating is of 2100-01-01, which is yet to come; .*accept_times=True"
    ):
        related.publish(store, ahead, **PROMISE)
    with pytest.raises(InputError, match="far beyond the last release of 1970-01-01"):
        related.publish(store, pl.concat([TABLE, row(901, 2, 10**9)]), **PROMISE)
    made = related.publish(store, ahead, **PROMISE, accept_times=True)
    assert made.time < AHEAD
    late = pl.concat([ahead, row(902, 1, made.time - 5), row(903, 2, made.time - 5)])
    again = related.publish(store, late, **PROMISE, accept_times=True)
    assert again.time > made.time
    assert again.late_ratings == 2
    assert related.verify(store, ahead).passed


def test_a_rating_dated_ahead_does_not_end_the_horizon(tmp_path):
    """With the clock's time for such a release, what was added the day before was compared with one release only."""
    history, table = tmp_path / "lists.db", TABLE
    for night in range(3):
        table = pl.concat([table, row(910 + night, 1, 900 + night * DAY), row(910 + night, 2, 900 + night * DAY)])
        related.publish(history, table, **PROMISE)
    ahead = pl.concat([table, row(901, 2, AHEAD), row(902, 1, 900 + 3 * DAY)])
    made = related.publish(history, ahead, **PROMISE, accept_times=True)
    assert made.time == 900 + 3 * DAY
    assert made.verdict.n_pairs == 3


def test_promising_less_is_refused_unless_asked_for_and_recorded(store):
    for less in (
        {"delta": 0.5},
        {"horizon": "29d"},
        {"horizon": "100"},
        {"min_support": 1},
        {"top": 6},
        {"window": 3},
        {"evidence": "total"},
    ):
        with pytest.raises(OptionError, match=r"this promises less than the last release .*loosen=True"):
            related.publish(store, TABLE, **{**PROMISE, **less})
    made = related.publish(store, TABLE, delta=0.6, min_support=1, loosen=True)
    assert made.loosened == ("delta 0.4 to 0.6", "min_support 2 to 1")
    assert store.releases[-1].to_json()["loosened"] == list(made.loosened)
    assert related.verify(store, TABLE).passed
    assert [one.policy.delta for one in store.releases] == [0.4, 0.4, 0.6]
    more = pl.concat([TABLE, row(901, 2, 401)])
    assert related.publish(store, more, delta=0.1, horizon="all", min_support=9).loosened == ()


def test_what_is_exported_has_no_gaps_and_is_what_was_verified(store):
    related.publish(store, TABLE, **PROMISE)
    table = related.export(store).to_polars()
    sizes = table.group_by("release", "item").agg(pl.len(), pl.col("position").max().alias("last"))
    assert (sizes["len"] == sizes["last"]).all()
    assert table.sort("release", "item", "position").equals(store.to_polars().sort("release", "item", "position"))


def test_lists_from_elsewhere_keep_the_static_rule(tmp_path):
    ours = related.build(TABLE, top=6).to_polars()
    alone = pl.concat([TABLE, row(950, 77, 300), row(950, 1, 300)])
    lone = pl.DataFrame({"item": [77, 1], "related": [1, 77], "score": [9.0, 9.0]})
    theirs = pl.concat([ours.select("item", "related", "score"), lone])
    made = related.publish(tmp_path / "lists.db", alone, lists=theirs, min_support=2)
    assert 77 not in made.to_polars()["item"].to_list() + made.to_polars()["related"].to_list()
    assert related.verify(tmp_path / "lists.db", alone).passed
    verdict = related.verify(tmp_path / "lists.db", alone, min_support=10_000)
    assert len(verdict.unsupported) == len(made.lists)
    assert not verdict.passed


def test_somebody_who_is_forgotten_leaves_no_trace_and_the_proof_closes(tmp_path):
    names = TABLE.with_columns(user=pl.format("person-{}-of-the-test", "user"))
    path, gone = tmp_path / "lists.db", names["user"][0]
    with related.History(path) as store:
        for until in (150, 300):
            related.publish(store, names, until=until, **PROMISE)
        held = int((names.filter(pl.col("time") <= 300)["user"] == gone).sum())
        done = related.forget(store, gone)
        assert (done.holdings, done.sealed, done.verdict.passed) == (held, 2, True)
        ledger = ledger_of(store)
        assert ledger is not None
        assert gone not in ledger.user_ids.to_list()
        with pytest.raises(InputError, match="does not know this user"):
            related.forget(store, gone)
        left = names.filter(pl.col("user") != gone)
        assert related.publish(store, left, **PROMISE).number == 3
        verdict = related.verify(store, left)
        assert (verdict.passed, verdict.n_sealed, verdict.n_releases) == (True, 2, 1)
    with closing(sqlite3.connect(path)) as connection:
        assert gone not in "".join(connection.iterdump())
    for file in tmp_path.glob("lists.db*"):
        assert gone.encode() not in file.read_bytes()


@pytest.mark.parametrize("is_text", [False, True])
def test_somebody_who_is_forgotten_stays_out_until_let_in_again(tmp_path, is_text):
    names = TABLE.with_columns(user=pl.format("person-{}", "user")) if is_text else TABLE
    path, key, gone = tmp_path / "lists.db", tmp_path / "lists.db.key", names["user"][0]
    others = len(names.filter(pl.col("user") != gone))
    with related.History(path) as store:
        related.publish(store, names, until=300, **PROMISE)
        done = related.forget(store, gone)
        assert (done.stays_out, stat.S_IMODE(key.stat().st_mode), key.read_bytes() in path.read_bytes()) == (
            True, 0o600, False)  # fmt: skip
        made = related.publish(store, names, **PROMISE)
        assert made.kept_out == 1
        ledger = ledger_of(store)
        assert ledger is not None
        assert (gone in ledger.user_ids.to_list(), ledger.n_holdings) == (False, others)
        without = related.publish(tmp_path / "other.db", names.filter(pl.col("user") != gone), until=300, **PROMISE)
        assert without.lists.to_polars().height  # whose lists do not know them, either
        again = related.publish(store, names, **PROMISE)
        assert (again.is_new, again.kept_out) == (False, 1)
        moved = key.rename(tmp_path / "elsewhere.key")
        with pytest.raises(InputError, match="keeps out people who were forgotten, and there is no"):
            related.publish(store, names, **PROMISE)
        with pytest.raises(InputError, match="does not keep this user out"):
            related.readmit(store, names["user"][5], key=moved)
        assert related.readmit(store, gone, key=moved) == 1
        assert related.publish(store, names, **PROMISE).late_ratings == len(names) - others
        assert related.verify(store, names).passed


def test_an_entry_leaves_when_those_who_held_both_are_forgotten(tmp_path):
    """The last release's entries were taken over unchecked at a support of one."""
    table = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 2], "rating": [5, 5, 5, 5], "time": [1, 2, 3, 4]})
    path = tmp_path / "lists.db"
    assert len(related.publish(path, table, min_support=1, delta=0).lists) == 2
    related.forget(path, 1)
    assert len(related.publish(path, table, min_support=1, delta=0).lists) == 0


def test_a_mark_is_not_made_where_none_is_wanted_and_all_can_be_let_in(store, tmp_path):
    assert not related.forget(store, TABLE["user"][0], keep_out=False).stays_out
    assert not (tmp_path / "lists.db.key").exists()
    related.forget(store, TABLE["user"][1])
    (tmp_path / "lists.db.key").unlink()
    with pytest.raises(OptionError, match="a user or everybody=True"):
        related.readmit(store)
    assert related.readmit(store, everybody=True) == 1
    assert related.publish(store, TABLE, **PROMISE).kept_out == 0


@pytest.mark.parametrize("what", ["other items of theirs", "half of it", "other people"])
def test_ratings_that_do_not_go_on_from_the_last_night_are_refused(store, what):
    other = {
        "other items of theirs": TABLE.with_columns(item=pl.col("item") % 6 + 1),
        "half of it": TABLE.sample(len(TABLE) // 2, seed=1),
        "other people": TABLE.with_columns(pl.col("user") + 10_000),
    }[what]
    if what == "other items of theirs":
        other = other.filter(
            pl.struct("user", "item").is_in(TABLE.select("user", "item").to_struct("").implode()).not_()
        )
    with pytest.raises(SourceError, match=r"not those of this history: .*accept_source=True"):
        related.publish(store, other, **PROMISE)
    assert len(store) == 2
    made = related.publish(store, other, **PROMISE, accept_source=True)
    assert made.is_new
    assert store.releases[-1].to_json()["accepted_source"]
    assert related.verify(store, other).is_kept  # the next nights go on from these


def test_a_promise_of_nothing_is_never_called_kept(tmp_path, capsys):
    TABLE.write_csv(tmp_path / "ratings.csv")
    path, source = str(tmp_path / "lists.db"), str(tmp_path / "ratings.csv")
    assert run(["related", "publish", path, source, "--delta", "1", "--min-support", "1"]) == 0
    assert "this promises nothing" in capsys.readouterr().err
    assert run(["related", "verify", path, source]) == 1
    assert "nothing promised: " in (told := capsys.readouterr().out)
    assert "Nothing was promised (release 1)" in told
    assert related.forget(path, TABLE["user"][0]).verdict.word == "nothing promised"
    left = TABLE.filter(pl.col("user") != TABLE["user"][0])
    assert related.verify(path, left).to_json()["nothing_promised"] == [1]  # also where it is sealed
    assert "promises nothing" in related.report(path).warnings[0]


def test_a_store_without_a_list_has_not_been_checked(tmp_path, capsys):
    TABLE.write_csv(tmp_path / "ratings.csv")
    path, source = str(tmp_path / "lists.db"), str(tmp_path / "ratings.csv")
    assert run(["related", "publish", path, source, "--min-support", "1000"]) == 0
    told = capsys.readouterr()
    assert "recall 0.000" in told.out
    assert "no item has a list: no two items have 1000 raters in common" in told.err
    assert run(["related", "verify", path, source]) == 1
    assert "Nothing was checked: no release has a list." in capsys.readouterr().out


def test_an_entry_that_nobody_rated_with_its_item_fails_at_a_support_of_one(store, tmp_path):
    related.publish(store, TABLE, delta=0.4, min_support=1, loosen=True)
    assert related.verify(store, TABLE).passed
    lone = pl.concat([TABLE, row(950, 77, 300)])
    related.publish(store, lone, delta=0.4, min_support=1)
    with closing(sqlite3.connect(tmp_path / "lists.db")) as connection, connection:
        connection.execute(
            "UPDATE recloak_entries SET related = '77' WHERE release = 4 AND item = '1' AND position = 1"
        )
    found = related.verify(store, lone)
    assert [one.co_raters for one in found.unsupported] == [0]


def test_an_item_that_returns_has_its_holders(store):
    without = TABLE.filter(pl.col("item") != 3)
    with pytest.raises(SourceError, match=r"5 of its 6 items have ratings|ratings it has seen.*accept_source=True"):
        related.publish(store, without, **PROMISE)
    related.publish(store, without, **PROMISE, accept_source=True)
    returned = pl.concat([TABLE, row(901, 2, 401)])
    related.publish(store, returned, **PROMISE)
    ledger = ledger_of(store)
    assert ledger is not None
    assert ledger.n_holdings == len(returned.unique(["user", "item"]))
    assert related.verify(store, returned).passed


def test_releases_before_the_horizon_are_pruned_and_the_rest_is_still_proved(tmp_path):
    with related.History(tmp_path / "lists.db") as store:
        for until in (100, 150, 200, 250, 300, 399):
            related.publish(store, TABLE, until=until, horizon="60", **PROMISE)
        since = [int((TABLE["time"] > time).sum()) for time in (100, 150, 200, 250, 300)]  # ratings after each release
        n_old = sum(n >= 60 for n in since) - 1  # the last release before the horizon stays
        assert related.prune(store).to_json() == {"removed": n_old, "kept": 6 - n_old}
        assert n_old >= 1
        assert [one.number for one in store.releases] == list(range(n_old + 1, 7))
        assert related.verify(store, TABLE).passed
        more = pl.concat([TABLE, row(901, 2, 401)])
        assert related.publish(store, more, horizon="60", **PROMISE).number == 7


def test_a_history_kept_without_a_ledger_is_taken_over(store, tmp_path):
    store.close()
    with closing(sqlite3.connect(tmp_path / "lists.db")) as connection, connection:
        for table in ("recloak_ledger", "recloak_seals"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM recloak_store WHERE key IN ('users', 'items', 'user ids')")
        connection.execute("UPDATE recloak_store SET value = '1' WHERE key = 'format'")
    with related.History(tmp_path / "lists.db", create=False) as old:
        assert related.verify(old, TABLE).n_releases == 2
        assert related.publish(old, TABLE, **PROMISE).number == 3
        ledger = ledger_of(old)
        assert ledger is not None
        assert ledger.n_holdings == len(TABLE)
        assert related.verify(old, TABLE).coverage is not None


def test_neither_evidence_nor_a_window_turns_into_something_else_unnoticed(tmp_path):
    with related.History(tmp_path / "window.db") as store:
        related.publish(store, TABLE, until=200, delta=0.4, min_support=2, window="all")
        with pytest.raises(OptionError, match="window all to horizon 1h"):
            related.publish(store, TABLE, delta=0.4, min_support=2, horizon="1h")


def test_a_longer_horizon_is_refused_once_releases_were_pruned(tmp_path):
    later = [row(900 + n, 1, 400 + 864_000 * n) for n in range(1, 4)]
    nights = [pl.concat([TABLE, *later[:n]]) for n in range(4)]
    promise: dict[str, Any] = {"delta": 0.4, "min_support": 2, "accept_times": True}
    with related.History(tmp_path / "pruned.db") as store:
        for night in nights[:3]:
            related.publish(store, night, **promise, horizon="1d")
        related.prune(store)
        assert store.releases[0].number > 1
        with pytest.raises(OptionError, match="releases that it covers were pruned"):
            related.publish(store, nights[3], **promise, horizon="all")
        related.publish(store, nights[3], **promise, horizon="1d")


def test_a_release_of_a_time_far_beyond_the_last_one_needs_a_word(store):
    far = 250 + 2_000 * 86_400
    with pytest.raises(InputError, match=r"the release is of 1975-06-24, far beyond the last release of 1970-01-01"):
        related.publish(store, TABLE, until=far, **PROMISE)
    assert related.publish(store, TABLE, until=far, accept_times=True, **PROMISE).time == far


def test_what_is_taken_out_of_the_ratings_is_not_shown_any_more(store):
    shown = related.export(store, release="last").to_polars()
    gone = shown["related"].mode()[0]
    left = pl.concat([TABLE.filter(pl.col("item") != gone), row(900, 1, 300)])
    related.publish(store, left, **PROMISE, accept_source=True)
    after = related.export(store, release="last").to_polars()
    assert len(after)
    assert gone not in after["related"].to_list()
    assert gone not in after["item"].to_list()


def test_entries_of_another_recommender_without_any_common_rater_are_never_shown(tmp_path):
    table = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 3, 1], "rating": [5, 5, 5, 5], "time": [1, 2, 3, 4]})
    lists = pl.DataFrame({"item": [1, 1], "related": [2, 3], "score": [0.5, 0.9]})
    made = related.publish(tmp_path / "lists.db", table, lists=lists, min_support=1)
    assert made.to_polars().select("item", "related").rows() == [(1, 2)]
