"""Quick leaderboards on the audit page: with a probe always, without one where they are asked for."""

from typing import Any

import pytest

import recloak

RATINGS = recloak.synth(users=60, items=40, ratings=900, seed=1)
FEW: dict[str, Any] = {"targets": 9, "known": (2,), "varied_at": 2, "seed": 1}


def test_without_a_probe_the_outsiders_protocol_is_measured_where_it_is_asked_for():
    release = recloak.publish(RATINGS, k=3, mode="pure", seed=1)
    assert recloak.audit(RATINGS, release, **FEW).fidelity is None
    found = recloak.audit(RATINGS, release, fidelity=True, **FEW)
    assert isinstance(found.fidelity, recloak.Fidelity)
    assert found.fidelity.owner is None
    assert len(found.fidelity.to_polars()) == 10
    assert found.to_json()["fidelity"]["verdict"] == found.fidelity.verdict
    page = found.to_html()
    assert "A. Whoever downloads it splits the release" in page
    assert found.fidelity.verdict in page


@pytest.mark.parametrize("mode", ["pure", "sampled"])
def test_with_a_probe_both_protocols_stand_on_the_page(mode):
    from recloak._library.evaluate_release import hold_out

    rest, probe = hold_out(RATINGS, 0.1, rng=1)
    found = recloak.audit(rest, recloak.publish(rest, k=3, mode=mode, seed=1), probe=probe, **FEW)
    assert isinstance(found.fidelity, recloak.Fidelity)
    assert found.fidelity.owner is not None
    assert "B. The owner scores a hidden probe" in found.to_html()
