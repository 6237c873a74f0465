"""Made-up film titles, spelled as catalogues spell them: ``Lantern, The (1987)``, ``Ember: Exile of Riga (1999)``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recloak._core.randomness import Rng, randomness
from recloak._ratings.synthetic.words import ADJECTIVES, DOINGS, NAMES, NOUNS, NUMBERS, PLACES

_NEWEST, _OLDEST = 2005, 1920
_MEAN_AGE = 14.0
_SEQUEL, _SUBTITLE = 0.04, 0.09
_ORDINALS = ("2", "3", "II", "III", "IV")

Pick = Callable[[tuple[str, ...]], str]


def make_titles(n: int, *, rng: Rng = None) -> list[str]:
    """Give n distinct titles with their years; some share their words with others and differ by the year only."""
    stream = randomness(rng).child("synthetic").stream("titles")
    titles: dict[str, None] = {}  # a dict keeps the order
    names: list[str] = []
    while len(titles) < n:
        name, article = _name(stream, names)
        names.append(name)
        ending = f", {article}" if article else ""
        titles.setdefault(f"{_with_ending(name, ending)} ({_year(stream)})")
    return list(titles)


def _with_ending(name: str, ending: str) -> str:
    """Put the article behind the main title, before a subtitle: ``Lantern, The: Return to Riga``."""
    main, colon, rest = name.partition(": ")
    return main + ending + colon + rest


def _year(stream: np.random.Generator) -> int:
    return max(_OLDEST, _NEWEST - int(stream.exponential(_MEAN_AGE)))


def _name(stream: np.random.Generator, earlier: list[str]) -> tuple[str, str]:
    """Make a name and the article that belongs to it, if any."""

    def pick(words: tuple[str, ...]) -> str:
        return words[int(stream.integers(len(words)))]

    if len(earlier) > 20 and stream.random() < _SEQUEL:
        return f"{earlier[int(stream.integers(len(earlier)))].partition(': ')[0]} {pick(_ORDINALS)}", ""
    pattern = int(stream.choice(len(_PATTERNS), p=_SHARES))
    name, article = _PATTERNS[pattern][1](pick)
    if stream.random() < _SUBTITLE:
        name = f"{name}: {_PATTERNS[int(stream.integers(2, len(_PATTERNS)))][1](pick)[0]}"
    return name, article


def _one_word(pick: Pick) -> tuple[str, str]:
    return pick(NOUNS), ""


def _the_noun(pick: Pick) -> tuple[str, str]:
    return pick(NOUNS), "The"


def _the_adjective_noun(pick: Pick) -> tuple[str, str]:
    return f"{pick(ADJECTIVES)} {pick(NOUNS)}", "The"


def _an_adjective_noun(pick: Pick) -> tuple[str, str]:
    adjective = pick(ADJECTIVES)
    return f"{adjective} {pick(NOUNS)}", "An" if adjective[0] in "AEIOU" else "A"


def _adjective_noun(pick: Pick) -> tuple[str, str]:
    return f"{pick(ADJECTIVES)} {pick(NOUNS)}", ""


def _noun_of_place(pick: Pick) -> tuple[str, str]:
    return f"{pick(NOUNS)} of {pick(PLACES)}", "The"


def _noun_of_the_noun(pick: Pick) -> tuple[str, str]:
    return f"{pick(NOUNS)} of the {pick(NOUNS)}", ""


def _noun_and_noun(pick: Pick) -> tuple[str, str]:
    return f"{pick(NOUNS)} and the {pick(NOUNS)}", "The"


def _owned(pick: Pick) -> tuple[str, str]:
    return f"{pick(NAMES)}'s {pick(NOUNS)}", ""


def _couple(pick: Pick) -> tuple[str, str]:
    return f"{pick(NAMES)} and {pick(NAMES)}", ""


def _person_in_place(pick: Pick) -> tuple[str, str]:
    return f"{pick(NAMES)} in {pick(PLACES)}", ""


def _doing(pick: Pick) -> tuple[str, str]:
    return f"{pick(DOINGS).replace('-', ' ')} {pick(NAMES)}", ""


def _doing_the_noun(pick: Pick) -> tuple[str, str]:
    return f"{pick(DOINGS).replace('-', ' ')} the {pick(ADJECTIVES)} {pick(NOUNS)}", ""


def _days_in_place(pick: Pick) -> tuple[str, str]:
    return f"{pick(NUMBERS)} {pick(('Days', 'Nights', 'Winters', 'Letters', 'Miles'))} in {pick(PLACES)}", ""


# How often each pattern is used, and the pattern.
_PATTERNS: tuple[tuple[int, Callable[[Pick], tuple[str, str]]], ...] = (
    (8, _one_word),
    (8, _the_noun),
    (22, _the_adjective_noun),
    (6, _an_adjective_noun),
    (15, _adjective_noun),
    (5, _noun_of_place),
    (9, _noun_of_the_noun),
    (4, _noun_and_noun),
    (7, _owned),
    (3, _couple),
    (4, _person_in_place),
    (3, _doing),
    (4, _doing_the_noun),
    (2, _days_in_place),
)
_SHARES = np.array([often for often, _ in _PATTERNS], dtype=np.float64) / sum(often for often, _ in _PATTERNS)
