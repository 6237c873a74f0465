"""The process: check, load, listen, answer, stop.

One worker answers in this process; several are started, watched and, where one dies, started again by uvicorn. They
share the socket, the rate limits and the figures, and each loads the ratings for itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from recloak._core.errors import InputError, RecloakError
from recloak._service import logs
from recloak._service.app import create_app, shielded
from recloak._service.loading import load
from recloak._service.middleware import Application
from recloak._service.options import LOOPBACK, ServeOptions
from recloak._service.reloading import Alone, Together, follow_parent, settle, tell_why
from recloak._service.startup_checks import check

_SETTINGS = "RECLOAK_SERVE"  # how a worker is told the options
_FOLDER = "RECLOAK_SERVE_FOLDER"
_FIGURES = "PROMETHEUS_MULTIPROC_DIR"
_PATIENCE = 10  # seconds that requests under way may take when the server is stopped
_SENTENCE = "why"


def serve(options: ServeOptions) -> None:
    """Serve until told to stop; refuse in one sentence what cannot be served."""
    check(options)
    if options.host not in LOOPBACK:
        _say(f"listening at {options.host}, beyond this machine; put a proxy with TLS before it")
    with tempfile.TemporaryDirectory(prefix="recloak-serve-") as folder:
        (_serve_alone if options.workers == 1 else _serve_together)(options, Path(folder))


def _serve_alone(options: ServeOptions, folder: Path) -> None:
    server = uvicorn.Server(_config(options, Alone(lambda: _application(options, folder))))
    listening = _listen(options)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # uvicorn has stopped gracefully and passes the signal on
    finally:
        listening.close()


def _serve_together(options: ServeOptions, folder: Path) -> None:
    (folder / "figures").mkdir()
    shared = {_SETTINGS: json.dumps(options.to_mapping()), _FOLDER: str(folder), _FIGURES: str(folder / "figures")}
    os.environ.update(shared)
    config = _config(options, "recloak._service.server:worker", factory=True)
    listening = _listen(options)
    try:
        Together(config, [listening], folder / _SENTENCE).run()
    finally:
        listening.close()
        for name in shared:
            os.environ.pop(name, None)
    if (folder / _SENTENCE).exists():
        raise InputError((folder / _SENTENCE).read_text(encoding="utf-8"))


def worker() -> Application:
    """Make the application of one worker; what cannot be loaded is left for the parent to say."""
    follow_parent()
    folder = Path(os.environ[_FOLDER])
    try:
        app = _application(ServeOptions.from_mapping(json.loads(os.environ[_SETTINGS])), folder)
    except (RecloakError, OSError) as error:
        tell_why(error)
        (folder / _SENTENCE).write_text(str(error), encoding="utf-8")
        sys.exit(STARTUP_FAILURE)
    settle()
    return shielded(app)


def _application(options: ServeOptions, folder: Path) -> FastAPI:
    return create_app(load(options, folder))


def _config(options: ServeOptions, app: Any, *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        host=options.host,
        port=options.port,
        workers=options.workers,
        log_config=logs.CONFIG,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_worker_healthcheck=60,
    )


def _listen(options: ServeOptions) -> socket.socket:
    """Take the port, or say in one sentence why not."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listening = socket.create_server((options.host, options.port), family=family, backlog=2048)
    except OSError as error:
        raise InputError(
            f"{options.host}:{options.port} cannot be listened at: {(error.strerror or str(error)).lower()}"
        ) from error
    listening.set_inheritable(True)
    host = f"[{options.host}]" if family == socket.AF_INET6 else options.host
    logs.tell("listening", address=f"http://{host}:{listening.getsockname()[1]}", workers=options.workers)
    return listening


def _say(sentence: str) -> None:
    sys.stderr.write(f"recloak: {sentence}\n")
