"""Loading anew on SIGHUP, without a gap: what is served stays until what comes after it is loaded whole.

One worker loads in a thread, changes over, and lets go of the old parts when the last answer from them is out; no
connection is closed. Several workers are replaced one after the other by uvicorn. Where loading fails, the old ones
stay and the log says why. Until they go, old and new take up memory side by side.
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
from recloak._service.app import shielded
from recloak._service.logs import tell
from recloak._service.middleware import Receive, Scope, Send

_LONGEST = 3600  # seconds that loading anew may take
_STOPPING = (signal.SIGINT, signal.SIGTERM)


class Alone:
    """The application of one worker: the one of the moment, which a hang-up replaces by one that is loaded anew."""

    def __init__(self, load: Callable[[], FastAPI]) -> None:
        self._load, self._held = load, _Held(load())
        self._loading: threading.Thread | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or live from the server's start to its stop."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._held.answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, loop)
        await self._held.life.__aenter__()
        settle()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._held.end()
        await send({"type": "lifespan.shutdown.complete"})

    def _hang_up(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loading is None or not self._loading.is_alive():
            self._loading = threading.Thread(target=self._reload, args=(loop,), daemon=True)
            self._loading.start()

    def _reload(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loaded = _Held(self._load())
        except (RecloakError, OSError) as error:
            tell_why(error)
        else:
            asyncio.run_coroutine_threadsafe(self._change(loaded), loop)

    async def _change(self, loaded: _Held) -> None:
        await loaded.life.__aenter__()
        old, self._held = self._held, loaded
        tell("loaded anew")
        await old.end()
        del old
        settle()


class _Held:
    """An application, its life, and how many requests it is answering."""

    def __init__(self, app: FastAPI) -> None:
        self._app, self.life, self._n_open = shielded(app), app.router.lifespan_context(app), 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._n_open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._n_open -= 1

    async def end(self) -> None:
        """Wait for the last answer, and let go of what is loaded."""
        while self._n_open:
            await asyncio.sleep(0.05)
        await self.life.__aexit__(None, None, None)


class Together(Multiprocess):
    """Several workers under uvicorn's watch, which may be stopped while they are being replaced."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], why: Path) -> None:
        super().__init__(config, sockets)
        self.should_exit = _Stop(self.signal_queue)
        self._why = why

    def restart_all(self) -> None:
        """Replace the workers, with time to load; the sentence of one that could not load must not outlive it."""
        usual = self.config.timeout_worker_healthcheck
        self.config.timeout_worker_healthcheck = _LONGEST
        try:
            super().restart_all()
        finally:
            self.config.timeout_worker_healthcheck = usual
        self._why.unlink(missing_ok=True)

    def keep_subprocess_alive(self) -> None:
        """Look after the workers; with their end of the pipe closed here, a death in the middle shows at once."""
        for one in self.processes:
            one.child_conn.close()
        super().keep_subprocess_alive()


class _Stop(threading.Event):
    """Is set, too, by a signal that waits in uvicorn's queue until the workers are replaced."""

    def __init__(self, waiting: list[int]) -> None:
        super().__init__()
        self._waiting = waiting

    def is_set(self) -> bool:
        """Tell whether to stop."""
        return super().is_set() or any(sign in _STOPPING for sign in self._waiting)


def follow_parent() -> None:
    """Leave hang-ups to the parent, and stop when it is gone: an orphan would keep the port."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def settle() -> None:
    """Let go of what was served before, and spare what is served now the collector's rounds: it stays for good."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def tell_why(error: Exception) -> None:
    """Log why something cannot be loaded: without the value, which may be somebody's rating."""
    fields = {"file": error.file, "line": error.line} if isinstance(error, SourceError) else {}
    reason = error.rule if isinstance(error, SourceError) else str(error)
    tell("not loaded", level=logging.ERROR, reason=reason, **fields)
