"""Presence of a data set: what each mode costs rankings, and how often the right group is found.

``python -m benchmarks uses ratings.csv --people 2000 --items 2000 --modes pure,padded,sampled``. People are drawn at
random (``--active``: the most active), items are the most used; ratings are read as mere presence. One line for each
mode: the best recommender's nDCG@10 on the hidden probe (the owner's, protocol B) against the best on the original,
Kendall's tau of the ranking leaderboards (protocol A, with ``--fidelity``), and how often 8 known items find the right
group (``--audit``). CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import recloak
from recloak._evaluation.fidelity.training_rows import select_items, select_rows
from recloak._ratings.event_values import as_used
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import PRESENCE


def main(arguments: list[str]) -> None:
    """Print a line for each mode."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks uses")
    parser.add_argument("source")
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--active", action="store_true", help="take the people with the most uses, not any")
    parser.add_argument("--modes", default="pure,padded,sampled")
    parser.add_argument("--min-shown", type=int)
    parser.add_argument("--boost", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fidelity", action="store_true", help="compare leaderboards too, which takes minutes")
    parser.add_argument("--audit", action="store_true", help="measure how often the right group is found")
    given = parser.parse_args(arguments)
    source = some_presence(recloak.read(given.source), given.people, given.items, None if given.active else given.seed)
    print(source)
    for mode in given.modes.split(","):
        started = time.process_time()
        options = {"pure": {"min_shown": given.min_shown}, "sampled": {"boost": given.boost}}.get(mode, {})
        told = [*_rankings(source, mode, options, given.seed)]
        told += _leaderboards(source, mode, options, given.seed) if given.fidelity else []
        told += _groups(source, mode, options, given.seed) if given.audit else []
        print(f"{mode:8} {', '.join(told)}, {time.process_time() - started:.0f} CPU s", flush=True)


def some_presence(ratings: Ratings, n_people: int, n_items: int, seed: int | None) -> Ratings:
    """Return some people's most used items as presence; without a seed the most active people's."""
    from dataclasses import replace

    by_activity = np.argsort(-ratings.activity, kind="stable")
    order = by_activity if seed is None else np.random.default_rng(seed).permutation(ratings.n_users)
    rows = select_rows(ratings, np.sort(order[:n_people]))
    items = np.sort(np.argsort(-rows.popularity, kind="stable")[:n_items])
    return replace(as_used(select_items(rows, items)), kind=PRESENCE).compact()


def _rankings(source: Ratings, mode: str, options: dict[str, Any], seed: int) -> list[str]:
    found = recloak.evaluate(source, holdout=0.1, mode=mode, seed=seed, **options)
    assert isinstance(found, recloak.UseEvaluation)
    (here, before), (there, after) = found.best["original"], found.best["release"]
    popular = found.baselines["popularity"].ranking
    assert popular is not None
    own = ", ".join(f"{name} {sides['release'].to_json()['ndcg@10']:.4f}" for name, sides in found.recommenders.items())
    return [
        f"best {there} {after:.4f} against {here} {before:.4f}: {100 * (after / before - 1):+.1f} %",
        f"popularity {popular.ndcg:.4f} ({own})",
    ]


def _leaderboards(source: Ratings, mode: str, options: dict[str, Any], seed: int) -> list[str]:
    found = recloak.fidelity(source, holdout=0.1, mode=mode, splits=2, seed=seed, **options)
    boards = (("A", found.outsider["ndcg"]), ("B", (found.owner or {})["ndcg"]))
    return [f"{name} nDCG tau {one.tau:.2f} (noise {one.tau_noise:.2f})" for name, one in boards if one is not None]


def _groups(source: Ratings, mode: str, options: dict[str, Any], seed: int) -> list[str]:
    made = recloak.publish(source, mode=mode, seed=seed, **options)
    found = recloak.audit(source, made, targets=300, known=(8,), varied_at=8, seed=seed)
    groups = {
        one.name: one.group.rate for one in found.outcomes if one.group and one.known == 8 and one.setting == "plain"
    }
    best = max(groups, key=lambda name: groups[name])
    links = {one.name: one for one in found.outcomes if one.name in ("link", "rare-items") and one.release}
    told = [f"{name} {one.release.rate:.3f} (base {one.baseline:.3f})" for name, one in links.items() if one.release]
    insiders = [one for one in found.outcomes if one.name == "insider-items" and one.release]
    told += [f"{one.known} insiders {one.release.rate:.3f}" for one in insiders if one.release]
    return [f"8 known items find the group of {groups[best]:.3f} by {best}", *told]
