import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recloak
from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.card import data_card
from recloak._releases.model.steps import Grouping
from recloak._releases.pseudonyms import keyed_order, secret_key
from recloak._releases.publishing import link_confidence
from recloak._releases.rating_tally import tally
from recloak._releases.release_folders import write_release
from recloak._releases.verifier import verify
from tests.releases.helpers import some_padding, some_ratings, some_release

KINDS = list(product(("pure", "padded"), ("long", "grouped"), ("parquet", "csv")))


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize(("mode", "layout", "file_format"), KINDS)
def test_what_is_written_passes_its_verifier_and_holds_the_release(tmp_path, mode, layout, file_format):
    release = some_release(some_ratings(), mode=mode).named(layout, file_format)
    folder = release.write(tmp_path / "out", layout=layout, format=file_format)
    verdict = verify(folder)
    assert verdict.passed, verdict.problems
    assert (verdict.k_found or 0) >= 3
    assert verdict.n_users == 12
    read = pl.read_parquet if file_format == "parquet" else pl.read_csv
    if layout == "long":
        table = read(folder / f"ratings.{file_format}")
    else:
        members, profiles = (read(folder / f"{name}.{file_format}") for name in ("members", "profiles"))
        table = members.join(profiles, on="group").select("user", "item", "rating")
    wanted = release.to_polars()
    assert table.cast(wanted.schema).sort("user", "item").equals(wanted)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(4, 14), st.integers(2, 4), st.sampled_from(["pure", "padded"]))
def test_every_released_row_is_shared_by_at_least_k(seed, n_users, k, mode):
    rows = some_release(some_ratings(n_users, seed=seed), k=k, seed=seed, mode=mode).to_polars()
    profiles = rows.group_by("user").agg(pl.struct("item", "rating")).group_by("item").len()
    assert profiles["len"].min() >= k


