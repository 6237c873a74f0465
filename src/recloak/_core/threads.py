"""Compiled work in several threads: shares of one loop, run side by side without the interpreter's lock.

A kernel compiled with ``nogil=True`` takes the number of its share and the number of shares first, and does the tasks
``share, share + n_shares, ...``, so that heavy tasks spread. It compiles several times faster than a parallel loop of
numba's, and little work stays in the calling thread, where it costs no more than a call. An interruption waits for the
shares that run at that moment, and on the command line not even for those.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numba

from recloak._core import stopping

_LITTLE = 1000
_SHARES_PER_THREAD = 8

T = TypeVar("T")


def n_threads() -> int:
    """Return the number of cores this process may use, or NUMBA_NUM_THREADS where that is set."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a pool of threads; if the block fails, waiting work is dropped and running work is finished first.

    A command that was asked to stop does not wait for running work.
    """
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
    finally:
        pool.shutdown(wait=not stopping.asked(), cancel_futures=True)


def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Return ``work(*arguments)``, done in a thread of its own so that Ctrl-C can interrupt the wait."""
    with workers(1) as pool:
        return pool.submit(work, *arguments).result()


def ahead(source: Iterator[T]) -> Iterator[T]:
    """Yield what an iterator gives, none of it None, while one thread prepares the next."""
    with workers(1) as worker:
        waiting = worker.submit(next, source, None)
        while (block := waiting.result()) is not None:
            waiting = worker.submit(next, source, None)
            yield block


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Multiply matrices in the calling thread alone: for small ones more threads only wait for each other, busily.

    Without threadpoolctl nothing is limited, and only time is lost.
    """
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 (it looks through all loaded libraries)
    except ImportError:
        yield
        return
    with threadpool_limits(1, user_api="blas"):
        yield


def in_shares(
    kernel: Callable[..., Any], n_tasks: int, *arguments: Any, little: int = _LITTLE, n_shares: int | None = None
) -> None:
    """Call ``kernel(share, n_shares, *arguments)`` for every share; their number never changes a result.

    Fewer tasks than ``little`` stay in the calling thread; say 2 where each is worth a thread of its own. ``n_shares``
    is for kernels that need much memory per share: at most so many are made.
    """
    stopping.check()
    if n_tasks < little:
        kernel(0, 1, *arguments)
        return
    n_threads = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined,unused-ignore]
    n_shares = min(n_shares or n_threads * _SHARES_PER_THREAD, n_tasks)
    if n_threads == 1:
        for share in range(n_shares):
            stopping.check()
            kernel(share, n_shares, *arguments)
        return
    with workers(n_threads) as pool:
        for done in [pool.submit(kernel, share, n_shares, *arguments) for share in range(n_shares)]:
            done.result()
            stopping.check()
