"""Wilson's interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._core.intervals import Z_95, wilson


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_stays_between_0_and_1(case):
    share = wilson(*case)
    assert 0 <= share.low <= share.rate <= share.high <= 1
    assert share.low < share.high


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_its_ends_are_the_shares_that_a_95_percent_test_just_accepts(case):
    share = wilson(*case)
    for end in (share.low, share.high):
        if 0 < end < 1:
            distance = abs(share.rate - end) / math.sqrt(end * (1 - end) / share.n)
            assert distance == pytest.approx(Z_95, rel=1e-6)


def test_none_and_all_of_ten_give_the_known_ends():
    # With p = 0 the formula is z^2/n / (1 + z^2/n) = z^2 / (n + z^2).
    none, every = wilson(0, 10), wilson(10, 10)
    assert (none.rate, none.low) == (0, 0)
    assert none.high == pytest.approx(Z_95**2 / (10 + Z_95**2))
    assert (every.rate, every.high) == (1, 1)
    assert every.low == pytest.approx(10 / (10 + Z_95**2))


def test_a_third_of_133_reads_as_the_notes_say():
    share = wilson(41, 133)  # 31 % of 133 is 24 to 39 %
    assert (round(share.rate, 2), round(share.low, 2), round(share.high, 2)) == (0.31, 0.24, 0.39)


def test_twice_the_cases_make_the_interval_narrower():
    assert wilson(20, 40).high - wilson(20, 40).low < wilson(10, 20).high - wilson(10, 20).low


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(OptionError):
        wilson(successes, n)
