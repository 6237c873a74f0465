"""Find the titles in one post: which film each match means, how sure it is, and which of two overlapping ones stays."""

import math
import re
from dataclasses import dataclass

from recloak._mentions.evidence import Evidence, is_film_talk, weigh, year_near, years_in
from recloak._mentions.text import FUNCTION, Words, words_in, words_of
from recloak._mentions.title_matching import Sense, TitleIndex, TitleMatch, matches_in

SURE, POSSIBLE = 1.2, -1.3  # log odds
_LISTED_GAIN, _ROW_GAIN, _POPULAR_GAIN = 2.2, 1.3, 0.6
_NEAR = 8  # matches between two neighbours are few
_MOST_GAINED = _LISTED_GAIN + _POPULAR_GAIN  # what a match without a year can still gain
_LISTED = re.compile(
    r"^[\s,;/&>+.()\[\]\d:*_\"“”'’–—-]*(?:and|or|vs|then|nor|to)?\.?[\s,;/&>+.()\d:*_\"“”'’–—-]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FoundTitle:
    """One film found in a post, at ``start`` to ``end`` of its text."""

    title: int  # position in the title list: the index's ``titles[title].id`` is its item
    start: int
    end: int
    text: str
    confidence: float
    tier: str  # sure, or possible: a person should confirm it
    reason: str
    others: tuple[int, ...] = ()  # positions of the other titles that the same words may mean, the likeliest first


@dataclass(slots=True)
class _JudgedMatch:
    match: TitleMatch
    evidence: Evidence
    title: int


def find_titles(text: str, index: TitleIndex) -> list[FoundTitle]:
    """Return the films that one post names, in the order of the text.

    A short post costs about 0.4 ms, and one written to be slow about 17 ms per 1,000 characters, so a service bounds
    the length. Threads may share an index.
    """
    words = words_of(text)
    matches = [one for one in matches_in(words, index) if not _is_ordinary(words, one, index)]
    if not matches:
        return []
    film_talk, years = is_film_talk(words), years_in(words)
    judged = []
    for one in matches:
        evidence = weigh(words, one, index, film_talk=film_talk)
        dated = any(one.first - 3 <= place <= one.last + 3 for place in years)
        if dated or evidence.odds + _MOST_GAINED >= POSSIBLE:
            judged.append(_judge(words, one, index, evidence, dated=dated))
    _weigh_neighbours(words, judged)
    kept = _without_overlaps([one for one in judged if one.evidence.odds >= POSSIBLE])
    return [_found(words, one, index) for one in kept]


def _is_ordinary(words: Words, match: TitleMatch, index: TitleIndex) -> bool:
    """Return True if nothing marks an everyday word as a title: no capital inside a sentence, no quote, no year."""
    start, end = words.spans[match.first][0], words.spans[match.last][1]
    if match.key.isdigit() and words.text[max(start - 1, 0) : start] in ("(", "["):
        return True  # a year in brackets belongs to the title before it
    if index.specificity[match.key] > FUNCTION * 2:
        return False
    beside = words.text[max(start - 1, 0) : start] + words.text[end : end + 2]
    if any(sign in "\"“”«»'‘’*_([" for sign in beside):
        return False
    inner = (n for n in range(match.first, match.last + 1) if not words.begins[n])
    return words.shouted or not any(words.capital(n) for n in inner)


def _judge(words: Words, match: TitleMatch, index: TitleIndex, evidence: Evidence, *, dated: bool) -> _JudgedMatch:
    sense = _choose_sense(words, match, index, evidence, dated=dated)
    if sense.loss:
        evidence.add(-sense.loss, f"matches {sense.kind}")
        if sense.loss >= 0.8 and words.plain[match.first] in words_in("names"):
            evidence.add(-1.5, "may be no more than a person's name")
    _weigh_popularity(evidence, index, sense, match)
    return _JudgedMatch(match, evidence, sense.title)


def _choose_sense(words: Words, match: TitleMatch, index: TitleIndex, evidence: Evidence, *, dated: bool) -> Sense:
    """Return the film meant among those of one name: by a year near by, by popularity, else by age."""
    senses = index.senses[match.key]
    year = year_near(words, match) if dated else None
    if year is not None:
        dated_sense = _sense_of_year(senses, index, year[0])
        if dated_sense is not None:
            evidence.add(6.0 if year[1] else 2.2, f"the year {year[0]} stands by it")
            return dated_sense
        if year[1]:
            evidence.add(-2.5, f"the year {year[0]} in brackets is not that of the film")
    close = [one for one in senses if one.loss <= senses[0].loss + (1.0 if index.popularity else 0.15)]
    return close[0] if len(close) == 1 else _most_popular(close, index, evidence)


def _sense_of_year(senses: tuple[Sense, ...], index: TitleIndex, year: int) -> Sense | None:
    for tolerance in (0, 1):
        for sense in senses:
            made = index.titles[sense.title].year
            if made is not None and abs(made - year) <= tolerance:
                return sense
    return None


def _most_popular(senses: list[Sense], index: TitleIndex, evidence: Evidence) -> Sense:
    """Return the most popular; without popularity, the first of a series or the first since 1970."""
    if index.popularity:
        ranked = sorted(senses, key=lambda one: one.loss - 0.7 * math.log10(max(_popularity(index, one), 1e-4)))
        best = ranked[0]
        rivals = [_popularity(index, one) for one in senses if one is not best and one.loss <= best.loss + 0.15]
        if rivals:
            clear = max(rivals) < 0.5 * _popularity(index, best)
            evidence.add(-0.2 if clear else -0.9, f"the most popular of {len(rivals) + 1} films of that name")
        return best
    series = senses[0].loss >= 0.5
    evidence.add(-1.2 if series else -0.9, f"one of {len(senses)} films of that name")
    years = [(index.titles[one.title].year or 0, one) for one in senses]
    recent = [pair for pair in years if pair[0] >= 1970 or series]
    return min(recent or years, key=lambda pair: pair[0])[1]


def _popularity(index: TitleIndex, sense: Sense) -> float:
    return index.popularity.get(index.titles[sense.title].id, 0.0)


def _weigh_popularity(evidence: Evidence, index: TitleIndex, sense: Sense, match: TitleMatch) -> None:
    """Weigh the popularity of a film whose words are not specific: much-rated films are talked about more."""
    if not index.popularity or index.specificity[match.key] > 5.0:
        return
    share = max(_popularity(index, sense), 1e-4)
    weight = min(max(0.7 * math.log10(share / 0.05), -1.2), _POPULAR_GAIN)
    evidence.add(weight, "a much-rated film" if weight > 0 else "a film that few rated")


def _weigh_neighbours(words: Words, judged: list[_JudgedMatch]) -> None:
    """Add evidence to matches listed beside sure ones, along the list in both directions."""
    ordered = sorted(judged, key=lambda one: one.match.first)
    _weigh_lists(words, ordered)
    supported = {n for n, one in enumerate(ordered) if one.evidence.odds >= SURE}
    if not supported or len(ordered) < 2:
        return
    for places in (range(len(ordered)), range(len(ordered) - 1, -1, -1)):
        for n in places:
            if n not in supported and _has_sure_neighbour(words, ordered, n):
                supported.add(n)
                if _can_be_listed(words, ordered[n]):
                    ordered[n].evidence.add(_LISTED_GAIN, "listed beside another find")
    for n, one in enumerate(ordered):
        if n not in supported and one.match.first != one.match.last:
            one.evidence.add(0.4, "another film is named in the post")


def _has_sure_neighbour(words: Words, ordered: list[_JudgedMatch], place: int) -> bool:
    """Return True if a sure match is a neighbour; only those near it in the order can be."""
    near = ordered[max(place - _NEAR, 0) : place + _NEAR + 1]
    return any(other.evidence.odds >= SURE and _are_neighbours(words, ordered[place], other) for other in near)


def _weigh_lists(words: Words, ordered: list[_JudgedMatch]) -> None:
    """Add evidence to three or more likely matches in a row."""
    likely = [one for one in ordered if one.evidence.odds >= POSSIBLE and _can_be_listed(words, one)]
    row: list[_JudgedMatch] = []
    for one in [*likely, None]:
        if one is not None and (not row or _are_neighbours(words, row[-1], one)):
            row.append(one)
            continue
        if len(row) > 2:
            for listed in row:
                listed.evidence.add(_ROW_GAIN, "one of a list of likely titles")
        row = [] if one is None else [one]


def _can_be_listed(words: Words, one: _JudgedMatch) -> bool:
    """Return False for bare function words and numbers: *and*, *it* and *2* are beside every title."""
    key, first = one.match.key, one.match.first
    if key in words_in("function") or (key.isdigit() and len(key) <= 2):
        return words.capital(first) and not words.begins[first]
    return True


def _are_neighbours(words: Words, one: _JudgedMatch, other: _JudgedMatch) -> bool:
    a, b = one.match, other.match
    if abs(a.first - b.first) > 12:
        return False
    if a.first > b.first:
        a, b = b, a
    if b.first <= a.last or b.first - a.last > 4:
        return False
    between = words.text[words.spans[a.last][1] : words.spans[b.first][0]]
    return between.strip() != "" and _LISTED.match(between) is not None


def _without_overlaps(judged: list[_JudgedMatch]) -> list[_JudgedMatch]:
    """Return the longer of two matches that overlap, the likelier of two equally long."""
    taken: set[int] = set()
    kept = []
    for one in sorted(judged, key=lambda one: (one.match.first - one.match.last, -one.evidence.odds)):
        mine = set(range(one.match.first, one.match.last + 1))
        if not mine & taken:
            taken |= mine
            kept.append(one)
    return sorted(kept, key=lambda each: each.match.first)


def _found(words: Words, one: _JudgedMatch, index: TitleIndex) -> FoundTitle:
    start, end = words.spans[one.match.first][0], words.spans[one.match.last][1]
    confidence = 1 / (1 + math.exp(-max(min(one.evidence.odds, 30.0), -30.0)))
    tier = "sure" if one.evidence.odds >= SURE else "possible"
    others = tuple(sense.title for sense in index.senses[one.match.key] if sense.title != one.title)
    text, reason = words.text[start:end], one.evidence.summary()
    return FoundTitle(one.title, start, end, text, round(confidence, 4), tier, reason, others)
