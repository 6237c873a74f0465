"""The evidence for and against a title match: each piece adds to the log odds and has a reason in plain words.

The prior is how specific the words are (`Lexicon`). Quotes, emphasis, capitals, a year near by and the words before and
after speak for a title; determiners, names of people, other media, and small letters in a post with capitals speak
against it. The weights are round numbers, set on the ``tune`` half of the labelled posts; they are log odds: 2 makes a
title seven times likelier.
"""

import re
from dataclasses import dataclass, field

from recloak._mentions.text import EVERYDAY, FUNCTION, RARE, Words, is_name, words_in
from recloak._mentions.title_matching import TitleIndex, TitleMatch

PRIOR, PER_SPECIFICITY = -4.2, 1.15
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
    """The log odds of a match so far, and their reasons."""

    odds: float
    reasons: list[tuple[float, str]] = field(default_factory=list)
    marked: bool = False  # quoted, emphasised or dated: the writer points at a title

    def add(self, weight: float, reason: str) -> None:
        """Add one piece of evidence."""
        self.odds += weight
        self.reasons.append((weight, reason))

    def summary(self) -> str:
        """Return the four weightiest reasons in plain words."""
        ordered = sorted(self.reasons, key=lambda one: -abs(one[0]))
        return "; ".join(reason for _, reason in ordered[:4]) or "its words are seldom used otherwise"


def weigh(words: Words, match: TitleMatch, index: TitleIndex, *, film_talk: bool) -> Evidence:
    """Return all evidence except the year, the other finds and which film of that name is meant."""
    specificity = index.specificity[match.key]
    evidence = Evidence(PRIOR + PER_SPECIFICITY * specificity)
    if specificity >= RARE:
        evidence.reasons.append((0.5, "its words are seldom used otherwise"))
    evidence.marked = _weigh_marks(evidence, words, match, specificity)
    _weigh_before(evidence, words, match, specificity)
    _weigh_after(evidence, words, match)
    _weigh_names(evidence, words, match, specificity)
    if film_talk:
        evidence.add(0.5, "the post is about films")
    if match.misspelled:
        evidence.add(-0.5, "spelled a little differently")
    return evidence


def is_film_talk(words: Words) -> bool:
    """Return True if a post uses words about films, or names somebody well known in film."""
    return any(word in FILM or word in WATCHING or word in words_in("surnames") for word in words.plain)


