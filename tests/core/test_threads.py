import threading
import time

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from recloak._core import stopping
from recloak._core.threads import in_shares, in_thread, one_blas_thread, workers


@pytest.fixture(autouse=True)
def unasked():
    yield
    stopping.begin()


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_tasks", [1, 5, 5000])
def test_every_task_is_in_one_share(monkeypatch, n_threads, n_tasks):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    done: list[int] = []
    in_shares(lambda share, n_shares: done.extend(range(share, n_tasks, n_shares)), n_tasks, little=2)
    assert sorted(done) == list(range(n_tasks))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_stop_is_heard_between_two_shares(monkeypatch, n_threads):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    done = []

    def kernel(share: int, _: int) -> None:
        done.append(share)
        with pytest.raises(KeyboardInterrupt):
            stopping.ask()
        time.sleep(0.2)

    with pytest.raises(KeyboardInterrupt):
        in_shares(kernel, 10_000)
    assert len(done) < 8 * n_threads


def fail_while_it_works(work) -> list[bool]:
    """Fail while one thread works and a second task waits for it; tell which task came to its end."""
    with pytest.raises(KeyError), workers(1) as pool:
        tasks = [pool.submit(work), pool.submit(time.time)]
        raise KeyError
    return [task.done() and not task.cancelled() for task in tasks]


def test_whoever_fails_waits_for_what_runs_and_drops_what_waits():
    assert fail_while_it_works(lambda: time.sleep(0.1)) == [True, False]


def test_a_command_that_was_asked_to_stop_waits_for_nothing():
    with pytest.raises(KeyboardInterrupt):
        stopping.ask()
    gate = threading.Event()
    assert fail_while_it_works(lambda: gate.wait(5)) == [False, False]
    gate.set()


def test_what_is_done_apart_gives_its_result_or_its_error():
    assert in_thread(max, 3, 5) == 5
    with pytest.raises(ZeroDivisionError):
        in_thread(divmod, 1, 0)


def test_small_matrices_are_multiplied_in_one_thread():
    assert np.ones((2, 2)).sum() == 4  # so that the library that multiplies is loaded
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {1}
        assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {2}
