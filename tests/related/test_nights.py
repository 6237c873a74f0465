"""Whatever an operator does, what the store holds keeps the promise of its night: random histories, brute force."""

from collections import Counter

import pytest

from tests.related.nights import check, run


@pytest.mark.parametrize("start", [0, 60])
def test_careless_nights_keep_every_promise(start, tmp_path):
    happened = sum((check(seed, str(tmp_path / f"{seed}.db")) for seed in range(start, start + 40)), Counter())
    assert happened["releases"] > 80
    assert {"retry", "re-rating", "late rating", "rating dated ahead", "erasure", "changed promise"} <= set(happened)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 21000, 2000))
def test_twenty_thousand_careless_nights_keep_every_promise(start, tmp_path):
    assert run(start, start + 2000, tmp_path)["histories"] == 2000
