"""Find the titles in one post: what each match means, how sure it is, and which of two overlapping ones stays."""

import math
from dataclasses import dataclass

from recloak._mentions.evidence import Evidence, is_talk, possessive, weigh
from recloak._mentions.listing import MOST_GAINED, JudgedMatch, is_item, weigh_neighbours
from recloak._mentions.namesakes import choose_sense, weigh_popularity
from recloak._mentions.opinions import is_held, opinion_of
from recloak._mentions.surroundings import is_described, years_in
from recloak._mentions.text import EVERYDAY, FUNCTION, Words, words_in, words_of
from recloak._mentions.title_matching import TitleIndex, TitleMatch, matches_in
from recloak._mentions.titles import BARE_TITLE

_DETERMINERS = words_in("determiners")
SURE, POSSIBLE = 0.7, -1.1  # log odds
_POPULAR_GAIN = 1.1
_AT_MOST_POSSIBLE = -0.5
_FIRM = 5.5  # specificity of a title that is hardly anything else
_LOW = POSSIBLE - _POPULAR_GAIN  # odds below which only a year, a list or a maker's name can lift a match
_HOPELESS = _LOW - MOST_GAINED


@dataclass(frozen=True, slots=True)
class FoundTitle:
    """One title found in a post, at ``start`` to ``end`` of its text."""

    title: int  # position in the title list: the index's ``titles[title].id`` is its item
    start: int
    end: int
    text: str
    confidence: float
    tier: str  # sure, or possible: a person should confirm it
    reason: str
    others: tuple[int, ...] = ()  # positions of the other titles that the same words may mean, the likeliest first
    held: bool = True  # False where the writer says that they have not seen, read or played it
    opinion: float | None = None  # from -1 to 1 where the post tells what the writer thinks of it


def find_titles(text: str, index: TitleIndex, *, posted: int | None = None) -> list[FoundTitle]:
    """Return the titles that one post, written in the year ``posted``, names, in the order of the text.

    A short post costs about 0.3 ms, and one written to be slow about 17 ms per 1,000 characters, so a service bounds
    the length. Threads may share an index.
    """
    words = words_of(text)
    matches = [one for one in matches_in(words, index) if not _is_ordinary(words, one, index)]
    matches = _without_inner(matches, index)
    if not matches:
        return []
    talk, years = is_talk(words, index), years_in(words)
    judged = []
    for one in matches:
        evidence = weigh(words, one, index, talk=talk)
        near = [place for place in years if one.first - 3 <= place <= one.last + 3] if years else years
        if near or evidence.odds >= _LOW or (evidence.odds >= _HOPELESS and _can_be_lifted(words, one)):
            judged.append(_judge(words, one, index, evidence, near, posted))
    weigh_neighbours(words, judged, index, SURE)
    kept = _without_overlaps([one for one in judged if one.evidence.odds >= POSSIBLE])
    return [_found(words, one, index) for one in kept]


def _can_be_lifted(words: Words, match: TitleMatch) -> bool:
    by = words.plain[match.last + 1 : match.last + 2] == ["by"]
    return by or is_item(words, match) or (match.first > 0 and possessive(words, match.first - 1))


def _without_inner(matches: list[TitleMatch], index: TitleIndex) -> list[TitleMatch]:
    """Leave out what lies inside a longer match whose words hardly mean anything else: *matrix* in *the matrix*."""
    firm = [
        (one.first, one.last)
        for one in matches
        if one.last > one.first and index.specificity[one.pattern] >= _FIRM and not one.misspelled
    ]
    if not firm:
        return matches
    return [
        one
        for one in matches
        if not any(a <= one.first and one.last <= b and b - a > one.last - one.first for a, b in firm)
    ]


