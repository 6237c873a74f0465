"""Randomness: one seed, and an independent stream for every step.

A step asks for its stream by name, so that neither the order of the steps nor the number of threads changes what it
draws. Two streams with different names are independent (numpy's ``SeedSequence`` with different spawn keys).
"""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass

import numpy as np

from recloak._core.errors import OptionError

_SEED_BITS = 128


@dataclass(frozen=True, slots=True)
class Randomness:
    """A seed and the path of names that leads from it to one step."""

    seed: int
    path: tuple[int, ...] = ()

    def child(self, *names: str | int) -> Randomness:
        """Return the randomness of a step below this one."""
        return Randomness(self.seed, self.path + tuple(_key(name) for name in names))

    def stream(self, *names: str | int) -> np.random.Generator:
        """Return a fresh generator for the named step; asking twice gives the same numbers twice."""
        return np.random.Generator(np.random.PCG64(self.child(*names)._sequence()))

    def key(self, *names: str | int) -> bytes:
        """Return 32 secret bytes for the named step, for keyed hashes."""
        return self.child(*names)._sequence().generate_state(8, np.uint32).tobytes()

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=self.path)


Rng = int | np.random.Generator | Randomness | None


def randomness(rng: Rng) -> Randomness:
    """Return the `Randomness` of a seed, a generator or nothing (then the system draws a secret seed).

    A generator is advanced by one draw, so that two calls with the same generator differ.
    """
    if isinstance(rng, Randomness):
        return rng
    if rng is None:
        return Randomness(secrets.randbits(_SEED_BITS))
    if isinstance(rng, np.random.Generator):
        return Randomness(int.from_bytes(rng.bytes(_SEED_BITS // 8), "little"))
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise OptionError(f"rng must be a whole number, a numpy Generator or nothing, got {rng!r}")
    if rng < 0:
        raise OptionError(f"seed must be at least 0, got {rng}")
    return Randomness(int(rng))


def seed_or_rng(seed: int | None, rng: Rng) -> Randomness:
    """Return the randomness of ``seed`` or of ``rng``, whichever was given; with neither the system draws a seed."""
    if seed is not None and rng is not None:
        raise OptionError("seed and rng are two names for one thing: pass one of them")
    if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__")):
        raise OptionError(f"seed must be a whole number, got {seed!r}")
    return randomness(rng if seed is None else seed)


def _key(name: str | int) -> int:
    """Return the spawn key of a step's name; numbers and names never share one."""
    return name if isinstance(name, int) else zlib.crc32(name.encode()) + (1 << 32)
