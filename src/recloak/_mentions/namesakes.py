"""Which title of one name is meant: by a year, by people named near by, by words such as *new*, by date and popularity.

Who made a title comes from the title list where it says so (``authors``, ``director``); for films that share their name
with others, words/makers.tsv adds the best-known people of each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from recloak._mentions.evidence import Evidence
from recloak._mentions.surroundings import year_near
from recloak._mentions.text import EVERYDAY, MOST_CACHED, Lexicon, Words, fold_all, words_in
from recloak._mentions.title_matching import Preferred, Sense, TitleIndex, TitleMatch
from recloak._mentions.titles import FULL_TITLE, Title, parse

_MAKERS = Path(__file__).parent / "words" / "makers.tsv"
_KNOWN = Path(__file__).parent / "words" / "known_films.txt"
_BEST_KNOWN = Path(__file__).parent / "words" / "best_known.txt"
_NEWER = words_in("newer")
_OLDER = words_in("older")
_SHOWING = words_in("showing")
_DECADE = re.compile(r"^(?:19|20)?(\d)0s$")
_WELL_KNOWN, _TYPICAL = 0.12, 0.03  # share of the most popular that a title is taken to have where it is not given
_LEXICON = Lexicon()
_ARTICLES = frozenset({"the", "a", "an"})


def choose_sense(
    words: Words, match: TitleMatch, index: TitleIndex, evidence: Evidence, *, years: list[int], posted: int | None
) -> Sense:
    """Return the title meant among those of one name, and weigh how clear the choice is.

    ``years`` are the positions of the years near the match.
    """
    senses = index.senses(match.pattern)
    year = year_near(words, match, years) if years else None
    if year is not None:
        dated_sense = _sense_of_year(senses, index, year[0])
        if dated_sense is not None:
            evidence.add(6.0 if year[1] else 2.2, f"the year {year[0]} stands by it")
            evidence.marked = evidence.marked or year[1]
            return dated_sense
        if year[1]:
            evidence.add(-2.5, f"the year {year[0]} in brackets is not that of the {index.domain.item}")
    close = _close(senses, index, posted) if len(senses) > 1 else senses
    named = _sense_of_people(words, match, close, index)
    if named is not None:
        evidence.add(4.0 if _is_owned(words, match, named, index) else 2.0, "who made it or plays in it is named")
        return named
    if len(close) == 1:
        return close[0]
    by_age = _sense_of_age(words, match, close, index, evidence, posted)
    if by_age is not None:
        return by_age
    preferred = _preferred(close, match, index, posted)
    if preferred.reason:
        evidence.add(preferred.weight, preferred.reason)
    return preferred.sense


def _preferred(close: list[Sense], match: TitleMatch, index: TitleIndex, posted: int | None) -> Preferred:
    """Return the title meant where nothing near by tells, from a cache: it depends on the words and the year alone."""
    known = index.preferred.get((match.pattern, posted))
    if known is None:
        if len(index.preferred) >= MOST_CACHED:
            index.preferred.clear()
        known = index.preferred[match.pattern, posted] = _most_popular(close, match, index, posted)
    return known


def _close(senses: list[Sense], index: TitleIndex, posted: int | None) -> list[Sense]:
    """Return the senses that are nearly as good as the best, without those made after the post."""
    allowed = senses[0].loss + (1.0 if index.popularity else 0.15)
    close = senses if senses[-1].loss <= allowed else [one for one in senses if one.loss <= allowed]
    if posted is not None:
        close = [one for one in close if (index.titles[one.title].year or 0) <= posted + 1] or close
    return close


def _sense_of_year(senses: Sequence[Sense], index: TitleIndex, year: int) -> Sense | None:
    for tolerance in (0, 1):
        for sense in senses:
            made = index.titles[sense.title].year
            if made is not None and abs(made - year) <= tolerance:
                return sense
    return None


def _sense_of_people(words: Words, match: TitleMatch, senses: Sequence[Sense], index: TitleIndex) -> Sense | None:
    """Return the one sense some of whose people are named in the post."""
    peopled = index.peopled.get(match.pattern)
    if peopled is None:
        every = index.senses(match.pattern)
        peopled = index.peopled[match.pattern] = [one for one in every if people_of(index, one, match)]
    if not peopled:
        return None
    named = [one for one in senses if one in peopled and _is_named(words, match, people_of(index, one, match))]
    return named[0] if named and (len(named) == 1 or named[0].loss + 0.3 < named[1].loss) else None


def _is_named(words: Words, match: TitleMatch, people: tuple[tuple[str, ...], ...]) -> bool:
    plain = words.plain
    return _is_by(words, match, people) or any(
        (person[-1] in plain or person[-1] + "s" in plain) and _tells(f" {' '.join(plain)} ", person)
        for person in people
    )


def _is_owned(words: Words, match: TitleMatch, sense: Sense, index: TitleIndex) -> bool:
    """Return True if the maker stands right before a match, or after *by*: *Stephen King's Misery*, *Quiet by Cain*."""
    before = words.plain[match.first - 1] if match.first else ""
    people = people_of(index, sense, match)
    return _is_by(words, match, people) or any(before in (person[-1], person[-1] + "s") for person in people)


