"""Every place in a post where words of a title stand, by one pass of a multi-pattern automaton.

The automaton (ahocorasick-rs, Aho and Corasick 1975) holds every way to say every title, between spaces so that words
match whole. What it finds are candidates; most of them are ordinary words, and `_mentions.evidence` judges them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from recloak._mentions.lexicon import Lexicon
from recloak._mentions.spelling import Speller
from recloak._mentions.text import Words
from recloak._mentions.titles import Title, Way, heroes_of, ways

_MOST_SENSES = 12  # films of one name beyond this are as good as not told apart


@dataclass(frozen=True, slots=True)
class Sense:
    """One film that a run of words may mean, and by which way of saying it."""

    title: int
    loss: float
    kind: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words ``first`` to ``last`` (both included) of a post that may name a film."""

    first: int
    last: int
    key: str
    misspelled: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class TitleIndex:
    """A title list ready for finding."""

    titles: Sequence[Title]
    senses: dict[str, tuple[Sense, ...]]  # by folded words, the least lossy first
    tells: dict[str, float]  # by folded words
    automaton: AhoCorasick
    keys: list[str]
    speller: Speller
    lexicon: Lexicon
    popularity: dict[int | str, float] = field(default_factory=dict)  # share of the most popular, by id


def index_titles(
    titles: Iterable[Title], *, lexicon: Lexicon | None = None, popularity: dict[int | str, float] | None = None
) -> TitleIndex:
    """Prepare a title list; popularity may be counts on any scale."""
    listed, words = tuple(titles), lexicon or Lexicon()
    senses = _senses(listed, words)
    keys = list(senses)
    top = max(popularity.values(), default=1.0) if popularity else 1.0
    return TitleIndex(
        listed,
        senses,
        {key: words.title(key.split()) for key in keys},
        AhoCorasick([f" {key} " for key in keys]),
        keys,
        Speller.of(keys, words),
        words,
        {id_: value / max(top, 1e-12) for id_, value in (popularity or {}).items()},
    )


def _senses(titles: Sequence[Title], lexicon: Lexicon) -> dict[str, tuple[Sense, ...]]:
    found: dict[str, dict[int, Way]] = {}
    heroes = heroes_of(titles)
    for number, title in enumerate(titles):
        for way in ways(title, lexicon, heroes):
            mine = found.setdefault(way.words, {})
            if way.words and (number not in mine or way.loss < mine[number].loss):
                mine[number] = way
    return {key: _ordered(mine) for key, mine in found.items() if mine}


def _ordered(mine: dict[int, Way]) -> tuple[Sense, ...]:
    senses = sorted((Sense(number, way.loss, way.kind) for number, way in mine.items()), key=lambda one: one.loss)
    return tuple(senses[:_MOST_SENSES])


def candidates_in(words: Words, index: TitleIndex) -> list[Candidate]:
    """Find every run of whole words that is a way to say a title, as written, without a final ``'s``, and respelled."""
    found = _run(words.plain, index, misspelled=False)
    owned = (
        [_disowned(words, n) for n in range(len(words))] if "'s" in words.text or "’s" in words.text else words.plain
    )
    if owned != words.plain:
        written = set(found)
        found += [one for one in _run(owned, index, misspelled=False) if one not in written]
    mended = index.speller.mend(owned)
    if mended is not None:
        exact = set(found)
        changed = [n for n, (a, b) in enumerate(zip(owned, mended, strict=True)) if a != b]
        for one in _run(mended, index, misspelled=True):
            touched = any(one.first <= n <= one.last for n in changed)
            if touched and Candidate(one.first, one.last, one.key) not in exact:
                found.append(one)
    return found


def _disowned(words: Words, position: int) -> str:
    """Give a word without its final ``'s``: in ``Inception's ending`` the title is Inception."""
    raw = words.raw(position)
    return words.plain[position][:-1] if raw.endswith(("'s", "’s")) and len(raw) > 3 else words.plain[position]


def _run(plain: Sequence[str], index: TitleIndex, *, misspelled: bool) -> list[Candidate]:
    text = f" {' '.join(plain)} "
    starts, place = {}, 1
    for number, word in enumerate(plain):
        starts[place] = number
        place += len(word) + 1
    found = []
    for pattern, start, _ in index.automaton.find_matches_as_indexes(text, overlapping=True):
        key = index.keys[pattern]
        first = starts[start + 1]
        found.append(Candidate(first, first + key.count(" "), key, misspelled))
    return found
