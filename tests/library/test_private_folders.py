"""A private folder scores attacks only on the release it was made with: with another's, every attack looks harmless."""

import json
import shutil
from typing import Any

import polars as pl
import pytest

import recloak
from tests.releases.helpers import some_ratings

FEW: dict[str, Any] = {"targets": 9, "known": (2,), "varied_at": 2, "seed": 1}
RATINGS = some_ratings(40, 12)


@pytest.fixture
def folders(tmp_path):
    for name, seed in (("one", 1), ("two", 2)):
        recloak.publish(RATINGS, tmp_path / name, k=4, mode="pure", seed=seed)
    return tmp_path / "one", tmp_path / "one-private", tmp_path / "two-private"


def test_the_private_folder_of_another_release_is_refused(folders):
    one, own, other = folders
    assert recloak.audit(RATINGS, one, private=own, **FEW).outcomes
    with pytest.raises(recloak.SourceError, match="two-private: is the private folder of another release"):
        recloak.audit(RATINGS, one, private=other, **FEW)
    with pytest.raises(recloak.SourceError, match="of another release"):
        recloak.audit(RATINGS, one, second=one.with_name("two"), second_private=own, **FEW)
    with pytest.raises(recloak.SourceError, match="of another release"):
        recloak.evaluate(RATINGS, one, probe=RATINGS, private=other)
    with pytest.raises(recloak.SourceError, match="of another release"):
        recloak.verify(one, original=RATINGS, private=other)


def test_a_release_in_memory_is_not_scored_by_another_ones_mapping(folders):
    release = recloak.publish(RATINGS, k=4, mode="pure", seed=1)
    assert recloak.audit(RATINGS, release, **FEW).outcomes
    with pytest.raises(recloak.SourceError, match="of another release"):
        recloak.audit(RATINGS, release, private=folders[2], **FEW)


def test_a_mapping_that_was_shuffled_is_refused(folders):
    one, own, _ = folders
    mapping = pl.read_parquet(own / "mapping.parquet")
    mapping.with_columns(pl.col("user_id").shuffle(seed=1)).write_parquet(own / "mapping.parquet")
    with pytest.raises(recloak.SourceError, match=r"mapping.parquet was changed"):
        recloak.audit(RATINGS, one, **FEW)


def test_an_account_from_before_mappings_were_hashed_still_counts(folders):
    one, own, _ = folders
    account = json.loads((own / "account.json").read_text())
    assert account["release"].pop("mapping_sha256")
    (own / "account.json").write_text(json.dumps(account))
    assert recloak.audit(RATINGS, one, **FEW).outcomes


@pytest.mark.parametrize("text", ["[]", "{", '{"release": []}', "{}"])
def test_a_private_folder_whose_account_says_nothing_is_refused(folders, text):
    one, own, _ = folders
    (own / "account.json").write_text(text)
    with pytest.raises(recloak.SourceError, match="one-private"):
        recloak.audit(RATINGS, one, **FEW)


def test_what_is_missing_is_named(folders, tmp_path):
    one, own, _ = folders
    with pytest.raises(recloak.SourceError, match=r"nowhere: there is no such folder$"):
        recloak.audit(RATINGS, tmp_path / "nowhere")
    with pytest.raises(recloak.SourceError, match=r"there is no manifest.json: not a release folder"):
        recloak.audit(RATINGS, own)
    (own / "account.json").unlink()
    with pytest.raises(recloak.SourceError, match=r"there is no account.json"):
        recloak.audit(RATINGS, one)
    shutil.rmtree(own)
    with pytest.raises(recloak.SourceError, match=r"there is no mapping.parquet"):
        recloak.audit(RATINGS, one)


def other_sources() -> dict[str, recloak.Ratings]:
    table = RATINGS.to_polars()
    return {
        "users": recloak.read(table.filter(pl.col("user") != table["user"][0])),
        "items": recloak.read(table.with_columns(pl.col("item") + 1000)),
        "more items": recloak.read(pl.concat([table, table[:1].with_columns(pl.col("item") + 1000)])),
        "ids": recloak.read(table.with_columns(pl.col("user") + 1000)),
        "ratings": recloak.read(table.sample(len(table) - 9, seed=1)),
    }


@pytest.mark.parametrize("what", other_sources())
@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_a_release_is_not_verified_against_another_source(tmp_path, what, mode):
    release = recloak.publish(RATINGS, tmp_path / "one", k=4, mode=mode, seed=1)
    other = other_sources()[what]
    for one in (release, tmp_path / "one"):
        assert recloak.verify(one, original=RATINGS).passed
        verdict = recloak.verify(one, original=other)
        assert (verdict.passed, verdict.unchecked) == (False, ())
        assert "the source is not this release's" in verdict.problems[0]
        with pytest.raises(
            recloak.InputError, match=r"another source|not this release's|not the ratings that were published"
        ):
            recloak.audit(other, one, **FEW)


def test_users_without_ratings_do_not_make_another_source():
    fewer = RATINGS.where(RATINGS.users() > 2)
    release = recloak.publish(fewer, k=4, mode="pure", seed=1)
    assert (fewer.n_users, release.facts.n_users) == (40, 37)
    assert recloak.verify(release, original=fewer).passed
