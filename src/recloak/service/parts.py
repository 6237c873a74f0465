"""What a running service is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from recloak.service.catalogue import Catalogue
from recloak.service.options import ServeOptions
from recloak.service.state import Advisor
from recloak.service.tokens import Guard


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """The loaded parts; None where the server was started without."""

    advisor: Advisor | None = None
    catalogue: Catalogue | None = None
    guard: Guard | None = None
    options: ServeOptions = field(default_factory=ServeOptions)
