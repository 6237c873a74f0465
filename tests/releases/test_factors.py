"""A padded release as factors: the same cells within a rounding, one form for one table, proved from the files."""

import json
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recloak
from recloak._ratings.model import Scale
from recloak._releases.factor_layout import Moments, as_factors, make_basis, precision_for
from recloak._releases.model.factor_tables import FactorTables
from recloak._releases.model.release_format import MANIFEST, sealed
from recloak._releases.profiles import GroupMeans
from recloak._releases.verifier import verify
from tests.releases import tampering
from tests.releases.helpers import some_ratings, some_release


def full_profiles(seed=0):
    return some_release(some_ratings(30, 12, seed=seed), seed=seed, grid="none").profiles


def exact_cells(means: GroupMeans, scale: Scale):
    return np.clip(means.base + means.bias[:, None] + means.factors @ means.item_factors, scale.low, scale.high)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_cells_are_those_of_the_model_within_a_rounding(seed):
    profiles = full_profiles(seed)
    tables = as_factors(profiles).tables
    found = tables.block(slice(None), slice(None))
    wanted = exact_cells(profiles.means, profiles.grid.scale)
    half = precision_for(profiles.grid.scale) / 2
    sizes = np.abs(tables.group_factors).sum(axis=1)[:, None] + np.abs(tables.item_factors).sum(axis=1)
    assert (np.abs(found - wanted) <= 1e-5 + 3 * half + half * sizes + tables.rank * half**2).all()


def test_pairs_and_blocks_of_cells_are_the_same_and_follow_the_formula():
    groups = np.array([0.5, -1.5], np.float32), np.array([[1.0], [2.0]], np.float32)
    items = np.array([0.25, 0.0, 2.0], np.float32), np.array([[1], [-1], [0.5]], np.float32)
    tables = FactorTables(3.0, *groups, *items, 1.0, 5.0)
    wanted = [[4.75, 2.5, 5.0], [3.75, 1.0, 4.5]]
    assert tables.block(slice(None), slice(None)).tolist() == wanted
    assert tables.block(np.array([1]), np.array([2, 0])).tolist() == [[4.5, 3.75]]
    assert tables.cells(np.array([0, 1, 1]), np.array([2, 0, 1])).tolist() == [5.0, 3.75, 1.0]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_one_table_has_one_form_whatever_the_basis_of_its_model(seed):
    rng, profiles = np.random.default_rng(seed), full_profiles(seed)
    means = profiles.means
    turn, shift = rng.normal(size=(3, 3)) + 2 * np.eye(3), rng.normal(size=3)
    factors = (means.factors + shift) @ turn
    items = np.linalg.solve(turn, means.item_factors)
    base, bias = means.base - shift @ means.item_factors - 1.5, means.bias + 1.5
    other = GroupMeans(*(np.ascontiguousarray(one, np.float32) for one in (bias, factors, base, items)))
    one, two = as_factors(profiles).tables, as_factors(replace(profiles, means=other)).tables
    step = precision_for(profiles.grid.scale)
    assert one.mean == pytest.approx(two.mean, abs=1.01 * step)
    for name in ("group_bias", "group_factors", "item_bias", "item_factors"):
        assert np.abs(getattr(one, name) - getattr(two, name)).max() <= 1.01 * step, name


def test_groups_and_items_have_the_same_diagonal_covariance_around_zero():
    rng = np.random.default_rng(3)
    groups, items = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)), rng.normal(size=(300, 4)) + 2
    moments = Moments.of(groups.astype(np.float32), np.zeros(400, np.float32))
    basis = make_basis(moments, np.zeros(300, np.float32), items.astype(np.float32), Scale(1, 5))
    written = basis.values(basis.group_codes(groups.astype(np.float32), np.zeros(400, np.float32)))[:, 1:]
    turned = basis.values(basis.items)[:, 1:]
    assert np.allclose(np.cov(written.T, bias=True), np.cov(turned.T, bias=True), atol=0.02)
    assert np.allclose(written.mean(axis=0), 0, atol=0.002)
    covariance = np.cov(turned.T, bias=True)
    assert np.abs(covariance - np.diag(np.diagonal(covariance))).max() < 0.02


def test_factors_that_round_to_nothing_are_left_out():
    nothing = replace(full_profiles(), means=full_profiles().means._replace(item_factors=np.full((3, 12), 1e-6, "f4")))
    assert as_factors(nothing).tables.rank == 0


@pytest.mark.parametrize(
    ("scale", "step"),
    [((1, 5), 0.01), ((0.5, 5), 0.01), ((0, 1), 0.002), ((0, 100), 0.05), ((1, 10), 0.01), ((3, 3), 1)],
)
def test_the_precision_is_round_and_suits_the_scale(scale, step):
    assert precision_for(Scale(*scale)) == step


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_release_as_factors_passes_and_names_its_numbers(tmp_path, file_format):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors", format=file_format)
    verdict = verify(folder)
    assert verdict.passed, verdict.problems
    assert (verdict.k_found, verdict.n_users, verdict.n_groups) == (3, 12, 4)
    manifest = json.loads((folder / MANIFEST).read_text())
    assert (manifest["layout"], manifest["precision"], manifest["grid"]) == ("factors", 0.01, None)
    assert set(manifest["files"]) == {f"{name}.{file_format}" for name in ("groups", "items", "members")} | {
        "README.md"
    }
    assert tampering.is_lawful(folder)


