"""What speaks for and against a candidate: each piece of evidence adds to the log odds and can say so in plain words.

The prior is how much the words tell (`Lexicon`). On top come the looks (quotes, emphasis, capitals), a year near by,
what stands before and after, and on the other side determiners, names of people, other media, and small letters in a
post that has capitals. The weights are round numbers set on the ``tune`` half of the labelled posts; they are log odds,
so that they can be read: 2 makes something seven times likelier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from recloak._mentions.lexicon import EVERYDAY, FUNCTION, RARE, is_name, words_in
from recloak._mentions.text import Words
from recloak._mentions.title_matching import Candidate, TitleIndex

PRIOR, PER_TOLD = -4.2, 1.15
WATCHING = words_in("watching")
OPINION = words_in("opinion")
FILM = words_in("film")
FILM_NOUN = words_in("film_noun")
OTHER_MEDIA = words_in("other_media")
NOT_WATCHING = words_in("reading")
DETERMINERS = words_in("determiners")
SPEECH = words_in("speech")
QUALITY = words_in("quality")
FAVOURITE = frozenset({"favorite", "favourite", "fave", "best"})
_OPEN, _CLOSE = "\"“«'‘*_”", "\"”»'’*_“"
_RATED = re.compile(r"^\W*(?:\d+(?:\.\d)?\s*/\s*(?:5|10|100)\b|\(\d+(?:\.\d)?\)|[★*]{2,})")
_BARE_YEAR = re.compile(r"^(?:18|19|20)\d\d$")
_YEAR_IN_BRACKETS = re.compile(r"[\s\"”'*_]*[(\[]\s*((?:18|19|20)\d\d)\s*[)\]]")


@dataclass(slots=True)
class Evidence:
    """The log odds of a candidate so far, and what they rest on."""

    odds: float
    reasons: list[tuple[float, str]] = field(default_factory=list)
    marked: bool = False  # quoted, emphasised or dated: the writer points at a title

    def add(self, weight: float, reason: str) -> None:
        """Weigh one thing."""
        self.odds += weight
        self.reasons.append((weight, reason))

    def told(self) -> str:
        """Give the reasons in plain words, the weightiest first."""
        ordered = sorted(self.reasons, key=lambda one: -abs(one[0]))
        return "; ".join(reason for _, reason in ordered[:4]) or "its words are seldom used otherwise"


def weigh(words: Words, candidate: Candidate, index: TitleIndex, *, film_talk: bool) -> Evidence:
    """Weigh everything but the year, the other finds and which film of that name is meant."""
    told = index.tells[candidate.key]
    evidence = Evidence(PRIOR + PER_TOLD * told)
    if told >= RARE:
        evidence.reasons.append((0.5, "its words are seldom used otherwise"))
    evidence.marked = _looks(evidence, words, candidate, told)
    _before(evidence, words, candidate, told)
    _after(evidence, words, candidate)
    _people(evidence, words, candidate, told)
    if film_talk:
        evidence.add(0.5, "the post is about films")
    if candidate.misspelled:
        evidence.add(-0.5, "spelled a little differently")
    return evidence


def is_film_talk(words: Words) -> bool:
    """Tell whether a post uses words of film talk, or names somebody well known in film."""
    return any(word in FILM or word in WATCHING or word in words_in("surnames") for word in words.plain)


def _looks(evidence: Evidence, words: Words, candidate: Candidate, told: float) -> bool:
    """Weigh quotes, emphasis and capitals; tell whether the title is marked off."""
    start, end = words.spans[candidate.first][0], words.spans[candidate.last][1]
    before, after = words.text[start - 1 : start] if start else "", words.text[end : end + 1]
    if before and before in _OPEN and (after in _CLOSE or words.text[end : end + 2][1:] in _CLOSE) and after:
        return _quoted(evidence, words, candidate, before)
    if not words.shouted:
        _capitals(evidence, words, candidate, told)
    return False


def _quoted(evidence: Evidence, words: Words, candidate: Candidate, sign: str) -> bool:
    emphasis = sign in "*_"
    near = words.plain[max(candidate.first - 2, 0) : candidate.first]
    if not emphasis and (SPEECH & set(near)):
        evidence.add(-1.5, "the quotes follow a word of speaking")
        return False
    evidence.add(3.8 if emphasis else 3.3, "set off by emphasis" if emphasis else "stands in quotes")
    return True


def _capitals(evidence: Evidence, words: Words, candidate: Candidate, told: float) -> None:
    run = range(candidate.first, candidate.last + 1)
    content = [n for n in run if words.plain[n] not in words_in("function") and words.raw(n)[0].isalpha()] or list(run)
    high = [n for n in content if words.capital(n)]
    if len(high) < len(content):
        if words.cased and any(words.raw(n)[0].islower() and not words.begins[n] for n in content):
            weight = -1.8 if told < RARE + 1.5 else -0.8
            evidence.add(weight, "written in small letters where others are not")
        return
    inner = [n for n in high if not words.begins[n]]
    if len(content) > 1:
        evidence.add(2.6 if len(inner) > 1 else 1.6, "written with capitals")
    elif inner:
        _one_capital(evidence, words, candidate, words.plain[inner[0]])
    else:
        evidence.add(0.4, "begins the sentence")


def _one_capital(evidence: Evidence, words: Words, candidate: Candidate, word: str) -> None:
    """Weigh one capital inside a sentence: names have it anyway, everyday words only in a title."""
    article = candidate.first < candidate.last and words.capital(candidate.first)
    if word in ("i", "id", "im", "ill"):
        return
    if is_name(word) and not article:
        evidence.add(0.2, "written with a capital")
    elif words_in("function") >= {word} or evidence.odds < PRIOR + PER_TOLD * (EVERYDAY + FUNCTION + 0.1):
        evidence.add(3.2, "an everyday word with a capital inside a sentence")
    else:
        evidence.add(2.0, "written with a capital inside a sentence")


def _before(evidence: Evidence, words: Words, candidate: Candidate, told: float) -> None:
    """Weigh the words before: watching, opinions, films and other things."""
    left = _left(words, candidate.first)
    near = left[-1:] if left else []
    if near and near[0] in FILM_NOUN:
        evidence.add(2.2, f"follows the word {near[0]!r}")
    elif left[-1:] == ["is"] and FILM_NOUN & set(left) and FAVOURITE & set(left):
        evidence.add(2.6, "said to be a favourite film")
    elif WATCHING & set(left[-3:]):
        closed = near and near[0] in WATCHING and _is_closed(words, candidate.last)
        evidence.add(3.0 if closed else 2.0, "follows a word of watching")
    elif OPINION & set(left[-3:]):
        evidence.add(1.2, "follows an opinion")
    elif left[-1:] in (["in"], ["of"]) and FILM & set(left[-4:]):
        evidence.add(2.0, "follows talk of a scene or an ending")
    elif left[-2:] in (["how", "about"], ["what", "about"]) or left[-2:] == ["such", "as"] or left[-1:] == ["during"]:
        evidence.add(1.2, "follows a proposal")
    if NOT_WATCHING & set(left[-3:]):
        evidence.add(-2.5, "follows a word of reading or listening")
    if OTHER_MEDIA & set(left[-2:]) and not (near and near[0] in FILM_NOUN):
        evidence.add(-2.5, "follows the name of another medium")
    if near and near[0] in DETERMINERS and told < RARE and words.plain[candidate.first] not in DETERMINERS:
        evidence.add(-2.5, f"follows {near[0]!r} like an ordinary word")
    if near and near[0] in words_in("date_leads") and (told <= 1.3 or _is_day(candidate.key)):
        evidence.add(-2.5, "reads like a date or a number")


def _is_day(key: str) -> bool:
    return key in words_in("days") or key.endswith(" day")


def _is_closed(words: Words, last: int) -> bool:
    """Tell whether a clause ends behind a word: by a stop, a comma, an ``and``, or the end of the post."""
    if last + 1 >= len(words):
        return True
    return words.plain[last + 1] in ("and", "or", "yet", "too") or words.gap(last)[:1] in "?!.,;)"


def _left(words: Words, first: int) -> list[str]:
    """Give up to four words before, back to the beginning of the sentence."""
    left: list[str] = []
    for n in range(first - 1, max(first - 5, -1), -1):
        if words.begins[n + 1]:
            break
        left.insert(0, words.plain[n])
    return left


def _after(evidence: Evidence, words: Words, candidate: Candidate) -> None:
    """Weigh the words after: a rating, ``movie``, ``starring``, or another medium."""
    end = words.spans[candidate.last][1]
    right = words.plain[candidate.last + 1 : candidate.last + 7]
    if _RATED.match(words.text[end : end + 14]):
        evidence.add(1.5, "followed by a rating")
    if right and right[0] in ("movie", "film", "trilogy", "franchise", "starring", "remake", "sequel"):
        evidence.add(1.8, f"followed by the word {right[0]!r}")
    elif _is_cast(words, candidate.last):
        evidence.add(1.5, "followed by who made it or plays in it")
    elif right[:1] in (["is"], ["was"]) and FILM_NOUN & set(right[1:6]):
        evidence.add(1.5, "said to be a film")
    elif right[:1] in (["is"], ["was"]) and told_of_quality(right):
        evidence.add(1.2, "judged by the words after")
    if right and right[0] in OTHER_MEDIA and right[0] not in FILM_NOUN:
        evidence.add(-2.5, "followed by the name of another medium")
    if right and right[0].isdigit() and len(right[0]) < 3 and words.gap(candidate.last) == " ":
        evidence.add(-4.5, f"the number {right[0]} behind it belongs to another title")
    if _is_counted(words, candidate):
        evidence.add(-2.5, "counts the word after")


def told_of_quality(right: list[str]) -> bool:
    """Tell whether a judgement follows within four words."""
    return bool(QUALITY & set(right[1:5]))


def _is_cast(words: Words, last: int) -> bool:
    """Tell whether ``with`` or ``by`` and a name in capitals follow, as in ``Speed with Keanu Reeves``."""
    if last + 2 >= len(words) or words.plain[last + 1] not in ("with", "by", "starring"):
        return False
    name = words.plain[last + 2]
    known = name in words_in("names")
    return words.capital(last + 2) and (known or (last + 3 < len(words) and words.capital(last + 3)))


def _is_counted(words: Words, candidate: Candidate) -> bool:
    """Tell whether a title in digits merely counts what follows: ``21 people``."""
    if not candidate.key.isdigit() or candidate.last + 1 >= len(words):
        return False
    follows = words.plain[candidate.last + 1]
    return (
        words.gap(candidate.last) == " "
        and follows not in words_in("function")
        and not words.capital(candidate.last + 1)
    )


def _people(evidence: Evidence, words: Words, candidate: Candidate, told: float) -> None:
    """Weigh names: a first name before, a capital before or after that the title does not explain."""
    if evidence.marked or words.shouted:
        return
    first, last = candidate.first, candidate.last
    one = first == last
    before = first > 0 and words.gap(first - 1) in (" ", " ' ") and words.capital(first - 1)
    after = last + 1 < len(words) and words.gap(last) in (" ", "-") and words.capital(last + 1)
    if before and words.plain[first - 1] in words_in("names") and words.capital(first):
        evidence.add(-3.5 if one else -1.5, "follows a first name")
    elif before and one and words.capital(first) and not words.begins[first - 1] and not _owner(words, first - 1):
        evidence.add(-2.0, "part of a longer name")
    if after and words.capital(last) and words.plain[last + 1] not in words_in("function") and told < RARE + 2:
        evidence.add(-2.5 if one else -1.2, "part of a longer name")
    if one and is_name(candidate.key) and words.capital(first):
        evidence.add(-0.8, "also the name of a person or a place")


def _owner(words: Words, position: int) -> bool:
    return words.raw(position).endswith(("'s", "’s", "s'", "s’"))


def years_in(words: Words) -> list[int]:
    """Give the places of the years in a post."""
    return [n for n, word in enumerate(words.plain) if word[0] in "12" and _BARE_YEAR.match(word)]


def year_near(words: Words, candidate: Candidate) -> tuple[int, bool] | None:
    """Find a year by the title: in brackets right after it, or bare within four words; tell whether in brackets."""
    end = words.spans[candidate.last][1]
    following = _YEAR_IN_BRACKETS.match(words.text[end : end + 16])
    if following:
        return int(following.group(1)), True
    inside = range(candidate.first, candidate.last + 1)
    for n in range(max(candidate.first - 3, 0), min(candidate.last + 4, len(words))):
        bracketed = words.text[words.spans[n][0] - 1 : words.spans[n][0]] in ("(", "[")
        if n not in inside and not bracketed and _BARE_YEAR.match(words.plain[n]):
            return int(words.plain[n]), False
    return None
