"""A trial release: hold ratings out, publish the rest, and read what was published as a stranger would.

The probe is split off before anything is learned, so it can leak neither into the padding nor into the groups.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from recloak.attacks.public import Published, see_release
from recloak.evaluate.probe import Probe, hold_out
from recloak.files import scratch_folder
from recloak.publish.options import PadOptions, PublishOptions
from recloak.publish.recipe import publish
from recloak.publish.release import Release
from recloak.randomness import Randomness, Rng, randomness
from recloak.ratings import Ratings


@dataclass(frozen=True, eq=False, slots=True)
class Trial:
    """What was published, the ratings it was made from, and those held out."""

    ratings: Ratings
    probe: Probe
    release: Published


def try_out(ratings: Ratings, share: float, options: PublishOptions, *, rng: Rng = None) -> Trial:
    """Hold a share of the ratings out and publish the rest into a folder that is thrown away."""
    source = randomness(rng)
    rest, probe = hold_out(ratings, share, rng=source.child("trial"))
    return Trial(rest, probe, publish_aside(rest, options, source))


def publish_aside(
    ratings: Ratings,
    options: PublishOptions,
    chance: Randomness | None = None,
    *,
    pad_options: PadOptions | None = None,
) -> Published:
    """Publish, verify and read back a release that nobody keeps."""
    return read_back(publish(ratings, options=options, pad_options=pad_options, rng=chance), ratings)


def read_back(release: Release, ratings: Ratings) -> Published:
    """Write a release into a folder that is thrown away, and read it as a stranger would.

    It says who is who, so what a killed run left of it is cleared away by the next.
    """
    with scratch_folder(Path(tempfile.gettempdir()) / "recloak-trial") as folder:
        public, private = folder / "public", folder / "private"
        release.write(public, private=private)
        return see_release(public, private, ratings)
