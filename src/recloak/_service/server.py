"""The server process: check, load, listen, answer, stop.

A single worker answers in this process; several are started, supervised and restarted by uvicorn. They share the
socket, the rate limits and the metrics, and each loads the ratings itself.
"""

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
from recloak._service import connections, logs, metrics, reloading
from recloak._service.app import create_app, with_middleware
from recloak._service.middleware import Application
from recloak._service.options import LOOPBACK, ServeOptions, require_servable
from recloak._service.resources import load

_OPTIONS = "RECLOAK_SERVE"  # how workers get the options
_FOLDER = "RECLOAK_SERVE_FOLDER"
_GRACE = 10  # seconds that requests in progress may take when the server is stopped
_ERROR = "why"


def serve(options: ServeOptions) -> None:
    """Serve until stopped; raise InputError for what cannot be served."""
    require_servable(options)
    if options.host not in LOOPBACK:
        sys.stderr.write(f"recloak: listening at {options.host}, beyond this machine; put a proxy with TLS before it\n")
    with tempfile.TemporaryDirectory(prefix="recloak-serve-") as folder:
        (_serve_in_process if options.workers == 1 else _serve_with_workers)(options, Path(folder))


def _serve_in_process(options: ServeOptions, folder: Path) -> None:
    server = uvicorn.Server(_config(options, reloading.ReloadingApp(lambda: _application(options, folder))))
    listener = _listen(options)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn has stopped gracefully and passes the signal on
    finally:
        listener.close()


def _serve_with_workers(options: ServeOptions, folder: Path) -> None:
    (folder / "figures").mkdir()
    variables = {
        _OPTIONS: json.dumps(options.to_mapping()),
        _FOLDER: str(folder),
        metrics.FOLDER_VARIABLE: str(folder / "figures"),
    }
    os.environ.update(variables)
    config = _config(options, "recloak._service.server:worker", factory=True)
    listener = _listen(options)
    try:
        reloading.WorkerSupervisor(config, [listener], folder / _ERROR).run()
    finally:
        listener.close()
        for name in variables:
            os.environ.pop(name, None)
    if (folder / _ERROR).exists():
        raise InputError((folder / _ERROR).read_text(encoding="utf-8"))


def worker() -> Application:
    """Return the application of one worker; if it cannot be loaded, leave the reason for the parent to print."""
    reloading.stop_with_parent()
    folder = Path(os.environ[_FOLDER])
    try:
        app = _application(ServeOptions.from_mapping(json.loads(os.environ[_OPTIONS])), folder)
    except (RecloakError, OSError) as error:
        reloading.log_load_error(error)
        (folder / _ERROR).write_text(str(error), encoding="utf-8")
        sys.exit(STARTUP_FAILURE)
    reloading.freeze_memory()
    return with_middleware(app)


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
        http=connections.protocol_class(),
        h11_max_incomplete_event_size=connections.ConnectionLimits().head_bytes,
        ws="none",
        lifespan="on",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=60,
    )


def _listen(options: ServeOptions) -> socket.socket:
    """Return the listening socket; raise InputError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listener = socket.create_server((options.host, options.port), family=family, backlog=2048)
    except OSError as error:
        raise InputError(
            f"{options.host}:{options.port} cannot be listened at: {(error.strerror or str(error)).lower()}"
        ) from error
    listener.set_inheritable(True)
    host = f"[{options.host}]" if family == socket.AF_INET6 else options.host
    logs.log_event("listening", address=f"http://{host}:{listener.getsockname()[1]}", workers=options.workers)
    return listener