def test_the_release_in_memory_shows_the_cells_that_its_files_give(tmp_path):
    release = some_release(some_ratings()).named("factors")
    folder = release.write(tmp_path / "out", layout="factors")
    found, facts = tampering.tables(folder), release.facts
    members = found["members"].join(found["groups"], on="group").sort("user")
    items = found["items"]
    left, right = members.select("^f.*$").to_numpy(), items.select("^f.*$").to_numpy()
    cells = facts.mean + members["bias"].to_numpy()[:, None] + items["bias"].to_numpy() + left @ right.T
    shown = release.to_polars()["rating"].to_numpy().reshape(len(members), -1)
    assert np.allclose(np.clip(cells, facts.scale.low, facts.scale.high), shown, atol=1e-5)


def test_a_release_goes_from_one_layout_to_another_and_back():
    release = some_release(some_ratings())
    assert release.named("factors").facts.grid is None
    again = release.named("factors").named("grouped")
    assert again.facts == release.facts
    assert again.to_polars().equals(release.named("grouped").to_polars())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mode": "pure"}, "for mode padded"),
        ({"labels": "raters"}, "takes labels='model'"),
        ({"paper": True}, "takes labels='model'"),
        ({"grid": 0.5}, "has no grid"),
    ],
)
def test_what_does_not_follow_from_factors_is_refused_before_any_work(tmp_path, options, sentence):
    with pytest.raises(recloak.OptionError, match=sentence):
        recloak.publish(some_ratings(), tmp_path / "out", k=3, layout="factors", **options)
    assert not (tmp_path / "out").exists()


def test_a_model_with_numbers_beyond_all_measure_is_refused():
    profiles = full_profiles()
    bias = profiles.means.bias.copy()
    bias[0] = 1e6
    with pytest.raises(recloak.InputError, match="takes numbers up to 10000"):
        as_factors(replace(profiles, means=profiles.means._replace(bias=bias)))


CHANGES = [
    ("groups", lambda t: t.with_columns(pl.col("bias") + 0.003), "multiple"),
    ("items", lambda t: t.with_columns(pl.col("f1") * 1.0001), "multiple"),
    ("groups", lambda t: t[::-1], "groups must be 1 to"),
    ("groups", lambda t: t[:-1], "groups"),
    ("groups", lambda t: pl.concat([t, t[-1:]]), "groups"),
    ("items", lambda t: t[::-1], "ascending order"),
    ("items", lambda t: t.with_columns(f1=-t["f1"].to_numpy() + np.float32(0)), "signs"),
    ("items", lambda t: t.rename({"f1": "f2", "f2": "f1"}).select(t.columns), "order"),
    ("members", lambda t: t.with_columns(pl.lit(1, pl.Int32).alias("group")), "no members"),
]


@pytest.mark.parametrize(("table", "change", "sentence"), CHANGES)
def test_tables_that_were_changed_and_sealed_again_are_refused(tmp_path, table, change, sentence):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    changed = change(tampering.tables(folder)[table])
    changed = changed.with_columns(pl.col("^bias|f.*$").cast(pl.Float32))
    tampering.reseal(folder, {table: changed}, recount=False)
    verdict = verify(folder)
    assert not verdict.passed
    assert any(sentence in problem for problem in verdict.problems), verdict.problems


def test_a_member_moved_to_another_group_lowers_k(tmp_path):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    members = tampering.tables(folder)["members"]
    groups = members["group"].to_numpy().copy()
    groups[0] = groups[0] % 4 + 1
    tampering.reseal(folder, {"members": members.with_columns(pl.Series("group", groups))}, recount=True)
    verdict = verify(folder)
    assert verdict.k_found == 2
    assert "shared by only 2" in verdict.problems[0]


@pytest.mark.parametrize(
    "claim",
    [{"mean": 3.001}, {"mean": None}, {"precision": 0.03}, {"precision": 0.0101}, {"precision": None}, {"rank": 2},
     {"rank": None}, {"grid": 0.5}, {"labels": "raters", "min_raters": 2}, {"layout": "grouped"}],
)  # fmt: skip
def test_a_manifest_that_claims_otherwise_is_refused(tmp_path, claim):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    manifest = json.loads((folder / MANIFEST).read_text())
    lying = {**manifest, **claim}
    (folder / MANIFEST).write_text(json.dumps(lying | {"seal": sealed(lying)}, indent=2) + "\n")
    assert not verify(folder).passed


def test_a_grouped_release_with_a_mean_is_refused(tmp_path):
    folder = some_release(some_ratings()).write(tmp_path / "out")
    assert verify(folder).passed
    tampering.restate(folder, mean=3.0)
    assert not verify(folder).passed


def test_the_same_seed_gives_the_same_bytes_and_layouts_share_no_names(tmp_path):
    ratings = recloak.synth(users=200, items=40, ratings=2000, seed=1)
    for name in ("one", "two"):
        recloak.publish(ratings, tmp_path / name, seed=1, layout="factors")
    files = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert files[0] == files[1]
    other = recloak.publish(ratings, tmp_path / "three", seed=1)
    who, names = (pl.read_parquet(tmp_path / f"{one}-private" / "mapping.parquet")["user"] for one in ("one", "three"))
    assert (who == names).sum() < 10
    assert other.facts.grid is not None


def test_diversity_holds_if_there_are_enough_rows(tmp_path):
    ratings = some_ratings()
    folder = some_release(ratings).write(tmp_path / "out", layout="factors")
    assert verify(folder, original=ratings, diversity="2,4").passed
    assert not verify(folder, original=ratings, diversity="2,5").passed
    shutil.rmtree(folder)
