"""Titles as lists write them, and the ways in which people say them.

A list writes ``Matrix, The (1999)``, ``Léon: The Professional (a.k.a. The Professional) (Léon) (1994)``,
``Star Wars: Episode IV - A New Hope (1977)``. `parse` takes such a line apart; `ways` gives every form that people use,
each with how much is lost by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recloak._mentions.lexicon import RARE, Lexicon
from recloak._mentions.text import COUNTERS, fold, fold_all

_YEAR = re.compile(r"\s*\(?\b(1[89]\d\d|20\d\d)(?:\s*[-–/]\s*(?:\d{4})?)?\)\s*$")
_BRACKETS = re.compile(r"\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$")
_KNOWN_AS = re.compile(r"^(?:a\.?\s?k\.?\s?a\.?:?|also known as|aka)\s+", re.IGNORECASE)
_ARTICLES = [
    "the",
    "a",
    "an",
    "le",
    "la",
    "les",
    "l'",
    "un",
    "une",
    "des",
    "der",
    "die",
    "das",
    "den",
    "ein",
    "eine",
    "el",
    "los",
    "las",
    "una",
    "il",
    "lo",
    "i",
    "gli",
    "o",
    "os",
    "as",
    "um",
    "uma",
    "de",
    "het",
    "een",
    "det",
]
_AT_END = re.compile(rf"^(.*\S),\s*({'|'.join(map(re.escape, _ARTICLES))})(?=$|\s*[:(\-–])(.*)$", re.IGNORECASE)
_SUBTITLE = re.compile(r"\s*:\s+|\s+[-–—]\s+|\s+/\s+")
_OWNER = re.compile(r"^(?:\w+\.? ){1,2}\w+['’]s?\s+(?=\w+ \w|The )")
_CUTS = {"with", "of", "or", "vs", "by", "who", "that", "in", "on"}
_LEET = str.maketrans("013457$", "oieasvs")
_SUPERSCRIPT = re.compile(r"([²³¹])")


@dataclass(frozen=True, slots=True)
class Title:
    """One line of a title list: the id, the names it goes by (the first is the main one), and the year."""

    id: int | str
    names: tuple[str, ...]
    year: int | None

    def __str__(self) -> str:
        return self.names[0] if self.year is None else f"{self.names[0]} ({self.year})"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to say a title: folded words, what is lost by it (0: nothing), and the kind in plain words."""

    words: str
    loss: float
    kind: str


def parse(id_: int | str, line: str, year: int | None = None) -> Title:
    """Take a line of a title list apart; a year given apart wins over one in brackets."""
    rest = line.strip()
    found = _YEAR.search(rest)
    if found is not None and found.start() > 0:
        year, rest = year or int(found.group(1)), rest[: found.start()].strip()
    others: list[str] = []
    while (bracket := _BRACKETS.search(rest)) is not None and bracket.start() > 0:
        others.insert(0, _KNOWN_AS.sub("", bracket.group(1)))
        rest = rest[: bracket.start()].strip()
    names = [article_first(name) for name in (rest, *others) if fold_all(name)]
    return Title(id_, tuple(dict.fromkeys(names)) or (line.strip(),), year)


def article_first(name: str) -> str:
    """Bring an article from the end to the front: ``Matrix, The`` becomes ``The Matrix``."""
    found = _AT_END.match(name.strip())
    if found is None:
        return name.strip()
    main, article, rest = found.groups()
    glue = "" if article.endswith("'") else " "
    return f"{article}{glue}{main}{rest}"


def ways(title: Title, lexicon: Lexicon, heroes: frozenset[str] = frozenset()) -> Iterator[Way]:
    """Give the ways to say a title, the least lossy first; the same words may come twice.

    ``heroes`` are those of `heroes_of`: after one of them the adventure alone may stand (``Prisoner of Azkaban``).
    """
    for position, name in enumerate(title.names):
        extra = 0.0 if position == 0 else 0.4
        yield from _ways_of_name(_SUPERSCRIPT.sub(r" \1", name), extra, lexicon)
        hero, _, adventure = name.partition(" and the ")
        if adventure and hero in heroes and lexicon.title(fold_all(adventure)) >= 2.9:
            yield Way(" ".join(fold_all(adventure)), extra + 0.6, "the title without its hero")
            yield Way(" ".join(["the", *fold_all(adventure)]), extra + 0.6, "the title without its hero")


def heroes_of(titles: Iterable[Title]) -> frozenset[str]:
    """Give what stands before "and the" in more than one title: the hero of a series."""
    counted = Counter(title.names[0].partition(" and the ")[0] for title in titles if " and the " in title.names[0])
    return frozenset(hero for hero, count in counted.items() if count > 1)


