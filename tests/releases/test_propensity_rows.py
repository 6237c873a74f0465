"""Rows of propensities do not show how much people use, who belongs to a clique, or who uses a rare item."""

import json

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._core.randomness import Randomness
from recloak._ratings.event_values import PROPENSITIES, as_propensities, as_used
from recloak._ratings.model import Ratings
from recloak._releases.event_release import group_by_items
from recloak._releases.grid import make_grid
from recloak._releases.homogenise import group_means
from recloak._releases.model.manifest import as_text
from recloak._releases.model.release_format import sealed
from recloak._releases.model.steps import Grouping
from recloak._releases.options import PublishOptions
from recloak._releases.profiles import FullProfiles, GroupMeans
from recloak._releases.propensities import popularity_alone, propensities
from recloak._releases.propensity_rows import is_given_away, propensity_rows
from recloak._releases.publishing import make_release
from recloak._releases.rare_items import _right, _ways
from tests.releases.test_events import two_tastes


def presence(used) -> Ratings:
    """Return a table of truths as presence."""
    users, items = np.nonzero(used)
    return recloak.read(pl.DataFrame({"user": users, "item": items}), values="presence")


def some_people() -> Ratings:
    """Return people who use popular and rare items by lot."""
    return presence(np.random.default_rng(3).random((300, 80)) < np.linspace(0.5, 0.06, 80))


def in_order(n_users: int, k: int) -> Grouping:
    """Return groups of neighbours."""
    return Grouping((np.arange(n_users) // k).astype(np.int32), k)


def test_an_item_that_few_use_has_nothing_but_its_popularity():
    source = as_propensities(two_tastes())
    k = int(np.median(source.popularity)) // 2
    grouping = group_by_items(source, k, Randomness(1))
    means = group_means(propensities(source, rank=3, rng=Randomness(1)), grouping)
    shown, rare = propensity_rows(means, source, grouping), source.popularity < 2 * k
    assert 0 < rare.sum() < source.n_items
    assert not shown.item_factors[:, rare].any()
    shares = shown.base[rare] / (source.popularity[rare] / source.n_users)
    np.testing.assert_allclose(shares, shares[0], rtol=1e-5)


def test_the_item_of_a_clique_has_nothing_but_its_popularity():
    used = np.random.default_rng(1).random((200, 6)) < 0.5
    used[:, 4:] = False
    used[:15, 4] = True  # three groups of five, all of them
    used[::13, 5] = True  # sixteen people, one in a group
    used[:, 0] = True
    assert is_given_away(as_propensities(presence(used)), in_order(200, 5)).tolist() == [False] * 4 + [True, False]


def test_rows_have_one_sum_and_keep_their_order():
    stream = np.random.default_rng(2)
    eager = np.repeat([0.1, 0.5], 100)[:, None]
    source = as_propensities(presence(stream.random((200, 60)) < eager * np.linspace(0.4, 1.6, 60)))
    grouping = in_order(200, 5)
    means = group_means(propensities(source, rank=4, rng=Randomness(1)), grouping)
    shown = propensity_rows(means, source, grouping)
    before, after = means.factors @ means.item_factors, shown.factors @ shown.item_factors
    kept = shown.item_factors.any(axis=0)
    sums = after[:, kept].sum(axis=1)
    assert before[:20].sum(axis=1).mean() * 2 < before[20:].sum(axis=1).mean()  # eager people show
    np.testing.assert_allclose(sums, sums[0], rtol=1e-4)
    assert (np.argsort(-before[:, kept], kind="stable") == np.argsort(-after[:, kept], kind="stable")).mean() > 0.99
    assert (after > 1).mean() < 0.01


def test_the_surest_claims_of_rows_of_members_are_counted_by_eye():
    used = np.zeros((40, 3), bool)
    used[:, 0] = True
    used[:3, 1] = True  # three of five members of the one group that shows it
    used[[5, 10, 15], 2] = True
    source, grouping = as_used(presence(used)), in_order(40, 5)
    padding = popularity_alone(source)
    made = make_release(source, padding, grouping, PublishOptions(k=5, mode="pure"), Randomness(1))
    assert made.facts.surest == 3 / 5


@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_the_card_tells_how_sure_claims_about_rare_items_are(tmp_path, mode):
    made = recloak.publish(some_people(), tmp_path / "out", k=5, mode=mode, seed=1)
    assert made.facts.surest is not None
    assert 0 < made.facts.surest <= 1
    assert f"right of {100 * made.facts.surest:.0f} in 100" in (tmp_path / "out" / "README.md").read_text()
    assert recloak.verify(tmp_path / "out").passed


@pytest.mark.parametrize("said", [0.123, 1.5])
def test_a_figure_that_could_say_more_is_refused(tmp_path, said):
    recloak.publish(some_people(), tmp_path / "out", k=5, mode="padded", seed=1)
    file = tmp_path / "out" / "manifest.json"
    manifest = {**json.loads(file.read_text()), "surest": said}
    manifest["seal"] = sealed(manifest)
    file.write_text(as_text(manifest))
    assert any("surest" in problem for problem in recloak.verify(tmp_path / "out").problems)


def test_the_highest_propensities_and_the_greatest_lead_are_claimed():
    """Two groups of five: all of the first use the item, and one of the second; both ways point to the first."""
    labels = np.array([[0.9, 0.1], [0.2, 0.15]], np.float32)
    means = GroupMeans(np.zeros(2, np.float32), labels.copy(), np.zeros(2, np.float32), np.eye(2, dtype=np.float32))
    nothing = np.zeros(3, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    profiles = FullProfiles(means, *nothing, make_grid(PROPENSITIES, "padded", 0.005))
    np.testing.assert_allclose(profiles.columns(np.array([0])), labels[:, :1], atol=1e-6)
    used = np.zeros((100, 2), bool)
    used[:5, 0] = used[5, 0] = used[7:9, 1] = True
    users, items = np.nonzero(used)
    people = {"user": [*users, *range(100)], "item": [*items, *[9] * 100]}
    source = as_propensities(recloak.read(pl.DataFrame(people), values="presence"))
    grouping = Grouping((np.arange(100) >= 50).astype(np.int32), 50)
    scores, groups, columns = next(_ways(profiles, np.array([0, 1])))
    assert (groups[0], columns[0]) == (0, 0)
    assert _right((scores, groups, columns), source, grouping, 20) == 6 / 50
