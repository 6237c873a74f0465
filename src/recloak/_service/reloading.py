"""Reloading on SIGHUP without an interruption: the old application answers until the new one is loaded.

A single worker loads in a thread, switches over, and closes the old application after its last answer; no connection is
closed. Several workers are replaced one after the other by uvicorn. If loading fails, the old ones stay and the log
says why. Meanwhile both are in memory.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from recloak._core.errors import RecloakError, SourceError
from recloak._service.app import with_middleware
from recloak._service.logs import log_event
from recloak._service.middleware import Receive, Scope, Send

_LOAD_TIMEOUT = 3600  # seconds
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ReloadingApp:
    """The application of a single worker, which SIGHUP replaces by a newly loaded one."""

    def __init__(self, load: Callable[[], FastAPI]) -> None:
        self._load, self._current = load, _RunningApp(load())
        self._loader: threading.Thread | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._run(receive, send)
        else:
            await self._current.answer(scope, receive, send)

    async def _run(self, receive: Receive, send: Send) -> None:
        await receive()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._start_reload, loop)
        await self._current.lifespan.__aenter__()
        freeze_memory()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._current.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _start_reload(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loader is None or not self._loader.is_alive():
            self._loader = threading.Thread(target=self._reload, args=(loop,), daemon=True)
            self._loader.start()

    def _reload(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loaded = _RunningApp(self._load())
        except (RecloakError, OSError) as error:
            log_load_error(error)
        else:
            asyncio.run_coroutine_threadsafe(self._switch_to(loaded), loop)

    async def _switch_to(self, loaded: _RunningApp) -> None:
        await loaded.lifespan.__aenter__()
        old, self._current = self._current, loaded
        log_event("loaded anew")
        await old.close()
        del old
        freeze_memory()


class _RunningApp:
    """An application, its lifespan, and how many requests it is answering."""

    def __init__(self, app: FastAPI) -> None:
        self._app, self.lifespan, self._n_open = with_middleware(app), app.router.lifespan_context(app), 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._n_open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._n_open -= 1

    async def close(self) -> None:
        """Wait for the last answer, then close the application's resources."""
        while self._n_open:
            await asyncio.sleep(0.05)
        await self.lifespan.__aexit__(None, None, None)


class WorkerSupervisor(Multiprocess):
    """Uvicorn's supervisor of several workers, which can also be stopped while it replaces them."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], error_file: Path) -> None:
        super().__init__(config, sockets)
        self.should_exit = _StopEvent(self.signal_queue)
        self._error_file = error_file

    def restart_all(self) -> None:
        """Replace the workers, with time to load; the error of a worker that could not load is forgotten."""
        before = self.config.timeout_worker_healthcheck
        self.config.timeout_worker_healthcheck = _LOAD_TIMEOUT
        try:
            super().restart_all()
        finally:
            self.config.timeout_worker_healthcheck = before
        self._error_file.unlink(missing_ok=True)

    def keep_subprocess_alive(self) -> None:
        """Restart workers that died; with their end of the pipe closed here, a death shows at once."""
        for process in self.processes:
            process.child_conn.close()
        super().keep_subprocess_alive()


class _StopEvent(threading.Event):
    """An event that is also set by a stop signal in uvicorn's queue, which waits until the workers are replaced."""

    def __init__(self, signal_queue: list[int]) -> None:
        super().__init__()
        self._signal_queue = signal_queue

    def is_set(self) -> bool:
        """Return whether to stop."""
        return super().is_set() or any(number in _STOP_SIGNALS for number in self._signal_queue)


def stop_with_parent() -> None:
    """Leave SIGHUP to the parent process, and stop when it is gone: an orphan would keep the port."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_stop_after, args=(parent,), daemon=True).start()


def _stop_after(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def freeze_memory() -> None:
    """Free what was served before, and exclude what is served now from garbage collection, since it stays."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def log_load_error(error: Exception) -> None:
    """Log why something cannot be loaded, without the value, which may be somebody's rating."""
    fields = {"file": error.file, "line": error.line} if isinstance(error, SourceError) else {}
    reason = error.rule if isinstance(error, SourceError) else str(error)
    log_event("not loaded", level=logging.ERROR, reason=reason, **fields)