def _is_ordinary(words: Words, match: TitleMatch, index: TitleIndex) -> bool:
    """Return True if nothing marks an everyday word as a title: no capital inside a sentence, no quote, no year."""
    start, end = words.spans[match.first][0], words.spans[match.last][1]
    if (match.key.isdigit() and _is_counter(words, start, end)) or _takes_a_counter(words, match):
        return True
    if index.specificity[match.pattern] > FUNCTION * 2:
        return _is_determined(words, match, index)
    beside = words.text[max(start - 1, 0) : start] + words.text[end : end + 2]
    if any(sign in "\"“”«»'‘’*_([,/>" for sign in beside) or start == 0:
        return False
    inner = (n for n in range(match.first, match.last + 1) if not words.begins[n])
    return words.shouted or not any(words.capital(n) for n in inner)


def _is_determined(words: Words, match: TitleMatch, index: TitleIndex) -> bool:
    """Return True for one everyday word in small letters after *the* or *my*, beside which nothing else counts."""
    first = match.first
    if first == 0 or first != match.last or index.specificity[match.pattern] > EVERYDAY or words.capital(first):
        return False
    return words.plain[first - 1] in _DETERMINERS and words.gap(first - 1) == " "


def _is_counter(words: Words, start: int, end: int) -> bool:
    """Return True for the year in brackets, the score or the number of an item that belongs to a title beside it."""
    before, after = words.text[max(start - 1, 0) : start], words.text[end : end + 1]
    return before in ("(", "[", "/", "#") or after in (")", "/") or (after == "." and end - start < 3)


def _takes_a_counter(words: Words, match: TitleMatch) -> bool:
    """Return True if the number at the end of a match counts the next item of a list: ``1. dark souls 2. sekiro``."""
    last, number = match.last, words.plain[match.last]
    if match.first == last or not number.isdigit() or len(number) > 2 or last + 1 == len(words):
        return False
    sign = words.gap(last)[:1]
    before = str(int(number) - 1)
    return sign in (".", ")", ":") and any(
        words.plain[n] == before and words.gap(n)[:1] == sign for n in range(match.first)
    )


def _judge(
    words: Words, match: TitleMatch, index: TitleIndex, evidence: Evidence, years: list[int], posted: int | None
) -> JudgedMatch:
    sense = choose_sense(words, match, index, evidence, years=years, posted=posted)
    if sense.loss:
        evidence.add(-sense.loss, f"matches {sense.kind}")
    if sense.kind == BARE_TITLE and is_described(words, match):
        evidence.add(-2.0, "described like an ordinary thing")
    person = sense.loss >= 0.8 and match.first < match.last and words.plain[match.first] in words_in("names")
    if person:
        evidence.add(min(-4.0, _AT_MOST_POSSIBLE - evidence.odds), "may be no more than a person's name")
    weigh_popularity(evidence, index, sense, match, _POPULAR_GAIN)
    return JudgedMatch(match, evidence, sense.title, person)


def _without_overlaps(judged: list[JudgedMatch]) -> list[JudgedMatch]:
    """Return the longer of two matches that overlap, the likelier of two equally long."""
    taken: set[int] = set()
    kept = []
    for one in sorted(judged, key=lambda one: (one.match.first - one.match.last, -one.evidence.odds)):
        mine = set(range(one.match.first, one.match.last + 1))
        if not mine & taken:
            taken |= mine
            kept.append(one)
    return sorted(kept, key=lambda each: each.match.first)


def _found(words: Words, one: JudgedMatch, index: TitleIndex) -> FoundTitle:
    start, end = words.spans[one.match.first][0], words.spans[one.match.last][1]
    confidence = 1 / (1 + math.exp(-max(min(one.evidence.odds, 30.0), -30.0)))
    return FoundTitle(
        title=one.title,
        start=start,
        end=end,
        text=words.text[start:end],
        confidence=round(confidence, 4),
        tier="sure" if one.evidence.odds >= SURE else "possible",
        reason=one.evidence.summary(),
        others=tuple(sense.title for sense in index.senses(one.match.pattern) if sense.title != one.title),
        held=is_held(words, one.match, index.domain),
        opinion=opinion_of(words, one.match),
    )
