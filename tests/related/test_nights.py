"""Whatever an operator does, what the store holds keeps the promise of its night: random histories, brute force."""

import pytest

from tests.related.nights import check


@pytest.mark.parametrize("start", [0, 60])
def test_careless_nights_keep_every_promise(start, tmp_path):
    assert sum(check(seed, str(tmp_path / f"{seed}.db")) for seed in range(start, start + 60)) > 120


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 21000, 2000))
def test_twenty_thousand_careless_nights_keep_every_promise(start, tmp_path):
    for seed in range(start, start + 2000):
        path = tmp_path / "history.db"
        check(seed, str(path))
        for left in tmp_path.iterdir():
            left.unlink()
