"""What stands before and after a match, and the place that it fills: object, subject, item of a list, a whole post."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recloak._mentions.domains import Domain
from recloak._mentions.text import EVERYDAY, FUNCTION, RARE, Words, words_in

if TYPE_CHECKING:
    from recloak._mentions.evidence import Evidence
    from recloak._mentions.title_matching import TitleMatch

_OPINION = words_in("opinion")
_DETERMINERS = words_in("determiners")
_DAYS = words_in("days")
_DATE_LEADS = words_in("date_leads")
_LIGHT = words_in("light")
_SETTINGS = words_in("settings")
_SURNAMES = words_in("surnames")
_QUALITY = words_in("quality")
_NAMES = words_in("names")
_FUNCTION = words_in("function")
_COMMON = words_in("common")
_LEADS = words_in("leads")
_VERDICTS = words_in("verdicts")
_THINGS = words_in("things")
_AGES = words_in("newer") | words_in("older")
_RATED = re.compile(r"^\W*(?:\d+(?:\.\d)?\s*/\s*(?:5|10|100)\b|\(\d+(?:\.\d)?\)|[★⭐*]{2,})")
_BARE_YEAR = re.compile(r"^(?:18|19|20)\d\d$")
_YEAR_IN_BRACKETS = re.compile(r"[\s\"”'*_]*[(\[]\s*((?:18|19|20)\d\d)\s*[)\]]")
_FAVOURITE = frozenset({"favorite", "favourite", "fave", "fav", "best", "last"})
_ON_SCREEN = words_in("screens")
_NO_ADJECTIVES = _AGES | _QUALITY | _FAVOURITE | _FUNCTION | _OPINION
_PREPOSITIONS = words_in("prepositions")
_COMPARING = frozenset({"than", "over", "beats", "vs", "above", "below", "like", "as"})
_COMPARED = (("good", "as"), ("better", "than"), ("worse", "than"), ("bad", "as"), ("great", "as"), ("much", "as"))
_PROPOSALS = (
    ("how", "about"), ("what", "about"), ("such", "as"), ("heard", "of"), ("sleep", "on"), ("sleeping", "on"),
    ("who", "made"), ("who", "directed"), ("guy", "from"), ("hype", "around"), ("slept", "on"), ("thinking", "about"),
    ("spot", "for"),
)  # fmt: skip
_PLACES = frozenset({"on", "at", "to", "by", "near", "into"})
_ASKING = frozenset({"is", "was", "does", "did", "has", "are"})
_ASKED = frozenset({"really", "worth", "actually", "any", "still", "count", "hold"}) | _QUALITY


def weigh_before(evidence: Evidence, words: Words, match: TitleMatch, specificity: float, domain: Domain) -> None:
    """Weigh the words before a match, back to the beginning of its sentence."""
    left = words_before(words, match.first)
    if not left:
        return
    last = left[-1]
    _weigh_cue(evidence, words, match, specificity, domain, left)
    if not domain.against.isdisjoint(left[-3:]):
        evidence.add(-2.5, "follows a word for another medium")
    if last not in domain.nouns and not domain.rivals.isdisjoint(left[-2:]):
        evidence.add(-3.5 if last in domain.rivals or last == "of" else -2.5, "follows the name of another medium")
    if last in _DETERMINERS:
        _weigh_determiner(evidence, words, match, specificity, domain, last)
    elif last in _PLACES and specificity < RARE and words.plain[match.first] == "the":
        evidence.add(-0.8, f"follows {last!r} like a place")
    elif last in _DATE_LEADS and (specificity <= 1.3 or match.key in _DAYS or match.key.endswith(" day")):
        evidence.add(-2.5, "reads like a date or a number")
    if last in _AGES and specificity > EVERYDAY:
        evidence.add(1.0, f"said to be {last}")
    if _is_bare_thing(match, last, evidence.marked):
        evidence.add(1.3, "a thing without an article")
    if match.first and _is_owner(words, match.first - 1):
        evidence.add(2.0, "follows the name of somebody who makes such things")


def is_described(words: Words, match: TitleMatch) -> bool:
    """Return True for one word in small letters after an article and an everyday adjective: *ask an actual historian*.

    Words of age and praise do not count: *the new dune* and *the great dune* are titles.
    """
    left = words_before(words, match.first)
    if match.first != match.last or words.capital(match.first) or len(left) < 2 or left[-2] not in _DETERMINERS:
        return False
    return left[-1] in _COMMON and left[-1] not in _NO_ADJECTIVES


def _weigh_determiner(
    evidence: Evidence, words: Words, match: TitleMatch, specificity: float, domain: Domain, last: str
) -> None:
    """Weigh *the* or *my* before a match; in "the fargo movie" it belongs to the movie."""
    if specificity < RARE and words.plain[match.first] not in _DETERMINERS:
        named = specificity > EVERYDAY and match.last + 1 < len(words) and words.plain[match.last + 1] in domain.nouns
        evidence.add(-0.8 if named else -2.5, f"follows {last!r} like an ordinary word")


def _weigh_cue(
    evidence: Evidence, words: Words, match: TitleMatch, specificity: float, domain: Domain, left: list[str]
) -> None:
    """Weigh the one strongest cue before a match."""
    last, near = left[-1], left[-3:]
    if last in domain.nouns:
        evidence.add(2.2, f"follows the word {last!r}")
    elif last == "is" and not _FAVOURITE.isdisjoint(left) and not domain.nouns.isdisjoint(left):
        evidence.add(2.6, f"said to be a favourite {domain.item}")
    elif not domain.consuming.isdisjoint(near):
        weight = _object_weight(words, match, left, domain.consuming, specificity)
        evidence.add(weight, f"follows a word for taking in a {domain.item}")
    elif not domain.meeting.isdisjoint(near):
        weight = _object_weight(words, match, left, domain.meeting, specificity)
        evidence.add(weight - 0.8, "follows a word such as seeing or starting")
    elif last == "put" and words.plain[match.last + 1 : match.last + 2] == ["on"]:
        evidence.add(2.2, "put on")
    elif not _OPINION.isdisjoint(near):
        evidence.add(1.4 if last in _OPINION else 1.0, "follows an opinion")
    else:
        _weigh_weak_cue(evidence, words, match, specificity, domain, left)


def _weigh_weak_cue(
    evidence: Evidence, words: Words, match: TitleMatch, specificity: float, domain: Domain, left: list[str]
) -> None:
    """Weigh what stands before a match where no verb of taking in and no opinion does."""
    last, pair = left[-1], tuple(left[-2:])
    if last in ("in", "of", "at", "from") and not domain.context.isdisjoint(left):
        evidence.add(2.0, "follows talk of a part of it")
    elif last in _COMPARING and specificity > EVERYDAY:
        evidence.add(1.4 if pair in _COMPARED else 0.8, "compared with something")
    elif pair in _PROPOSALS or last in ("during", "maybe"):
        evidence.add(2.0 if is_closed(words, match.last) else 1.2, "follows a proposal")
    elif last == "is" and specificity > EVERYDAY and not _FAVOURITE.isdisjoint(left):
        evidence.add(1.5, "said to be a favourite")
    elif (
        last in _ASKING
        and len(left) == 1
        and words.plain[match.last + 1 : match.last + 2]
        and (words.plain[match.last + 1] in _ASKED)
    ):
        evidence.add(1.2, "asked about")


def _object_weight(
    words: Words, match: TitleMatch, left: list[str], verbs: frozenset[str], specificity: float
) -> float:
    """Return how strongly a verb before a match makes it the object: beside it, with few words between, or further."""
    place = max(n for n, word in enumerate(left) if word in verbs)
    between = left[place + 1 :]
    if not between:
        return 3.0 if is_closed(words, match.last) else 2.4
    if all(word in _LIGHT for word in between):
        return 2.2
    return 1.8 if specificity >= RARE else 0.8


def is_closed(words: Words, last: int) -> bool:
    """Return True if a clause ends after a word: by a stop, by where or when, or by the end of the post."""
    if last + 1 >= len(words):
        return True
    return words.plain[last + 1] in _SETTINGS or words.gap(last)[:1] in "?!.,;)"


def words_before(words: Words, first: int) -> list[str]:
    """Return up to four words before, back to the beginning of the sentence."""
    start, least, begins = first, max(first - 4, 0), words.begins
    while start > least and not begins[start]:
        start -= 1
    return words.plain[start:first]


def _is_bare_thing(match: TitleMatch, last: str, marked: bool) -> bool:
    """Return True for one everyday noun that needs an article and has none, after a preposition: *a fan of heat*."""
    return match.first == match.last and not marked and last in _PREPOSITIONS and match.key in _THINGS


def _is_owner(words: Words, position: int) -> bool:
    """Return True for *Kubrick's* and *cronenbergs*."""
    raw, plain = words.raw(position), words.plain[position]
    return raw.endswith(("'s", "’s")) and plain[:-1] in _SURNAMES


