"""What a running service is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from recloak._service.options import ServeOptions
from recloak._service.published_lists import PublishedLists
from recloak._service.rate_limits import Buckets
from recloak._service.state import Advisor
from recloak._service.title_search import TitleSearch
from recloak._service.tokens import TokenGuard

_THREADS = 4


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """The loaded parts; None where the server was started without."""

    advisor: Advisor | None = None
    catalogue: TitleSearch | None = None
    shelf: PublishedLists | None = None
    guard: TokenGuard | None = None
    buckets: Buckets | None = None
    options: ServeOptions = field(default_factory=ServeOptions)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS, "answer"))

    def close(self) -> None:
        """Let go of files and threads; an answer under way is waited for."""
        self.pool.shutdown()
        for part in (self.shelf, self.guard, self.buckets):
            if part is not None:
                part.close()
