"""Strength of the audit's attackers on releases made the old way, beside what strong attackers reached on them.

python -m benchmarks strength ML-1M padded [ML-1M.user]   labels of the raters: groups, links, values, another time
python -m benchmarks strength ML-1M pure                  groups, membership, singling out
python -m benchmarks strength ML-1M hidden                the same of pure rows without single raters, with decoys
python -m benchmarks strength ML-1M several               four pure releases together
python -m benchmarks strength ML-1M sybils                four copies of 100 people planted, padded
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.risks import outcome_figures, split_people
from recloak._attacks import registry
from recloak._attacks.attack_input import OutsideRatings, OwnerKnowledge
from recloak._attacks.auditing import audit
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView, see_release
from recloak._attacks.sybils import alone_with_copies
from recloak._library.planting import publish_planted
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.publishing import publish

HIDDEN = {"mode": "pure", "min_shown": 2, "decoys": 3.0}
MADE: dict[str, dict[str, Any]] = {
    "padded": {"mode": "padded", "labels": "raters"}, "pure": {"mode": "pure"}, "several": {"mode": "pure"},
    "hidden": HIDDEN,
}  # fmt: skip
ATTACKS = {
    "padded": ("likelihood", "link", "own-rating", "attribute", "other-time", "outside-record"),
    "pure": ("likelihood", "membership", "singling-out", "link"),
    "hidden": ("likelihood", "membership"),
    "several": ("intersection",),
}


def main(arguments: list[str]) -> None:
    """Print the figures of one kind of release."""
    if len(arguments) < 2 or arguments[1] not in (*ATTACKS, "sybils"):
        print(__doc__)
        sys.exit(2)
    ratings, kind = read(arguments[0]), arguments[1]
    if kind == "sybils":
        print(json.dumps(planted(ratings)))
        return
    inside, strangers = split_people(ratings)
    owner = OwnerKnowledge(held_out=strangers)
    if kind == "padded":
        inside, later = split_times(ratings)
        owner = OwnerKnowledge(later=later, attribute=genders(inside, arguments[2]) if len(arguments) > 2 else None)
    shown = [made(inside, MADE[kind], seed) for seed in range(1, 5)[: _needed(kind)]]
    owner = OwnerKnowledge(owner.held_out, owner.later, owner.attribute, more_releases=tuple(shown[2:]))
    attacks = [one for one in registry.own_attacks() if one.name in ATTACKS[kind]]
    options = AuditOptions(known=(4, 8, 16), varied_at=8, targets=600)
    again = shown[1] if len(shown) > 1 else None
    found = audit(inside, shown[0], second=again, owner=owner, options=options, attacks=attacks, rng=1)
    for one in found.outcomes:
        told = one.details.get("release", {}).items()
        figures = outcome_figures(one) | {name: value for name, value in told if name.startswith("right_in")}
        print(f"{one.name} {one.known or ''} {one.setting}", json.dumps(figures), flush=True)


def _needed(kind: str) -> int:
    return 4 if kind == "several" else 1


def made(ratings: Ratings, options: dict[str, Any], seed: int) -> ReleaseView:
    """Return what is seen of a release made with these options."""
    with tempfile.TemporaryDirectory() as place:
        release = publish(ratings, k=5, rng=seed, **options)
        release.write(Path(place) / "release", private=Path(place) / "private")
        return see_release(Path(place) / "release", Path(place) / "private", ratings)


def split_times(ratings: Ratings) -> tuple[Ratings, OutsideRatings]:
    """Hold the last tenth of each person's ratings back: knowledge from another time."""
    assert ratings.times is not None
    users = ratings.users()
    order = np.lexsort((ratings.times, users))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - ratings.indptr[users[order]]
    late = place >= 0.9 * np.diff(ratings.indptr)[users]
    inside = ratings.where(~late).compact()
    items = inside.item_ids.encode(np.asarray(ratings.item_ids.ids)[ratings.items])
    kept = late & (items >= 0)
    counts = np.bincount(users[kept], minlength=ratings.n_users)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return inside, OutsideRatings(indptr, items[kept].astype(np.int32), ratings.values[kept].copy())


def genders(ratings: Ratings, path: str) -> Any:
    """Return a class of each person from a table of people, -1 where there is none."""
    table = pl.read_csv(path, separator="\t", infer_schema=False)
    found = np.full(ratings.n_users, -1)
    users = ratings.user_ids.encode(table["user_id:token"])
    found[users[users >= 0]] = (table["gender:token"] == "M").to_numpy()[users >= 0]
    return found


def planted(ratings: Ratings) -> dict[str, float]:
    """Return how often four copies of a person fill the person's group."""
    release = publish(ratings, k=5, rng=1, **MADE["padded"])
    found = publish_planted(dict(release.account), ratings, 4, np.random.default_rng(1))
    return {"alone with copies": float(alone_with_copies(found).mean()), "targets": len(found.targets)}
