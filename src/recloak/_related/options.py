"""The options of related-item lists: what is promised, how items are compared, how and when lists are made."""

from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._related.methods import METHODS

EVIDENCE = ("fresh", "total")
MEASURES = ("cosine", "presence", "pearson", "adjusted", "conditional")


@dataclass(frozen=True, kw_only=True)
class BoundOptions(Options):
    """What is promised: the delta-bound of definition 1, and against which observer."""

    delta: float = option(0.1, "largest allowed probability of a right inference", at_least=0.0, at_most=1.0)
    window: int | None = option(4, "releases that an observer compares; all: every release ever published", at_least=2)
    evidence: str = option(
        "fresh",
        "fresh: the probability that somebody known to hold the background at the earlier release has added the item "
        "since; total: the probability that somebody who holds the background holds the item at all",
        choices=EVIDENCE,
    )
    knowledge: int | None = option(
        None, "most background items that an observer is believed to know (no limit if not given)", at_least=1
    )

    def span(self, n_releases: int) -> int:
        """Return the number of earlier releases that the newest of ``n_releases`` is compared with."""
        return n_releases - 1 if self.window is None else min(self.window, n_releases) - 1


@dataclass(frozen=True, kw_only=True)
class SimilarityOptions(Options):
    """How similar items are found."""

    similarity: str = option("cosine", "measure of similarity between two items", choices=MEASURES)
    shrinkage: float = option(0.0, "pulls scores that rest on few co-raters towards 0", at_least=0.0)
    min_support: int = option(1, "fewest co-raters that two related items must have", at_least=1)


@dataclass(frozen=True, kw_only=True)
class MethodOptions(Options):
    """How safe lists are made."""

    top: int = option(5, "positions of a list", at_least=1)
    method: str = option("perm", choices=METHODS)
    literal: bool = option(False, "run the printed algorithm, which leaves violations; the store refuses those")
    candidates: int = option(20, "how far down the ranking replacements are looked for", at_least=1)
    budget: int = option(10**8, "most steps of one exact search; where they run out, entries are removed", at_least=1)

    @property
    def depth(self) -> int:
        """Length of the ranking that the method needs."""
        return max(self.top, self.candidates)

    def require_publishable(self) -> None:
        """Raise OptionError for a method that only a simulation can run."""
        if METHODS[self.method].uses_noise:
            safe = " or ".join(method.name for method in METHODS.values() if method.is_safe)
            raise OptionError(f"{self.method} protects nobody and is for `related simulate` only; use {safe}")


@dataclass(frozen=True, kw_only=True)
class ProtocolOptions(Options):
    """When releases are made (section 6.1 of the paper)."""

    initial: float = option(10.0, "percent of the ratings before the first release", above=0.0, at_most=100.0)
    gap: float = option(5.0, "percent of the ratings between two releases", above=0.0, at_most=100.0)
