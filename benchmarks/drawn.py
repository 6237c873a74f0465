"""Drawn rows (mode sampled): contest fidelity and risks over several seeds, the figures of docs/benchmarks.md.

``python -m benchmarks drawn ratings.csv --people 2000 --items 2000 --seeds 0,1,2``. Each seed draws other people.

Boards: a tenth of the ratings is held out and the rest published, k = 5; tau and regret of protocols A and B with the
full lists of algorithms, how far the best model on the release lies above the best on the original (B), statistics.
Risks: a fifth of the people is held out and the rest published; the audit's own attackers. CPU seconds end each line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import recloak
from benchmarks.risks import split_people
from recloak._attacks import registry
from recloak._attacks.attack_input import OwnerKnowledge
from recloak._attacks.auditing import audit
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import see_release
from recloak._evaluation.fidelity.training_rows import select_items, select_rows
from recloak._ratings.model import Ratings

ALL = 100_000  # more ratings than anybody has
HELD_OUT = 5  # one of so many people


def main(arguments: list[str]) -> None:
    """Print the figures of each seed, then their means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks drawn")
    parser.add_argument("source")
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--items", type=int, default=4000, help="the most rated ones")
    parser.add_argument("--among", type=int, help="draw the people among so many of the most active")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--mode", default="sampled")
    parser.add_argument("--boost", type=float)
    parser.add_argument("--by", help="taste, items or both")
    parser.add_argument("--only", choices=("boards", "risks"))
    given = parser.parse_args(arguments)
    options = {"mode": given.mode, "k": 5, "boost": given.boost, "grouping_by": given.by}
    lines = []
    for seed in map(int, given.seeds.split(",")):
        started, ratings = time.process_time(), recloak.read(given.source)
        source = some_people(ratings, given.people, given.items, seed, given.among)
        found = {} if given.only == "risks" else boards(source, options, seed)
        found |= {} if given.only == "boards" else risks(source, options, seed)
        lines.append(found)
        print(json.dumps({"seed": seed, **found, "cpu": round(time.process_time() - started)}), flush=True)
    print(json.dumps({"mean": {name: round(float(np.mean([one[name] for one in lines])), 4) for name in lines[0]}}))


def some_people(ratings: Ratings, n_people: int, n_items: int, seed: int, among: int | None = None) -> Ratings:
    """Return the ratings of some people, drawn at random among the most active, for the items that these rated most."""
    active = np.argsort(-ratings.activity, kind="stable")[:among]
    people = np.random.default_rng(seed).permutation(np.sort(active))[:n_people]
    rows = select_rows(ratings, np.sort(people))
    return select_items(rows, np.sort(np.argsort(-rows.popularity, kind="stable")[:n_items])).compact()


def boards(source: Ratings, options: dict[str, Any], seed: int) -> dict[str, float]:
    """Return what becomes of leaderboards and statistics."""
    found = recloak.fidelity(source, holdout=0.1, splits=2, seed=seed, **options)
    told: dict[str, float] = {}
    for protocol, contest, one in found.agreements():
        assert one is not None
        told |= {f"{protocol} {contest} tau": one.tau, f"{protocol} {contest} regret %": one.regret}
        told[f"{protocol} {contest} noise"] = one.tau_noise or 0.0
        if (protocol, contest) == ("B", "rmse"):
            best = [min(getattr(entry, side) for entry in one.entries) for side in ("original", "release")]
            told["B rmse best over the original's %"] = 100 * (best[1] / best[0] - 1)
    numbers = found.statistics
    told |= {f"{name} error": numbers[name].error or 0.0 for name in ("popularity", "activity", "top pairs", "lift")}
    told["item variance ratio"] = numbers["item variance"].ratio or 0.0
    return {name: round(value, 4) for name, value in told.items()}


def risks(source: Ratings, options: dict[str, Any], seed: int) -> dict[str, float]:
    """Return what the audit's attackers find."""
    inside, strangers = split_people(source, HELD_OUT)
    with tempfile.TemporaryDirectory() as place:
        release, private = Path(place) / "release", Path(place) / "private"
        recloak.publish(inside, release, private=private, seed=seed, **options)
        seen = see_release(release, private, inside)
    tried = AuditOptions(known=(8, 32, ALL), varied_at=8)
    wanted = ("likelihood", "membership", "link")
    attacks = [one for one in registry.own_attacks() if one.name in wanted]
    outcomes = audit(inside, seen, owner=OwnerKnowledge(held_out=strangers), options=tried, attacks=attacks, rng=seed)
    told: dict[str, float] = {}
    for one in outcomes.outcomes:
        if one.setting != "plain" or one.release is None:
            continue
        known = {ALL: "all", None: ""}.get(one.known, one.known)
        if one.name == "likelihood" and one.group is not None:
            told[f"right group, {known} known"] = one.group.rate
        elif one.name == "membership":
            told[f"membership AUC, {known} known"] = one.release.rate
        elif one.name == "link":
            told |= {"ten bets": one.release.rate, "ten bets, popularity": one.baseline}
            told |= {line.name: line.share.rate for line in one.lines}
            told |= {f"{line.name}, popularity": line.baseline for line in one.lines}
    return {name: round(value, 4) for name, value in told.items()}
