"""Every place in a post where the words of a title occur.

Every distinct word of the title list is one sign of a private alphabet, so a variant of a title is a short string of
signs and a post is another; a dictionary finds each run of the post that is a variant. Most matches are ordinary words;
`_mentions.evidence` judges them.

Rare words are also matched with their spelling corrected (*redemtion*, *inglorious*, *ratatoullie*): each is compared
(rapidfuzz, optimal string alignment) with title words of the same first letter and nearly the same length.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from recloak._mentions.domains import Domain, domains
from recloak._mentions.series import alias_variants, series_variants
from recloak._mentions.text import MOST_CACHED, RARE, Lexicon, Words, is_name, remember
from recloak._mentions.titles import Title, Variant, bundles_in, heroes_of, variants

_MOST_SENSES = 12  # titles of one name beyond this are not told apart
_LONGEST = 20  # words of a variant that is looked up
_SHORTEST = 5  # letters of a word that is corrected
_LONG = 8  # from here on two errors are forgiven
_UNKNOWN = "\0"  # the sign of a word that is in no title
_FIRST_SIGN = 0x21
_SURROGATES = range(0xD800, 0xE000)  # signs that no text may hold


@dataclass(frozen=True, eq=False, slots=True)
class Speller:
    """Title words by first letter and length, and a cache of corrections."""

    signs: dict[str, str]
    by_length: dict[tuple[str, int], list[str]]
    lexicon: Lexicon
    corrections: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, signs: dict[str, str], lexicon: Lexicon) -> Speller:
        """Collect the words that others may be corrected to."""
        by_length: dict[tuple[str, int], list[str]] = {}
        for word in sorted(signs):
            if len(word) >= _SHORTEST and word.isalpha() and not is_name(word):
                by_length.setdefault((word[0], len(word)), []).append(word)
        return cls(signs, by_length, lexicon)

    def correct(self, plain: Sequence[str]) -> list[str] | None:
        """Return the words with the unknown ones corrected, or None if there is nothing to correct."""
        signs, corrections = self.signs, self.corrections
        unknown = [n for n, word in enumerate(plain) if word not in signs and len(word) >= _SHORTEST]
        corrected = list(plain) if unknown else []
        for n in unknown:
            word = plain[n]
            corrected[n] = corrections.get(word) or self._correct_word(word)
        return corrected if unknown and corrected != plain else None

    def _correct_word(self, word: str) -> str:
        rare = word.isalpha() and self.lexicon.word_specificity(word) >= RARE and not self._is_compound(word)
        return remember(self.corrections, word, self._nearest(word) if rare else word)

    def _is_compound(self, word: str) -> bool:
        """Return True for two everyday words in one, such as *nightstand*: it is spelled as meant."""
        everyday = self.lexicon.is_everyday
        return any(everyday(word[:n]) and everyday(word[n:]) for n in range(4, len(word) - 3))

    def _nearest(self, word: str) -> str:
        allowed = 2 if len(word) >= _LONG else 1
        lengths = range(len(word) - allowed, len(word) + allowed + 1)
        near = [one for length in lengths for one in self.by_length.get((word[0], length), ())]
        if not near:
            return word
        best = process.extractOne(word, near, scorer=OSA.distance, score_cutoff=allowed)
        return word if best is None else str(best[0])


class Sense(NamedTuple):
    """One title that several words may mean, and by which variant of it."""

    title: int
    loss: float
    kind: str


class Preferred(NamedTuple):
    """The title that several words mean where nothing near them tells, and what that says of the match."""

    sense: Sense
    weight: float
    reason: str


class TitleMatch(NamedTuple):
    """Words ``first`` to ``last`` (both included) of a post that may name a title."""

    first: int
    last: int
    pattern: int  # number of the variant in the index
    key: str
    misspelled: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class TitleIndex:
    """A title list prepared for matching."""

    titles: Sequence[Title]
    signs: dict[str, str]  # by folded word
    patterns: dict[str, int]  # by the signs of a variant
    longest: dict[str, int]  # by the first two signs: words of the longest variant that begins with them
    specificity: array[float]  # by pattern
    sense_starts: array[int]  # by pattern: where its senses begin
    sense_titles: array[int]
    sense_losses: array[float]
    sense_kinds: array[int]
    kinds: tuple[str, ...]
    speller: Speller
    domain: Domain
    popularity: dict[int | str, float] = field(default_factory=dict)  # share of the most popular, by id
    looked_up: dict[int, list[Sense]] = field(default_factory=dict)  # senses by pattern, the last ones used
    shares: dict[int, float] = field(default_factory=dict)  # by title: its popularity once it was looked up
    people: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # by title, once looked up
    peopled: dict[int, list[Sense]] = field(default_factory=dict)  # by pattern, once looked up: senses with people
    preferred: dict[tuple[int, int | None], Preferred] = field(default_factory=dict)  # by pattern and year of the post

    def senses(self, pattern: int) -> list[Sense]:
        """Return the titles that a variant may mean, the least lossy first."""
        known = self.looked_up.get(pattern)
        if known is None:
            if len(self.looked_up) >= MOST_CACHED:
                self.looked_up.clear()
            known = self.looked_up[pattern] = self._senses(pattern)
        return known

    def _senses(self, pattern: int) -> list[Sense]:
        places = range(self.sense_starts[pattern], self.sense_starts[pattern + 1])
        return [Sense(self.sense_titles[n], self.sense_losses[n], self.kinds[self.sense_kinds[n]]) for n in places]


def index_titles(
    titles: Iterable[Title],
    *,
    lexicon: Lexicon | None = None,
    popularity: dict[int | str, float] | None = None,
    domain: Domain | None = None,
    aliases: Sequence[tuple[str, int | str]] = (),
) -> TitleIndex:
    """Prepare a title list; popularity may be counts on any scale, an alias names a title by its id."""
    listed, lexicon = tuple(titles), lexicon or Lexicon()
    collected = _Collected(lexicon)
    heroes = heroes_of(listed)
    bundles = bundles_in(listed)
    for number, title in enumerate(listed):
        for variant in variants(title, lexicon, heroes) if number not in bundles else ():
            collected.add(number, variant)
    for number, variant in (*series_variants(listed, lexicon), *alias_variants(listed, aliases)):
        collected.add(number, variant)
    top = max(popularity.values(), default=1.0) if popularity else 1.0
    shares = {id_: value / max(top, 1e-12) for id_, value in (popularity or {}).items()}
    return collected.index(listed, domain or domains()["films"], shares)


class _Collected:
    """The variants of a title list while they are read: compact, for there may be millions."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.signs: dict[str, str] = {}
        self.patterns: dict[str, int] = {}
        self.specificity = array("f")
        self.longest: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.sense_patterns, self.sense_titles = array("I"), array("I")
        self.sense_losses, self.sense_kinds = array("f"), array("B")

    def add(self, number: int, variant: Variant) -> None:
        words = variant.words.split()
        if not words or len(words) > _LONGEST:
            return
        key = "".join([self.signs.get(word) or self._new_sign(word) for word in words])
        pattern = self.patterns.setdefault(key, len(self.patterns))
        if pattern == len(self.specificity):
            self.specificity.append(self.lexicon.specificity(words))
            if len(words) > 1 and self.longest.get(key[:2], 0) < len(words):
                self.longest[key[:2]] = len(words)
        self.sense_patterns.append(pattern)
        self.sense_titles.append(number)
        self.sense_losses.append(variant.loss)
        self.sense_kinds.append(self.kinds.setdefault(variant.kind, len(self.kinds)))

    def _new_sign(self, word: str) -> str:
        place = _FIRST_SIGN + len(self.signs)
        if place >= _SURROGATES.start:
            place += len(_SURROGATES)
        self.signs[word] = chr(place)
        return self.signs[word]

    def index(self, titles: tuple[Title, ...], domain: Domain, popularity: dict[int | str, float]) -> TitleIndex:
        pattern, title = np.array(self.sense_patterns), np.array(self.sense_titles)
        loss, kind = np.array(self.sense_losses), np.array(self.sense_kinds)
        order, starts = _ordered_senses(len(self.patterns), pattern, title, loss)
        return TitleIndex(
            titles=titles,
            signs=self.signs,
            patterns=self.patterns,
            longest=self.longest,
            specificity=self.specificity,
            sense_starts=array("I", starts.astype(np.uint32).tobytes()),
            sense_titles=array("I", title[order].tobytes()),
            sense_losses=array("f", loss[order].tobytes()),
            sense_kinds=array("B", kind[order].tobytes()),
            kinds=tuple(self.kinds),
            speller=Speller.of(self.signs, self.lexicon),
            domain=domain,
            popularity=popularity,
        )


