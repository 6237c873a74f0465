"""How much a word tells: everyday English, first names, places, and all else.

A title made of words that everybody uses says little when its words turn up; a word that is in no everyday list says a
lot. The lists are small and ours; the posts themselves add the words that their writers use in small letters often.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

from recloak._mentions.text import LONGEST_KEPT, MOST_KEPT

_FOLDER = Path(__file__).parent / "words"
FUNCTION, EVERYDAY, NUMBER, NAME, RARE = 0.3, 1.5, 1.2, 2.2, 4.0  # what one word tells
MOST = 6.5  # and a title at most
Kept = TypeVar("Kept")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "est", "y")


def remember(known: dict[str, Kept], word: str, found: Kept) -> Kept:
    """Keep what was found of a word, within bounds: whoever writes the posts must not fill the memory."""
    if len(known) >= MOST_KEPT:
        known.clear()
    if len(word) <= LONGEST_KEPT:
        known[word] = found
    return found


@cache
def words_in(name: str) -> frozenset[str]:
    """Read one of the lists that come with the package."""
    return frozenset((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").split())


@cache
def _everyday() -> frozenset[str]:
    return words_in("common") | words_in("function")


@dataclass(slots=True)
class Lexicon:
    """What every word tells, remembered once worked out."""

    talk: frozenset[str] = frozenset()  # words that the posts at hand use in small letters often
    _known: dict[str, float] = field(default_factory=dict)

    def tells(self, word: str) -> float:
        """Give what one folded word tells."""
        found = self._known.get(word)
        return remember(self._known, word, self._weigh(word)) if found is None else found

    def _weigh(self, word: str) -> float:
        if word in words_in("function") or len(word) == 1:
            return FUNCTION
        if word[0].isdigit():
            return NUMBER
        if is_name(word):
            return EVERYDAY if word in words_in("common") else NAME
        return EVERYDAY if self.everyday(word) else RARE

    def everyday(self, word: str) -> bool:
        """Tell whether a word, or what it is built from, is everyday English."""
        return word in _everyday() or word in self.talk or any(_stems(word, _everyday()))

    def title(self, words: Iterable[str]) -> float:
        """Give what a run of words tells together; a number behind a name and a row of initials tell more."""
        listed = list(words)
        told = sum(map(self.tells, listed))
        if len(listed) > 1 and listed[-1].isdigit():
            told += 1.0
        if len(listed) > 1 and all(len(word) == 1 for word in listed):
            told += 2.5
        return min(told, MOST)


def _stems(word: str, known: frozenset[str]) -> Iterable[bool]:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            stem = word[: -len(ending)]
            yield stem in known or stem + "e" in known or (stem[-1] == stem[-2] and stem[:-1] in known)
            if stem[-1] == "i":
                yield stem[:-1] + "y" in known


def is_name(word: str) -> bool:
    """Tell whether a word is a first name, a well-known surname, a place or a day."""
    return word in words_in("names") or word in words_in("places") or word in words_in("surnames")
