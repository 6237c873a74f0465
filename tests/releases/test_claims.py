"""A manifest that was sealed again may still claim what cannot be: every field has its rule."""

import json
import shutil

import pytest

from recloak._core.errors import OptionError
from recloak._releases.model.release_format import CARD, MANIFEST, sealed
from recloak._releases.verifier import verify
from recloak._releases.verifier.claims import read_claims
from tests.releases.helpers import some_ratings, some_release
from tests.releases.tampering import restate


@pytest.fixture(scope="module")
def lawful(tmp_path_factory):
    """Give a pure and a padded release."""
    place = tmp_path_factory.mktemp("lawful")
    return {mode: some_release(some_ratings(), mode=mode).write(place / mode) for mode in ("pure", "padded")}


def claim(folder, place, change):
    """Copy a release, change what its manifest says, and seal it again."""
    copy = shutil.copytree(folder, place / "copy")
    manifest = json.loads((copy / MANIFEST).read_text())
    change(manifest)
    manifest["seal"] = sealed(manifest)
    (copy / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return copy


@pytest.mark.parametrize(
    ("mode", "field", "value"),
    [
        ("pure", "format", "another"),
        ("pure", "layout", "wide"),
        ("pure", "file_format", "xlsx"),
        ("pure", "k", 1),
        ("pure", "paper", True),  # which has no grid, and here is one
        ("pure", "grid", 0),
        ("pure", "grid", -0.5),
        ("pure", "grid", 1e-9),
        ("pure", "min_raters", 0),
        ("pure", "diversity", "1,1"),
        ("pure", "diversity", "1, 2"),
        ("pure", "max_link", 0),
        ("pure", "max_link", 1.5),
        ("padded", "max_link", 0.5),
        ("pure", "n_users", 1),
        ("pure", "n_users", 2**31),
        ("pure", "n_items", 0),
        ("pure", "n_items", 2**31),
        ("pure", "n_ratings", 0),
        ("pure", "n_groups", 0),
        ("pure", "n_groups", 13),
        ("pure", "scale", {"low": 5.0, "high": 1.0}),
        ("pure", "scale", {"high": 5.0, "low": 1.0}),
        ("pure", "scale", {"low": 1.0, "high": "5"}),
        ("pure", "promised", []),
        ("pure", "promised", [""]),
        ("pure", "promised", [1]),
        ("pure", "not_promised", []),
    ],
)
def test_a_claim_that_cannot_be_is_refused_by_its_name(lawful, tmp_path, mode, field, value):
    copy = claim(lawful[mode], tmp_path, lambda manifest: manifest.update({field: value}))
    verdict = verify(copy)
    assert f"the manifest's {field} cannot be {value!r}" in verdict.problems
    assert verdict.k_found is None


@pytest.mark.parametrize(("field", "value"), [("k", 3.0), ("k", True), ("paper", 0), ("n_users", "12"), ("files", [])])
def test_a_claim_of_the_wrong_type_is_refused(lawful, tmp_path, field, value):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: manifest.update({field: value}))
    assert verify(copy).problems == (f"the manifest's {field} is of the wrong type: {value!r}",)


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files["profiles.parquet"].pop("rows"),
        lambda files: files["profiles.parquet"].update(rows=1.0),
        lambda files: files["profiles.parquet"].update(seen="2026-01-01"),
        lambda files: files[CARD].update(rows=1),
        lambda files: files.update({CARD: "abc"}),
    ],
)
def test_an_entry_of_a_file_has_one_form(lawful, tmp_path, change):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: change(manifest["files"]))
    (problem,) = verify(copy).problems
    assert problem.endswith("has the wrong form")


@pytest.mark.parametrize(
    "change", [lambda files: files.pop(CARD), lambda files: files.update({"seed.txt": {"bytes": 1, "sha256": "x"}})]
)
def test_the_manifest_names_the_files_of_its_layout_and_no_others(lawful, tmp_path, change):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: change(manifest["files"]))
    (problem,) = verify(copy).problems
    assert problem.startswith("the manifest must name the files")


