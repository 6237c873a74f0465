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
    from recloak.publish.recipe import publish
    from recloak.publish.verify import verify
    from recloak.ratings import Ratings, read

__all__ = ["Ratings", "publish", "read", "verify"]

_HOMES = {
    "Ratings": ("recloak.ratings", "Ratings"),
    "publish": ("recloak.publish", None),  # a room that can be called
    "read": ("recloak.ratings", "read"),
    "verify": ("recloak.publish.verify", "verify"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recloak' has no attribute {name!r}")
    home, attribute = _HOMES[name]
    module = importlib.import_module(home)
    return module if attribute is None else getattr(module, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
