"""The options of related-item lists: what is promised, how items are compared, how and when lists are made."""

from dataclasses import dataclass
from typing import Any

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._related.methods import METHODS

EVIDENCE = ("fresh", "total")
ALL_RELEASES = 2**31 - 1  # a window that covers every release
_SECONDS = {"h": 3_600, "d": 86_400, "w": 604_800}
MEASURES = ("cosine", "presence", "pearson", "adjusted", "conditional")


@dataclass(frozen=True, kw_only=True)
class BoundOptions(Options):
    """What is promised: the static rule, the delta-bound, how long it holds, and against which observer."""

    delta: float = option(0.1, "largest allowed probability of a right inference", at_least=0.0, at_most=1.0)
    horizon: str = option(
        "30d",
        "what was added so long before a release is not told by any releases: a time such as 30d, 12h or 4w, a number "
        "of ratings, or all",
    )
    min_support: int = option(
        5, "fewest people who rated both an item and an entry of its list, and fewest raters of an item with a list",
        at_least=1,
    )  # fmt: skip
    evidence: str = option(
        "fresh",
        "fresh: the probability that somebody known to hold the background at the start has added the item "
        "since; total: the probability that somebody who holds the background holds the item at all",
        choices=EVIDENCE,
    )
    knowledge: int | None = option(
        None, "most background items that an observer is believed to know (no limit if not given)", at_least=1
    )
    window: int | None = option(
        None, "the paper's literal bound instead of a horizon: releases that an observer compares; all: every one",
        at_least=2,
    )  # fmt: skip

    def check(self) -> None:
        """Raise OptionError for a horizon that cannot be read."""
        horizon_of(self.horizon)

    @property
    def promises_nothing(self) -> bool:
        """Whether no release could break this: everything may be inferred, and from one person."""
        return self.delta >= 1 and self.min_support <= 1

    def span(self, n_releases: int) -> int:
        """Return the number of earlier releases that the newest of ``n_releases`` is compared with by a window."""
        return min(self.window or ALL_RELEASES, n_releases) - 1

    @property
    def window_name(self) -> int | str | None:
        """The window as people write it; None: there is a horizon instead."""
        return "all" if self.window == ALL_RELEASES else self.window

    def to_json(self) -> dict[str, Any]:
        """Return the promise by name, ready for JSON."""
        named = {"delta": self.delta, "evidence": self.evidence, "min_support": self.min_support}
        reach = {"horizon": None if self.window else self.horizon, "window": self.window_name}
        return {**named, **reach, "knowledge": self.knowledge}

    def loosened_from(self, before: "BoundOptions") -> list[str]:
        """Return in words what is promised less than before; empty if nothing is."""
        told = [
            (self.delta > before.delta, f"delta {before.delta:g} to {self.delta:g}"),
            (self.min_support < before.min_support, f"min_support {before.min_support} to {self.min_support}"),
            (_most(self.knowledge) < _most(before.knowledge), f"knowledge {before.knowledge} to {self.knowledge}"),
            # Neither meaning of the evidence implies the other: newcomers thin one out, old holders the other.
            (before.evidence != self.evidence, f"evidence {before.evidence} to {self.evidence}"),
            (self.reaches_less(before), f"{before._reach()} to {self._reach()}"),
        ]
        return [words for is_looser, words in told if is_looser]

    def _reach(self) -> str:
        return f"window {self.window_name}" if self.window else f"horizon {self.horizon}"

    def reaches_less(self, before: "BoundOptions") -> bool:
        """Return whether this covers a shorter time than another promise, or one that cannot be compared with it."""
        if self.window or before.window:
            return not (self.window and before.window and self.window >= before.window)
        (kind, length), (kind_before, length_before) = horizon_of(self.horizon), horizon_of(before.horizon)
        if "all" in (kind, kind_before):
            return kind_before == "all" and kind != "all"
        return kind != kind_before or length < length_before


def _most(knowledge: int | None) -> int:
    return ALL_RELEASES if knowledge is None else knowledge


def horizon_of(text: str) -> tuple[str, int]:
    """Return the kind of a horizon (``seconds``, ``ratings`` or ``all``) and its length.

    Raises
    ------
    OptionError
        If it is neither a time, nor a number of ratings, nor ``all``.
    """
    if text == "all":
        return "all", 0
    number, unit = (text, "") if text.isdigit() else (text[:-1], text[-1:])
    if not number.isascii() or not number.isdigit() or not int(number) or (unit and unit not in _SECONDS):
        raise OptionError(f"horizon must be a time such as 30d, 12h or 4w, a number of ratings, or all, got {text!r}")
    return ("seconds", int(number) * _SECONDS[unit]) if unit else ("ratings", int(number))


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
    releases: int | None = option(None, "most releases to make (up to the last rating if not given)", at_least=1)
