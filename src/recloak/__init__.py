"""recloak: privacy of what a recommender shows the world.

Its ratings, its related-item lists, and what its users say in public: for each the attack, the defence, the proof that
the defence holds, and the price in usefulness.

    ratings = recloak.read("ratings.csv")
    release = recloak.publish(ratings, k=5, mode="padded", rng=0)
    release.write("released")
    assert recloak.verify("released").passed

Names are imported when they are first used, so that ``import recloak`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recloak._attacks.attack import Attack
    from recloak._ratings.model import Ratings
    from recloak._ratings.readers import read
    from recloak._releases.publishing import publish
    from recloak._releases.verifier import verify

__all__ = ["Attack", "Ratings", "publish", "read", "verify"]

_HOMES = {
    "Attack": "_attacks.attack",
    "Ratings": "_ratings.model",
    "publish": "_releases.publishing",
    "read": "_ratings.readers",
    "verify": "_releases.verifier",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recloak' has no attribute {name!r}")
    return getattr(importlib.import_module(f"recloak.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
