"""From candidates to finds: which film is meant, how sure, and which of two that overlap stays."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from recloak._mentions.evidence import Evidence, is_film_talk, weigh, year_near, years_in
from recloak._mentions.lexicon import FUNCTION, words_in
from recloak._mentions.text import Words, words_of
from recloak._mentions.title_matching import Candidate, Sense, TitleIndex, candidates_in

SURE, POSSIBLE = 1.2, -1.3  # log odds
_LISTED_GAIN, _ROW_GAIN, _POPULAR_GAIN = 2.2, 1.3, 0.6
_NEAR = 8  # candidates between two that stand beside each other are few
_MOST_GAINED = _LISTED_GAIN + _POPULAR_GAIN  # what a candidate can still gain where no year stands by it
_LISTED = re.compile(
    r"^[\s,;/&>+.()\[\]\d:*_\"“”'’–—-]*(?:and|or|vs|then|nor|to)?\.?[\s,;/&>+.()\d:*_\"“”'’–—-]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Find:
    """One film found in a post, at ``start`` to ``end`` of its text."""

    title: int  # place in the title list: the index's ``titles[title].id`` is its item
    start: int
    end: int
    text: str
    confidence: float
    tier: str  # sure, or possible: a person should confirm it
    reason: str
    others: tuple[int, ...] = ()  # places of the further titles that the same words may mean, the likeliest first


@dataclass(slots=True)
class _Judged:
    candidate: Candidate
    evidence: Evidence
    title: int


def find_in(text: str, index: TitleIndex) -> list[Find]:
    """Find the films that one post names, in the order of the text.

    This is the whole finder for one text, without a table: a short post costs about 0.4 ms, and one written to be slow
    about 17 ms per 1,000 characters, so a service bounds the length. Threads may share an index.
    """
    words = words_of(text)
    candidates = [one for one in candidates_in(words, index) if not _hopeless(words, one, index)]
    if not candidates:
        return []
    film_talk, years = is_film_talk(words), years_in(words)
    judged = []
    for one in candidates:
        evidence = weigh(words, one, index, film_talk=film_talk)
        dated = any(one.first - 3 <= place <= one.last + 3 for place in years)
        if dated or evidence.odds + _MOST_GAINED >= POSSIBLE:
            judged.append(_judge(words, one, index, evidence, dated=dated))
    _neighbours(words, judged)
    kept = _without_overlaps([one for one in judged if one.evidence.odds >= POSSIBLE])
    return [_find(words, one, index) for one in kept]


def _hopeless(words: Words, candidate: Candidate, index: TitleIndex) -> bool:
    """Tell at a glance that nothing marks an everyday word off: no capital inside a sentence, no quote, no year."""
    start, end = words.spans[candidate.first][0], words.spans[candidate.last][1]
    if candidate.key.isdigit() and words.text[max(start - 1, 0) : start] in ("(", "["):
        return True  # a year in brackets is said of the title before it
    if index.tells[candidate.key] > FUNCTION * 2:
        return False
    beside = words.text[max(start - 1, 0) : start] + words.text[end : end + 2]
    if any(sign in "\"“”«»'‘’*_([" for sign in beside):
        return False
    inner = (n for n in range(candidate.first, candidate.last + 1) if not words.begins[n])
    return words.shouted or not any(words.capital(n) for n in inner)


def _judge(words: Words, candidate: Candidate, index: TitleIndex, evidence: Evidence, *, dated: bool) -> _Judged:
    sense = _meant(words, candidate, index, evidence, dated=dated)
    if sense.loss:
        evidence.add(-sense.loss, f"matches {sense.kind}")
        if sense.loss >= 0.8 and words.plain[candidate.first] in words_in("names"):
            evidence.add(-1.5, "may be no more than a person's name")
    _popular(evidence, index, sense, candidate)
    return _Judged(candidate, evidence, sense.title)


def _meant(words: Words, candidate: Candidate, index: TitleIndex, evidence: Evidence, *, dated: bool) -> Sense:
    """Choose among the films of one name: by a year near by, by popularity, else by age."""
    senses = index.senses[candidate.key]
    year = year_near(words, candidate) if dated else None
    if year is not None:
        of_year = _of_year(senses, index, year[0])
        if of_year is not None:
            evidence.add(6.0 if year[1] else 2.2, f"the year {year[0]} stands by it")
            return of_year
        if year[1]:
            evidence.add(-2.5, f"the year {year[0]} in brackets is not that of the film")
    close = [one for one in senses if one.loss <= senses[0].loss + (1.0 if index.popularity else 0.15)]
    return close[0] if len(close) == 1 else _one_of(close, index, evidence)


def _of_year(senses: tuple[Sense, ...], index: TitleIndex, year: int) -> Sense | None:
    for tolerance in (0, 1):
        for sense in senses:
            made = index.titles[sense.title].year
            if made is not None and abs(made - year) <= tolerance:
                return sense
    return None


def _one_of(senses: list[Sense], index: TitleIndex, evidence: Evidence) -> Sense:
    """Choose the most popular; where nothing is known of popularity, the first of a series or the first since 1970."""
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


def _popular(evidence: Evidence, index: TitleIndex, sense: Sense, candidate: Candidate) -> None:
    """Take a much-rated film for likelier to be talked about, the more so the less its words tell."""
    if not index.popularity or index.tells[candidate.key] > 5.0:
        return
    share = max(_popularity(index, sense), 1e-4)
    weight = min(max(0.7 * math.log10(share / 0.05), -1.2), _POPULAR_GAIN)
    evidence.add(weight, "a much-rated film" if weight > 0 else "a film that few rated")


def _neighbours(words: Words, judged: list[_Judged]) -> None:
    """Let sure finds vouch for what is listed beside them, along the list in both directions."""
    ordered = sorted(judged, key=lambda one: one.candidate.first)
    _rows(words, ordered)
    vouched = {n for n, one in enumerate(ordered) if one.evidence.odds >= SURE}
    if not vouched or len(ordered) < 2:
        return
    for places in (range(len(ordered)), range(len(ordered) - 1, -1, -1)):
        for n in places:
            if n not in vouched and _is_vouched(words, ordered, n):
                vouched.add(n)
                if _can_be_listed(words, ordered[n]):
                    ordered[n].evidence.add(_LISTED_GAIN, "listed beside another find")
    for n, one in enumerate(ordered):
        if n not in vouched and one.candidate.first != one.candidate.last:
            one.evidence.add(0.4, "another film is named in the post")


def _is_vouched(words: Words, ordered: list[_Judged], place: int) -> bool:
    """Look for a sure find beside a candidate; only those near it in the order can be."""
    near = ordered[max(place - _NEAR, 0) : place + _NEAR + 1]
    return any(other.evidence.odds >= SURE and _beside(words, ordered[place], other) for other in near)


def _rows(words: Words, ordered: list[_Judged]) -> None:
    """Let three or more likely candidates in a row vouch for each other."""
    likely = [one for one in ordered if one.evidence.odds >= POSSIBLE and _can_be_listed(words, one)]
    row: list[_Judged] = []
    for one in [*likely, None]:
        if one is not None and (not row or _beside(words, row[-1], one)):
            row.append(one)
            continue
        if len(row) > 2:
            for listed in row:
                listed.evidence.add(_ROW_GAIN, "one of a list of likely titles")
        row = [] if one is None else [one]


def _can_be_listed(words: Words, one: _Judged) -> bool:
    """Refuse bare function words and numbers: *and*, *it* and *2* stand beside every title."""
    key = one.candidate.key
    if key.isdigit() and len(key) > 2:
        return True
    if key.isdigit() or key in words_in("function"):
        return words.capital(one.candidate.first) and not words.begins[one.candidate.first]
    return True


def _beside(words: Words, one: _Judged, other: _Judged) -> bool:
    a, b = one.candidate, other.candidate
    if abs(a.first - b.first) > 12:
        return False
    if a.first > b.first:
        a, b = b, a
    if b.first <= a.last or b.first - a.last > 4:
        return False
    between = words.text[words.spans[a.last][1] : words.spans[b.first][0]]
    return between.strip() != "" and _LISTED.match(between) is not None


def _without_overlaps(judged: list[_Judged]) -> list[_Judged]:
    """Keep the longer of two that overlap, the likelier of two equally long."""
    taken: set[int] = set()
    kept = []
    for one in sorted(judged, key=_precedence):
        mine = set(range(one.candidate.first, one.candidate.last + 1))
        if not mine & taken:
            taken |= mine
            kept.append(one)
    return sorted(kept, key=lambda each: each.candidate.first)


def _precedence(one: _Judged) -> tuple[int, float]:
    return one.candidate.first - one.candidate.last, -one.evidence.odds


def _find(words: Words, one: _Judged, index: TitleIndex) -> Find:
    start, end = words.spans[one.candidate.first][0], words.spans[one.candidate.last][1]
    confidence = 1 / (1 + math.exp(-max(min(one.evidence.odds, 30.0), -30.0)))
    tier = "sure" if one.evidence.odds >= SURE else "possible"
    others = tuple(sense.title for sense in index.senses[one.candidate.key] if sense.title != one.title)
    return Find(one.title, start, end, words.text[start:end], round(confidence, 4), tier, one.evidence.told(), others)


__all__ = ["POSSIBLE", "SURE", "Find", "find_in"]
