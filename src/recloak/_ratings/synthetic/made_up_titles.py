"""Made-up film titles, spelled as catalogues spell them: ``Lantern, The (1987)``, ``Ember: Exile of Riga (1999)``."""

import re
from pathlib import Path

import numpy as np

from recloak._core.randomness import Rng, randomness

_NEWEST, _OLDEST = 2005, 1920
_MEAN_AGE = 14.0
_SEQUEL, _SUBTITLE = 0.04, 0.09

# How often each pattern is used, its words by kind, and its article ("A" becomes "An" before a vowel).
_PATTERNS = (
    (8, "<nouns>", ""),
    (8, "<nouns>", "The"),
    (22, "<adjectives> <nouns>", "The"),
    (6, "<adjectives> <nouns>", "A"),
    (15, "<adjectives> <nouns>", ""),
    (5, "<nouns> of <places>", "The"),
    (9, "<nouns> of the <nouns>", ""),
    (4, "<nouns> and the <nouns>", "The"),
    (7, "<names>'s <nouns>", ""),
    (3, "<names> and <names>", ""),
    (4, "<names> in <places>", ""),
    (3, "<doings> <names>", ""),
    (4, "<doings> the <adjectives> <nouns>", ""),
    (2, "<numbers> <spans> in <places>", ""),
)
_SHARES = np.array([often for often, _, _ in _PATTERNS], dtype=np.float64) / sum(often for often, _, _ in _PATTERNS)


def make_titles(n: int, *, rng: Rng = None) -> list[str]:
    """Return n distinct titles with their years; some share their words with others and differ by the year only."""
    stream, words = randomness(rng).child("synthetic").stream("titles"), _words()
    titles: dict[str, None] = {}  # a dict keeps the order
    names: list[str] = []
    while len(titles) < n:
        name, article = _name(stream, words, names)
        names.append(name)
        main, colon, subtitle = name.partition(": ")
        spelled = main + (f", {article}" if article else "") + colon + subtitle
        titles.setdefault(f"{spelled} ({max(_OLDEST, _NEWEST - int(stream.exponential(_MEAN_AGE)))})")
    return list(titles)


def _words() -> dict[str, list[str]]:
    """Return the words of titles by kind; a dash in a word stands for a space."""
    text = Path(__file__).with_name("title_words.txt").read_text(encoding="utf-8")
    kinds = (line.partition(": ") for line in text.splitlines())
    return {kind: [word.replace("-", " ") for word in words.split()] for kind, _, words in kinds}


def _name(stream: np.random.Generator, words: dict[str, list[str]], earlier: list[str]) -> tuple[str, str]:
    """Return a name and the article that belongs to it, if any."""

    def pick(choices: list[str]) -> str:
        return choices[int(stream.integers(len(choices)))]

    def filled(pattern: str) -> str:
        return re.sub(r"<(\w+)>", lambda kind: pick(words[kind[1]]), pattern)

    if len(earlier) > 20 and stream.random() < _SEQUEL:
        return f"{pick(earlier).partition(': ')[0]} {pick(words['ordinals'])}", ""
    _, pattern, article = _PATTERNS[int(stream.choice(len(_PATTERNS), p=_SHARES))]
    name = filled(pattern)
    if article == "A" and name[0] in "AEIOU":
        article = "An"
    if stream.random() < _SUBTITLE:
        name = f"{name}: {filled(_PATTERNS[int(stream.integers(2, len(_PATTERNS)))][1])}"
    return name, article
