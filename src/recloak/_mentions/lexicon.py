"""How specific a word is: everyday English, first names, places, and all other words.

A title made of everyday words is weak evidence when its words occur; a word that is in no everyday list is strong
evidence. The lists are small and our own; the posts add the words that their writers often use in small letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

from recloak._mentions.text import LONGEST_CACHED, MOST_CACHED

_FOLDER = Path(__file__).parent / "words"
FUNCTION, EVERYDAY, NUMBER, NAME, RARE = 0.3, 1.5, 1.2, 2.2, 4.0  # specificity of one word
MOST = 6.5  # specificity of a title at most
Value = TypeVar("Value")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "est", "y")


def remember(cache: dict[str, Value], word: str, value: Value) -> Value:
    """Cache a word's value and return it; the cache is bounded, so that no post can fill the memory."""
    if len(cache) >= MOST_CACHED:
        cache.clear()
    if len(word) <= LONGEST_CACHED:
        cache[word] = value
    return value


@cache
def words_in(name: str) -> frozenset[str]:
    """Return the words of a list that comes with the package."""
    return frozenset((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").split())


@cache
def _everyday() -> frozenset[str]:
    return words_in("common") | words_in("function")


@dataclass(slots=True)
class Lexicon:
    """The specificity of words, cached."""

    post_words: frozenset[str] = frozenset()  # words that the posts often use in small letters
    _cache: dict[str, float] = field(default_factory=dict)

    def word_specificity(self, word: str) -> float:
        """Return the specificity of one folded word."""
        cached = self._cache.get(word)
        return remember(self._cache, word, self._look_up(word)) if cached is None else cached

    def _look_up(self, word: str) -> float:
        if word in words_in("function") or len(word) == 1:
            return FUNCTION
        if word[0].isdigit():
            return NUMBER
        if is_name(word):
            return EVERYDAY if word in words_in("common") else NAME
        return EVERYDAY if self.is_everyday(word) else RARE

    def is_everyday(self, word: str) -> bool:
        """Return True if a word, or its stem, is everyday English."""
        return word in _everyday() or word in self.post_words or any(_stems(word, _everyday()))

    def specificity(self, words: Sequence[str]) -> float:
        """Return the specificity of several words together; a final number and a row of initials add to it."""
        total = sum(map(self.word_specificity, words))
        if len(words) > 1 and words[-1].isdigit():
            total += 1.0
        if len(words) > 1 and all(len(word) == 1 for word in words):
            total += 2.5
        return min(total, MOST)


def _stems(word: str, known: frozenset[str]) -> Iterable[bool]:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            stem = word[: -len(ending)]
            yield stem in known or stem + "e" in known or (stem[-1] == stem[-2] and stem[:-1] in known)
            if stem[-1] == "i":
                yield stem[:-1] + "y" in known


def is_name(word: str) -> bool:
    """Return True if a word is a first name, a well-known surname, a place or a day."""
    return word in words_in("names") or word in words_in("places") or word in words_in("surnames")
