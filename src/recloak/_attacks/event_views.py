"""A source in the values that its release shows, so that an attacker's clues and the release speak of the same.

A padded release of counts shows no counts: what can be known of a person there is what was used, as with presence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recloak._core.errors import InputError
from recloak._ratings.event_values import shown_values
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import PRESENCE, RATINGS
from recloak._releases.model.modes import MODES


def values_seen(ratings: Ratings, manifest: Mapping[str, Any]) -> Ratings:
    """Return the source in the values of a release; raise InputError if the release is of another kind of values."""
    kind = manifest.get("values", RATINGS.name)
    if kind != ratings.kind.name:
        raise InputError(
            f"the release is of {kind}, and this source holds {ratings.kind.name}; if it is the right one, say "
            f"values='{kind}'"
        )
    if ratings.kind is RATINGS:
        return ratings
    is_complete = MODES[manifest["mode"]].is_complete
    shown = shown_values(ratings, is_complete=is_complete, highest=round(manifest["scale"]["high"]))
    return replace(shown, kind=PRESENCE) if is_complete else shown
