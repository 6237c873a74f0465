"""Values never change: their arrays are read-only, their mappings refuse, and no attack changes what the next sees."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import recloak
from recloak._attacks import auditing, registry
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import see_original
from recloak._core.frozen import FrozenDict
from recloak._library.opened_releases import open_release
from tests.releases.helpers import some_ratings

RATINGS = some_ratings(40, 12)
FEW = AuditOptions(targets=9, known=(2,), varied_at=2)


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """Return every array that a value holds, however deep."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for one in value for array in arrays_in(one)]
    if not type(value).__module__.startswith("recloak"):
        return []
    names = {name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())}
    return [array for name in names for array in arrays_in(getattr(value, name, None))]


@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_no_array_of_a_release_can_be_changed(mode):
    release = recloak.publish(RATINGS, k=4, mode=mode, seed=1)
    found = arrays_in(release)
    assert len(found) > 6
    assert [array.shape for array in found if array.flags.writeable] == []
    with pytest.raises(ValueError, match="read-only"):
        release.groups[0] = 99
    with pytest.raises(TypeError, match="cannot be changed"):
        release.account["seed"] = 0


@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_no_array_that_an_attack_is_given_can_be_changed(mode):
    view = open_release(recloak.publish(RATINGS, k=4, mode=mode, seed=1), None, RATINGS)
    found = arrays_in((view.public, see_original(RATINGS)))
    assert len(found) >= 12
    assert [array.shape for array in found if array.flags.writeable] == []


def meddling(name: str, change: Any) -> recloak.Attack:
    def run(given: Any) -> Any:
        change(given)
        return given.found(right=0, tried=9)

    return recloak.Attack(
        name=name, kind="identifies", title="t", short="s", attacker="meddles", unit="targets", baseline="chance",
        criterion="singling-out", run=run, order=0,
    )  # fmt: skip


def swap_owners(given: Any) -> None:
    given.release.public.owner[:] = 0


def promise_less(given: Any) -> None:
    given.release.manifest["k"] = 1


@pytest.mark.parametrize("change", [swap_owners, promise_less])
def test_an_attack_that_meddles_fails_and_the_others_find_what_they_find_without_it(change):
    view = open_release(recloak.publish(RATINGS, k=4, mode="pure", seed=1), None, RATINGS)
    own = registry.own_attacks()
    alone = auditing.audit(RATINGS, view, options=FEW, attacks=own, rng=1)
    both = auditing.audit(RATINGS, view, options=FEW, attacks=[meddling("meddler", change), *own], rng=1)
    outcomes = {one.name: one for one in both.outcomes}
    assert (outcomes["meddler"].verdict, outcomes["meddler"].failed) == ("not measured", True)
    assert [one.to_json() for one in both.outcomes if one.name != "meddler"] == alone.to_json()["attacks"]
    assert (both.promise != "pass", both.passed) == (True, False)


def test_a_frozen_mapping_refuses_every_change_and_copies_as_itself():
    frozen = FrozenDict({"a": {"b": [1, {"c": 2}]}, "d": 3})
    changes: list[Any] = [
        lambda: frozen.update(d=4), lambda: frozen.pop("d"), frozen["a"].clear, frozen.popitem,
        lambda: frozen.setdefault("e", 1), lambda: frozen.__delitem__("d"), lambda: frozen.__ior__({"d": 1}),
        lambda: frozen["a"]["b"][1].__setitem__("c", 9), lambda: frozen["a"]["b"].append(1),
    ]  # fmt: skip
    for change in changes:
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert json.loads(json.dumps(frozen)) == {"a": {"b": [1, {"c": 2}]}, "d": 3}
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert (again, type(again), type(again["a"])) == (frozen, FrozenDict, FrozenDict)
