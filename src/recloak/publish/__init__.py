"""Publishing a rating matrix by Predictive Anonymization: pad, group, homogenise, diversify, verify, write.

The room can be called: ``recloak.publish(ratings, k=5, mode="padded", rng=0)`` is `recloak.publish.recipe.publish`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recloak.publish.release import Release
    from recloak.ratings import Ratings


class _CallableRoom(ModuleType):
    """A package that is also the function its name says."""

    def __call__(self, ratings: Ratings, **options: Any) -> Release:
        """Make an anonymised release of ratings."""
        from recloak.publish.recipe import publish  # noqa: PLC0415 (import recloak must stay quick)

        return publish(ratings, **options)


sys.modules[__name__].__class__ = _CallableRoom
