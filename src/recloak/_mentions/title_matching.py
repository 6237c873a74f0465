"""Every place in a post where the words of a title occur, by one pass of a multi-pattern automaton.

The automaton (ahocorasick-rs, Aho and Corasick 1975) holds every variant of every title, between spaces so that words
match whole. Most matches are ordinary words; `_mentions.evidence` judges them.

Rare words are also matched with their spelling corrected (*redemtion*, *inglorious*, *ratatoullie*): each is compared
(rapidfuzz, optimal string alignment) with title words of the same first letter and nearly the same length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick
from rapidfuzz import process
from rapidfuzz.distance import OSA

from recloak._mentions.text import RARE, Lexicon, Words, is_name, remember
from recloak._mentions.titles import Title, Variant, heroes_of, variants

_MOST_SENSES = 12  # films of one name beyond this are not told apart
_SHORTEST = 5  # letters of a word that is corrected
_LONG = 8  # from here on two errors are forgiven


@dataclass(frozen=True, eq=False, slots=True)
class Speller:
    """Title words by first letter and length, and a cache of corrections."""

    known: frozenset[str]
    by_length: dict[tuple[str, int], list[str]]
    lexicon: Lexicon
    corrections: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: Iterable[str], lexicon: Lexicon) -> Speller:
        """Collect the words of all variants."""
        known = frozenset(word for key in keys for word in key.split())
        by_length: dict[tuple[str, int], list[str]] = {}
        for word in sorted(known):
            if len(word) >= _SHORTEST and word.isalpha() and not is_name(word):
                by_length.setdefault((word[0], len(word)), []).append(word)
        return cls(known, by_length, lexicon)

    def correct(self, plain: Sequence[str]) -> list[str] | None:
        """Return the words with the unknown ones corrected, or None if there is nothing to correct."""
        corrected = [self.corrections.get(word) or self._correct_word(word) for word in plain]
        return corrected if corrected != plain else None

    def _correct_word(self, word: str) -> str:
        unknown = word not in self.known and word.isalpha() and len(word) >= _SHORTEST
        rare = unknown and self.lexicon.word_specificity(word) >= RARE
        return remember(self.corrections, word, self._nearest(word) if rare else word)

    def _nearest(self, word: str) -> str:
        allowed = 2 if len(word) >= _LONG else 1
        lengths = range(len(word) - allowed, len(word) + allowed + 1)
        near = [one for length in lengths for one in self.by_length.get((word[0], length), ())]
        if not near:
            return word
        best = process.extractOne(word, near, scorer=OSA.distance, score_cutoff=allowed)
        return word if best is None else str(best[0])


@dataclass(frozen=True, slots=True)
class Sense:
    """One film that several words may mean, and by which variant of its title."""

    title: int
    loss: float
    kind: str


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """Words ``first`` to ``last`` (both included) of a post that may name a film."""

    first: int
    last: int
    key: str
    misspelled: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class TitleIndex:
    """A title list prepared for matching."""

    titles: Sequence[Title]
    senses: dict[str, tuple[Sense, ...]]  # by folded words, the least lossy first
    specificity: dict[str, float]  # by folded words
    automaton: AhoCorasick
    keys: list[str]
    speller: Speller
    popularity: dict[int | str, float] = field(default_factory=dict)  # share of the most popular, by id


def index_titles(
    titles: Iterable[Title], *, lexicon: Lexicon | None = None, popularity: dict[int | str, float] | None = None
) -> TitleIndex:
    """Prepare a title list; popularity may be counts on any scale."""
    listed, lexicon = tuple(titles), lexicon or Lexicon()
    senses = _senses(listed, lexicon)
    keys = list(senses)
    top = max(popularity.values(), default=1.0) if popularity else 1.0
    return TitleIndex(
        titles=listed,
        senses=senses,
        specificity={key: lexicon.specificity(key.split()) for key in keys},
        automaton=AhoCorasick([f" {key} " for key in keys]),
        keys=keys,
        speller=Speller.of(keys, lexicon),
        popularity={id_: value / max(top, 1e-12) for id_, value in (popularity or {}).items()},
    )


def _senses(titles: Sequence[Title], lexicon: Lexicon) -> dict[str, tuple[Sense, ...]]:
    by_words: dict[str, dict[int, Variant]] = {}
    heroes = heroes_of(titles)
    for number, title in enumerate(titles):
        for variant in variants(title, lexicon, heroes):
            best = by_words.setdefault(variant.words, {})
            if variant.words and (number not in best or variant.loss < best[number].loss):
                best[number] = variant
    return {key: _sorted_senses(best) for key, best in by_words.items() if best}


def _sorted_senses(best: dict[int, Variant]) -> tuple[Sense, ...]:
    senses = sorted((Sense(number, one.loss, one.kind) for number, one in best.items()), key=lambda one: one.loss)
    return tuple(senses[:_MOST_SENSES])


def matches_in(words: Words, index: TitleIndex) -> list[TitleMatch]:
    """Return every match of whole words with a title: as written, without a final ``'s``, and corrected."""
    matches = _match(words.plain, index)
    owned = words.plain
    if "'s" in words.text or "’s" in words.text:
        owned = [_without_possessive(words, n) for n in range(len(words))]
    if owned != words.plain:
        written = set(matches)
        matches += [one for one in _match(owned, index) if one not in written]
    corrected = index.speller.correct(owned)
    if corrected is not None:
        exact = set(matches)
        changed = [n for n, (a, b) in enumerate(zip(owned, corrected, strict=True)) if a != b]
        for one in _match(corrected, index, misspelled=True):
            touched = any(one.first <= n <= one.last for n in changed)
            if touched and TitleMatch(one.first, one.last, one.key) not in exact:
                matches.append(one)
    return matches


def _without_possessive(words: Words, position: int) -> str:
    """Return a word without its final ``'s``: in ``Inception's ending`` the title is Inception."""
    raw = words.raw(position)
    return words.plain[position][:-1] if raw.endswith(("'s", "’s")) and len(raw) > 3 else words.plain[position]


def _match(plain: Sequence[str], index: TitleIndex, *, misspelled: bool = False) -> list[TitleMatch]:
    starts, place = {}, 1
    for number, word in enumerate(plain):
        starts[place] = number
        place += len(word) + 1
    matches = []
    for pattern, start, _ in index.automaton.find_matches_as_indexes(f" {' '.join(plain)} ", overlapping=True):
        key, first = index.keys[pattern], starts[start + 1]
        matches.append(TitleMatch(first, first + key.count(" "), key, misspelled))
    return matches
