"""A cap on links that a release claims is held against the source by the verifier, not taken on trust."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from recloak._cli.main import run
from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._core.files import sha256_of
from recloak._ratings.model import Ratings
from recloak._releases.homogenise import within_cap
from recloak._releases.model.release_format import MANIFEST, STORED, sealed
from recloak._releases.rating_tally import tally
from recloak._releases.verifier import verify
from tests.releases import naive_bytes
from tests.releases.helpers import some_grouping, some_padding, some_ratings, some_release
from tests.releases.tampering import rehash, restate

KINDS = [("long", "parquet"), ("long", "csv"), ("grouped", "parquet"), ("grouped", "csv")]
CAP = 0.5


@pytest.fixture(scope="module")
def ratings():
    return some_ratings(40, 12, density=0.6)


def named_ratings():
    """Give ratings of items with names, one of which everybody rated."""
    plain = some_ratings(24, 8, density=0.4)
    users, items = plain.users(), [f"item {item}" for item in plain.item_ids.decode(plain.items)]
    everybody = np.unique(users)
    return Ratings.from_arrays(
        [*users, *everybody], [*items, *["rated by all"] * len(everybody)], [*plain.values, *[3.0] * len(everybody)]
    )


def grid_of(folder):
    return naive_bytes.grid_of(json.loads((folder / MANIFEST).read_text()))


def largest_share(ratings, folder, mapping, layout):
    """Work out the largest share of a row's members who rated a shown item, from tables alone."""
    shown = pl.read_parquet(folder / ("ratings.parquet" if layout == "long" else "profiles.parquet"))
    shown = shown.join(mapping, on="user" if layout == "long" else "group").select("group", "item").unique()
    rated = pl.DataFrame(
        {"user_id": ratings.user_ids.decode(ratings.users()), "item": ratings.item_ids.decode(ratings.items)}
    ).join(mapping, on="user_id")
    raters = rated.group_by("group", "item").agg(raters=pl.len())
    sizes = mapping.group_by("group").agg(members=pl.len())
    shares = shown.join(raters, on=["group", "item"]).join(sizes, on="group")
    return max(shares["raters"] / shares["members"])


@pytest.mark.parametrize(("layout", "file_format"), KINDS)
def test_a_cap_that_is_kept_passes_and_a_tighter_claim_fails(ratings, tmp_path, layout, file_format):
    release = some_release(ratings, k=4, mode="pure", max_link=CAP).named(layout, file_format)
    folder = release.write(tmp_path / "out", layout=layout, format=file_format)
    known = {"original": ratings, "mapping": release.mapping()}
    assert verify(folder, **known).passed
    restate(folder, max_link=0.3)
    assert verify(folder).passed  # nothing in the public files speaks against it
    problem = verify(folder, **known).problems[0]
    assert problem.startswith("max_link 0.3 does not hold")
    if file_format == "parquet":
        share = largest_share(ratings, folder, release.mapping(), layout)
        assert problem.endswith(f"up to {share:.0%}")
        restate(folder, max_link=share)
        assert verify(folder, **known).passed


def test_a_release_from_before_caps_were_claimed_is_still_verified(ratings, tmp_path):
    folder = some_release(ratings, k=4).write(tmp_path / "out")
    manifest = json.loads((folder / MANIFEST).read_text())
    for lost, passes in (("max_link", True), ("diversity", False)):
        del manifest[lost]
        manifest["seal"] = sealed(manifest)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
        assert verify(folder, original=ratings, content=True).passed == passes
        assert not verify(folder, original=ratings).passed


