"""Releases of purchases and plays: what rows show, how people are put together, and what a stranger can check."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recloak
from recloak import InputError, OptionError, Ratings
from recloak._core.randomness import Randomness
from recloak._ratings.event_values import as_propensities, highest_level, levels_of
from recloak._releases.event_release import group_by_items
from recloak._releases.model.release_format import MANIFEST, sealed
from recloak._releases.propensities import CONFIDENCE, RIDGE, propensities, solve_side
from recloak._releases.row_solver import RatingRows

MODES = ("pure", "padded", "sampled")


def two_tastes(n_users: int = 40, n_items: int = 24, seed: int = 0, counts: bool = False, rare: int = 0) -> Ratings:
    """Draw people who use items of the one half or of the other; ``rare`` further items have two people each."""
    rng = np.random.default_rng(seed)
    chance = np.where((np.arange(n_users)[:, None] % 2) == (np.arange(n_items) * 2 // n_items), 0.6, 0.05)
    used = rng.random(chance.shape) < chance
    used[np.arange(n_users), np.arange(n_users) % n_items] = True
    users, items = np.nonzero(used)
    users = np.concatenate((users, np.arange(rare), np.arange(rare) + 2))
    items = np.concatenate((items, np.tile(n_items + np.arange(rare), 2)))
    values = np.minimum(rng.zipf(1.7, len(users)), 5000) if counts else None
    return Ratings.from_arrays(users, items * 10 + 3, values, kind="counts" if counts else "presence")


@given(st.lists(st.integers(1, 1 << 24), min_size=1))
def test_levels_double(counts):
    wanted = [len(bin(count)) - 2 for count in counts]  # the number of binary digits
    assert levels_of(np.array(counts, np.float32)).tolist() == wanted


def test_the_highest_level_is_one_that_enough_people_reach():
    counts = Ratings.from_arrays([1, 1, 2, 3, 4], [1, 2, 1, 1, 1], [1000, 1, 9, 8, 2], kind="counts")
    assert highest_level(counts, 3) == 4  # 8 to 15: three people, of whom one has 1000
    assert highest_level(counts, 4) == 2
    assert highest_level(counts, 5) == 1


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_and_kind_is_published_and_verified(tmp_path, mode, counts):
    source = two_tastes(counts=counts)
    made = recloak.publish(source, tmp_path / "out", k=4, mode=mode, seed=1)
    verdict = recloak.verify(tmp_path / "out", original=source)
    assert verdict.passed
    assert verdict.k_found is not None
    assert verdict.k_found >= 4
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert manifest["values"] == ("counts" if counts else "presence")
    shown = made.to_polars()["rating"].to_numpy()
    if mode == "padded":
        assert shown.min() >= 0
        assert shown.max() <= 1
        assert len(set(shown)) > 10
    elif counts:
        assert set(shown) <= set(range(1, 14))
        assert len(set(shown)) > 1
    else:
        assert set(shown) == {1.0}


@pytest.mark.parametrize("layout", ["grouped", "long", "factors"])
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_padded_presence_has_every_layout(tmp_path, layout, file_format):
    recloak.publish(two_tastes(), tmp_path / "out", k=4, layout=layout, format=file_format, seed=1)
    assert recloak.verify(tmp_path / "out").passed
    assert recloak.load(tmp_path / "out").cell(user=1, item=3) is not None


def test_pure_rows_are_the_items_of_the_members_and_no_more():
    source = two_tastes()
    made = recloak.publish(source, k=4, mode="pure", seed=1)
    who, table = made.mapping(), source.to_polars()
    wanted = table.join(who, left_on="user", right_on="user_id").group_by("group").agg(pl.col("item").unique().sort())
    shown = made.to_polars().join(who.select("user", "group"), on="user")
    found = shown.group_by("group").agg(pl.col("item").unique().sort())
    assert dict(wanted.rows()) == dict(found.rows())


def test_options_on_what_is_shown_work_on_presence(tmp_path):
    source = two_tastes()
    recloak.publish(source, tmp_path / "a", k=5, mode="pure", min_shown=2, seed=1)
    recloak.publish(source, tmp_path / "b", k=5, mode="pure", max_link=0.75, seed=1)
    recloak.publish(source, tmp_path / "c", k=5, mode="pure", decoys=0.5, seed=1)
    recloak.publish(source, tmp_path / "d", k=4, mode="pure", diversity="1,3", seed=1)
    assert recloak.verify(tmp_path / "d", original=source, diversity="1,3").passed


@pytest.mark.parametrize(
    "options",
    [{"grid": 0.5}, {"labels": "raters", "mode": "padded"}, {"paper": True}, {"min_raters": 1, "mode": "pure"}],
)
def test_options_for_ratings_are_refused(options):
    with pytest.raises(OptionError, match="is for ratings, and this source holds presence"):
        recloak.publish(two_tastes(), k=4, **options)


def test_predictors_of_the_other_kind_are_refused():
    ratings = Ratings.from_arrays([1, 2, 3, 4], [1, 1, 2, 2], [1, 2, 3, 4])
    with pytest.raises(OptionError, match="predictor propensity is for presence and counts"):
        recloak.publish(ratings, k=2, predictor="propensity")
    with pytest.raises(OptionError, match="grouping_by must be items for presence"):
        recloak.publish(two_tastes(), k=4, mode="sampled", grouping_by="taste")


def test_a_manifest_cannot_call_ratings_presence(tmp_path):
    recloak.publish(recloak.synth(users=30, items=20, ratings=200, seed=1), tmp_path / "out", k=3, mode="pure", seed=1)
    path = tmp_path / "out" / MANIFEST
    said = json.loads(path.read_text())
    fields = list(said.items())
    fields.insert([name for name, _ in fields].index("mode") + 1, ("values", "presence"))
    said = {**dict(fields)}
    said["seal"] = sealed(said)
    path.write_text(json.dumps(said, indent=2) + "\n")
    assert recloak.verify(tmp_path / "out").problems == ("the manifest's values cannot be 'presence'",)


def test_propensities_solve_the_equations():
    source = as_propensities(two_tastes())
    weights = replace(source, values=np.arange(1, source.n_ratings + 1, dtype=np.float32) % 3 + 1)
    others = np.random.default_rng(1).normal(size=(source.n_items, 5)).astype(np.float32)
    rows = RatingRows(weights.indptr, weights.items, np.float32(CONFIDENCE) * weights.values)
    dense = np.zeros(source.shape)
    dense[source.users(), source.items] = CONFIDENCE * weights.values
    for user, found in enumerate(solve_side(rows, others)):
        weight = 1 + dense[user]
        table = (others * weight[:, None]).T @ others + RIDGE * np.eye(5)
        wanted = np.linalg.solve(table, others.T @ (weight * (dense[user] > 0)))
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-5)


def test_propensities_tell_what_is_used():
    source = as_propensities(two_tastes(200, 60))
    padding = propensities(source, rank=4, rng=Randomness(1))
    cells = np.clip(padding.rows(np.arange(200)), 0, 1)
    own = (np.arange(200)[:, None] % 2) == (np.arange(60) * 2 // 60)
    assert cells[own].mean() > 2 * cells[~own].mean()


def test_people_who_use_the_same_go_together():
    grouping = group_by_items(two_tastes(200, 60), 4, Randomness(1))
    halves = [set(np.flatnonzero(grouping.labels == group) % 2) for group in range(grouping.n_groups)]
    assert sum(len(half) == 1 for half in halves) > 0.8 * len(halves)


@pytest.mark.parametrize("mode", MODES)
def test_the_card_speaks_of_uses(tmp_path, mode):
    recloak.publish(two_tastes(), tmp_path / "out", k=4, mode=mode, seed=1)
    card = (tmp_path / "out" / "README.md").read_text()
    plain = card.split("```")[0].replace("`rating`", "").replace("`ratings.parquet`", "")
    assert [word for word in ("rated", "ratings", "rating ") if word in plain] == []


def test_a_presence_source_is_too_small_in_one_sentence():
    with pytest.raises(InputError, match="at least k = 50 users"):
        recloak.publish(two_tastes(), k=50, mode="pure")
