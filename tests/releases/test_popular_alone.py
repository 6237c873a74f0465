"""Padded rows of items that few people use show popularity alone; the owner is told, and so is every reader."""

import json
import logging

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._ratings.model import Ratings
from recloak._releases.model.manifest import as_text
from recloak._releases.model.release_format import sealed
from tests.releases.test_events import two_tastes


def sparse(n_users: int = 40) -> Ratings:
    """Return people of whom nearly everybody has two items of their own and the first."""
    users = np.repeat(np.arange(n_users), 3)
    items = np.column_stack((np.zeros(n_users), 1 + np.arange(n_users) % 59, 1 + (7 * np.arange(n_users)) % 59)).ravel()
    return recloak.read(pl.DataFrame({"user": users, "item": items.astype(int)}), values="presence")


def test_the_owner_is_warned_and_the_card_tells_it(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "recloak"):
        made = recloak.publish(sparse(), tmp_path / "out", mode="padded", k=5, seed=1)
    assert "show nothing but their popularity" in caplog.text
    assert made.facts.popular_alone is not None
    assert made.facts.popular_alone > 0.9
    assert "show their popularity alone" in (tmp_path / "out" / "README.md").read_text()
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["popular_alone"] == made.facts.popular_alone
    assert recloak.verify(tmp_path / "out").passed


def test_nobody_is_warned_where_items_have_enough_users(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "recloak"):
        made = recloak.publish(two_tastes(80, 40), tmp_path / "out", mode="padded", k=4, seed=1)
    assert not caplog.text
    assert made.facts.popular_alone == 0
    assert "popularity alone" not in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("said", [0.123, 1.5, -0.1])
def test_a_share_that_could_say_more_is_refused(tmp_path, said):
    recloak.publish(sparse(), tmp_path / "out", mode="padded", k=5, seed=1)
    file = tmp_path / "out" / "manifest.json"
    manifest = {**json.loads(file.read_text()), "popular_alone": said}
    manifest["seal"] = sealed(manifest)
    file.write_text(as_text(manifest))
    assert any("popular_alone" in problem for problem in recloak.verify(tmp_path / "out").problems)
