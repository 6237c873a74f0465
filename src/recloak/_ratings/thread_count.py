"""How many threads the compiled parts of reading may use; their number never changes a result."""

from __future__ import annotations

import os


def n_threads() -> int:
    """Give the number of cores this process may use, or NUMBA_NUM_THREADS where that is set."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
