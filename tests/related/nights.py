"""Random nights of a careless operator through the store: retries, re-ratings, late ratings, erasures, other logs.

The model beside it is kept in plain sets: who was first seen holding what at which release. Every release that comes
out is judged by brute force with it. `python -m tests.related.nights FIRST LAST COUNTS [SECONDS]` lives through the
histories of many seeds, counts what happened in them, and goes on where it stopped.
"""

import json
import math
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from recloak import related
from recloak._core.errors import OptionError, RecloakError, SourceError
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale, assemble
from recloak._related.history import published
from recloak._related.history_writing import ledger_of, seals_of
from recloak._related.model import Holders, ListRelease
from recloak._related.options import BoundOptions
from tests.related.brute_force import few_co_raters, told

START = 1_000_000_000
DAY = 86_400
AHEAD = 5_000_000_000


@dataclass
class World:
    """What an operator has, and what really happened."""

    rng: np.random.Generator
    rows: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)  # (user, item): rating, time
    seen: dict[tuple[int, int], int] = field(default_factory=dict)  # first seen at the release of this time
    policies: list[dict] = field(default_factory=list)  # type: ignore[type-arg]
    out: set[int] = field(default_factory=set)  # forgotten, and to be left out
    sealed: int = 0
    n_last: int = 0  # ratings behind the last release
    now: int = START
    steps: Counter[str] = field(default_factory=Counter)

    def rate(self, n_users: int, n_items: int) -> None:
        """Let some people rate: mostly today, sometimes late, sometimes again."""
        for _ in range(int(self.rng.integers(1, 9))):
            cell = int(self.rng.integers(n_users)), int(self.rng.integers(n_items))
            late = int(self.rng.integers(40)) * DAY if self.rng.random() < 0.2 else 0
            self.steps["re-rating" if cell in self.rows else "late rating" if late else "rating"] += 1
            self.rows[cell] = float(self.rng.integers(1, 6)), self.now - late

    def rate_ahead(self, n_users: int, n_items: int) -> None:
        """Let somebody rate with a clock that is far ahead."""
        cell = int(self.rng.integers(n_users)), int(self.rng.integers(n_items))
        self.steps["rating dated ahead"] += 1
        self.rows[cell] = float(self.rng.integers(1, 6)), AHEAD

    def ratings(self) -> Ratings:
        """Return the log as it is tonight."""
        users, items = (pl.Series(column) for column in zip(*self.rows, strict=True))
        values, times = zip(*self.rows.values(), strict=True)
        user_ids, item_ids = IdMap.of(users), IdMap.of(items)
        rows = user_ids.encode(users), item_ids.encode(items), np.array(values, np.float32), np.array(times)
        return assemble(*rows, user_ids=user_ids, item_ids=item_ids, scale=Scale(1, 5))

    def publish(self, store: related.History, policy: dict, *, loosen: bool) -> bool:  # type: ignore[type-arg]
        """Publish, and note what was seen first; return whether something was stored."""
        log, known = self.ratings(), [cell for cell in self.rows if cell[0] not in self.out]
        ahead = any(time == AHEAD for _, time in self.rows.values())
        more: dict[str, Any] = {"loosen": loosen, "accept_times": ahead}
        try:
            made = related.publish(store, log, **policy, **more)
        except SourceError:
            assert self.is_other(known)
            self.steps["another log, accepted"] += 1
            made = related.publish(store, log, **policy, **more, accept_source=True)
        assert made.is_new == (made.number > len(self.policies))
        assert made.kept_out == len(self.out & {user for user, _ in self.rows})
        self.steps["loosened"] += bool(made.loosened)
        if not made.is_new:
            self.steps["nothing new"] += 1
            return False
        self.policies.append(policy)
        self.n_last = len(known)
        for cell in known:
            self.seen.setdefault(cell, made.time)
        return True

    def is_other(self, known: list[tuple[int, int]]) -> bool:
        """Return whether ratings lack so much that they may be taken for another log."""
        n_there = len(self.seen.keys() & set(known))
        gone = {item for _, item in self.seen} - {item for _, item in known}
        return n_there < 0.9 * min(self.n_last, len(self.seen)) or not n_there or bool(gone)

    def withdraw(self) -> None:
        """Take some ratings out of the log, or all of an item."""
        self.steps["withdrawal"] += 1
        cells = sorted(self.rows)
        item = int(self.rng.choice([item for _, item in cells]))
        gone = self.rng.random(len(cells)) < 0.2 if self.rng.random() < 0.5 else [one[1] == item for one in cells]
        self.rows = {
            cell: self.rows[cell] for cell, is_gone in zip(cells, gone, strict=True) if not is_gone
        } or self.rows

    def forget(self, store: related.History, user: int) -> None:
        """Take somebody out of the store; mostly out of the ratings, too, and if not they are to stay out."""
        is_left = self.rng.random() < 0.4
        self.steps["erasure, still in the log" if is_left else "erasure"] += 1
        done = related.forget(store, user, keep_out=is_left or self.rng.random() < 0.5)
        self.sealed = len(self.policies)
        if not is_left:
            self.rows = {cell: row for cell, row in self.rows.items() if cell[0] != user}
        if done.stays_out:
            self.out.add(user)
        self.seen = {cell: time for cell, time in self.seen.items() if cell[0] != user}

    def readmit(self, store: related.History) -> None:
        """Let somebody in again who was forgotten."""
        user = int(self.rng.choice(sorted(self.out)))
        self.steps["return"] += 1
        related.readmit(store, user)
        self.out.remove(user)

    def holders(self, items: list[int]) -> Holders:
        """Return the model's first holdings as the brute force takes them."""
        place = {item: number for number, item in enumerate(items)}
        cells = sorted((place[item], user, time) for (user, item), time in self.seen.items() if item in place)
        columns = np.searchsorted([cell[0] for cell in cells], np.arange(len(items) + 1))
        users, times = np.array([c[1] for c in cells], np.int32), np.array([c[2] for c in cells], np.int64)
        return Holders(columns.astype(np.int64), users, times, 1000)


