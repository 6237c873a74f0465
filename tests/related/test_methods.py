"""A method is one value: another one is simulated and verified after one registration."""

import numpy as np
import pytest

from recloak._core.errors import OptionError
from recloak._ratings.model import Ratings
from recloak._related.methods import METHODS, Method
from recloak._related.model import EMPTY, Lists
from recloak._related.options import BoundOptions, MethodOptions
from recloak._related.simulation import simulate


@pytest.fixture
def ratings():
    rng = np.random.default_rng(4)
    cells = rng.permutation(40 * 12)[:300]
    return Ratings.from_arrays(cells // 12, cells % 12, rng.integers(1, 6, 300).astype(float), np.arange(300))


def test_a_method_is_added_by_its_value_alone(ratings, monkeypatch):
    def silent(_observer, ranking, options):
        return Lists(np.full((ranking.n_items, options.top), EMPTY, np.int32))

    monkeypatch.setitem(METHODS, "silent", Method("silent", "publish nothing", silent, is_safe=True))
    run = simulate(ratings, method=MethodOptions(method="silent"), bound=BoundOptions(delta=0.0, min_support=1), rng=0)
    assert run.to_json()["method"]["method"] == "silent"
    assert all(release.lists.n_entries == 0 for release in run.releases)
    assert run.max_breach == 0.0
    MethodOptions(method="silent").require_publishable()


def test_a_method_that_needs_noise_is_not_published():
    for name, method in METHODS.items():
        if not method.uses_noise:
            MethodOptions(method=name).require_publishable()
    with pytest.raises(OptionError, match="rp protects nobody and is for `related simulate` only; use perm or supp"):
        MethodOptions(method="rp").require_publishable()