def _is_by(words: Words, match: TitleMatch, people: tuple[tuple[str, ...], ...]) -> bool:
    """Return True if *by* and the maker follow, by surname or by the first name alone: *Happy by Pharrell*."""
    after = words.plain[match.last + 1 : match.last + 6]
    if after[:1] != ["by"]:
        return False
    whom = [word for word in after[1:] if word not in _ARTICLES][:1]
    return any(
        person[-1] in after or [word for word in person if word not in _ARTICLES][:1] == whom for person in people
    )


def _tells(text: str, person: tuple[str, ...]) -> bool:
    """Return True if a surname alone tells the person, or the first name stands before it."""
    if len(person) == 1 or _LEXICON.word_specificity(person[-1]) > EVERYDAY:
        return True
    return f" {person[0]} {person[-1]}" in text


def people_of(index: TitleIndex, sense: Sense, match: TitleMatch) -> tuple[tuple[str, ...], ...]:
    """Return the people of a title, each as folded words."""
    people = index.people.get(sense.title)
    if people is None:
        people = index.people[sense.title] = _people(index.titles[sense.title], _folded_name(index, sense, match))
    return people


def _people(title: Title, name: str) -> tuple[tuple[str, ...], ...]:
    known = _makers().get((name, title.year or 0), ())
    if not title.people:
        return known
    listed = [tuple(fold_all(person)) for person in title.people]
    return tuple(person for person in (*listed, *known) if person)


def _folded_name(index: TitleIndex, sense: Sense, match: TitleMatch) -> str:
    """Return the folded main name of a title; a match of the full title has it already."""
    if sense.loss == 0.0 and sense.kind == FULL_TITLE:
        return match.key
    return " ".join(fold_all(index.titles[sense.title].names[0]))


@cache
def _makers() -> dict[tuple[str, int], tuple[tuple[str, ...], ...]]:
    makers = {}
    for line in _MAKERS.read_text(encoding="utf-8").splitlines():
        name, _, people = line.partition("\t")
        title = parse(0, name)
        folded = tuple(tuple(fold_all(person)) for person in people.split(", "))
        makers[(" ".join(fold_all(title.names[0])), title.year or 0)] = folded
    return makers


