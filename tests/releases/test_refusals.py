"""What must not be published is not, and what is somebody's is not replaced."""

from dataclasses import replace

import numpy as np
import pytest

import recloak
from recloak._core.errors import InputError, InternalError, RefusedError
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.model.steps import Grouping
from tests.releases.helpers import some_ratings, some_release


@pytest.mark.parametrize(("sizes", "fits"), [((3, 5), True), ((2, 4), False), ((3, 6), False)])
def test_a_group_has_k_to_2k_minus_1_members_or_is_refused(sizes, fits):
    grouping = Grouping(np.repeat([0, 1], sizes).astype(np.int32), 3)
    if fits:
        grouping.require_bounds()
    else:
        with pytest.raises(InternalError, match=r"must lie in \[3, 5\]"):
            grouping.require_bounds()


def test_groups_out_of_bounds_stop_a_release_before_it_is_made(monkeypatch):
    everybody = Grouping(np.zeros(12, np.int32), 3)
    monkeypatch.setattr("recloak._releases.publishing.group", lambda *_, **__: everybody)
    with pytest.raises(InternalError, match="group sizes must lie"):
        recloak.publish(some_ratings(), k=3, mode="pure", rng=0)


def test_a_release_that_could_not_be_judged_is_not_published(tmp_path, monkeypatch):
    unknown = Verdict(3, None, None, None, ("a table cannot be read",))
    monkeypatch.setattr("recloak._releases.release_folders.verify", lambda *_, **__: unknown)
    with pytest.raises(RefusedError, match="a table cannot be read"):
        some_release(some_ratings()).write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_is_less_diverse_than_it_says_is_not_published(tmp_path):
    release = some_release(some_ratings(12, 8, density=0.3), mode="pure")
    lying = replace(release, facts=replace(release.facts, diversity=Diversity(2, 4)))
    with pytest.raises(RefusedError, match="diversity 2,4 does not hold"):
        lying.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_private_folder_into_which_its_owner_put_something_is_not_replaced(tmp_path):
    some_release(some_ratings()).write(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "moved")
    (tmp_path / "out-private" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        some_release(some_ratings()).write(tmp_path / "out")
    assert (tmp_path / "out-private" / "notes.txt").read_text() == "mine"
