"""Lists of titles: ``1) se7en 2) fargo``, ``favs: alien, aliens, predator``, and neighbours of a sure find.

In a list every item is a title, so an item that is nothing but the words of a title is likely one, the more so the more
items of the same list are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recloak._mentions.evidence import Evidence
from recloak._mentions.text import EVERYDAY, FUNCTION, Words, phrases, words_in
from recloak._mentions.title_matching import TitleIndex, TitleMatch

_BETWEEN = re.compile(
    r"^(?:[\s,;/|&>=+.()\[\]:*_\"“”'’–—•·~★⭐!?-]|\d{1,3}(?:\.\d)?(?:\s*/\s*(?:5|10|100))?|(?:18|19|20)\d\d"
    r"|\b(?:and|or|vs|then|nor|to|also|maybe|n|both)\b|\b[a-h][.)])*$",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;/|&>=+\n•·~]|\s[-–—]\s|[.):]\s|\d|\b(?:and|or|vs|then)\b")
_JOINING = frozenset({"and", "or", "vs"})
_DASH = re.compile(r"\s[-–—]\s")
_NEAR = 8  # matches between two neighbours are few
_LISTED_GAIN, _LEAD_GAIN = 2.2, 0.6
_SURE_ROW_GAIN = 1.5  # for the others of a list in which two are sure by themselves
_ROW_GAINS = {2: 0.9, 3: 2.8, 4: 3.8, 5: 4.4}  # by items of a list; the last for more
MOST_GAINED = _LISTED_GAIN + _ROW_GAINS[5] + _LEAD_GAIN + _SURE_ROW_GAIN + 1.0


@dataclass(slots=True)
class JudgedMatch:
    """A match, the evidence for it, and the title that it means."""

    match: TitleMatch
    evidence: Evidence
    title: int
    person: bool = False  # may be no more than a person's name


def _place(one: JudgedMatch) -> tuple[int, int]:
    return one.match.first, -one.match.last


def weigh_neighbours(words: Words, judged: list[JudgedMatch], index: TitleIndex, sure: float) -> None:
    """Add evidence to the items of lists, and to matches beside sure ones, along the list in both directions."""
    if len(judged) < 2:
        return
    ordered = sorted(judged, key=_place)
    in_rows = _weigh_rows(words, ordered, index, sure)
    supported = {n for n, one in enumerate(ordered) if one.evidence.odds >= sure}
    if not supported:
        return
    for places in (range(len(ordered)), range(len(ordered) - 1, -1, -1)):
        for n in places:
            if n not in supported and _has_sure_neighbour(words, ordered, n, sure):
                supported.add(n)
                if can_be_listed(words, ordered[n]) and id(ordered[n]) not in in_rows:
                    ordered[n].evidence.add(_LISTED_GAIN, "listed beside another find")
    for n, one in enumerate(ordered):
        if n not in supported and one.match.first != one.match.last:
            one.evidence.add(0.4, f"another {index.domain.item} is named in the post")


def _weigh_rows(words: Words, ordered: list[JudgedMatch], index: TitleIndex, sure: float) -> set[int]:
    """Add evidence to the items of each list; return who got it."""
    gained: set[int] = set()
    for row in _rows(words, ordered):
        specific = sum(index.specificity[one.match.pattern] > EVERYDAY + FUNCTION for one in row)
        gain = _ROW_GAINS[min(len(row), 5)] - (1.0 if not specific and len(row) < 4 else 0.0)
        if not words_in("list_leads").isdisjoint(words.plain[: row[0].match.first]):
            gain += _LEAD_GAIN
        if sum(one.evidence.odds >= sure for one in row) > 1:
            gain += _SURE_ROW_GAIN
        for one in row if gain > 0 else ():
            phrase = 1.0 if len(row) > 2 and one.match.key in phrases() else 0.0  # no phrase stands in a list
            one.evidence.add(gain + phrase, f"one of a list of {len(row)} likely titles")
            if len(row) > 2:
                gained.add(id(one))
    return gained


def _rows(words: Words, ordered: list[JudgedMatch]) -> list[list[JudgedMatch]]:
    """Return the lists: matches one after another with nothing but marks, numbers and *and* between."""
    rows: list[list[JudgedMatch]] = []
    seen = -1
    for one in ordered:  # the longest of those that begin with the same word comes first
        first = one.match.first
        if first == seen or not (can_be_listed(words, one) and is_item(words, one.match)):
            continue
        seen = first
        if rows and first <= rows[-1][-1].match.last:
            continue
        if rows and are_neighbours(words, rows[-1][-1], one):
            rows[-1].append(one)
        else:
            rows.append([one])
    return [row for row in rows if len(row) > 1]


def is_item(words: Words, match: TitleMatch) -> bool:
    """Return True if a match ends or begins an item: a mark, a number or *and* stands on one side at least."""
    first, last = match.first, match.last
    if first == 0 or last + 1 == len(words) or words.plain[first - 1] in _JOINING or words.plain[last + 1] in _JOINING:
        return True
    after, before = words.gap(last), words.gap(first - 1)
    return (after != " " and _BREAK.search(after) is not None) or (before != " " and _BREAK.search(before) is not None)


def _has_sure_neighbour(words: Words, ordered: list[JudgedMatch], place: int, sure: float) -> bool:
    """Return True if a sure match is a neighbour; only those near it in the order can be."""
    near = ordered[max(place - _NEAR, 0) : place + _NEAR + 1]
    return any(other.evidence.odds >= sure and are_neighbours(words, ordered[place], other) for other in near)


def can_be_listed(words: Words, one: JudgedMatch) -> bool:
    """Return False for bare function words and numbers: *and*, *it* and *2* are beside every title."""
    key, first = one.match.key, one.match.first
    if one.person:
        return False
    if key.isdigit() and len(key) <= 2:
        return words.capital(first) and not words.begins[first]
    if key in words_in("function"):
        return (words.capital(first) and not words.begins[first]) or _is_whole_item(words, one.match)
    return True


def _is_whole_item(words: Words, match: TitleMatch) -> bool:
    """Return True if a mark of a list stands on both sides."""
    left = match.first == 0 or _BREAK.search(words.gap(match.first - 1)) is not None
    right = match.last + 1 == len(words) or _BREAK.search(words.gap(match.last)) is not None
    return left and right and match.key not in ("and", "or", "then", "also", "yes", "no", "ok", "well", "so", "oh")


def are_neighbours(words: Words, one: JudgedMatch, other: JudgedMatch) -> bool:
    """Return True if nothing but marks, numbers and *and* stands between two matches."""
    a, b = one.match, other.match
    if a.first > b.first:
        a, b = b, a
    if not 0 < b.first - a.last <= 6:
        return False
    between = words.text[words.spans[a.last][1] : words.spans[b.first][0]]
    return between.strip() != "" and _BETWEEN.match(between) is not None and not _is_remark(words, b, between)


def _is_remark(words: Words, match: TitleMatch, before: str) -> bool:
    """Return True for one word that goes on behind a dash: ``Whiplash, Black Swan - obsession films``."""
    if match.first != match.last or match.last + 1 >= len(words) or not _DASH.search(before):
        return False
    return words.gap(match.last) == " "
