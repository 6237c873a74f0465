"""What a running service is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from recloak.service.buckets import Buckets
from recloak.service.catalogue import Catalogue
from recloak.service.options import ServeOptions
from recloak.service.shelf import Shelf
from recloak.service.state import Advisor
from recloak.service.tokens import Guard

_THREADS = 4


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """The loaded parts; None where the server was started without."""

    advisor: Advisor | None = None
    catalogue: Catalogue | None = None
    shelf: Shelf | None = None
    guard: Guard | None = None
    buckets: Buckets | None = None
    options: ServeOptions = field(default_factory=ServeOptions)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS, "answer"))

    def close(self) -> None:
        """Let go of files and threads; an answer under way is waited for."""
        self.pool.shutdown()
        for part in (self.shelf, self.guard, self.buckets):
            if part is not None:
                part.close()
