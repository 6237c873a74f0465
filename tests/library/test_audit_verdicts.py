"""A release made the old way is called breached by the default audit, and what an owner gives is used."""

import csv
import json

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._core.errors import InputError


@pytest.fixture(scope="module")
def source():
    """Return ratings of a world with tastes, so that groups have something in common."""
    rng = np.random.default_rng(3)
    n_users, n_items = 700, 300
    liked = 3.2 + rng.normal(0, 0.7, (n_users, 4)) @ rng.normal(0, 0.7, (4, n_items))
    rated = rng.random((n_users, n_items)) < np.clip(rng.beta(0.8, 3, n_items), 0.03, 0.8)
    users, items = np.nonzero(rated)
    stars = np.clip(np.rint(liked + rng.normal(0, 0.7, liked.shape)), 1, 5)[users, items]
    return pl.DataFrame({"user": users, "item": items, "rating": stars})


@pytest.fixture(scope="module")
def old(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("old") / "release"
    return recloak.publish(source, k=5, mode="padded", labels="raters", seed=1).write(folder)


def verdicts(found):
    told: dict[str, set[str]] = {}
    for one in found.outcomes:
        told.setdefault(one.name, set()).add(one.verdict)
    return told


def test_labels_of_the_raters_are_breached_for_residual_insider_and_membership(source, old):
    found = recloak.audit(source, old, seed=1)
    told = verdicts(found)
    assert all("breached" in told[name] for name in ("residual", "insider", "membership"))
    assert found.verdict == found.criteria["inference"]["verdict"] == "breached"
    assert found.criteria["inference"]["actors"]["insider"] == "breached"


def test_the_people_at_the_greatest_risk_go_to_the_private_folder_alone(source, old):
    recloak.audit(source, old, targets=60, known=[4], varied_at=4, seed=1)
    private = old.with_name("release-private")
    with (private / "worst-off.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert 0 < len(rows) <= 100
    assert {int(row["user"]) for row in rows} <= set(source["user"].to_list())
    assert [float(row["above_baseline"]) for row in rows] == sorted(
        (float(r["above_baseline"]) for r in rows), reverse=True
    )
    assert (private / "worst-off.csv").stat().st_mode & 0o077 == 0
    assert not (old / "worst-off.csv").exists()


def test_what_the_owner_gives_is_attacked_with(source, old, tmp_path):
    ids = source["user"].unique().sort()
    pl.DataFrame({"user": ids, "value": ["a" if one % 2 else "b" for one in ids]}).write_csv(tmp_path / "value.csv")
    (tmp_path / "items.txt").write_text("0\n1\n2\n")
    strangers = source.filter(pl.col("user") < 40).with_columns(pl.col("user") + 10_000)
    found = recloak.audit(
        source, old, targets=100, known=[4], varied_at=4, seed=1, held_out=strangers, mentions=source.head(500),
        attribute=tmp_path / "value.csv", sensitive=tmp_path / "items.txt",
    )  # fmt: skip
    for name in ("attribute", "sensitive", "public-mentions"):
        assert all(one.release is not None for one in found.outcomes if one.name == name)
    assert not found.failures
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["criteria"]


@pytest.mark.parametrize("given", ["held_out", "later"])
def test_people_or_ratings_of_the_source_are_not_taken_for_others(source, old, given):
    with pytest.raises(InputError, match="source"):
        recloak.audit(source, old, **{given: source.head(50)})