def _weigh_marks(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> bool:
    """Weigh quotes, emphasis and capitals; return True if the title is marked as one."""
    start, end = words.spans[match.first][0], words.spans[match.last][1]
    before, after = words.text[start - 1 : start] if start else "", words.text[end : end + 1]
    if before and before in _OPEN and (after in _CLOSE or words.text[end : end + 2][1:] in _CLOSE) and after:
        return _weigh_quotes(evidence, words, match, before)
    if not words.shouted:
        _weigh_capitals(evidence, words, match, specificity)
    return False


def _weigh_quotes(evidence: Evidence, words: Words, match: TitleMatch, sign: str) -> bool:
    emphasis = sign in "*_"
    near = words.plain[max(match.first - 2, 0) : match.first]
    if not emphasis and (SPEECH & set(near)):
        evidence.add(-1.5, "the quotes follow a word of speaking")
        return False
    evidence.add(3.8 if emphasis else 3.3, "set off by emphasis" if emphasis else "stands in quotes")
    return True


def _weigh_capitals(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    run = range(match.first, match.last + 1)
    content = [n for n in run if words.plain[n] not in words_in("function") and words.raw(n)[0].isalpha()] or list(run)
    high = [n for n in content if words.capital(n)]
    if len(high) < len(content):
        if words.cased and any(words.raw(n)[0].islower() and not words.begins[n] for n in content):
            weight = -1.8 if specificity < RARE + 1.5 else -0.8
            evidence.add(weight, "written in small letters where others are not")
        return
    inner = [n for n in high if not words.begins[n]]
    if len(content) > 1:
        evidence.add(2.6 if len(inner) > 1 else 1.6, "written with capitals")
    elif inner:
        _weigh_one_capital(evidence, words, match, words.plain[inner[0]])
    else:
        evidence.add(0.4, "begins the sentence")


def _weigh_one_capital(evidence: Evidence, words: Words, match: TitleMatch, word: str) -> None:
    """Weigh one capital inside a sentence: names always have one, everyday words only in a title."""
    article = match.first < match.last and words.capital(match.first)
    if word in ("i", "id", "im", "ill"):
        return
    if is_name(word) and not article:
        evidence.add(0.2, "written with a capital")
    elif words_in("function") >= {word} or evidence.odds < PRIOR + PER_SPECIFICITY * (EVERYDAY + FUNCTION + 0.1):
        evidence.add(3.2, "an everyday word with a capital inside a sentence")
    else:
        evidence.add(2.0, "written with a capital inside a sentence")


def _weigh_before(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    left = _words_before(words, match.first)
    last = left[-1] if left else ""
    if last in FILM_NOUN:
        evidence.add(2.2, f"follows the word {last!r}")
    elif last == "is" and FILM_NOUN & set(left) and FAVOURITE & set(left):
        evidence.add(2.6, "said to be a favourite film")
    elif WATCHING & set(left[-3:]):
        closed = last in WATCHING and _is_closed(words, match.last)
        evidence.add(3.0 if closed else 2.0, "follows a word of watching")
    elif OPINION & set(left[-3:]):
        evidence.add(1.2, "follows an opinion")
    elif last in ("in", "of") and FILM & set(left[-4:]):
        evidence.add(2.0, "follows talk of a scene or an ending")
    elif left[-2:] in (["how", "about"], ["what", "about"]) or left[-2:] == ["such", "as"] or last == "during":
        evidence.add(1.2, "follows a proposal")
    if NOT_WATCHING & set(left[-3:]):
        evidence.add(-2.5, "follows a word of reading or listening")
    if OTHER_MEDIA & set(left[-2:]) and last not in FILM_NOUN:
        evidence.add(-2.5, "follows the name of another medium")
    if last in DETERMINERS and specificity < RARE and words.plain[match.first] not in DETERMINERS:
        evidence.add(-2.5, f"follows {last!r} like an ordinary word")
    is_day = match.key in words_in("days") or match.key.endswith(" day")
    if last in words_in("date_leads") and (specificity <= 1.3 or is_day):
        evidence.add(-2.5, "reads like a date or a number")


def _is_closed(words: Words, last: int) -> bool:
    """Return True if a clause ends after a word: by a stop, a comma, an ``and``, or the end of the post."""
    if last + 1 >= len(words):
        return True
    return words.plain[last + 1] in ("and", "or", "yet", "too") or words.gap(last)[:1] in "?!.,;)"


def _words_before(words: Words, first: int) -> list[str]:
    """Return up to four words before, back to the beginning of the sentence."""
    left: list[str] = []
    for n in range(first - 1, max(first - 5, -1), -1):
        if words.begins[n + 1]:
            break
        left.insert(0, words.plain[n])
    return left


def _weigh_after(evidence: Evidence, words: Words, match: TitleMatch) -> None:
    end = words.spans[match.last][1]
    right = words.plain[match.last + 1 : match.last + 7]
    follows = right[0] if right else ""
    if _RATED.match(words.text[end : end + 14]):
        evidence.add(1.5, "followed by a rating")
    if follows in ("movie", "film", "trilogy", "franchise", "starring", "remake", "sequel"):
        evidence.add(1.8, f"followed by the word {follows!r}")
    elif _is_cast(words, match.last):
        evidence.add(1.5, "followed by who made it or plays in it")
    elif follows in ("is", "was") and FILM_NOUN & set(right[1:6]):
        evidence.add(1.5, "said to be a film")
    elif follows in ("is", "was") and QUALITY & set(right[1:5]):
        evidence.add(1.2, "judged by the words after")
    if follows in OTHER_MEDIA and follows not in FILM_NOUN:
        evidence.add(-2.5, "followed by the name of another medium")
    if follows.isdigit() and len(follows) < 3 and words.gap(match.last) == " ":
        evidence.add(-4.5, f"the number {follows} behind it belongs to another title")
    if _is_counted(words, match):
        evidence.add(-2.5, "counts the word after")


def _is_cast(words: Words, last: int) -> bool:
    """Return True if ``with`` or ``by`` and a capitalised name follow, as in ``Speed with Keanu Reeves``."""
    if last + 2 >= len(words) or words.plain[last + 1] not in ("with", "by", "starring"):
        return False
    name = words.plain[last + 2]
    known = name in words_in("names")
    return words.capital(last + 2) and (known or (last + 3 < len(words) and words.capital(last + 3)))


def _is_counted(words: Words, match: TitleMatch) -> bool:
    """Return True if a title in digits merely counts what follows: ``21 people``."""
    if not match.key.isdigit() or match.last + 1 >= len(words):
        return False
    ordinary = words.plain[match.last + 1] not in words_in("function") and not words.capital(match.last + 1)
    return words.gap(match.last) == " " and ordinary


def _weigh_names(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    """Weigh a first name before, and a capital before or after that the title does not explain."""
    if evidence.marked or words.shouted:
        return
    first, last = match.first, match.last
    one = first == last
    before = first > 0 and words.gap(first - 1) in (" ", " ' ") and words.capital(first - 1)
    after = last + 1 < len(words) and words.gap(last) in (" ", "-") and words.capital(last + 1)
    if before and words.plain[first - 1] in words_in("names") and words.capital(first):
        evidence.add(-3.5 if one else -1.5, "follows a first name")
    elif before and one and words.capital(first) and not words.begins[first - 1] and not _possessive(words, first - 1):
        evidence.add(-2.0, "part of a longer name")
    if after and words.capital(last) and words.plain[last + 1] not in words_in("function") and specificity < RARE + 2:
        evidence.add(-2.5 if one else -1.2, "part of a longer name")
    if one and is_name(match.key) and words.capital(first):
        evidence.add(-0.8, "also the name of a person or a place")


def _possessive(words: Words, position: int) -> bool:
    return words.raw(position).endswith(("'s", "’s", "s'", "s’"))


def years_in(words: Words) -> list[int]:
    """Return the positions of the years in a post."""
    return [n for n, word in enumerate(words.plain) if word[0] in "12" and _BARE_YEAR.match(word)]


def year_near(words: Words, match: TitleMatch) -> tuple[int, bool] | None:
    """Return the year in brackets right after a match, or bare within four words, and whether it has brackets."""
    end = words.spans[match.last][1]
    following = _YEAR_IN_BRACKETS.match(words.text[end : end + 16])
    if following:
        return int(following.group(1)), True
    inside = range(match.first, match.last + 1)
    for n in range(max(match.first - 3, 0), min(match.last + 4, len(words))):
        bracketed = words.text[words.spans[n][0] - 1 : words.spans[n][0]] in ("(", "[")
        if n not in inside and not bracketed and _BARE_YEAR.match(words.plain[n]):
            return int(words.plain[n]), False
    return None