def random_policy(rng: np.random.Generator) -> dict:  # type: ignore[type-arg]
    """Draw a promise."""
    return {
        "delta": float(rng.choice([0.0, 0.2, 0.34, 0.5, 0.8])),
        "horizon": str(rng.choice(["all", "3d", "20d", "12"])),
        "min_support": int(rng.choice([1, 2, 3])),
        "top": int(rng.integers(1, 4)),
        "evidence": str(rng.choice(["fresh", "fresh", "total"])),
    }


def judge(store: related.History, world: World) -> None:
    """Judge every release that is not sealed by the model and brute force, and hold the verifier to it."""
    ledger = ledger_of(store)
    assert ledger is not None
    ids = ledger.items()
    releases: list[ListRelease] = list(published(store, ids))
    holders = world.holders(ids.ids.to_list())
    first = len(world.policies) - len(releases)  # pruned
    for n, release in enumerate(releases):
        policy = BoundOptions.from_mapping({k: v for k, v in world.policies[first + n].items() if k != "top"})
        assert store.releases[n].policy == policy
        if first + n + 1 > world.sealed:
            bad = [one for one in told(releases[: n + 1], holders, policy) if one[-1] > policy.delta]
            assert not bad, bad[:3]
            assert not few_co_raters(release, holders, policy.min_support)


def live(rng: np.random.Generator, store: related.History, n_nights: int) -> World:
    """Live through some nights and return what happened."""
    world, policy = World(rng), random_policy(rng)
    n_users, n_items = int(rng.integers(4, 10)), int(rng.integers(3, 7))
    for _ in range(3):
        world.rate(n_users, n_items)
    for _ in range(n_nights):
        step = rng.random()
        if step < 0.12 and world.policies and world.rows:
            people = sorted({user for user, _ in world.seen})
            if len(people) > 2:
                world.forget(store, int(rng.choice(people)))
        elif step < 0.2:
            policy = random_policy(rng)
            world.steps["changed promise"] += bool(world.policies)
        elif step < 0.25 and world.rows:
            world.steps["pruning"] += bool(world.policies)
            related.prune(store) if world.policies else None
        elif step < 0.3 and world.out:
            world.readmit(store)
        elif step < 0.38 and len(world.rows) > 4:
            world.withdraw()
        elif step < 0.4:
            world.rate_ahead(n_users, n_items)
        else:
            world.now += int(rng.integers(1, 6)) * DAY
            world.rate(n_users, n_items)
        for attempt in range(1 + (rng.random() < 0.3)):  # and sometimes a retry
            if {user for user, _ in world.rows} - world.out:
                world.steps["retry"] += attempt
                policy = publish_or_keep(world, store, policy)
    return world


def publish_or_keep(world: World, store: related.History, policy: dict) -> dict:  # type: ignore[type-arg]
    """Publish and return the promise; one that pruning made impossible to prove is refused, and the last is kept."""
    try:
        world.publish(store, policy, loosen=True)
    except OptionError as error:
        if "were pruned" not in str(error):
            raise
        world.steps["longer horizon after pruning, refused"] += 1
        policy = world.policies[-1]
        world.publish(store, policy, loosen=True)
    return policy


def is_passed_or_refused(store: related.History, world: World) -> bool:
    """Return whether the history passes, or the ratings that are left are too few to be called its own."""
    try:
        return related.verify(store, world.ratings()).is_kept
    except RecloakError as error:
        return "not those of this history" in str(error)


def check(seed: int, address: str, most: int = 8, *, is_verified: bool = True) -> Counter[str]:
    """Live through one random history of fewer than ``most`` nights and judge it; return what happened in it."""
    rng = np.random.default_rng(seed)
    with related.History(address) as store:
        world = live(rng, store, int(rng.integers(min(3, most - 3), most)))
        judge(store, world)
        assert len(seals_of(store)) == 0 or world.sealed
        assert not is_verified or is_passed_or_refused(store, world), seed
        return world.steps + Counter(histories=1, releases=len(world.policies))


def run(first: int, last: int, folder: Path, counts: Path | None = None, seconds: float = math.inf) -> Counter[str]:
    """Live through the histories of some seeds and return what happened in them.

    With ``counts`` a line is added to a file after every hundred, and seeds that the file has are left out. No further
    hundred is begun after so many CPU seconds.
    """
    lines = counts.read_text().splitlines() if counts and counts.exists() else []
    done = [Counter[str](json.loads(line)) for line in lines]
    for start in range(max([first, *(one["last seed"] for one in done)]), last, 100):
        if time.process_time() > seconds:
            break
        found = Counter[str]()
        for seed in range(start, min(start + 100, last)):
            found += check(seed, str(folder / "lists.db"), most=5, is_verified=seed % 5 == 0)
            for left in folder.iterdir():
                left.unlink()
        found["last seed"] = min(start + 100, last)
        done.append(found)
        if counts:
            with counts.open("a") as file:
                file.write(json.dumps(found) + "\n")
    total = sum(done, Counter[str]())
    del total["last seed"]
    return total


if __name__ == "__main__":
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else math.inf
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        steps = run(int(sys.argv[1]), int(sys.argv[2]), Path(name), Path(sys.argv[3]), limit)
    print("none above its delta:", ", ".join(f"{n:,} {step}" for step, n in steps.most_common()))
