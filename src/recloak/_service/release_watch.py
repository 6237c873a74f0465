"""Looking for new releases while serving; one that cannot be read leaves the last one in place."""

from __future__ import annotations

import asyncio
import logging

from recloak._service import metrics
from recloak._service.logs import failure, tell
from recloak._service.parts import Parts


async def keep_fresh(parts: Parts) -> None:
    """Look again and again until cancelled."""
    if parts.shelf is None:
        return
    metrics.release.set(parts.shelf.release or 0)
    while True:
        await asyncio.sleep(parts.options.refresh)
        await _look(parts)


async def _look(parts: Parts) -> None:
    assert parts.shelf is not None
    try:
        if await asyncio.to_thread(parts.shelf.refresh):
            metrics.release.set(parts.shelf.release or 0)
            tell("release", number=parts.shelf.release)
    except Exception as error:  # whatever it is, the next look may go well
        metrics.refreshes.inc()
        tell("history", level=logging.WARNING, **failure(error))
