"""Attacks: success of Scoreboard-RH on MovieLens-1M, its speed against pandas, a whole audit, 100 M ratings.

python -m benchmarks attacks success ML-1M      success on the original by kind of knowledge, over several seeds
python -m benchmarks attacks speed ML-1M        Scoreboard-RH beside an obvious version in pandas, same targets
python -m benchmarks attacks whole ML-1M        publish padded and pure with k = 5, then audit with default settings
python -m benchmarks attacks netflix FOLDER     1,000 targets on the netflix preset, made into FOLDER where missing
python -m benchmarks attacks release SOURCE DIR the whole audit of a release in DIR and DIR-private, of any size
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import measure
from recloak._attacks.auditing import audit
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Clues, Knowledge
from recloak._attacks.public_view import see_original, see_release
from recloak._attacks.scoreboard import scoreboard, scoreboard_paper
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.publishing import publish

KINDS = {
    "8 known": Knowledge(known=8),
    "8 known, 2 ratings wrong": Knowledge(known=8, wrong_ratings=2),
    "8 known, 2 items wrong": Knowledge(known=8, wrong_items=2),
    "4 known": Knowledge(known=4),
}
N_TARGETS = 1000


def success(source: str, n_seeds: int = 5) -> None:
    """Print the share of targets named in the original, the mean and the spread over seeds."""
    ratings = read(source)
    public = see_original(ratings)
    for attack in (scoreboard, scoreboard_paper):
        for name, knowledge in KINDS.items():
            rates = [
                attack(public, draw_clues(ratings, knowledge, n_targets=N_TARGETS, rng=seed)).user.rate
                for seed in range(1, n_seeds + 1)
            ]
            spread = f"from {min(rates):.4f} to {max(rates):.4f} over {n_seeds} seeds"
            print(f"{attack.__name__:18} {name:28} mean {np.mean(rates):.4f}, {spread}")


def by_pandas(table: pd.DataFrame, support: pd.Series, clues: Clues) -> float:
    """Attack as one would at first: join the known items with the ratings, sum by user, take the largest."""
    right = 0.0
    for t, target in enumerate(clues.targets):
        place = slice(clues.indptr[t], clues.indptr[t + 1])
        known = pd.DataFrame({"item": clues.items[place], "known": clues.ratings[place]})
        joined = table.merge(known, on="item")
        gain = np.exp(-(joined["rating"] - joined["known"]).abs() / 1.5) / np.log1p(joined["item"].map(support))
        scores = gain.groupby(joined["user"]).sum().round(9)
        best = scores[scores == scores.max()]
        right += (1 / len(best)) if target in best.index else 0.0
    return right / clues.n_targets


def speed(source: str, n_targets: int = N_TARGETS) -> None:
    """Time both on the same targets; ours also attacks everybody a second time, as absent, for its control."""
    ratings = read(source)
    table = pd.DataFrame({"user": ratings.users(), "item": ratings.items, "rating": ratings.values})
    support = pd.Series(ratings.popularity)
    clues = draw_clues(ratings, Knowledge(known=8), n_targets=n_targets, rng=1)
    public = see_original(ratings)
    scoreboard(public, clues)  # compiles, or reads the compiled code
    start = time.process_time()
    theirs = by_pandas(table, support, clues)
    middle = time.process_time()
    ours = scoreboard_paper(public, clues).user.rate
    end = time.process_time()
    print(f"{n_targets} targets: pandas {middle - start:.2f} s CPU ({theirs:.3f}), ours {end - middle:.4f} s CPU "
          f"({ours:.3f}, with its control and curve): {(middle - start) / (end - middle):.0f} times")  # fmt: skip


def audit_once(source: str, mode: str) -> dict[str, Any]:
    """Publish, then audit twice; the first run may compile."""
    ratings = read(source)
    with tempfile.TemporaryDirectory() as folder:
        public, private = Path(folder) / "release", Path(folder) / "private"
        publish(ratings, k=5, mode=mode, rng=1).write(public, private=private)
        release = see_release(public, private, ratings)
    told: dict[str, Any] = {}
    for run in ("first", "second"):
        wall, cpu = time.perf_counter(), time.process_time()
        found = audit(ratings, release, rng=1)
        told[run] = {"wall": round(time.perf_counter() - wall, 1), "cpu": round(time.process_time() - cpu, 1)}
    named = [one for one in found.outcomes if one.name == "scoreboard" and one.known == 8 and one.setting == "plain"]
    told["scoreboard@8"] = {side: getattr(named[0], side).to_json() for side in ("original", "release", "group")}
    return told | {"verdict": found.verdict}


def whole(source: str) -> None:
    """Audit MovieLens-1M with default settings."""
    for mode in ("padded", "pure"):
        print(mode, json.dumps(measure("benchmarks.attacks:audit_once", source, mode).result, indent=1))


def many(folder: str) -> dict[str, float]:
    """Attack 1,000 targets of a large source and give the seconds of each part."""
    start = time.perf_counter()
    ratings: Ratings = read(folder)
    read_at = time.perf_counter()
    clues = draw_clues(ratings, Knowledge(known=8), n_targets=N_TARGETS, rng=1)
    public = see_original(ratings)
    seen_at = time.perf_counter()
    rate = scoreboard(public, clues).user.rate
    end = time.perf_counter()
    return {"rate": rate, "read": read_at - start, "columns": seen_at - read_at, "attack": end - seen_at}


def netflix(folder: str) -> None:
    """Attack the netflix preset."""
    if not Path(folder).exists():
        from recloak._ratings.synthetic.options import SynthOptions
        from recloak._ratings.synthetic.synthetic_files import write_synthetic

        write_synthetic(Path(folder), SynthOptions(preset="netflix"), rng=1)
    print(measure("benchmarks.attacks:many", folder))


def audit_folder(source: str, folder: str) -> dict[str, Any]:
    """Audit a release that lies there and give the seconds of each part and the figures that count."""
    start = time.perf_counter()
    ratings: Ratings = read(source)
    read_at = time.perf_counter()
    seen = see_release(folder, f"{folder}-private", ratings)
    seen_at = time.perf_counter()
    found = audit(ratings, seen, rng=1)
    seconds = {"read": read_at - start, "see": seen_at - read_at, "audit": time.perf_counter() - seen_at}
    lines = [f"{one.name} {one.known or ''} {one.setting}: {one.in_words} {one.reason}" for one in found.outcomes]
    shown = [one for one in found.outcomes if one.name == "scoreboard" and one.known == 8 and one.setting == "plain"]
    figures = {side: getattr(shown[0], side).to_json() for side in ("original", "release", "group")}
    return {**seconds, "cells": seen.public.n_cells, "scoreboard@8": figures, "outcomes": lines}


def release(source: str, folder: str) -> None:
    """Audit one release in a process of its own."""
    measured = measure("benchmarks.attacks:audit_folder", source, folder)
    print(json.dumps(measured.result, indent=1), measured, sep="\n")


def main(arguments: list[str]) -> None:
    """Run one part."""
    parts: dict[str, Callable[..., None]] = {
        "success": success, "speed": speed, "whole": whole, "netflix": netflix, "release": release
    }  # fmt: skip
    if not arguments or len(arguments) != (3 if arguments[0] == "release" else 2) or arguments[0] not in parts:
        print(__doc__)
        return
    parts[arguments[0]](*arguments[1:])