@pytest.mark.parametrize(("mode", "table"), [("pure", "profiles"), ("padded", "profiles"), ("padded", "members")])
@pytest.mark.parametrize("more", [-1, 1])
def test_a_table_has_as_many_rows_as_the_manifest_says(lawful, tmp_path, mode, table, more):
    def change(manifest):
        manifest["files"][f"{table}.parquet"]["rows"] += more

    verdict = verify(claim(lawful[mode], tmp_path, change))
    assert "the manifest says" in verdict.problems[0]
    assert verdict.k_found is None


def test_a_manifest_of_more_than_a_megabyte_is_not_read(lawful, tmp_path):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: manifest["promised"].append("x" * 1_000_001))
    (problem,) = verify(copy).problems
    assert "at most a megabyte" in problem


def test_the_card_is_held_to_its_hash(lawful, tmp_path):
    copy = shutil.copytree(lawful["pure"], tmp_path / "copy")
    text = (copy / CARD).read_text()
    (copy / CARD).write_text(text.replace("k = 3", "k = 9"))
    problem = f"{CARD}: its SHA-256 is not the one in the manifest"
    assert verify(copy).problems == (problem,)
    assert read_claims(copy)[1] == [problem]  # the tables are hashed by whoever opens them


def test_a_file_that_is_a_link_is_refused_although_it_holds_the_same(lawful, tmp_path):
    copy = shutil.copytree(lawful["pure"], tmp_path / "copy")
    (copy / CARD).rename(tmp_path / "away")
    (copy / CARD).symlink_to(tmp_path / "away")
    assert verify(copy).problems == (f"{CARD}: must be a file of its own",)


@pytest.mark.parametrize("k", [1, 0, -3])
def test_nobody_can_ask_for_less_than_two(lawful, k):
    with pytest.raises(OptionError, match=f"k must be at least 2, got {k}"):
        verify(lawful["pure"], k=k)


def test_asking_for_less_than_was_promised_asks_for_what_was_promised(lawful, tmp_path):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: manifest.update(k=4))
    verdict = verify(copy, k=2)
    assert (verdict.k_required, verdict.k_found, verdict.passed) == (4, 3, False)
    (copy / "stray").write_text("x")
    verdict = verify(copy, k=2)
    assert (verdict.k_required, verdict.k_found) == (4, None)


def test_what_strangers_see_counts_beside_what_the_owner_sees(lawful, tmp_path):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: manifest.update(k=4))
    assert verify(copy).problems == verify(copy, original=some_ratings()).problems != ()


def test_a_diversity_that_is_claimed_is_checked_without_being_asked_for(tmp_path):
    ratings = some_ratings(12, 8, density=0.3)
    folder = some_release(ratings, mode="pure").write(tmp_path / "out")
    copy = claim(folder, tmp_path, lambda manifest: manifest.update(diversity="2,4"))
    restate(copy)
    assert verify(copy).passed
    (problem,) = verify(copy, original=ratings).problems
    assert problem.startswith("diversity 2,4 does not hold")


def test_a_release_with_several_problems_is_told_all_of_them(tmp_path):
    ratings = some_ratings(12, 8, density=0.3)
    folder = some_release(ratings, mode="pure").write(tmp_path / "out")
    copy = claim(
        folder, tmp_path, lambda manifest: manifest.update(diversity="2,4", n_ratings=manifest["n_ratings"] + 1)
    )
    assert [problem.partition(" ")[0] for problem in verify(copy, original=ratings).problems] == ["there", "diversity"]


def test_a_release_of_another_version_is_told_so_whatever_its_fields_are(lawful, tmp_path):
    copy = claim(lawful["pure"], tmp_path, lambda manifest: manifest.update(version=2, more="of a later format"))
    told = ("the release is of format version 2, and this recloak reads version 1",)
    assert (verify(copy).verdict, tuple(verify(copy).problems)) == ("fail", told)
