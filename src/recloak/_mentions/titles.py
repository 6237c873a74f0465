"""Titles as lists write them, and the variants that people write.

A list writes ``Matrix, The (1999)``, ``Léon: The Professional (a.k.a. The Professional) (Léon) (1994)``,
``Star Wars: Episode IV - A New Hope (1977)``. `parse` splits such a line; `variants` yields every form that people use,
each with a loss: how much less certain the title is in that form.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recloak._mentions.text import COUNTERS, RARE, Lexicon, first_word, fold, fold_all

_YEAR = re.compile(r"\s*\(?\b(1[89]\d\d|20\d\d)(?:\s*[-–/]\s*(?:\d{4})?)?\)\s*$")
_BRACKETS = re.compile(r"\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$")
_KNOWN_AS = re.compile(r"^(?:a\.?\s?k\.?\s?a\.?:?|also known as|aka)\s+", re.IGNORECASE)
_ARTICLE_WORDS = (
    "the a an le la les l' un une des der die das den ein eine el los las una il lo i gli o os as um uma de het een det"
)
_ARTICLES = _ARTICLE_WORDS.split()
_AT_END = re.compile(rf"^(.*\S),\s*({'|'.join(map(re.escape, _ARTICLES))})(?=$|\s*[:(\-–])(.*)$", re.IGNORECASE)
SUBTITLE = re.compile(r"\s*:\s+|\s+[-–—]\s+|\s+/\s+")
_OWNER = re.compile(r"^(?:\w+\.? ){1,2}\w+['’]s?\s+(?=\w+ \w|The )")
_HYPHEN = re.compile(r"(?<=\w)[-·.*](?=\w)")
_DOTTED = re.compile(r"^((?:\w\.){2,})\s")
_COMMA = re.compile(r"[,(]")
FULL_TITLE = "the full title"
BARE_TITLE = "the title without its article"
_CUTS = {"with", "of", "or", "vs", "by", "who", "that", "in", "on"}
_LEET = str.maketrans("013457$", "oieasvs")
_SUPERSCRIPT = re.compile(r"([²³¹])")


@dataclass(frozen=True, slots=True)
class Title:
    """One line of a title list: the id, the names it goes by (the first is the main one), and the year."""

    id: int | str
    names: tuple[str, ...]
    year: int | None
    people: tuple[str, ...] = ()  # who made it or plays in it, as the list writes them

    def __str__(self) -> str:
        return self.names[0] if self.year is None else f"{self.names[0]} ({self.year})"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to write a title: folded words, its loss (0 for the full title), and its kind in plain words."""

    words: str
    loss: float
    kind: str


def parse(id_: int | str, line: str, year: int | None = None) -> Title:
    """Split a line of a title list; a given year wins over one in brackets."""
    rest = line.strip()
    dated = _YEAR.search(rest)
    if dated is not None and dated.start() > 0:
        year, rest = year or int(dated.group(1)), rest[: dated.start()].strip()
    others: list[str] = []
    while rest.endswith(")") and (bracket := _BRACKETS.search(rest)) is not None and bracket.start() > 0:
        others.insert(0, _KNOWN_AS.sub("", bracket.group(1)))
        rest = rest[: bracket.start()].strip()
    names = [article_first(name) for name in (rest, *others) if first_word(name)]
    return Title(id_, tuple(dict.fromkeys(names)) or (line.strip(),), year)


def article_first(name: str) -> str:
    """Move an article from the end to the front: ``Matrix, The`` becomes ``The Matrix``."""
    match = _AT_END.match(name.strip()) if "," in name else None
    if match is None:
        return name.strip()
    main, article, rest = match.groups()
    glue = "" if article.endswith("'") else " "
    return f"{article}{glue}{main}{rest}"


def variants(title: Title, lexicon: Lexicon, heroes: frozenset[str] = frozenset()) -> Iterator[Variant]:
    """Yield the variants of a title, the least lossy first; the same words may come twice.

    ``heroes`` come from `heroes_of`: a title of theirs may be written without the hero (``Prisoner of Azkaban``).
    """
    for position, name in enumerate(title.names):
        extra = 0.0 if position == 0 else 0.4
        yield from _variants_of_name(name if name.isascii() else _SUPERSCRIPT.sub(r" \1", name), extra, lexicon)
        hero, _, adventure = name.partition(" and the ") if heroes else (name, "", "")
        if adventure and hero in heroes and lexicon.specificity(fold_all(adventure)) >= 2.9:
            for words in (fold_all(adventure), ["the", *fold_all(adventure)]):
                yield Variant(" ".join(words), extra + 0.6, "the title without its hero")


def heroes_of(titles: Iterable[Title]) -> frozenset[str]:
    """Return the heroes of series: the words before "and the" in more than one title."""
    counted = Counter(title.names[0].partition(" and the ")[0] for title in titles if " and the " in title.names[0])
    return frozenset(hero for hero, count in counted.items() if count > 1)


def bundles_in(titles: Sequence[Title]) -> frozenset[int]:
    """Return the places of titles that are others put together (``Emma / Persuasion``): who names them means those."""
    split = {n: one.names[0].split(" / ") for n, one in enumerate(titles) if " / " in one.names[0]}
    wanted = {part for parts in split.values() for part in parts}
    single = {one.names[0] for one in titles if one.names[0] in wanted}
    return frozenset(n for n, parts in split.items() if single.issuperset(parts))


