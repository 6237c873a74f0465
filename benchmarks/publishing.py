"""Publishing, read to verified release: what labels cost and give away (MovieLens-1M), and the Netflix size.

python -m benchmarks publishing labels ml-1m.inter: accuracy and attacker by grid, min-raters and k
python -m benchmarks publishing size ratings.parquet [MODE K [LAYOUT]]: time by step, memory, ratio to the factorisation
python -m benchmarks publishing threads ratings.parquet: releases with 1 and 2 threads, byte by byte
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import measure
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.grid import make_grid
from recloak._releases.group import GroupOptions, group
from recloak._releases.homogenise import group_means, profiles_of
from recloak._releases.model.modes import modes_with
from recloak._releases.model.steps import Grouping
from recloak._releases.options import HomogeniseOptions, PadOptions
from recloak._releases.pad import pad
from recloak._releases.profiles import Profiles
from recloak._releases.rating_tally import Tally, tally

GRIDS: tuple[float | str, ...] = ("none", 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


def main(arguments: list[str]) -> None:
    if len(arguments) < 2 or arguments[0] not in ("labels", "size", "threads"):
        print(__doc__)
        sys.exit(2)
    {"labels": labels, "size": size, "threads": threads}[arguments[0]](*arguments[1:])


def labels(source: str) -> None:
    """Print what a label's grid and fewest raters cost in accuracy and give away of the number of raters."""
    train, probe = _split(read(source))
    for k in (5, 50):
        padding = pad(train, PadOptions().for_groups(k), rng=0)
        plain = _rmse(padding.predict(*probe[:2]), probe[2])
        print(f"unanonymised model of rank {padding.rank}: RMSE {plain:.4f} on {len(probe[2]):,} held-out ratings")
        grouping = group(padding, GroupOptions(k=k), ratings=train, rng=0)
        cells = tally(train, padding, grouping)
        for mode, min_raters, grid in _settings(k):
            labels = "raters" if mode in modes_with("labels") else None
            options = HomogeniseOptions(mode=mode, labels=labels, min_raters=min_raters, grid=grid)
            means = group_means(padding, grouping)
            profiles = profiles_of(cells, means, grouping, options, make_grid(train.scale, mode, grid))
            print(f"k={k:<3} {mode:6} min-raters {min_raters} grid {grid!s:5}", end=" ", flush=True)
            print(_padded_line(profiles, grouping, probe, plain) if mode == "padded" else
                  _pure_line(profiles, train, cells, grouping, probe, plain, learn=k == 5))  # fmt: skip


def _settings(k: int) -> Iterator[tuple[str, int, float | str]]:
    yield from (("padded", fewest, grid) for fewest in (1, 2) for grid in GRIDS)
    yield from (("pure", fewest, grid) for fewest in (1, 2) for grid in GRIDS if k == 5 or fewest == 2)


