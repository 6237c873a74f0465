"""What every engine must keep: one body of tests for the local engine and for Spark."""

import json
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from recloak._core.errors import OptionError, SourceError
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.verifier import verify
from tests.engines import Here, account_of, mapping_of, profiles_by_user
from tests.releases import tampering
from tests.releases.tampering import restate

N_USERS, N_ITEMS = 70, 14


def write_source(folder: Path, ratings: Ratings, n_files: int = 3) -> Path:
    """Write ratings as a folder of Parquet files, as a lake holds them."""
    folder.mkdir()
    table = ratings.to_polars().rename({"user": "user_id", "item": "movie_id"})
    for number, part in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table[part].write_parquet(folder / f"part-{number}.parquet")
    return folder


def some_ratings() -> Ratings:
    """Draw ratings of users with two tastes; ids are texts."""
    rng = np.random.default_rng(5)
    rated = rng.random((N_USERS, N_ITEMS)) < 0.4
    rated[np.arange(N_USERS), np.arange(N_USERS) % N_ITEMS] = True
    users, items = np.nonzero(rated)
    liked = (users % 2) == (items % 2)
    values = np.clip(np.where(liked, 5, 2) - rng.integers(0, 2, len(users)), 1, 5)
    return Ratings.from_arrays([f"u{user:03d}" for user in users], items * 3 + 1, values)


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "lake", some_ratings())


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        ("grouped", {"mode": "padded", "k": 4}),
        ("long", {"mode": "pure", "k": 3, "diversity": "1,2"}),
        ("grouped", {"mode": "pure", "k": 3, "diversity": "all,3", "grid": 0.25}),
        ("long", {"mode": "padded", "k": 5, "paper": True}),
    ],
)
def test_a_release_keeps_its_promises_and_covers_everybody(engine, source, tmp_path, layout, options):
    folder = engine.publish(source, tmp_path / "release", layout, **options)
    ratings = read(source)
    verdict = verify(folder, original=ratings)
    assert verdict.passed, verdict.problems
    assert verdict.k_found >= options["k"]
    assert verdict.n_users == ratings.n_users
    rows = profiles_by_user(folder)
    assert set(rows["user_id"]) == set(ratings.user_ids.ids)
    rated = ratings.to_polars().rename({"user": "user_id"}).drop("rating")
    assert len(rated.join(rows, on=["user_id", "item"])) == len(rated), "a rated item is missing from its user's row"
    account = account_of(folder)
    assert account["counts"] == {"n_users": N_USERS, "n_items": N_ITEMS, "n_ratings": ratings.n_ratings}
    text = (folder / "manifest.json").read_text() + (folder / "README.md").read_text()
    assert "u00" not in text
    assert str(account["seed"]) not in json.loads((folder / "manifest.json").read_text()).values()
    assert not list(tmp_path.glob(".*")), "something was left behind"


def obvious_ratings() -> Ratings:
    """Two groups that anybody sees: six users love the first items, six the others."""
    users, items = np.divmod(np.arange(12 * 8), 8)
    loved = (users < 6) == (items < 4)
    drop = (users * 8 + items) % 7 == 3
    return Ratings.from_arrays(users[~drop] + 100, items[~drop], np.where(loved, 5, 1)[~drop])


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_a_cap_on_links_is_kept_and_a_tighter_claim_is_refused(engine, source, tmp_path, layout):
    folder = engine.publish(source, tmp_path / "release", layout, k=4, mode="pure", max_link=0.6)
    (step,) = [step for step in account_of(folder)["steps"] if "max_link" in step]
    rated = read(source).n_ratings
    assert 0 < step["left_out"] < step["rated_cells"] <= rated
    verdict = engine.verify_against(folder, source)
    assert verdict.passed, verdict.problems
    restate(folder, max_link=0.3)
    assert engine.verify(folder).passed  # nothing in the public files speaks against it
    (problem,) = engine.verify_against(folder, source).problems
    assert (problem,) == Here().verify_against(folder, source).problems
    assert problem.startswith("max_link 0.3 does not hold")
    assert problem.endswith(("up to 50%", "up to 60%"))  # two of four, or three of five


def test_a_cap_is_not_measured_with_a_mapping_of_others(engine, source, tmp_path):
    folder = Here().publish(source, tmp_path / "release", k=4, mode="pure", max_link=0.6)
    mapping = pl.read_parquet(mapping_of(folder))
    user_id, user = pl.col("user_id"), pl.col("user")
    for number, wrong in enumerate(
        [
            mapping.head(N_USERS - 1),
            mapping.with_columns(pl.when(user == 2).then(1).otherwise(user).cast(pl.Int32).alias("user")),
            mapping.with_columns(pl.when(user == 2).then(pl.lit("u999")).otherwise(user_id).alias("user_id")),
            mapping.with_columns(user_id=user.cast(pl.Int64)),
            mapping.drop("user_id"),
        ]
    ):
        wrong.write_parquet(path := tmp_path / f"{number}.parquet")
        problems = engine.verify_against(folder, source, path).problems
        assert problems == ("max_link could not be measured: the mapping does not name every user of the source once",)


