"""The words of a post: each folded to a plain form that titles share, with its position in the text; and how specific.

Folding removes accents and apostrophes, lowers letters, writes numbers in digits (``II``, ``two`` and ``2`` are the
same) and ``&`` as ``and``. Capitals, quotes and sentence starts distinguish a title from ordinary words, so the
original text is kept too.

A title made of everyday words is weak evidence when its words occur; a word that is in no list of everyday English,
first names or places is strong evidence. The lists are small and our own; the posts add the words that their writers
often use in small letters.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

_UNSPACED = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # scripts without spaces between words
_LETTERS_OF_WORD = rf"[^\W_{_UNSPACED}]+"
_WORD = re.compile(rf"{_LETTERS_OF_WORD}(?:['’`´]{_LETTERS_OF_WORD})*|[{_UNSPACED}&+]")
_APART = re.compile(f"({_WORD.pattern})")  # splits a text into what is between words, and the words
_ASCII_APART = re.compile(r"([A-Za-z0-9]+(?:['`][A-Za-z0-9]+)*|[&+])")  # the same for plain letters, and faster
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SENTENCE_END = re.compile(r"[.!?:;\n。！？：…]|(?<!\w)[-–—*•](?!\w)|\d[.)]\s*$")
_APOSTROPHES = str.maketrans("", "", "'’`´")
_UNFOLDED = str.maketrans(
    {"ø": "o", "Ø": "o", "æ": "ae", "Æ": "ae", "ß": "ss", "ł": "l", "Ł": "l", "đ": "d", "þ": "th"}
)
_SPELLED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_ROMAN = ["ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii", "xiii"]
_NUMBERS = {word: str(n) for n, word in enumerate(_SPELLED.split())} | dict(
    zip(_ROMAN, ["2", "3", "4", "6", "7", "8", "9", "11", "12", "13"], strict=True)
)
LONGEST_CACHED, MOST_CACHED = 40, 100_000  # letters of a word, and words, that a cache of words may hold
_LETTERS = {"i": "1", "vs": "5", "x": "10"}
COUNTERS = frozenset({"part", "vol", "chapter", "episode"})
_ALIASES = {"&": "and", "+": "and", "versus": "vs", "v": "vs", "pt": "part", "volume": "vol", "mister": "mr"} | _NUMBERS
_FOLDER = Path(__file__).parent / "words"
FUNCTION, EVERYDAY, NUMBER, NAME, UNCOMMON, RARE = 0.3, 1.5, 1.2, 2.2, 2.8, 4.0  # specificity of one word
_IDEOGRAPH, _KANA, _HANGUL = 1.4, 0.8, 1.2  # specificity of one sign where each sign counts as a word
_SHORT_FOREIGN = 5  # letters up to which a word in another alphabet may be an everyday one: there is no list of these
MOST = 6.5  # specificity of a title at most
Value = TypeVar("Value")
_FOLDED: dict[str, str] = {}  # the plain forms of words seen lately
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "est", "y")


def fold(word: str) -> str:
    """Return the plain form of one word; very long words are not cached."""
    known = _FOLDED.get(word)
    return remember(_FOLDED, word, _fold(word)) if known is None else known


def _fold(word: str) -> str:
    plain = word.translate(_APOSTROPHES).lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain.translate(_UNFOLDED))
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _ALIASES.get(plain, plain)


def fold_all(text: str) -> list[str]:
    """Return the plain forms of a text's words."""
    return _number_letters([fold(word) for word in _WORD.findall(text)])


def first_word(text: str) -> str:
    """Return the plain form of a text's first word, or nothing if it has none."""
    found = _WORD.search(text)
    return "" if found is None else fold(found.group())


def _number_letters(plain: list[str]) -> list[str]:
    """Replace a single Roman letter after a counting word (``Episode V``) by its number."""
    if not COUNTERS.isdisjoint(plain):
        for n in range(1, len(plain)):
            if plain[n] in _LETTERS and plain[n - 1] in COUNTERS:
                plain[n] = _LETTERS[plain[n]]
    return plain


@dataclass(slots=True)
class Words:
    """The words of one post."""

    text: str
    plain: list[str]  # folded
    spans: list[tuple[int, int]]  # in the text
    begins: list[bool]  # True where a sentence begins
    cased: bool  # the writer uses capitals, so small letters are a sign against a title
    shouted: bool  # nearly everything is in capitals, so they are no sign
    capitals: bool = True  # there is a capital inside a sentence, beside "I": the writer marks names

    def __len__(self) -> int:
        return len(self.plain)

    def raw(self, position: int) -> str:
        """Return a word as written."""
        start, end = self.spans[position]
        return self.text[start:end]

    def capital(self, position: int) -> bool:
        """Return True if a word begins with a capital."""
        return self.text[self.spans[position][0]].isupper()

    def gap(self, position: int) -> str:
        """Return the text between a word and the next one."""
        return self.text[self.spans[position][1] : self.spans[position + 1][0]]


