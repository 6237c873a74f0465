"""A process that adds releases to a store in forks of itself, so that a test can kill one without starting Python anew.

Each line of its input is a store's address and a number; each line of its output is what a fork does: ``begun`` (inside
the transaction), ``committing``, ``done``; ``fork PID`` comes first and ``ended`` last. Any line is then awaited.
"""

import os
import sys

import numpy as np
import sqlalchemy as sa

from recloak._ratings.ids import IdMap
from recloak._related.history import History
from recloak._related.history_writing import append
from recloak._related.model import EMPTY, ListRelease, Lists

N_ITEMS, TOP = 200, 10
FIRST = 1_600_000_000  # seconds: the releases follow each other by 100


def release(number):
    """Return the release of a number, with one empty position in ten."""
    rng = np.random.default_rng(number)
    lists = np.array([rng.permutation(np.delete(np.arange(N_ITEMS), item))[:TOP] for item in range(N_ITEMS)], np.int32)
    lists[rng.random(lists.shape) < 0.1] = EMPTY
    return ListRelease(number, FIRST + 100 * number, Lists(lists))


def reasons(number):
    """Return the reasons of a release."""
    return [(item, (item + number) % N_ITEMS, "replaced") for item in range(N_ITEMS)]


def add(history, number):
    """Add the release of a number to an open store."""
    append(history, release(number), IdMap.of(list(range(N_ITEMS))), {"number": number}, reasons(number))


def _say(text):
    os.write(1, f"{text}\n".encode())


def _add_and_tell(address, number):
    with History(address, create=False) as history:
        engine = history._database.engine
        begins = ("BEGIN IMMEDIATE", "LOCK TABLE")
        sa.event.listen(
            engine, "after_cursor_execute", lambda _c, _d, text, *_: text.startswith(begins) and _say("begun")
        )
        sa.event.listen(engine, "commit", lambda c: c.get_execution_options().get("writing") and _say("committing"))
        add(history, number)
        _say("done")


def main():
    """Serve the lines of the input."""
    for line in sys.stdin:
        address, number = line.split()
        child = os.fork()
        if child == 0:
            _add_and_tell(address, int(number))
            os._exit(0)
        _say(f"fork {child}")
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        _say("ended")
        sys.stdin.readline()  # until then the number is still the fork's own, and no other process can be killed
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
