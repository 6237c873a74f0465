import json
import shutil
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recloak
from recloak._core.errors import InputError, OptionError
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import MANIFEST, Diversity
from recloak._releases.release import Release
from recloak._releases.verifier import verify
from recloak._releases.verifier.item_numbers import ItemNumbers
from tests.releases import tampering
from tests.releases.helpers import some_ratings, some_release

KINDS = [
    ("pure", "long", "parquet"),
    ("pure", "grouped", "csv"),
    ("padded", "grouped", "parquet"),
    ("padded", "long", "csv"),
    ("padded", "factors", "parquet"),
    ("padded", "factors", "csv"),
    ("sampled", "drawn", "parquet"),
    ("sampled", "drawn", "csv"),
]


@pytest.fixture(scope="module")
def lawful(tmp_path_factory) -> list[Path]:
    """Lawful releases of every kind."""
    place = tmp_path_factory.mktemp("lawful")
    return [
        made(mode).write(place / f"{mode}-{layout}-{file_format}", layout=layout, format=file_format)
        for mode, layout, file_format in KINDS
    ]


@pytest.fixture(scope="module")
def counted(lawful, tmp_path_factory) -> list[Path]:
    """Lawful releases of every kind, and one with statistics beside its rows."""
    release = recloak.publish(some_ratings(), k=3, seed=0, statistics=1.0)
    return [*lawful, release.write(tmp_path_factory.mktemp("counted") / "counted")]


def made(mode: str) -> Release:
    if mode == "sampled":
        return recloak.publish(some_ratings(), k=3, mode=mode, seed=0)
    return some_release(some_ratings(), mode=mode)


def tampered(folder: Path, place: Path, tamper: tampering.Tamper, seed: int) -> Path:
    copy = place / f"{folder.name}-{seed}"
    shutil.copytree(folder, copy)
    tamper(copy, Random(seed))
    return copy


def same(one: Path, other: Path) -> bool:
    return {file.name: file.is_file() and file.read_bytes() for file in one.iterdir()} == {
        file.name: file.is_file() and not file.is_symlink() and file.read_bytes() for file in other.iterdir()
    }


def refuse_every_raw_tampering(lawful: list[Path], place: Path, seeds: range) -> None:
    for seed in seeds:
        folder, tamper = lawful[seed % len(lawful)], tampering.RAW[seed // len(lawful) % len(tampering.RAW)]
        copy = tampered(folder, place, tamper, seed)
        assert same(folder, copy) or not verify(copy).passed, f"{tamper.__name__}, seed {seed}"
        shutil.rmtree(copy)


def is_lawful(folder: Path) -> bool:
    """Ask the naive judge; what it cannot read at all is not lawful."""
    try:
        return tampering.is_lawful(folder)
    except (Exception, pl.exceptions.PanicException):  # of readers that were not made for hostile files
        return False


def agree_on_every_resealed_tampering(lawful: list[Path], place: Path, seeds: range) -> tuple[int, int]:
    n_refused, n_lawful = 0, 0
    for seed in seeds:
        tamper = tampering.RESEALED[seed // len(lawful) % len(tampering.RESEALED)]
        copy = tampered(lawful[seed % len(lawful)], place, tamper, seed)
        verdict, right = verify(copy), is_lawful(copy)
        assert verdict.passed == right, f"{tamper.__name__}, seed {seed}: {verdict.problems}"
        n_refused, n_lawful = n_refused + (not right), n_lawful + right
        shutil.rmtree(copy)
    return n_refused, n_lawful


def test_every_raw_tampering_is_refused(counted, tmp_path):
    refuse_every_raw_tampering(counted, tmp_path, range(180))


def test_a_resealed_tampering_passes_only_if_it_is_a_lawful_release_again(lawful, tmp_path):
    n_refused, n_lawful = agree_on_every_resealed_tampering(lawful, tmp_path, range(400))
    assert n_refused > 300
    assert n_lawful > 5


@pytest.mark.slow
def test_thousands_of_raw_tamperings_are_refused(counted, tmp_path):
    refuse_every_raw_tampering(counted, tmp_path, range(10_000, 14_000))


@pytest.mark.slow
def test_thousands_of_resealed_tamperings_are_judged_right(lawful, tmp_path):
    n_refused, n_lawful = agree_on_every_resealed_tampering(lawful, tmp_path, range(20_000, 28_000))
    print(f"re-sealed: {n_refused} refused, {n_lawful} lawful again")
    assert n_refused > n_lawful > 0


def test_a_changed_label_under_a_right_hash_lowers_k(lawful, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(lawful[0], copy)
    table = pl.read_parquet(copy / "ratings.parquet")
    other = pl.when(pl.col("rating") == 3).then(3.5).otherwise(3.0).cast(pl.Float32)
    first = pl.int_range(pl.len()) == 0
    table = table.with_columns(pl.when(first).then(other).otherwise(pl.col("rating")).alias("rating"))
    tampering.reseal(copy, {"ratings": table}, recount=True)
    verdict = verify(copy)
    assert verdict.k_found == 1
    assert any("shared by only 1" in problem for problem in verdict.problems)


def test_a_greater_k_can_be_demanded(lawful):
    assert verify(lawful[0], k=3).passed
    verdict = verify(lawful[0], k=6)
    assert not verdict.passed
    assert verdict.k_required == 6
    assert verdict.k_found == 3


def test_a_claim_above_what_is_found_fails_even_when_sealed(lawful, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(lawful[2], copy)
    tampering.restate(copy, k=4)
    assert verify(copy).to_mapping()["problems"] == ["k must be at least 4, but a row is shared by only 3 users"]


def test_the_json_has_the_published_form(lawful):
    assert verify(lawful[2]).to_mapping() == {
        "verdict": "pass", "k_required": 3, "k_found": 3, "n_users": 12, "n_groups": 4, "problems": [],
        "content": False, "drawn": False, "proved": "Every row is shared by at least 3 people.",
    }  # fmt: skip


def test_what_could_not_be_derived_is_none(lawful, tmp_path):
    copy = tampered(lawful[2], tmp_path, lambda folder, _: (folder / "members.parquet").unlink(), 0)
    verdict = verify(copy)
    assert (verdict.k_found, verdict.n_users, verdict.passed) == (None, None, False)


def rewrite(folder: Path, table: pa.Table, *, store_schema: bool = False, nullable: bool = False) -> None:
    """Write the profiles anew and make the manifest fit."""
    schema = pa.schema([field.with_nullable(nullable) for field in table.schema], table.schema.metadata)
    pq.write_table(table.cast(schema), folder / "profiles.parquet", store_schema=store_schema)
    tampering.rehash(folder, "profiles.parquet")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.append_column("time", pa.array(range(len(table)))), "must have the columns group, item"),
        (lambda table: table.rename_columns(["group", "item", "score"]), "must have the columns group, item, rating"),
        (lambda table: table.select(["item", "group", "rating"]), "must have the columns group, item, rating"),
        (lambda table: table.set_column(2, "rating", table["rating"].cast(pa.float64())), "rating must not be of type"),
        (lambda table: table.set_column(0, "group", table["group"].cast(pa.int64())), "group must not be of type"),
        (lambda table: table.set_column(1, "item", table["item"].cast(pa.float64())), "item must not be of type"),
    ],
)
def test_columns_that_are_not_those_of_the_format_are_refused(lawful, tmp_path, change, problem):
    copy = shutil.copytree(lawful[2], tmp_path / "copy")
    rewrite(copy, change(pq.read_table(copy / "profiles.parquet")))
    (said,) = verify(copy, content=True).problems
    assert problem in said
    assert not verify(copy).passed


def test_hidden_metadata_are_refused(lawful, tmp_path):
    copy = shutil.copytree(lawful[2], tmp_path / "copy")
    table = pq.read_table(copy / "profiles.parquet").replace_schema_metadata({"made-by": "jane"})
    rewrite(copy, table, store_schema=True)  # metadata are kept where the schema is stored
    assert not verify(copy).passed
    (said,) = verify(copy, content=True).problems
    assert "carries further metadata" in said
    assert "made-by" in said


def test_a_column_that_may_be_empty_is_refused(lawful, tmp_path):
    copy = shutil.copytree(lawful[2], tmp_path / "copy")
    rewrite(copy, pq.read_table(copy / "profiles.parquet"), nullable=True)
    assert not verify(copy).passed
    assert verify(copy, content=True).problems == (
        "profiles.parquet: the column group must not be of type int32 or nothing",
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"rating"', '"score"', "must have the columns group, item, rating, got group, item, score"),
        ('"group","item"', '"item","group"', "must have the columns group, item, rating, got item, group"),
        (",1.0\n", ",\n", "cannot be read"),
    ],
)
def test_a_text_table_has_its_header_and_no_empty_cell(lawful, tmp_path, old, new, problem):
    copy = shutil.copytree(lawful[1], tmp_path / "copy")
    text = (copy / "profiles.csv").read_text()
    assert old in text
    (copy / "profiles.csv").write_text(text.replace(old, new, 1))
    tampering.rehash(copy, "profiles.csv")
    (said,) = verify(copy).problems
    assert problem in said


