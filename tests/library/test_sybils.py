"""Copies of people planted before publishing: who is left alone with them, and what an owner must give for it."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._attacks.attack_input import SybilRelease
from recloak._attacks.sybils import alone_with_copies
from recloak._core.errors import OptionError

FEW: dict[str, Any] = {"targets": 20, "known": (4,), "varied_at": 4, "seed": 1}


def test_alone_is_a_group_of_one_target_and_copies():
    owner = np.array([0, 0, 0, 1, 1, 1, 2, 2])  # targets 0, 3 and 6; copies 1, 2 / 4, 6 / 5, 1

    class Shown:
        public = type("Public", (), {"owner": owner})

    copies = np.array([[1, 2], [4, 6], [5, 1]])
    planted = SybilRelease(Shown, np.array([0, 3, 6]), copies, np.arange(3), ())  # type: ignore[arg-type]
    assert alone_with_copies(planted).tolist() == [True, False, False]


@pytest.fixture(scope="module")
def source():
    """Return people with strong tastes, so that a copy's nearest neighbour is the person."""
    rng = np.random.default_rng(3)
    rated = rng.random((150, 60)) < 0.5
    users, items = np.nonzero(rated)
    liked = 3 + rng.normal(0, 1, (150, 4)) @ rng.normal(0, 1, (4, 60))
    stars = np.clip(np.rint(liked), 1, 5)[users, items]
    return pl.DataFrame({"user": [f"u{one}" for one in users], "item": items, "rating": stars})


def test_people_are_left_alone_with_enough_copies(source, tmp_path):
    release = recloak.publish(source, k=3, seed=1)
    folder = release.write(tmp_path / "release")
    before = sorted(path.name for path in tmp_path.iterdir())
    found = recloak.audit(source, folder, sybils=2, **FEW)
    sybils = next(one for one in found.outcomes if one.name == "sybils")
    assert (sybils.verdict, sybils.failed) != ("not measured", True)
    assert sybils.release is not None
    assert sybils.release.rate > 0.3
    assert sybils.details["release"]["copies_planted"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    again = recloak.audit(source, release, sybils=2, **FEW)
    assert again.to_json() | {"manifest_sha256": None} == found.to_json() | {"manifest_sha256": None}


def test_without_copies_it_is_not_measured(source):
    found = recloak.audit(source, recloak.publish(source, k=3, seed=1), **FEW)
    assert next(one for one in found.outcomes if one.name == "sybils").verdict == "not measured"
    with pytest.raises(OptionError, match="sybils must be at least 1"):
        recloak.audit(source, recloak.publish(source, k=3, seed=1), sybils=-1, **FEW)