def _ordered_senses(
    n: int, pattern: NDArray[np.uint32], title: NDArray[np.uint32], loss: NDArray[np.float32]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the order that puts the senses of each pattern together, the least lossy first, and where each begins."""
    order = np.lexsort((loss, title, pattern))
    first = np.ones(len(order), bool)
    first[1:] = (pattern[order][1:] != pattern[order][:-1]) | (title[order][1:] != title[order][:-1])
    order = order[first]  # each title once per pattern, by its least lossy variant
    order = order[np.lexsort((title[order], loss[order], pattern[order]))]
    starts = np.searchsorted(pattern[order], np.arange(n + 1))
    rank = np.arange(len(order)) - starts[pattern[order]]
    order = order[rank < _MOST_SENSES]
    return order, np.searchsorted(pattern[order], np.arange(n + 1))


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
        changed = {n for n, (a, b) in enumerate(zip(owned, corrected, strict=True)) if a != b}
        found = _match(corrected, index, misspelled=True)
        matches += [one for one in found if not changed.isdisjoint(range(one.first, one.last + 1))]
    return matches


def _without_possessive(words: Words, position: int) -> str:
    """Return a word without its final ``'s``: in ``Inception's ending`` the title is Inception."""
    raw = words.raw(position)
    return words.plain[position][:-1] if raw.endswith(("'s", "’s")) and len(raw) > 3 else words.plain[position]


def _match(plain: Sequence[str], index: TitleIndex, *, misspelled: bool = False) -> list[TitleMatch]:
    signs, pattern_of, longest = index.signs, index.patterns.get, index.longest.get
    text = "".join([signs.get(word, _UNKNOWN) for word in plain])
    matches = []
    for first, sign in enumerate(text):
        pattern = pattern_of(sign)
        if pattern is not None:
            matches.append(TitleMatch(first, first, pattern, plain[first], misspelled))
        most = longest(text[first : first + 2])
        if most is None:
            continue
        for end in range(first + 2, min(first + most, len(text)) + 1):
            pattern = pattern_of(text[first:end])
            if pattern is not None:
                matches.append(TitleMatch(first, end - 1, pattern, " ".join(plain[first:end]), misspelled))
    return matches
