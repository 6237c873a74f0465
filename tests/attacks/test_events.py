"""Audits of purchases and plays: what is attacked, what is not applicable, and what members read off a row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.releases.test_events import two_tastes

import recloak
from recloak import InputError, OptionError, Ratings
from recloak._attacks.event_links import _World, beliefs
from recloak._attacks.model import Public
from recloak._attacks.registry import own_attacks

QUICK: dict[str, Any] = {"targets": 120, "known": (4,), "varied_at": 4, "seed": 1}


@pytest.fixture(scope="module")
def audited():
    source = two_tastes(60, 40, rare=9)
    return recloak.audit(source, recloak.publish(source, k=4, mode="pure", seed=1), **QUICK)


def test_attacks_on_numbers_are_not_applicable_to_presence(audited):
    idle = {one.name for one in audited.outcomes if one.verdict == "not applicable"}
    assert idle == {"label", "label-tolerant", "own-rating", "fingerprint", "residual", "insider", "insider-fit"}
    measured = {one.name for one in audited.outcomes if one.release is not None}
    assert {"structure", "scoreboard", "likelihood", "membership", "link", "insider-items", "rare-items"} <= measured
    assert not audited.failures
    said = {one["name"]: one for one in audited.to_json()["attacks"]}
    assert said["own-rating"]["verdict"] == "not applicable"
    assert "only what was used" in said["own-rating"]["reason"]


def test_what_is_not_applicable_is_neither_safe_nor_not_measured(audited):
    idle = [one for one in audited.outcomes if one.verdict == "not applicable"]
    alone = replace(audited, outcomes=tuple(idle))
    assert alone.promise == "not measured"  # nothing that names people was run
    assert alone.verdict == "not measured"
    naming = [one for one in audited.outcomes if one.identifies and one.verdict == "bounded"]
    assert replace(audited, outcomes=(*naming, *idle)).promise == "pass"
    assert "not applicable" in repr(audited)
    assert "Not applicable to what this source holds" in audited.to_html()


def test_a_gate_on_an_attack_that_is_not_applicable_is_closed():
    source = two_tastes(60, 40)
    made = recloak.publish(source, k=4, mode="pure", seed=1)
    found = recloak.audit(source, made, gates=["label@4<0.9"], **QUICK)
    assert not found.passages[0].passed
    assert "not applicable" in found.passages[0].reason


def test_no_knowledge_about_numbers_is_varied_on_presence(audited):
    assert not [one.setting for one in audited.outcomes if "rating" in one.setting and one.name == "scoreboard"]


@pytest.mark.parametrize("mode", ["pure", "padded", "sampled"])
def test_counts_are_audited_in_every_mode(mode):
    source = two_tastes(60, 40, counts=True)
    found = recloak.audit(source, recloak.publish(source, k=4, mode=mode, seed=1), again=True, **QUICK)
    assert not found.failures
    labels = {one.verdict for one in found.outcomes if one.name == "own-rating"}
    assert ("not applicable" in labels) == (mode == "padded")  # which shows no counts


def test_all_other_members_together_know_what_the_last_one_used():
    source = two_tastes(8, 24)
    world = _World.of(_two_rows(source), source)
    believed = beliefs(world, 0, np.array([1, 2, 3]))
    others, mine = (world.used(np.array(users)) > 0 for users in ([1, 2, 3], [0]))
    assert (mine & ~others).any()
    assert (believed[mine & ~others] == 1).all()
    assert (believed[~mine & ~others] == 0).all()
    assert (believed[others] < 1).all()


def _two_rows(source: Ratings) -> Public:
    """Return the release in which the first four users share a row, and the others another."""
    owner = (np.arange(source.n_users) >= 4).astype(np.int32)
    cells = np.unique(source.items.astype(np.int64) * 2 + owner[source.users()])
    indptr = np.searchsorted(cells // 2, np.arange(source.n_items + 1))
    holders = (cells % 2).astype(np.int32)
    return Public.of(indptr, holders, np.ones(len(cells), np.float32), np.bincount(owner), owner, source.scale, None)


def test_a_release_of_another_kind_is_refused():
    presence = two_tastes(60, 40)
    made = recloak.publish(presence, k=4, mode="pure", seed=1)
    with pytest.raises(InputError, match="the release is of presence, and this source holds counts"):
        recloak.audit(two_tastes(60, 40, counts=True), made, **QUICK)


def test_an_attack_names_kinds_that_exist():
    with pytest.raises(OptionError, match="values must be one of ratings, presence, counts"):
        replace(own_attacks()[0], values=("stars",))