def weigh_after(evidence: Evidence, words: Words, match: TitleMatch, specificity: float, domain: Domain) -> None:
    """Weigh the words after a match."""
    end = words.spans[match.last][1]
    right = words.plain[match.last + 1 : match.last + 7]
    follows = right[0] if right else ""
    rated = _RATED.match(words.text[end : end + 14]) is not None
    if rated:
        evidence.add(2.0, "followed by a rating")
    if follows in domain.after:
        evidence.add(1.8, f"followed by the word {follows!r}")
    elif is_cast(words, match.last):
        evidence.add(1.8, "followed by who made it or plays in it")
    elif follows in ("is", "was") and domain.nouns & set(right[1:6]):
        evidence.add(1.5, f"said to be a {domain.item}")
    elif follows in ("is", "was") and _QUALITY & set(right[1:5]):
        evidence.add(1.2, "judged by the words after")
    elif right[:2] == ["came", "out"] or _is_shown(right):
        evidence.add(1.2, "followed by where or when it was shown")
    if follows in domain.rivals and follows not in domain.nouns and words.gap(match.last) == " ":
        evidence.add(-2.5, "followed by the name of another medium")
    if (
        follows.isdigit()
        and len(follows) < 3
        and words.gap(match.last) == " "
        and not (rated or _counts(words, match) or _is_spelled_out(words, match.last + 1))
    ):
        evidence.add(-4.5, f"the number {follows} behind it belongs to another title")
    if follows in ("of", "to") and specificity <= EVERYDAY + FUNCTION and words.gap(match.last) == " ":
        evidence.add(-1.0, f"goes on with {follows!r} like an ordinary word")
    if _is_counted(words, match):
        evidence.add(-2.5, "counts the word after")


