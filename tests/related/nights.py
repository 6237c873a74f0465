"""Random nights of a careless operator through the store: retries, re-ratings, late and future ratings, erasures.

The model beside it is kept in plain sets: who was first seen holding what at which release. Every release that comes
out is judged by brute force with it.
"""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from recloak import related
from recloak._core.errors import OptionError, RecloakError
from recloak._related.history import published
from recloak._related.history_writing import ledger_of, seals_of
from recloak._related.model import Holders, ListRelease
from recloak._related.options import BoundOptions
from tests.related.brute_force import few_co_raters, told

START = 1_000_000_000
DAY = 86_400


@dataclass
class World:
    """What an operator has, and what really happened."""

    rng: np.random.Generator
    rows: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)  # (user, item): rating, time
    seen: dict[tuple[int, int], int] = field(default_factory=dict)  # first seen at the release of this time
    policies: list[dict] = field(default_factory=list)  # type: ignore[type-arg]
    sealed: int = 0
    now: int = START

    def rate(self, n_users: int, n_items: int) -> None:
        """Let some people rate: mostly today, sometimes late, sometimes again."""
        for _ in range(int(self.rng.integers(1, 9))):
            cell = int(self.rng.integers(n_users)), int(self.rng.integers(n_items))
            late = int(self.rng.integers(40)) * DAY if self.rng.random() < 0.2 else 0
            self.rows[cell] = float(self.rng.integers(1, 6)), self.now - late

    def table(self) -> pl.DataFrame:
        users, items = zip(*self.rows, strict=True)
        values, times = zip(*self.rows.values(), strict=True)
        return pl.DataFrame({"user": users, "item": items, "rating": values, "time": times})

    def publish(self, store: related.History, policy: dict, *, loosen: bool) -> bool:  # type: ignore[type-arg]
        """Publish, and note what was seen first; return whether something was stored."""
        table = self.table()
        made = related.publish(store, table, **policy, loosen=loosen)
        assert made.is_new == (made.number > len(self.policies))
        if not made.is_new:
            return False
        self.policies.append(policy)
        for cell in self.rows:
            self.seen.setdefault(cell, made.time)
        return True

    def forget(self, store: related.History, user: int) -> None:
        """Take somebody out of the store and of the ratings."""
        related.forget(store, user)
        self.sealed = len(self.policies)
        self.rows = {cell: row for cell, row in self.rows.items() if cell[0] != user}
        self.seen = {cell: time for cell, time in self.seen.items() if cell[0] != user}

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
        elif step < 0.25 and world.rows:
            related.prune(store) if world.policies else None
        else:
            world.now += int(rng.integers(1, 6)) * DAY
            world.rate(n_users, n_items)
        for _ in range(1 + (rng.random() < 0.3)):  # and sometimes a retry
            if any(user in {u for u, _ in world.seen} for user, _ in world.rows) or not world.seen:
                policy = publish_or_keep(world, store, policy)
    return world


def publish_or_keep(world: World, store: related.History, policy: dict) -> dict:  # type: ignore[type-arg]
    """Publish and return the promise; one that pruning made impossible to prove is refused, and the last is kept."""
    try:
        world.publish(store, policy, loosen=True)
    except OptionError as error:
        if "were pruned" not in str(error):
            raise
        policy = world.policies[-1]
        world.publish(store, policy, loosen=True)
    return policy


def is_passed_or_refused(store: related.History, world: World) -> bool:
    """Return whether the history passes, or the ratings that are left are too few to be called its own."""
    try:
        return related.verify(store, world.table()).passed
    except RecloakError as error:
        return "not those of this history" in str(error)


def check(seed: int, address: str) -> int:
    """Live through one random history and judge it; return its number of releases."""
    rng = np.random.default_rng(seed)
    with related.History(address) as store:
        world = live(rng, store, int(rng.integers(3, 8)))
        judge(store, world)
        assert len(seals_of(store)) == 0 or world.sealed
        assert is_passed_or_refused(store, world), seed
        return len(world.policies)
