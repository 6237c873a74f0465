"""A trial release: hold ratings out, publish the rest, and read what was published as a stranger would.

The probe is split off before anything is learned, so it can leak neither into the padding nor into the groups.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from recloak._attacks.public_view import ReleaseView, see_release
from recloak._core.files import scratch_folder
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._evaluation.probe import Probe, hold_out
from recloak._ratings.model import Ratings
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.publishing import publish
from recloak._releases.release import Release


@dataclass(frozen=True, eq=False, slots=True)
class TrialRelease:
    """What was published, the ratings it was made from, and those held out."""

    ratings: Ratings
    probe: Probe
    release: ReleaseView


def try_out(ratings: Ratings, share: float, options: PublishOptions, *, rng: Rng = None) -> TrialRelease:
    """Hold a share of the ratings out and publish the rest into a folder that is thrown away."""
    source = randomness(rng)
    rest, probe = hold_out(ratings, share, rng=source.child("trial"))
    return TrialRelease(rest, probe, publish_aside(rest, options, source))


def publish_aside(
    ratings: Ratings,
    options: PublishOptions,
    chance: Randomness | None = None,
    *,
    pad_options: PadOptions | None = None,
) -> ReleaseView:
    """Publish, verify and read back a release that nobody keeps."""
    return read_back(publish(ratings, options=options, pad_options=pad_options, rng=chance), ratings)


def read_back(release: Release, ratings: Ratings) -> ReleaseView:
    """Write a release into a folder that is thrown away, and read it as a stranger would.

    It says who is who, so what a killed run left of it is cleared away by the next.
    """
    with scratch_folder(Path(tempfile.gettempdir()) / "recloak-trial") as folder:
        public, private = folder / "public", folder / "private"
        release.write(public, private=private)
        return see_release(public, private, ratings)
