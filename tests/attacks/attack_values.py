"""Attacks for tests: our own by name, and one made up."""

from typing import Any

from recloak._attacks.attack import Attack
from recloak._attacks.registry import own_attacks

OWN = {one.name: one for one in own_attacks()}


def made_attack(**changes: Any) -> Attack:
    words = {"title": "Made up", "short": "made up", "attacker": "looks", "unit": "looks won", "baseline": "a coin"}
    plain = {"name": "made-up", "kind": "tells-cells", "criterion": "inference", "run": lambda given: given.found(0, 1)}
    return Attack(**{**plain, **words, **changes})