def _is_shown(right: list[str]) -> bool:
    """Return True for *on Netflix* and *is on TV*."""
    place = 1 if right[:1] == ["is"] else 0
    return right[place : place + 1] == ["on"] and not _ON_SCREEN.isdisjoint(right[place + 1 : place + 4])


def _is_spelled_out(words: Words, position: int) -> bool:
    """Return True for a number in letters that goes on with a word: *Slay the Spire, one more run*."""
    raw = words.raw(position).lower()
    return raw.isalpha() and not set(raw) <= set("ivx") and not is_closed(words, position)


def _counts(words: Words, match: TitleMatch) -> bool:
    """Return True if the number after a match belongs to the next item of a list: ``se7en 2) fargo``."""
    end = words.spans[match.last + 1][1]
    return words.text[end : end + 1] in (")", ".", ":")


def is_cast(words: Words, last: int) -> bool:
    """Return True if ``with`` or ``by`` and somebody's name follow, as in ``Speed with Keanu Reeves``."""
    if last + 2 >= len(words) or words.plain[last + 1] not in ("with", "by", "starring"):
        return False
    names = words.plain[last + 2 : last + 4]
    if names[0] in _SURNAMES or (names[0] in _NAMES and not words.cased):
        return len(names) > 1
    known = names[0] in _NAMES
    return words.capital(last + 2) and (known or (last + 3 < len(words) and words.capital(last + 3)))


def _is_counted(words: Words, match: TitleMatch) -> bool:
    """Return True if a title in digits merely counts what follows: ``21 people``."""
    if not match.key.isdigit() or match.last + 1 >= len(words):
        return False
    ordinary = words.plain[match.last + 1] not in _FUNCTION and not words.capital(match.last + 1)
    return words.gap(match.last) == " " and ordinary


def weigh_place(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    """Weigh a match that is a whole post or sentence, or the subject of a verdict."""
    first, last = match.first, match.last
    starts = words.begins[first] or words.plain[first - 1] in _LEADS or "," in words.gap(first - 1)
    if not starts:
        return
    ends = last + 1 == len(words) or words.begins[last + 1]
    if ends and words.begins[first]:
        whole = first == 0 and last + 1 == len(words)
        evidence.add(2.0 if whole and specificity > EVERYDAY + FUNCTION else 0.8, "stands alone")
    elif not ends and words.plain[last + 1] in _VERDICTS and words.gap(last) == " ":
        thing = first == last and match.key in _THINGS
        evidence.add(1.6 if specificity > EVERYDAY or thing else 0.9, "the subject of a verdict")
        if words.plain[last + 2 : last + 3] == ["me"] or not _QUALITY.isdisjoint(words.plain[last + 2 : last + 5]):
            evidence.add(0.6, "did something to the writer, or is praised or blamed")
    elif not ends and words.text[words.spans[last][1]] in ":>=" and specificity > EVERYDAY:
        evidence.add(0.8, "stands before a colon or an arrow")


def years_in(words: Words) -> list[int]:
    """Return the positions of the years in a post."""
    return [n for n, word in enumerate(words.plain) if word[0] in "12" and _BARE_YEAR.match(word)]


def year_near(words: Words, match: TitleMatch, years: Sequence[int]) -> tuple[int, bool] | None:
    """Return the year in brackets right after a match, or the first bare one near it, and whether it has brackets.

    ``years`` are the positions of the years near the match.
    """
    end = words.spans[match.last][1]
    following = _YEAR_IN_BRACKETS.match(words.text[end : end + 16])
    if following:
        return int(following.group(1)), True
    for n in years:
        bracketed = words.text[words.spans[n][0] - 1 : words.spans[n][0]] in ("(", "[")
        if not (match.first <= n <= match.last or bracketed):
            return int(words.plain[n]), False
    return None