def test_a_release_that_breaks_its_cap_is_not_published(ratings, tmp_path):
    release = some_release(ratings, k=4, mode="pure")
    lying = replace(release, facts=replace(release.facts, max_link=CAP))
    with pytest.raises(RefusedError, match=r"max_link 0\.5 does not hold"):
        lying.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_measured_does_not_pass(ratings, tmp_path):
    release = some_release(ratings, k=4, mode="pure", max_link=CAP)
    folder, mapping = release.write(tmp_path / "out"), release.mapping()
    with pytest.raises(OptionError, match="private="):
        verify(folder, original=ratings)
    same = mapping.with_columns(user_id=pl.lit(mapping["user_id"][0]))
    for wrong in (mapping.head(39), mapping.with_columns(user=pl.lit(1)), same, mapping.drop("user_id")):
        assert "could not be measured" in verify(folder, original=ratings, mapping=wrong).problems[0]


def test_the_command_finds_who_is_who_beside_the_release(ratings, tmp_path, capsys):
    ratings.to_polars().write_csv(tmp_path / "ratings.csv")
    folder = some_release(ratings, k=4, mode="pure", max_link=CAP).write(tmp_path / "out")
    words = ["verify", str(folder), "--original", str(tmp_path / "ratings.csv")]
    assert run(words[:2]) == 0
    assert "not checked without --original: max_link 0.5" in capsys.readouterr().out
    assert run(words) == 0
    assert "not checked" not in capsys.readouterr().out
    restate(folder, max_link=0.3)
    assert run(words) == 2  # its account tells of another manifest
    assert "out-private: is the private folder of another release" in capsys.readouterr().err
    account = json.loads((tmp_path / "out-private" / "account.json").read_text())
    account["release"]["manifest_sha256"] = sha256_of(folder / MANIFEST)
    (tmp_path / "out-private" / "account.json").write_text(json.dumps(account))
    assert run(words) == 1
    assert "max_link 0.3 does not hold" in capsys.readouterr().out
    (tmp_path / "out-private").rename(tmp_path / "elsewhere")
    assert run(words) == 2
    assert run([*words, "--private", str(tmp_path / "elsewhere")]) == 1


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_an_item_that_the_cap_leaves_out_stands_nowhere_in_the_files(tmp_path, layout):
    """Arrow writes a dictionary with all its words, used or not; a stranger can read them there."""
    named = named_ratings()
    folder = some_release(named, k=4, mode="pure", max_link=CAP).write(tmp_path / "out", layout=layout)
    table = folder / ("ratings.parquet" if layout == "long" else "profiles.parquet")
    with pq.ParquetFile(table, read_dictionary=["item"]) as file:
        words = file.read_row_group(0)["item"].chunk(0).dictionary.to_pylist()
    assert "rated by all" not in words
    assert words == sorted(pl.read_parquet(table)["item"].unique())


def test_a_text_that_stands_in_a_dictionary_and_in_no_row_is_refused(tmp_path, monkeypatch):
    folder = some_release(named_ratings(), k=4, mode="pure").write(tmp_path / "out", layout="long")
    path = folder / "ratings.parquet"
    content = naive_bytes.parquet_bytes(pl.read_parquet(path), STORED["ratings"], grid_of(folder))
    assert path.read_bytes() == content
    monkeypatch.setattr(naive_bytes, "set", lambda values: {*values, "zoe"}, raising=False)
    path.write_bytes(naive_bytes.parquet_bytes(pl.read_parquet(path), STORED["ratings"], grid_of(folder)))
    assert b"zoe" in path.read_bytes()
    rehash(folder, path.name)
    assert verify(folder).problems == (
        "ratings.parquet: a dictionary must hold the texts of its rows in order, each once, and no other",
    )
    assert verify(folder, content=True).passed  # readers of tables never see it


def test_maker_and_verifier_draw_the_line_at_the_same_place():
    """One of three is a third, and a little more than 0.3333333333."""
    ratings, grouping = some_ratings(12, 6, density=0.3), some_grouping(12, 3)
    cells = tally(ratings, some_padding(ratings), grouping)
    assert len(within_cap(cells, grouping, 1 / 3).items) == np.count_nonzero(cells.raters == 1)
    with pytest.raises(InputError, match="without a single item"):
        within_cap(cells, grouping, 0.3333333333)
