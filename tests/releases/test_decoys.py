"""Pure rows that say less about their members: items left out, decoys, and what the card says of the rest."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._core.randomness import Randomness
from recloak._releases.model.steps import Grouping
from recloak._releases.options import PublishOptions
from recloak._releases.profiles import SparseProfiles
from recloak._releases.publishing import make_release
from recloak._releases.row_exposure import measure_rows
from tests.releases.helpers import some_grouping, some_padding, some_ratings, some_release

RATINGS = recloak.synth(users=400, items=600, ratings=12000, seed=1)
WAYS: dict[str, dict[str, Any]] = {"plain": {}, "hidden": {"min_shown": 2, "decoys": 3.0}}


def cells_of(release):
    """The cells of a release as {(group of the source's users, item)}."""
    rows = release.profiles.rows(np.arange(len(release.profiles.counts)))
    groups = np.repeat(np.arange(len(release.profiles.counts)), np.diff(rows.indptr))
    return set(zip(groups.tolist(), rows.items.tolist(), strict=True))


@pytest.mark.parametrize("share", [0.5, 1.0, 3.0])
def test_decoys_are_items_that_nobody_in_the_group_rated_as_many_as_asked_for(share):
    ratings = some_ratings(60, 200, density=0.05)
    plain, hidden = (some_release(ratings, k=3, mode="pure", **more) for more in ({}, {"decoys": share}))
    assert cells_of(plain) < cells_of(hidden)
    counts = plain.profiles.counts
    assert (hidden.profiles.counts <= counts + np.round(share * counts)).all()
    assert (hidden.profiles.counts > counts).all()
    if share == 0.5:  # so few there always are
        assert (hidden.profiles.counts == counts + np.round(share * counts)).all()


def test_items_of_fewer_members_are_left_out_and_no_others():
    ratings, grouping = some_ratings(40, 12, density=0.6), some_grouping(40, 4)
    shown = cells_of(some_release(ratings, k=4, mode="pure", min_shown=2))
    groups = grouping.labels[ratings.users()]
    raters = dict.fromkeys(zip(groups.tolist(), ratings.items.tolist(), strict=True), 0)
    for cell in zip(groups.tolist(), ratings.items.tolist(), strict=True):
        raters[cell] += 1
    assert shown == {cell for cell, n in raters.items() if n >= 2}


def test_a_group_that_would_be_left_with_nothing_is_refused():
    with pytest.raises(recloak.InputError, match="min_shown 4 leaves a group without a single item"):
        some_release(some_ratings(12, 40, density=0.1), k=3, mode="pure", min_shown=4)


@pytest.mark.parametrize("layout", ["grouped", "long"])
def test_such_a_release_passes_its_verifier_and_says_what_it_is(tmp_path, layout):
    out = tmp_path / "out"
    recloak.publish(RATINGS, out, mode="pure", min_shown=2, decoys=3, layout=layout, seed=1)
    assert recloak.verify(out, original=RATINGS).passed
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["min_shown"], manifest["decoys"]) == (2, 3.0)
    assert any("rated by fewer than 2 members" in sentence for sentence in manifest["not_promised"])
    assert "How popular" not in (out / "README.md").read_text()


@pytest.mark.parametrize("options", [{"decoys": 1}, {"min_shown": 2}])
def test_they_are_for_pure_releases(options: dict[str, Any]):
    with pytest.raises(recloak.InputError, match="is for mode pure: a padded row has every item"):
        recloak.publish(RATINGS, **options)


def test_decoys_make_people_harder_to_find_and_the_card_says_so(tmp_path):
    found = []
    for name, options in WAYS.items():
        release = recloak.publish(RATINGS, tmp_path / name, mode="pure", seed=1, **options)
        step = next(one for one in release.account["steps"] if one["name"] == "measure rows")
        found.append((step["found"], step["member"]))
        assert f"for {100 * step['found']:.0f} of 100 people" in (tmp_path / name / "README.md").read_text()
    assert found[1][0] < 0.8 * found[0][0]
    assert found[1][1] < found[0][1]


def test_a_person_whose_items_stand_in_no_other_row_is_found_and_known_to_be_there():
    users, items = np.divmod(np.arange(60), 5)
    ratings = recloak.Ratings.from_arrays(users, items + 5 * (users // 3), np.arange(60) % 5 + 1.0)
    grouping, options = Grouping((np.arange(12) // 3).astype(np.int32), 3), PublishOptions(k=3, mode="pure")
    release = make_release(ratings, some_padding(ratings), grouping, options, Randomness(0))
    assert isinstance(release.profiles, SparseProfiles)
    assert measure_rows(release.profiles, ratings, grouping, 0) == (1.0, 1.0)


def test_the_card_tells_how_to_estimate_popularity_and_that_is_right(tmp_path):
    """Items rated by chance: the estimate from the rows is near the true number of raters."""
    ratings = some_ratings(3000, 30, density=0.1)
    release = some_release(ratings, k=5, mode="pure")
    card = (release.write(tmp_path / "out") / "README.md").read_text()
    assert "n = m (1 - (1 - g/G)^(1/k))" in card
    rows = pl.read_parquet(tmp_path / "out" / "profiles.parquet").group_by("item").len().sort("item")
    n = 3000 * (1 - (1 - rows["len"].to_numpy() / release.facts.n_groups) ** (1 / 5))
    true = np.bincount(ratings.items)
    assert np.abs(n / true - 1).max() < 0.15
