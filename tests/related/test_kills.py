"""A publisher killed at random moments of its transaction: nothing is lost or half-written, and the next one works."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa

from recloak import related
from recloak._core.errors import InputError
from recloak._ratings.ids import IdMap
from recloak._related.history import History, published, reasons_of, table_of
from tests.related import test_history
from tests.related.killed_publisher import FIRST, N_ITEMS, add, reasons, release

postgres, address = test_history.postgres, test_history.address  # fixtures
IDS = IdMap.of(list(range(N_ITEMS)))


class Publisher:
    """The process that forks publishers; the last one may be killed."""

    def __init__(self):
        line = [sys.executable, "-m", "tests.related.killed_publisher"]
        self._process: Any = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=test_history.ROOT
        )

    def _next(self):
        return self._process.stdout.readline().strip()

    def publish(self, address, number, kill_after=None):
        """Publish in a fork, kill it so many seconds after it began; return what it said and how long it took."""
        self._process.stdin.write(f"{address} {number}\n")
        said: list[str] = []
        child = None
        while child is None or "begun" not in said:
            text = self._next()
            assert text != "ended", said
            child = int(text.split()[1]) if text.startswith("fork") else child
            said.append(text)
        began = time.perf_counter()
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(child, signal.SIGKILL)
        while "done" not in said and (text := self._next()) != "ended":
            said.append(text)
        took = time.perf_counter() - began
        while text != "ended":
            text = self._next()
        self._process.stdin.write("reap\n")
        return said, took

    def close(self):
        self._process.communicate()


@pytest.fixture(scope="module")
def publisher():
    made = Publisher()
    yield made
    made.close()


def wait_for_backends(address):
    """Wait until PostgreSQL has seen that the killed client is gone; SQLite has nobody who could still be busy."""
    if not address.startswith("postgresql"):
        return
    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    with engine.connect() as connection:
        while connection.execute(sa.text(others)).scalar():
            connection.rollback()
            time.sleep(0.01)
    engine.dispose()


def check_whole(history, number):
    """Check that a release is stored as it was made."""
    (last,) = published(history, IDS, last=1)
    assert last.number == number
    assert np.array_equal(last.lists.items, release(number).lists.items)
    assert sorted(reasons_of(history, number).rows()) == sorted(reasons(number))


def check_after_kill(history, before, said):
    """Check the store after a kill, and return the number of its last release."""
    numbers = [one.number for one in history.releases]
    assert numbers in (list(range(1, before + 1)), list(range(1, before + 2)))
    last = numbers[-1]
    assert last == before + 1 if "done" in said else True  # what was told as stored is stored
    assert last == before if "committing" not in said else True
    check_whole(history, last)
    assert table_of(history, last + 1).is_empty()
    assert reasons_of(history, last + 1).is_empty()
    return last


def kill_publishers(publisher, address, n_inside, rng):
    """Kill publishers until so many died inside of their transactions; return how the kills fell."""
    with History(address) as history:
        add(history, 1)
    usual, last, counts = max(publisher.publish(address, n)[1] for n in (2, 3)), 3, Counter[str]()
    while counts["inside"] + counts["committing"] < n_inside:
        assert counts["after"] < 4 * n_inside
        said, _ = publisher.publish(address, last + 1, kill_after=rng.uniform(0, usual))
        wait_for_backends(address)
        with History(address, create=False) as history:
            before, last = last, check_after_kill(history, last, said)
            add(history, last + 1)  # the next publisher is not in the way of the dead one
            check_whole(history, last := last + 1)
        where = "after" if "done" in said else "committing" if "committing" in said else "inside"
        counts[where] += 1
        counts["stored"] += last - before - 1
    return counts, last


def check_all(address, last, *, real):
    """Check every release of the store, and whether a ``real`` publish follows."""
    with History(address, create=False) as history:
        back = published(history, IDS)
        assert [one.number for one in back] == list(range(1, last + 1))
        assert all(np.array_equal(one.lists.items, release(one.number).lists.items) for one in back)
        if not real:
            return
        users = np.repeat(np.arange(40), 5)
        times = FIRST + 100 * last + np.arange(200)
        rows = {"user": users, "item": np.arange(200) % N_ITEMS, "rating": 1.0, "time": times}
        assert related.publish(history, pl.DataFrame(rows), top=2, delta=1.0, window=2, loosen=True).number == last + 1


def test_a_few_kills_leave_a_whole_store(publisher, address):
    counts, last = kill_publishers(publisher, address, 4, np.random.default_rng(0))
    assert counts["inside"] + counts["committing"] >= 4
    check_all(address, last, real=False)


def test_a_full_disk_leaves_the_last_release_and_a_store_that_goes_on(tmp_path):
    path = tmp_path / "history.db"
    with History(path) as history:
        add(history, 1)
    before, (soft, hard) = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (before // 2, hard))  # the log of a second release is longer
    try:
        with History(path, create=False) as history, pytest.raises(InputError, match="not a history store that can be"):
            add(history, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with History(path, create=False) as history:
        check_whole(history, 1)
        add(history, 2)
        check_whole(history, 2)


@pytest.mark.slow
def test_a_hundred_kills_leave_a_whole_store(publisher, address):
    began = time.process_time()
    counts, last = kill_publishers(publisher, address, 100, np.random.default_rng(1))
    print(f"{address.partition(':')[0]}: {dict(counts)}, {last} releases, {time.process_time() - began:.0f} CPU s")
    assert counts["inside"] + counts["committing"] >= 100
    check_all(address, last, real=True)