def words_of(text: str) -> Words:
    """Split a post into words."""
    parts = (_ASCII_APART if text.isascii() else _APART).split(text)  # between, word, between, word, ..., between
    raws, ends = parts[1::2], list(itertools.accumulate(map(len, parts)))
    spans = list(zip(ends[0:-1:2], ends[1::2], strict=True))
    begins = _sentence_begins(raws, parts[0::2])
    plain = _number_letters([_FOLDED.get(raw) or fold(raw) for raw in raws])
    if text.islower():
        return Words(text, plain, spans, begins, cased=False, shouted=False, capitals=False)
    letters = [raw for raw in raws if raw[0].isalpha()]
    capitals = [raw for raw in letters if raw[0].isupper()]
    shouted = len(letters) > 3 and sum(map(str.isupper, capitals)) > 0.6 * len(letters)
    title_case = len(letters) > 5 and len(capitals) > 0.8 * len(letters)
    cased = _is_cased(text, raws, begins)
    inner = any(raw[0].isupper() and raw[0] != "I" for raw, begin in zip(raws, begins, strict=True) if not begin)
    return Words(text, plain, spans, begins, cased, shouted or title_case, inner)


def _sentence_begins(raws: list[str], between: list[str]) -> list[bool]:
    """Return True for each word that begins a sentence or an item; ``between`` has what stands before each word."""
    begins = [
        gap != " " and (_SENTENCE_END.search(gap) is not None or (n > 0 and _is_enumerated(raws[n - 1], gap)))
        for n, gap in enumerate(between[: len(raws)])
    ]
    begins[:1] = [True] * bool(raws)
    return begins


def _is_enumerated(raw: str, between: str) -> bool:
    """Return True after the number or letter of an item: ``2) Fargo``, ``b) clue``."""
    return between[:1] == ")" and (len(raw) == 1 or (raw.isdigit() and len(raw) == 2))


def _is_cased(text: str, raws: list[str], begins: list[bool]) -> bool:
    """Return True if the writer begins sentences with capitals and writes "I" with one."""
    if "i" in raws:
        return False
    if ("i'" in text or "i’" in text) and any(raw.startswith(("i'", "i’")) for raw in raws):
        return False
    return bool(raws) and begins[0] and raws[0][0].isupper() and not text.isupper()


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
    return words_in("common") | words_in("function") | words_in("netspeak")


@cache
def phrases() -> frozenset[str]:
    """Return everyday phrases that are also titles: *the others*, *good bye*."""
    return frozenset((_FOLDER / "phrases.txt").read_text(encoding="utf-8").splitlines())


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
        if not word.isascii() and (sign := _foreign_specificity(word)) is not None:
            return sign
        if word in words_in("function") or len(word) == 1:
            return FUNCTION
        if word[0].isdigit():
            return NUMBER
        if is_name(word):
            return EVERYDAY if word in words_in("common") else NAME
        if word in words_in("uncommon"):
            return UNCOMMON
        return EVERYDAY if self.is_everyday(word) else RARE

    def is_everyday(self, word: str) -> bool:
        """Return True if a word, or its stem, is everyday English."""
        return word in _everyday() or word in self.post_words or any(_stems(word, _everyday()))

    def specificity(self, words: Sequence[str]) -> float:
        """Return the specificity of several words together; a final number and a row of initials add to it."""
        total = sum(map(self.word_specificity, words))
        if 0 < len(words) <= 2 and _IS_UNSPACED.match(words[0]):
            total -= 0.8  # two signs are seldom more than one everyday word
        if len(words) > 1 and words[-1].isdigit():
            total += 1.0
        if len(words) > 1 and all(len(word) == 1 and word.isascii() for word in words):
            total += 2.5
        return min(total, MOST)


def _foreign_specificity(word: str) -> float | None:
    """Return the specificity of a word in another script than Latin, or None: Latin letters are in the lists."""
    if _IS_UNSPACED.match(unicodedata.normalize("NFKC", word)):
        first = ord(unicodedata.normalize("NFKC", word)[0])
        return _KANA if first < 0x3100 else _HANGUL if first >= 0xAC00 else _IDEOGRAPH
    if unicodedata.name(word[0], "").startswith("LATIN"):
        return None
    return EVERYDAY if len(word) <= _SHORT_FOREIGN else NAME


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