def _split(ratings: Ratings) -> tuple[Ratings, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Hold a tenth of the ratings out at random; give the rest and (users, items, values) held out."""
    held = np.random.default_rng(7).random(ratings.n_ratings) < 0.1
    return ratings.where(~held), (ratings.users()[held], ratings.items[held], ratings.values[held])


def _rmse(found: NDArray[np.floating], wanted: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.mean((found.astype(np.float64) - wanted) ** 2)))


def _looked_up(profiles: Profiles, groups: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
    """Give the label of (group, item) pairs, NaN where there is none."""
    found = np.full(len(items), np.nan, np.float32)
    order = np.argsort(groups, kind="stable")
    for part in np.array_split(np.arange(len(profiles.counts)), 32):
        mine = order[np.searchsorted(groups[order], part[0]) : np.searchsorted(groups[order], part[-1] + 1)]
        cells = profiles.rows(part)
        dense = np.full((len(part), profiles.n_items), np.nan, np.float32)
        dense[np.repeat(np.arange(len(part)), np.diff(cells.indptr)), cells.items] = cells.labels
        found[mine] = dense[groups[mine] - part[0], items[mine]]
    return found


def _padded_line(profiles: Profiles, grouping: Grouping, probe: Any, plain: float) -> str:
    rmse = _rmse(_looked_up(profiles, grouping.labels[probe[0]], probe[1]), probe[2])
    return f"target deviation {rmse:.4f} ({100 * (rmse / plain - 1):+.2f} %)"


def _pure_line(
    profiles: Profiles, train: Ratings, cells: Tally, grouping: Grouping, probe: Any, plain: float, *, learn: bool
) -> str:
    found = _looked_up(profiles, grouping.labels[probe[0]], probe[1])
    covered = ~np.isnan(found)
    line = f"coverage {covered.mean():.3f}, there {_rmse(found[covered], probe[2][covered]):.4f}"
    guess, prior = raters_guessed(cells, grouping, profiles)
    gain = 100 * (guess - prior)
    line += f"; raters guessed {100 * guess:.1f} % from the label, {100 * prior:.1f} % without ({gain:+.1f})"
    if learn:
        rmse = _rmse(pad(released(profiles, train, grouping), rng=0).predict(*probe[:2]), probe[2])
        line += f"; model learned from it {rmse:.4f} ({100 * (rmse / plain - 1):+.2f} %)"
    return line


def released(profiles: Profiles, train: Ratings, grouping: Grouping) -> Ratings:
    """Give every user the profile of the group, as a buyer of the release sees it."""
    rows = profiles.rows(grouping.labels)
    return Ratings(
        rows.indptr, rows.items.copy(), rows.labels.copy(), train.user_ids, train.item_ids, train.scale
    )  # fmt: skip


def raters_guessed(cells: Tally, grouping: Grouping, profiles: Profiles) -> tuple[float, float]:
    """Give how often the best guess of k' is right: from label and group size, and from group size alone.

    The best guess (Bayes) is the commonest k' among cells that look alike; it is learned on one half of the groups and
    tried on the other. A look never met before is guessed by group size alone.
    """
    rows = profiles.rows(np.arange(grouping.n_groups))
    groups = np.repeat(np.arange(grouping.n_groups), np.diff(rows.indptr))
    sizes, learned = grouping.sizes[groups], np.random.default_rng(3).random(grouping.n_groups)[groups] < 0.5
    _, label = np.unique(rows.labels, return_inverse=True)
    prior, _ = _best_guess(sizes, cells.raters, learned)
    guess, met = _best_guess(sizes * (label.max() + 1) + label, cells.raters, learned)
    truth = cells.raters[~learned]
    return float(np.mean(np.where(met, guess, prior) == truth)), float(np.mean(prior == truth))


def _best_guess(
    looks: NDArray[Any], raters: NDArray[Any], learned: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Guess the raters of the cells not learned from; tell which of them look like something met before."""
    _, looks = np.unique(looks, return_inverse=True)
    counts = np.zeros((looks.max() + 1, raters.max() + 1), np.int64)
    np.add.at(counts, (looks[learned], raters[learned]), 1)
    return counts.argmax(axis=1)[looks[~learned]], (counts.sum(axis=1) > 0)[looks[~learned]]


def publish_once(source: str, mode: str, k: int, keep: str | None = None, layout: str = "grouped") -> dict[str, Any]:
    """Read, publish and verify once, as the command does; give the seconds of each step."""
    from recloak._releases.publishing import publish

    marks = [_now()]
    ratings = [read(source)]
    marks.append(_now())
    release = publish(ratings.pop(), k=k, mode=mode, rng=0)
    marks.append(_now())
    folder = Path(keep or tempfile.mkdtemp(prefix="recloak-bench-"))
    release.write(folder / "out", private=folder / "who", layout=layout)
    marks.append(_now())
    n_bytes = sum(file.stat().st_size for file in (folder / "out").iterdir())
    if keep is None:
        shutil.rmtree(folder)
    steps = {"read": _between(*marks[:2])}
    steps |= {step["name"]: (step["seconds"], step["cpu_seconds"]) for step in release.account["steps"]}
    steps |= {"write and verify": _between(*marks[2:])}
    return {"steps": steps, "cells": int(release.profiles.counts.sum()), "bytes": n_bytes}


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _between(start: tuple[float, float], stop: tuple[float, float]) -> tuple[float, float]:
    return stop[0] - start[0], stop[1] - start[1]


def size(source: str, *only: str) -> None:
    """Print time by step, peak memory and the ratio of the whole to the factorisation alone, per mode and k."""
    for mode in only[:1] or ("padded", "pure"):
        for k in map(int, only[1:2] or (5, 50)):
            run = measure("benchmarks.publishing:publish_once", source, mode, k, None, *(only[2:] or ["grouped"]))
            steps = run.result["steps"]
            told = ", ".join(f"{name} {wall:.1f} ({cpu:.1f} CPU)" for name, (wall, cpu) in steps.items())
            ratios = f"{run.wall / steps['pad'][0]:.2f} (CPU {run.cpu / steps['pad'][1]:.2f})"
            print(f"{mode:6} k={k:<3} {run}; whole / factorisation {ratios}")
            print(f"    {told} s; {run.result['cells']:,} cells, {run.result['bytes'] / 1e6:,.0f} MB", flush=True)


def threads(source: str) -> None:
    """Compare releases made with 1 and 2 threads, byte by byte."""
    for mode in ("padded", "pure"):
        with tempfile.TemporaryDirectory() as place:
            for n in (1, 2):
                (Path(place) / str(n)).mkdir()
                measure("benchmarks.publishing:publish_once", source, mode, 5, f"{place}/{n}", threads=n)
            manifests = [json.loads((Path(place) / f"{n}/out/manifest.json").read_text()) for n in (1, 2)]
            same = manifests[0] == manifests[1]
            print(f"{mode}: releases with 1 and 2 threads are {'byte-identical' if same else 'DIFFERENT'}", flush=True)
