"""The second stage: words that are in no list, brought to the title word that they were probably meant for.

Only rare words are mended, for those carry a title: *redemtion*, *inglorious*, *ratatoullie*. A word is compared
(rapidfuzz, optimal string alignment) with title words of the same first letter and nearly the same length, and mended
when one of them is close; each distinct word is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import process
from rapidfuzz.distance import OSA

from recloak._mentions.lexicon import RARE, Lexicon, is_name, remember

_SHORTEST = 5
_LONG = 8  # from here on two errors are forgiven


@dataclass(frozen=True, eq=False, slots=True)
class Speller:
    """Title words by first letter and length, and the words already worked out."""

    known: frozenset[str]
    shelves: dict[tuple[str, int], list[str]]
    lexicon: Lexicon
    worked_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: Iterable[str], lexicon: Lexicon) -> Speller:
        """Gather the words of all ways to say a title."""
        known = frozenset(word for key in keys for word in key.split())
        shelves: dict[tuple[str, int], list[str]] = {}
        for word in sorted(known):
            if len(word) >= _SHORTEST and word.isalpha() and not is_name(word):
                shelves.setdefault((word[0], len(word)), []).append(word)
        return cls(known, shelves, lexicon)

    def mend(self, plain: Sequence[str]) -> list[str] | None:
        """Give the words with the unknown ones mended, or nothing where there is nothing to mend."""
        mended = [self.worked_out.get(word) or self._work_out(word) for word in plain]
        return mended if mended != plain else None

    def _work_out(self, word: str) -> str:
        return remember(self.worked_out, word, self._nearest(word) if self._is_odd(word) else word)

    def _is_odd(self, word: str) -> bool:
        unknown = word not in self.known and word.isalpha() and len(word) >= _SHORTEST
        return unknown and self.lexicon.tells(word) >= RARE

    def _nearest(self, word: str) -> str:
        allowed = 2 if len(word) >= _LONG else 1
        lengths = range(len(word) - allowed, len(word) + allowed + 1)
        near = [one for length in lengths for one in self.shelves.get((word[0], length), ())]
        if not near:
            return word
        found = process.extractOne(word, near, scorer=OSA.distance, score_cutoff=allowed)
        return word if found is None else str(found[0])
