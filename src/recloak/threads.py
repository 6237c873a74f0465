"""Compiled work in several threads: shares of one loop, run side by side without the interpreter's lock.

A kernel compiled with ``nogil=True`` takes the number of its share and the number of shares first, and does the tasks
``share, share + n_shares, ...``, so that heavy tasks spread. It compiles several times faster than a parallel loop of
numba's, and little work stays in the calling thread, where it costs no more than a call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba

_LITTLE = 1000
_SHARES_PER_THREAD = 8


def in_shares(kernel: Callable[..., Any], n_tasks: int, *arguments: Any, little: int = _LITTLE) -> None:
    """Call ``kernel(share, n_shares, *arguments)`` for every share; their number never changes a result.

    Fewer tasks than ``little`` stay in the calling thread; say 2 where each is worth a thread of its own.
    """
    n_threads = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined,unused-ignore]
    if n_tasks < little or n_threads == 1:
        kernel(0, 1, *arguments)
        return
    n_shares = min(n_threads * _SHARES_PER_THREAD, n_tasks)
    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(kernel, share, n_shares, *arguments) for share in range(n_shares)]:
            done.result()
