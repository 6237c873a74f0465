"""What is refused at once, before anything long is imported or read, each with one sentence."""

from __future__ import annotations

from pathlib import Path

from recloak._core.errors import InputError
from recloak._core.extras import require_extra
from recloak._service.options import LOOPBACK, ServeOptions
from recloak._service.tokens import TokenGuard


def check(options: ServeOptions) -> None:
    """Raise `InputError` for what cannot be served, before anything long is read."""
    require_extra("web", "fastapi", "uvicorn", "prometheus_client", need="recloak serve")
    if options.ratings is None and options.history is None:
        raise InputError("there is nothing to serve: name --ratings and --titles, or --history, or all of them")
    if options.tokens is None and options.ratings is not None:
        raise InputError("advice needs --tokens FILE, made by `recloak token create --user ID`")
    if options.tokens is None and options.host not in LOOPBACK:
        raise InputError(f"to listen at {options.host}, beyond this machine, name --tokens FILE")
    if options.tokens is not None:
        TokenGuard(options.tokens).close()
    for file in (options.titles, options.mentions, options.ratings):
        if file is not None and not Path(file).exists():
            raise InputError(f"{file}: there is no such file")
