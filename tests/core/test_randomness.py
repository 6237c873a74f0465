import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._core.randomness import Randomness, randomness


def draw(source: Randomness, *names: str | int) -> list[int]:
    return source.stream(*names).integers(0, 2**62, 4).tolist()


@given(st.integers(0, 2**128 - 1), st.text(max_size=8))
def test_the_same_seed_and_name_give_the_same_numbers(seed, name):
    assert draw(randomness(seed), name) == draw(randomness(seed), name)


@given(st.integers(0, 2**64), st.text(max_size=8), st.text(max_size=8))
def test_other_names_give_other_numbers(seed, one, other):
    if one != other:
        assert draw(randomness(seed), one) != draw(randomness(seed), other)


def test_a_name_and_a_number_never_meet():
    source = randomness(1)
    assert draw(source, "a", 3) != draw(source, "a", "3")
    assert draw(source, zlib.crc32(b"a")) != draw(source, "a")  # not even the number that a name is turned into


def test_a_child_is_the_path_to_its_stream():
    assert draw(randomness(5).child("pad"), "users") == draw(randomness(5), "pad", "users")


def test_without_a_seed_two_runs_differ():
    assert randomness(None).seed != randomness(None).seed


def test_a_seed_that_the_system_draws_cannot_be_guessed():
    seeds = [randomness(None).seed for _ in range(8)] + [randomness(np.random.default_rng(n)).seed for n in range(8)]
    assert min(max(seeds[:8]), max(seeds[8:])).bit_length() > 120


def test_a_generator_is_advanced_so_that_two_calls_differ():
    generator = np.random.default_rng(0)
    assert randomness(generator) != randomness(generator)


def test_a_randomness_passes_through():
    source = Randomness(3)
    assert randomness(source) is source


def test_a_key_is_32_bytes_of_its_own():
    assert len(randomness(0).key("a")) == 32
    assert randomness(0).key("a") != randomness(0).key("b")


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", True])
def test_a_wrong_seed_is_refused(wrong):
    with pytest.raises(OptionError):
        randomness(wrong)