def _ways_of_name(name: str, extra: float, lexicon: Lexicon) -> Iterator[Way]:
    words = fold_all(name)
    yield Way(" ".join(words), extra, "the full title")
    yield from _without_article(words, extra, lexicon)
    yield from _numbered(words, extra, lexicon)
    yield from _respelled(name, words, extra)
    yield from _parts(name, extra, lexicon)
    yield from _short(name, words, extra, lexicon)


def _without_article(words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Way]:
    """Leave out the article, unless one everyday word would be left (``The Help``)."""
    rest = words[1:]
    if words and words[0] in _ARTICLES and rest and (len(rest) > 1 or lexicon.title(rest) >= RARE):
        yield Way(" ".join(rest), extra + 0.3, "the title without its article")


def _numbered(words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Way]:
    """Say ``Godfather 2`` for ``The Godfather: Part II``."""
    if len(words) > 1 and words[-1] in ("vs", "x"):
        yield Way(" ".join([*words[:-1], "5" if words[-1] == "vs" else "10"]), extra + 0.2, "the title with its number")
    kept = [word for n, word in enumerate(words) if not (word in COUNTERS and n + 1 < len(words) and n > 0)]
    if len(kept) < len(words) and lexicon.title(kept) >= 2.5:
        yield Way(" ".join(kept), extra + 0.3, "the title with its number")
        yield from _without_article(kept, extra + 0.3, lexicon)


def _respelled(name: str, words: list[str], extra: float) -> Iterator[Way]:
    """Write hyphened and long names in one (``Spiderman``, ``pulpfiction``), and read digits as letters (``Se7en``)."""
    hyphened = fold_all(re.sub(r"(?<=\w)[-·.*](?=\w)", "", name))
    if hyphened != words and len("".join(hyphened)) > 3:
        yield Way(" ".join(hyphened), extra + 0.1, "the title in other spelling")
    if len(words) > 2 and words[-1].isalpha() and len(words[-1]) > 3:
        ending = words[-1][:-1] if words[-1].endswith("s") else words[-1] + "s"
        yield Way(" ".join([*words[:-1], ending]), extra + 0.6, "the title in other number")
    joined = "".join(words)
    if 2 <= len(words) <= 3 and len(joined) >= 8 and not joined.isdigit():
        yield Way(joined, extra + 0.4, "the title in one word")
    read = [fold(word.translate(_LEET)) if _is_leet(word) else word for word in words]
    if read != words:
        yield Way(" ".join(read), extra + 0.2, "the title in plain letters")


def _is_leet(word: str) -> bool:
    return any(sign.isdigit() or sign == "$" for sign in word[1:-1]) and word[0].isalpha() and word[-1].isalpha()


def _parts(name: str, extra: float, lexicon: Lexicon) -> Iterator[Way]:
    """Name only what stands before a colon, or only the subtitle (``The Two Towers``)."""
    pieces = [fold_all(piece) for piece in _SUBTITLE.split(name)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2:
        return
    yield Way(" ".join(pieces[0]), extra + 0.8, "the first part of the title")
    yield from _without_article(pieces[0], extra + 0.8, lexicon)
    if len(pieces) > 2:
        yield Way(" ".join(pieces[0] + pieces[1]), extra + 0.3, "the title without its end")
        both = [word for word in pieces[0] + pieces[1] if word not in COUNTERS]
        yield Way(" ".join(both), extra + 0.4, "the title with its number")
    yield from _subtitles(pieces, extra, lexicon)


def _subtitles(pieces: list[list[str]], extra: float, lexicon: Lexicon) -> Iterator[Way]:
    """Take a subtitle for the whole where it tells enough and does more than count."""
    for piece in pieces[1:]:
        if not COUNTERS & set(piece) and (len(piece) > 1 and lexicon.title(piece) >= 2.9):
            yield Way(" ".join(piece), extra + 0.6, "the subtitle")
            yield from _without_article(piece, extra + 0.6, lexicon)


def _short(name: str, words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Way]:
    """Break off a long title (``Eternal Sunshine``), or leave out its owner (``Life of Brian``)."""
    owned = fold_all(_OWNER.sub("", name))
    if len(owned) < len(words) and lexicon.title(owned) >= 2.0:
        yield Way(" ".join(owned), extra + 0.5, "the title without its owner")
    first = fold_all(re.split(r"[,(]", name)[0])
    if len(first) < len(words) and lexicon.title(first) >= RARE:
        yield Way(" ".join(first), extra + 0.7, "the title broken off")
    dotted = re.match(r"^((?:\w\.){2,})\s", name)
    if dotted:
        yield Way(" ".join(fold_all(dotted.group(1))), extra + 1.0, "the title broken off")
    start = 1 if words and words[0] in _ARTICLES else 0
    cut = next((n for n, word in enumerate(words) if word in _CUTS and n > start), len(words))
    enough = 3.0 if cut - start > 1 and len(words) - cut > 3 else 5.0
    if len(words) - cut >= 2 and lexicon.title(words[start:cut]) >= enough:
        yield Way(" ".join(words[start:cut]), extra + 0.9, "the title broken off")
