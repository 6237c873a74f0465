"""How much an audit tries."""

from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._core.options import Options, option, whole_number

DEFAULT_TARGETS = 1000


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Options):
    """How an audit is run."""

    targets: int = option(DEFAULT_TARGETS, "how many targets are drawn for each attack", at_least=1)
    known: tuple[int, ...] = option((1, 2, 4, 8, 16), "how many items are known")
    varied_at: int = option(8, "how many items are known where the kind of knowledge is varied", at_least=1)
    link_cap: float | None = option(
        None, "cells in which more than this share of the group rated the item are counted; by default the share that "
        "the release promises, else 0.5", above=0.0, at_most=1.0,
    )  # fmt: skip

    def check(self) -> None:
        """Refuse numbers of known items that cannot be."""
        known = tuple(whole_number("known", one) for one in self.known)
        if not known or min(known) < 1:
            raise OptionError(f"known must be numbers of at least 1, got {self.known}")
        object.__setattr__(self, "known", known)


@dataclass(frozen=True, kw_only=True)
class PassiveOptions(Options):
    """Whom the observer knows, and what of them."""

    known: int = option(20, "items of a target that the observer knows at the earlier release", at_least=1)
    targets: int = option(500, "users attacked at every release, drawn from those with enough items", at_least=1)


@dataclass(frozen=True, kw_only=True)
class ObserverOptions(Options):
    """What the learned observer knows and waits for."""

    holdings: int | None = option(
        None, "items that the learned observer knows of a target at the earlier release (all if not given)", at_least=1
    )
    fewest: int = option(20, "fewest items that a target of the learned observer holds", at_least=1)
    targets: int = option(500, "most targets of the learned observer at every release", at_least=1)
    delay: int = option(3, "releases after the later one that the learned observer waits for", at_least=0)