def test_what_is_no_folder_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        verify(tmp_path / "nowhere")
    assert verify(tmp_path).problems == ("there is no manifest.json",)


def test_diversity_without_the_original_is_bad_input(lawful):
    with pytest.raises(OptionError, match="original"):
        verify(lawful[0], diversity="1,2")


def test_an_item_in_one_group_only_fails_diversity(tmp_path):
    ratings = Ratings.from_arrays([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 2, 3, 4])
    folder = some_release(ratings, k=2, mode="pure").write(tmp_path / "out")
    verdict = verify(folder, original=ratings, diversity=Diversity(1, 2))
    assert "fewer than 2 distinct rows" in verdict.problems[0]
    assert verify(folder, original=ratings).passed


def test_an_item_missing_from_the_release_fails_diversity(lawful):
    other = Ratings.from_arrays([0, 1], [3, 999], [1.0, 2.0])
    told = verify(lawful[0], original=other, diversity="1,2").problems
    assert "the source is not this release's: it has 2 users, the release 12" in told
    assert any("not in the release" in one for one in told)


def test_more_sets_than_can_be_looked_at_are_told_and_never_passed_over(lawful, monkeypatch):
    monkeypatch.setattr("recloak._releases.verifier.diversity_check._MOST_SETS", 3.0)
    with pytest.raises(OptionError, match=r"sets of items to look at, more than .*; check all,2"):
        verify(lawful[0], original=some_ratings(), diversity="2,2")


def test_a_dictionary_that_names_an_item_twice_is_refused():
    """Arrow writes no such dictionary; by hand it would let an item stand twice in a row, in order."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "b", "a"]))
    with pytest.raises(ValueError, match="names an item twice"):
        ItemNumbers().encode(twice)


@pytest.mark.parametrize("more", [-1, 1])
def test_another_number_of_items_than_claimed_is_refused(lawful, tmp_path, more):
    copy = shutil.copytree(lawful[0], tmp_path / "copy")
    manifest = json.loads((copy / MANIFEST).read_text())
    n_items = manifest["n_items"]
    (copy / MANIFEST).write_text(json.dumps({**manifest, "n_items": n_items + more}, indent=2) + "\n")
    tampering.reseal(copy, {}, recount=False)
    assert verify(copy).problems == (f"there are {n_items} items, the manifest says {n_items + more}",)