def _sense_of_age(
    words: Words, match: TitleMatch, senses: list[Sense], index: TitleIndex, evidence: Evidence, posted: int | None
) -> Sense | None:
    """Return the newest or oldest sense where words near by, or a decade, say so."""
    near = words.plain[max(match.first - 3, 0) : match.first] + words.plain[match.last + 1 : match.last + 3]
    decades = [word for word in near if word.endswith("0s")]
    age = _age_said(words, match, near)
    showing = posted is not None and not _SHOWING.isdisjoint(words.plain)
    if not (decades or age or showing):
        return None
    dated = sorted((one for one in senses if index.titles[one.title].year), key=lambda one: _year(index, one))
    if len(dated) < 2:
        return None
    for word in decades:
        decade = _DECADE.match(word)
        found = [one for one in dated if decade and _year(index, one) // 10 % 10 == int(decade.group(1))]
        if len(found) == 1:
            evidence.add(1.0, f"made in the {word}")
            return found[0]
    if age:
        evidence.add(0.6, f"the {age} one of that name")
        return dated[-1 if age == "newer" else 0]
    if posted is not None and showing and posted - _year(index, dated[-1]) in (-1, 0, 1):
        evidence.add(0.3, "in the cinemas when it was written")
        return dated[-1]
    return None


def _age_said(words: Words, match: TitleMatch, near: list[str]) -> str:
    """Return whether words near by say that the newer or the older of that name is meant."""
    if not _NEWER.isdisjoint(near):
        return "newer"
    if not _OLDER.isdisjoint(near):
        return "older"
    for n in range(match.last + 2, min(match.last + 7, len(words))):
        if words.plain[n] == "1" and words.plain[n - 1] in ("new", "old", "original"):
            return "newer" if words.plain[n - 1] == "new" else "older"
    return ""


def _year(index: TitleIndex, sense: Sense) -> int:
    return index.titles[sense.title].year or 0


def _most_popular(senses: list[Sense], match: TitleMatch, index: TitleIndex, posted: int | None) -> Preferred:
    """Return the most popular; where nothing tells them apart, the first of a series or the first since 1970."""
    shares = [popularity(index, one, match) for one in senses]
    if len(set(shares)) > 1:
        return _by_popularity(senses, shares, index, posted)
    series = senses[0].loss >= 0.5
    chosen = _of_equals(senses, index, None if series else posted, series=series)
    return Preferred(chosen, -1.2 if series else -0.9, f"one of {len(senses)} of that name")


def _of_equals(senses: list[Sense], index: TitleIndex, posted: int | None, *, series: bool) -> Sense:
    years = [(_year(index, one), one) for one in senses]
    fresh = [one for made, one in years if posted is not None and posted - made in (0, 1)]
    if fresh:
        return fresh[0]
    best_known = _best_known().get(" ".join(fold_all(index.titles[senses[0].title].names[0])))
    for made, one in years:
        if made == best_known and index.domain.name == "films":
            return one
    recent = [pair for pair in years if pair[0] >= 1970 or series]
    return min(recent or years, key=lambda pair: pair[0])[1]


def _by_popularity(senses: list[Sense], shares: list[float], index: TitleIndex, posted: int | None) -> Preferred:
    def rank(place: int) -> float:
        fresh = posted is not None and posted - _year(index, senses[place]) in (0, 1)
        return senses[place].loss - 0.7 * math.log10(max(shares[place], 1e-4)) - (0.5 if fresh else 0.0)

    best = min(range(len(senses)), key=rank)
    rivals = [shares[n] for n, one in enumerate(senses) if n != best and one.loss <= senses[best].loss + 0.15]
    if not rivals:
        return Preferred(senses[best], 0.0, "")
    clear = max(rivals) < 0.5 * shares[best]
    return Preferred(senses[best], -0.2 if clear else -0.9, f"the most popular of {len(rivals) + 1} of that name")


def popularity(index: TitleIndex, sense: Sense, match: TitleMatch) -> float:
    """Return the popularity of a title as a share of the highest; where it is not given, that of a usual title."""
    share = index.shares.get(sense.title)
    if share is None:
        share = index.shares[sense.title] = _share(index, sense, match)
    return share


def _share(index: TitleIndex, sense: Sense, match: TitleMatch) -> float:
    title = index.titles[sense.title]
    given = index.popularity.get(title.id)
    if given is not None:
        return given
    if index.domain.name != "films" or title.year is None:
        return _TYPICAL
    known = _folded_name(index, sense, match) in _known_films().get(title.year, ())
    return _WELL_KNOWN if known else _TYPICAL


@cache
def _known_films() -> dict[int, frozenset[str]]:
    """Return well-known films, by year: words/known_films.txt."""
    lines = (line.partition("\t") for line in _KNOWN.read_text(encoding="utf-8").splitlines())
    return {int(year): frozenset(names.split("|")) for year, _, names in lines}


@cache
def _best_known() -> dict[str, int]:
    """Return the year of the film that people mean most often by a name that several have."""
    lines = (line.partition("\t") for line in _BEST_KNOWN.read_text(encoding="utf-8").splitlines())
    return {name: int(year) for name, _, year in lines}


def weigh_popularity(evidence: Evidence, index: TitleIndex, sense: Sense, match: TitleMatch, most: float) -> None:
    """Weigh the popularity, where it is known, of a title whose words are not specific."""
    share = popularity(index, sense, match)
    if share == _TYPICAL or index.specificity[match.pattern] > 5.0:
        return  # a title whose popularity is not known is neither popular nor unpopular
    weight = min(max(0.9 * math.log10(max(share, 1e-4) / 0.04), -1.0), most)
    evidence.add(weight, "a much-rated title" if weight > 0 else "a title that few rated")