def _variants_of_name(name: str, extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    words = fold_all(name)
    yield Variant(" ".join(words), extra, FULL_TITLE)
    yield from _without_article(words, extra, lexicon)
    yield from _numbered(words, extra, lexicon)
    yield from _respelled(name, words, extra)
    yield from _parts(name, extra, lexicon)
    yield from _short(name, words, extra, lexicon)


def _without_article(words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    """Leave out the article, unless one everyday word would be left (``The Help``)."""
    rest = words[1:]
    if words and words[0] in _ARTICLES and rest and (len(rest) > 1 or lexicon.specificity(rest) >= RARE):
        yield Variant(" ".join(rest), extra + 0.3, BARE_TITLE)


def _numbered(words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    """Write ``Godfather 2`` for ``The Godfather: Part II``."""
    if len(words) > 1 and words[-1] in ("vs", "x"):
        number = "5" if words[-1] == "vs" else "10"
        yield Variant(" ".join([*words[:-1], number]), extra + 0.2, "the title with its number")
    if COUNTERS.isdisjoint(words):
        return
    kept = [word for n, word in enumerate(words) if not (word in COUNTERS and n + 1 < len(words) and n > 0)]
    if len(kept) < len(words) and lexicon.specificity(kept) >= 2.5:
        yield Variant(" ".join(kept), extra + 0.3, "the title with its number")
        yield from _without_article(kept, extra + 0.3, lexicon)


def _respelled(name: str, words: list[str], extra: float) -> Iterator[Variant]:
    """Join hyphenated and long names (``Spiderman``, ``pulpfiction``), and read digits as letters (``Se7en``)."""
    joined_up = fold_all(_HYPHEN.sub("", name)) if _HYPHEN.search(name) else words
    if joined_up != words and len("".join(joined_up)) > 3:
        yield Variant(" ".join(joined_up), extra + 0.1, "the title in other spelling")
    if len(words) > 2 and words[-1].isalpha() and len(words[-1]) > 3:
        ending = words[-1][:-1] if words[-1].endswith("s") else words[-1] + "s"
        yield Variant(" ".join([*words[:-1], ending]), extra + 0.6, "the title in other number")
    joined = "".join(words)
    if 2 <= len(words) <= 3 and len(joined) >= 8 and not joined.isdigit():
        yield Variant(joined, extra + 0.4, "the title in one word")
    if any(map(_is_leet, words)):
        read = [fold(word.translate(_LEET)) if _is_leet(word) else word for word in words]
        yield Variant(" ".join(read), extra + 0.2, "the title in plain letters")


def _is_leet(word: str) -> bool:
    return not word.isalpha() and word[0].isalpha() and word[-1].isalpha()


def _parts(name: str, extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    """Keep only the words before a colon, or only the subtitle (``The Two Towers``)."""
    if not SUBTITLE.search(name):
        return
    pieces = [words for piece in SUBTITLE.split(name) if (words := fold_all(piece))]
    if len(pieces) < 2:
        return
    yield Variant(" ".join(pieces[0]), extra + 0.8, "the first part of the title")
    yield from _without_article(pieces[0], extra + 0.8, lexicon)
    if len(pieces) > 2:
        yield Variant(" ".join(pieces[0] + pieces[1]), extra + 0.3, "the title without its end")
        both = [word for word in pieces[0] + pieces[1] if word not in COUNTERS]
        yield Variant(" ".join(both), extra + 0.4, "the title with its number")
    yield from _subtitles(pieces, extra, lexicon)


def _subtitles(pieces: list[list[str]], extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    """Keep a subtitle where it is specific enough and more than a number."""
    for piece in pieces[1:]:
        if not COUNTERS & set(piece) and (len(piece) > 1 and lexicon.specificity(piece) >= 2.9):
            yield Variant(" ".join(piece), extra + 0.6, "the subtitle")
            yield from _without_article(piece, extra + 0.6, lexicon)


def _short(name: str, words: list[str], extra: float, lexicon: Lexicon) -> Iterator[Variant]:
    """Cut a long title short (``Eternal Sunshine``), or leave out its owner (``Life of Brian``)."""
    owned = fold_all(_OWNER.sub("", name)) if "'" in name or "’" in name else words
    if len(owned) < len(words) and lexicon.specificity(owned) >= 2.0:
        yield Variant(" ".join(owned), extra + 0.5, "the title without its owner")
    first = fold_all(_COMMA.split(name)[0]) if "," in name or "(" in name else words
    if len(first) < len(words) and lexicon.specificity(first) >= RARE:
        yield Variant(" ".join(first), extra + 0.7, "the title broken off")
    dotted = _DOTTED.match(name)
    if dotted:
        yield Variant(" ".join(fold_all(dotted.group(1))), extra + 1.0, "the title broken off")
    start = 1 if words and words[0] in _ARTICLES else 0
    cut = next((n for n, word in enumerate(words) if word in _CUTS and n > start), len(words))
    enough = 3.0 if cut - start > 1 and len(words) - cut > 3 else 5.0
    if len(words) - cut >= 2 and lexicon.specificity(words[start:cut]) >= enough:
        yield Variant(" ".join(words[start:cut]), extra + 0.9, "the title broken off")
