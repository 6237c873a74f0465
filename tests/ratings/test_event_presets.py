"""Made-up listening logs and purchases, and how exposed their people are."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._ratings.event_values import levels_of
from recloak._ratings.exposure import expose
from recloak._ratings.options import ExposureOptions

KINDS = {"music": "counts", "shop": "presence"}


@pytest.mark.parametrize("preset", KINDS)
def test_a_preset_is_read_back_as_what_it_is(tmp_path, preset):
    sizes: dict[str, Any] = {"users": 300, "items": 200, "ratings": 3000}
    made = recloak.synth(preset=preset, seed=1, **sizes)
    written = recloak.synth(tmp_path / "log.csv.gz", preset=preset, seed=1, **sizes)
    read = recloak.read(written.ratings)
    assert made.kind.name == read.kind.name == KINDS[preset]
    assert read.times is not None
    assert made.to_polars().sort("user", "item").equals(read.to_polars().sort("user", "item"))


def test_plays_have_the_levels_of_the_preset():
    made = recloak.synth(preset="music", users=2000, items=800, ratings=50_000, seed=1)
    shares = np.bincount(levels_of(made.values).astype(int))[1:4] / made.n_ratings
    np.testing.assert_allclose(shares, [0.30, 0.17, 0.14], atol=0.005)
    assert made.values.max() > 500
    assert len(np.unique(made.values[made.values > 64])) > 50  # spread within a level


def test_days_single_out_more_people_than_items_alone():
    users, items = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    times = (np.arange(120) // 3 % 20) * 86_400 + np.arange(120)  # two people share each day
    ratings = recloak.Ratings.from_arrays(users, items, None, times, kind="presence")
    found = expose(ratings, ExposureOptions(known=(2,)), rng=1)
    assert found.at(2, with_ratings=False).unique.rate == 0
    assert found.by_day[0].candidates[2] == 2
    assert found.to_json()["by_day"][0]["known"] == 2


def test_ratings_are_exposed_as_before(tmp_path):
    found = expose(recloak.synth(users=60, items=40, ratings=600, seed=1), rng=1)
    assert "by_day" not in found.to_json()
    pl.DataFrame({"user": ["a", "b"] * 20, "item": range(40)}).write_csv(tmp_path / "r.csv")
    assert not expose(recloak.read(tmp_path / "r.csv"), rng=1).by_day  # no times
