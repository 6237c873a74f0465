"""Short names of titles: numbers within a series, initials, well-known nicknames, and a table of the caller's own.

People write ``Harry Potter 3``, ``LOTR``, ``bttf 2`` and ``T2``. Numbers and initials are made from the titles where
several share their first part; nicknames that cannot be made are listed in words/aliases.tsv with the title they mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from recloak._mentions.text import COUNTERS, RARE, Lexicon, first_word, fold_all
from recloak._mentions.titles import SUBTITLE, Title, Variant, parse

_NICKNAMES = Path(__file__).parent / "words" / "aliases.tsv"
_LONG_ENOUGH = 4  # letters from which initials alone can name a title
_ENOUGH = 3  # titles from which a series is numbered by year
_NICKNAME_LOSS, _NUMBER_LOSS, _INITIALS_LOSS = 0.3, 0.5, 0.9
_ARTICLES = ("the", "a", "an")
_SEPARATORS = " -./&+_"


def series_variants(titles: Sequence[Title], lexicon: Lexicon) -> Iterator[tuple[int, Variant]]:
    """Yield the numbers and initials of series, and the initials of long titles, each with its title's number."""
    for name, members in _series(titles).items():
        yield from _numbered(name, members, titles, lexicon)
    for number, title in enumerate(titles):
        name = title.names[0]
        if sum(map(name.count, _SEPARATORS)) + 1 < _LONG_ENOUGH:
            continue  # too few words, seen without folding them
        initials = _initials(fold_all(SUBTITLE.split(name)[0]))
        if len(initials) >= _LONG_ENOUGH and lexicon.word_specificity(initials) >= RARE:
            yield number, Variant(initials, _INITIALS_LOSS, "its initials")


def alias_variants(
    titles: Sequence[Title], aliases: Sequence[tuple[str, int | str]] = ()
) -> Iterator[tuple[int, Variant]]:
    """Yield the caller's aliases, by id, and the well-known nicknames of titles in the list."""
    by_id = {str(title.id): number for number, title in enumerate(titles)} if aliases else {}
    for alias, id_ in aliases:
        if str(id_) in by_id:
            yield by_id[str(id_)], Variant(" ".join(fold_all(alias)), 0.0, "an alias of the title")
    nicknames = _nicknames()
    beginnings = {name.partition(" ")[0] for name in nicknames}
    for number, title in enumerate(titles):
        for name in title.names:
            if first_word(name) not in beginnings:
                continue  # seen without folding the whole name
            for alias, year in nicknames.get(" ".join(fold_all(name)), ()):
                if year is None or title.year is None or abs(year - title.year) <= 1:
                    yield number, Variant(alias, _NICKNAME_LOSS, "a nickname of the title")


@cache
def _nicknames() -> dict[str, tuple[tuple[str, int | None], ...]]:
    """Return nickname and year by the folded name of the title that it means."""
    by_name: dict[str, tuple[tuple[str, int | None], ...]] = {}
    for line in _NICKNAMES.read_text(encoding="utf-8").splitlines():
        alias, _, meant = line.partition("\t")
        title = parse(0, meant)
        name = " ".join(fold_all(title.names[0]))
        by_name[name] = (*by_name.get(name, ()), (" ".join(fold_all(alias)), title.year))
    return by_name


def _series(titles: Iterable[Title]) -> dict[str, list[int]]:
    """Return the titles, by number, that share the part before a colon or before "and the"."""
    by_part: dict[str, list[int]] = defaultdict(list)
    for number, title in enumerate(titles):
        name = title.names[0]
        first = SUBTITLE.split(name)[0].partition(" and the ")[0]
        if len(first) < len(name):
            by_part[" ".join(fold_all(first))].append(number)
    return {part: members for part, members in by_part.items() if len(members) > 1}


def _numbered(
    name: str, members: list[int], titles: Sequence[Title], lexicon: Lexicon
) -> Iterator[tuple[int, Variant]]:
    words = [word for n, word in enumerate(name.split()) if n > 0 or word not in _ARTICLES]
    short = _initials(words)
    usable = len(short) > 1 and not words[-1].isdigit()
    if usable and len(short) >= 3 and lexicon.word_specificity(short) >= RARE:
        for number in members:
            yield number, Variant(short, 1.2, "the initials of its series")
    dated = sorted(members, key=lambda number: (titles[number].year or 0, number))
    years = [titles[number].year for number in dated]
    if not usable or len(dated) < _ENOUGH or None in years or any(_has_number(titles[n], name) for n in dated):
        return
    for place, number in enumerate(dated, 1):
        for written in (" ".join(words), short):
            yield number, Variant(f"{written} {place}", _NUMBER_LOSS, "its number in the series")
        yield number, Variant(f"{short}{place}", _NUMBER_LOSS, "its number in the series")


def _has_number(title: Title, name: str) -> bool:
    """Return True if a number follows the name of the series, or a word such as *episode*."""
    rest = fold_all(title.names[0])[len(name.split()) :]
    return bool(rest) and (rest[0].isdigit() or (rest[0] in COUNTERS and rest[1:2] != [] and rest[1].isdigit()))


def _initials(words: Sequence[str]) -> str:
    kept = words[1:] if words and words[0] in _ARTICLES and len(words) > _LONG_ENOUGH else words
    return "".join(word[0] for word in kept) if len(kept) > 1 and all(word.isascii() for word in kept) else ""
