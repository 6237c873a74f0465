"""Chance inside compiled kernels: a small generator per user, so that neither threads nor blocks change what is drawn.

SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"): the state walks by an odd
constant and each step is scrambled. Every (key, number, stage) starts its own walk.
"""

import math

import numpy as np

from recloak._core.compiling import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


@njit(cache=True, inline="always")
def _scramble(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)


@njit(cache=True)
def walk(key, number, stage):  # type: ignore[no-untyped-def]
    """Start the walk of one (key, number, stage)."""
    state = np.empty(1, np.uint64)
    state[0] = _scramble(_scramble(key + _GOLDEN * np.uint64(number + 1)) + _GOLDEN * np.uint64(stage + 1))
    return state


@njit(cache=True, inline="always")
def uniform(state):  # type: ignore[no-untyped-def]
    """Draw from [0, 1)."""
    state[0] += _GOLDEN
    return np.float64(_scramble(state[0]) >> _S11) * _UNIT


@njit(cache=True, inline="always")
def normal(state):  # type: ignore[no-untyped-def]
    """Draw from the standard normal distribution (Box & Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))


@njit(cache=True, inline="always")
def below(state, n):  # type: ignore[no-untyped-def]
    """Draw a whole number from 0 to n - 1."""
    return int(uniform(state) * n)