def test_a_cap_is_not_passed_over_without_who_is_who(engine, source, tmp_path):
    folder = Here().publish(source, tmp_path / "release", k=4, mode="pure", max_link=0.6)
    with pytest.raises(OptionError, match="private="):
        engine.verify(folder, original=read(source))


@pytest.mark.parametrize("predictor", ["svd", "bias", "mean"])
def test_every_predictor_gives_everybody_in_one_group_the_same_row(engine, tmp_path, predictor):
    source = write_source(tmp_path / "lake", obvious_ratings())
    options = {"k": 12, "mode": "padded", "grid": 0.5, "predictor": predictor}
    expected = profiles_by_user(Here().publish(source, tmp_path / "expected", **options))
    assert profiles_by_user(engine.publish(source, tmp_path / "found", **options)).equals(expected)


@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_with_the_same_groups_the_rows_are_the_same(engine, tmp_path, mode):
    source = write_source(tmp_path / "lake", obvious_ratings())
    expected = profiles_by_user(Here().publish(source, tmp_path / "expected", k=6, mode=mode, grid=0.5))
    found = profiles_by_user(engine.publish(source, tmp_path / "found", k=6, mode=mode, grid=0.5))
    assert found.equals(expected)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_names(engine, tmp_path):
    source = write_source(tmp_path / "lake", obvious_ratings())
    first, again, other = (
        engine.publish(source, tmp_path / name, k=6, mode="pure", rng=seed)
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    )
    assert (first / "manifest.json").read_bytes() == (again / "manifest.json").read_bytes()
    assert (first / "manifest.json").read_bytes() != (other / "manifest.json").read_bytes()


def test_of_a_repeated_pair_the_last_rating_is_kept(engine, tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    (folder / "a.csv").write_text("userId,movieId,rating\n7,1,1\n7,2,2\n8,1,4\n")
    (folder / "b.csv").write_text("userId,movieId,rating\n7,1,5\n7,1,3\n")
    taken = engine.take_in(folder).sort("user", "item")
    assert taken.rows() == [(7, 1, 3.0), (7, 2, 2.0), (8, 1, 4.0)]


def test_a_later_time_wins_over_a_later_row(engine, tmp_path):
    table = {"user": ["a", "a", "b"], "item": [1, 1, 1], "rating": [2.5, 4.0, 1.0], "timestamp": [9, 3, 1]}
    pl.DataFrame(table).write_parquet(tmp_path / "ratings.parquet")
    taken = engine.take_in(tmp_path / "ratings.parquet").sort("user")
    assert taken.rows() == [("a", 1, 2.5), ("b", 1, 1.0)]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("5,,3", "the item's id must not be empty"),
        ("5,1,good", "a rating must be a number"),
        ("5,1,nan", "a rating must be a finite number"),
        ("5,1,9", "a rating must lie between 0.5 and 5"),
        ("5,1", "a row must have 3 fields"),
    ],
)
def test_a_bad_row_is_refused_or_dropped(engine, tmp_path, row, rule):
    path = tmp_path / "ratings.csv"
    path.write_text(f"userId,movieId,rating\n1,2,3\n{row}\n4,3,2.5\n")
    with pytest.raises(SourceError, match=rule):
        engine.take_in(path, scale="0.5,5")
    kept = engine.take_in(path, scale="0.5,5", skip_bad=True).sort("user")
    assert kept.rows() == [(1, 2, 3.0), (4, 3, 2.5)]


@pytest.mark.parametrize("seed", range(4))
def test_a_release_that_was_changed_is_refused(engine, tmp_path, seed):
    chance = Random(seed)
    source = write_source(tmp_path / "lake", obvious_ratings())
    folder = Here().publish(source, tmp_path / "release", k=6, mode="pure", grid=0.5)
    assert engine.verify(folder).passed
    change = [*tampering.RAW[2 * seed : 2 * seed + 2], tampering.change_rows]
    for tamper in change:
        copy = tmp_path / f"copy-{tamper.__name__}"
        _copy(folder, copy)
        tamper(copy, chance)
        lawful = tamper is tampering.change_rows and tampering.is_lawful(copy)
        verdict = engine.verify(copy)
        assert verdict.passed == lawful, tamper.__name__
        assert verdict == verify(copy), tamper.__name__


def _copy(folder: Path, copy: Path) -> None:
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