def test_the_same_seed_and_ratings_give_the_same_bytes(tmp_path):
    ratings = some_ratings()
    for name in ("a", "b"):
        some_release(ratings, seed=7).write(tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_public_folder_names_nothing_private(tmp_path):
    users = [f"Jane-{u}" for u in range(12)]
    ratings = Ratings.from_arrays(np.repeat(users, 2), np.tile(["x", "y"], 12), np.arange(24) % 5 + 1.0)
    folder = some_release(ratings, seed=987654321).write(tmp_path / "out", private=tmp_path / "who")
    public = b"".join(contents(folder).values())
    assert b"Jane" not in public
    assert b"987654321" not in public
    assert b"seed" not in public
    assert str(tmp_path).encode() not in public
    assert {file.stat().st_mtime for file in folder.iterdir()} == {0}


def test_the_private_folder_says_who_is_who_and_only_to_its_owner(tmp_path):
    ratings = some_ratings()
    release = some_release(ratings, mode="pure")
    folder = release.write(tmp_path / "out", layout="long")
    private = tmp_path / "out-private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in private.iterdir()} == {0o600}
    mapping = pl.read_parquet(private / "mapping.parquet")
    assert mapping["user_id"].to_list() == ratings.user_ids.ids.to_list()
    assert sorted(mapping["user"]) == list(range(1, 13))
    # A user's released row holds every item the user rated, and the group is the one of the row.
    rows = pl.read_parquet(folder / "ratings.parquet").group_by("user").agg("item")
    released = dict(zip(rows["user"], rows["item"], strict=True))
    for user_id, user in mapping.select("user_id", "user").iter_rows():
        place = ratings.row(ratings.user_ids.number(user_id))
        assert set(ratings.item_ids.decode(ratings.items[place])) <= set(released[user])
    account = json.loads((private / "account.json").read_text())
    assert account["seed"] == 0
    assert [step["step"] for step in account["steps"]] == list(range(1, len(account["steps"]) + 1))


def test_groups_share_their_number_in_mapping_and_members(tmp_path):
    release = some_release(some_ratings())
    folder = release.write(tmp_path / "out")
    members = pl.read_parquet(folder / "members.parquet")
    assert release.mapping().sort("user").select("user", "group").equals(members)


def test_a_guessed_seed_does_not_give_the_names_away():
    ratings, others = some_ratings(40), some_ratings(40, seed=1)
    renamed = Ratings.from_arrays(ratings.users() + 1, ratings.item_ids.decode(ratings.items), ratings.values)
    labels = np.repeat(np.arange(8, dtype=np.int32), 5)

    def key(one=ratings, groups=labels, recipe="k 5", seed=0):
        return secret_key(one, groups, recipe, Randomness(seed))

    assert key() == key()
    changed = [key(others), key(renamed), key(groups=labels[::-1].copy()), key(recipe="k 6"), key(seed=1)]
    assert len({key(), *changed}) == 6


@given(st.binary(min_size=64, max_size=64), st.integers(0, 50))
def test_a_keyed_order_is_a_permutation(key, n):
    order = keyed_order(key, "users", n)
    assert sorted(order) == list(range(n))
    assert n < 20 or list(order) != list(keyed_order(key, "groups", n))


def test_every_name_is_equally_likely():
    n, tries = 6, 1200
    places = np.zeros((n, n))
    for t in range(tries):
        places[np.arange(n), keyed_order(t.to_bytes(64, "little"), "users", n)] += 1
    # Each count is binomial with mean 200 and deviation 13; six deviations never happen by chance.
    assert np.abs(places - tries / n).max() < 6 * np.sqrt(tries / n)


@pytest.mark.parametrize("private", ["out", "out/inside", ".", "out/../out"])
def test_a_private_folder_inside_the_public_one_is_refused(tmp_path, private):
    with pytest.raises(InputError, match="apart"):
        some_release(some_ratings()).write(tmp_path / "out", private=tmp_path / private)
    assert list(tmp_path.iterdir()) == []


def test_a_link_into_the_public_folder_is_no_way_around(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(InputError, match="apart"):
        some_release(some_ratings()).write(tmp_path / "out", private=tmp_path / "link" / "who")


def test_a_folder_in_use_is_refused_and_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        some_release(some_ratings()).write(tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_release_that_fails_its_verifier_is_removed(tmp_path):
    release = some_release(some_ratings())
    object.__setattr__(release, "groups", np.where(release.groups == 0, 1, release.groups))
    with pytest.raises(RefusedError, match="nothing was published"):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_private_folder_left_by_a_killed_run_is_replaced(tmp_path):
    some_release(some_ratings(), seed=1).write(tmp_path / "out", private=tmp_path / "who")
    shutil.rmtree(tmp_path / "out")
    some_release(some_ratings(), seed=2).write(tmp_path / "out", private=tmp_path / "who")
    assert json.loads((tmp_path / "who" / "account.json").read_text())["seed"] == 2


def test_the_private_folder_of_another_release_is_never_replaced(tmp_path):
    some_release(some_ratings(), seed=1).write(tmp_path / "old", private=tmp_path / "who")
    with pytest.raises(InputError, match="not empty"):
        some_release(some_ratings(), seed=2).write(tmp_path / "new", private=tmp_path / "who")
    assert json.loads((tmp_path / "who" / "account.json").read_text())["seed"] == 1


def test_the_account_says_how_sure_a_link_can_be():
    ratings = Ratings.from_arrays([0, 1, 2, 3, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2], [1.0, 2, 3, 4, 5, 1, 2])
    cells = tally(ratings, some_padding(ratings), Grouping(np.array([0, 0, 0, 0], np.int32), 4))
    told = link_confidence(cells, Grouping(np.array([0, 0, 0, 0], np.int32), 4))
    assert told["link_confidence"] == {"q50": 2 / 4, "q90": 3 / 4, "q99": 3 / 4, "max": 3 / 4}
    assert told["single_rater_share"] == 0


@pytest.mark.parametrize("wrong", [{"layout": "wide"}, {"file_format": "xlsx"}])
def test_unknown_forms_are_refused(tmp_path, wrong):
    with pytest.raises(OptionError, match="must be one of"):
        write_release(some_release(some_ratings()), tmp_path / "out", **wrong)


def test_odd_texts_as_item_ids_come_back_as_they_were(tmp_path):
    odd = ['a"b', "c,d", "e\nf", " ", "ü\u2028", "007", "NA", "null", "'", "\\", "é"]
    ratings = Ratings.from_arrays(np.repeat(np.arange(6), 11), odd * 6, np.arange(66) % 5 + 1.0)
    for layout, file_format in product(("long", "grouped"), ("parquet", "csv")):
        folder = tmp_path / f"{layout}-{file_format}"
        some_release(ratings).write(folder, layout=layout, format=file_format)
        table = "ratings" if layout == "long" else "profiles"
        if file_format == "parquet":
            items = pl.read_parquet(folder / f"{table}.parquet")["item"]
        else:
            items = pl.read_csv(folder / f"{table}.csv")["item"]
        assert sorted(set(items)) == sorted(odd)


@pytest.mark.parametrize("values", [[0, 10], [0.5, 5.0], [1, 1], [-3.5, 12.25], [1, 100]])
@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_any_scale_can_be_published(tmp_path, values, mode):
    ratings = some_ratings()
    stretched = np.where(ratings.values > 2, values[1], values[0])
    scaled = Ratings.from_arrays(ratings.users(), ratings.items, stretched)
    assert verify(some_release(scaled, mode=mode).write(tmp_path / "out")).passed


def test_the_literal_method_is_named_and_its_leak_said(tmp_path):
    folder = some_release(some_ratings(), mode="pure", paper=True).write(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["paper"] is True
    assert manifest["grid"] is None
    assert manifest["min_raters"] == 1
    assert "exact rating" in manifest["not_promised"][-1]
    assert "literal" in (folder / "README.md").read_text()


def test_the_room_is_a_function_and_gives_a_release():
    release = recloak.publish(some_ratings(30, 8), k=3, mode="pure", rng=0)
    assert release.facts.n_users == 30
    assert release.facts.n_groups <= 10
    assert "publish" in dir(recloak)
    with pytest.raises(AttributeError, match="no attribute 'publihs'"):
        _ = recloak.publihs  # type: ignore[attr-defined]


def one_each(n_users: int) -> Ratings:
    return Ratings.from_arrays(range(n_users), [u % 2 for u in range(n_users)], [1.0 + u % 5 for u in range(n_users)])


@pytest.mark.parametrize(
    ("ratings", "options", "sentence"),
    [
        (one_each(9), {"k": 1}, "k must be at least 2, got 1"),
        (one_each(4), {"k": 5}, "at least k = 5 users with ratings, got 4"),
        (Ratings.from_arrays(range(9), [0] * 9, [3.0] * 9), {"k": 2}, "at least 2 items"),
        (one_each(9), {"k": 4, "diversity": "1,3"}, "needs at least 3 groups"),
        (one_each(9), {"k": 2, "diversity": "0,3"}, "B at least 1"),
        (one_each(9), {"k": 2, "diversity": "many"}, "two whole numbers"),
        (one_each(9), {"k": 2, "paper": True, "grid": 0.5}, "paper means"),
    ],
)
def test_what_cannot_be_published_is_refused_in_one_sentence(ratings, options, sentence):
    with pytest.raises(InputError, match=sentence):
        recloak.publish(ratings, rng=0, **options)


@pytest.mark.parametrize("mode", ["pure", "padded"])
@pytest.mark.parametrize(
    "ratings",
    [
        Ratings.from_arrays(np.repeat(np.arange(8), 3), np.tile([0, 1, 2], 8), np.full(24, 4.0)),
        Ratings.from_arrays([*range(8), 0], [*[0] * 8, 1], [1.0, 2, 3, 4, 5, 1, 2, 3, 4]),
        one_each(12).where(np.arange(12) > 0),
    ],
    ids=["all ratings equal", "one item rated by everybody", "a user without ratings"],
)
def test_odd_but_lawful_ratings_are_published(tmp_path, mode, ratings):
    recloak.publish(ratings, k=3, mode=mode, rng=0).write(tmp_path / "out")
    assert verify(tmp_path / "out", k=3).passed


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_one_and_two_threads_give_the_same_bytes(tmp_path, mode):
    some_ratings(300, 60, density=0.2).to_polars().write_csv(tmp_path / "ratings.csv")
    script = "from recloak._cli.main import main; main()"
    for threads in ("1", "2"):
        flags = ["--mode", mode, "--diversity", "2,3", "--seed", "0"]
        command = [sys.executable, "-c", script, "publish", "ratings.csv", "-o", f"out-{threads}", *flags]
        env = {**os.environ, "NUMBA_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads}
        subprocess.run(command, check=True, cwd=tmp_path, env=env)
    assert contents(tmp_path / "out-1") == contents(tmp_path / "out-2")


def test_a_cap_on_links_is_kept_seen_from_outside_and_said_on_the_card(tmp_path):
    ratings = some_ratings(40, 12, density=0.6)
    some_release(ratings, k=4, mode="pure", max_link=0.5).write(
        tmp_path / "out", private=tmp_path / "who", layout="long"
    )
    mapping = pl.read_parquet(tmp_path / "who" / "mapping.parquet")
    rated = pl.DataFrame(
        {"user_id": ratings.user_ids.decode(ratings.users()), "item": ratings.item_ids.decode(ratings.items)}
    )
    raters = rated.join(mapping, on="user_id").group_by("group", "item").agg(raters=pl.len())
    shown = pl.read_parquet(tmp_path / "out" / "ratings.parquet").join(mapping, on="user")
    sizes = mapping.group_by("group").agg(members=pl.len())
    shares = shown.select("group", "item").unique().join(raters, on=["group", "item"]).join(sizes, on="group")
    links = (shares["raters"] / shares["members"]).to_numpy()
    assert 0 < links.max() <= 0.5
    assert "more than 50 % rated it" in (tmp_path / "out" / "README.md").read_text()


def test_the_card_promises_no_tighter_cap_than_was_kept():
    facts = replace(some_release(some_ratings(), mode="pure").facts, max_link=1 / 3)
    assert "of whose members more than 33.3333 % rated it" in data_card(facts, "long", "parquet")


@pytest.mark.parametrize(
    ("diversity", "said"),
    [
        ("1,2", "stands every item that someone rated ((b"),
        ("2,2", "every set of 2 items that someone rated together ((b"),
        ("all,2", "every set of items that someone rated together ((b"),
    ],
)
def test_the_card_says_what_is_diverse(diversity, said):
    facts = some_release(some_ratings(), mode="pure", diversity=diversity).facts
    assert said in data_card(facts, "long", "parquet")
