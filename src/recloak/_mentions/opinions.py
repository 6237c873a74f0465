"""What a writer says of a title: whether they hold it (*never seen Heat*), and what they think of it.

A title that the writer says they have not seen is a mention, but it tells nobody what is in their ratings: an
attacker who reads it as a holding is misled, and so would be the advice.
"""

from __future__ import annotations

import re

from recloak._mentions.domains import Domain
from recloak._mentions.text import Words, words_in
from recloak._mentions.title_matching import TitleMatch

_NOT = words_in("negations")
_PLANS = words_in("plans")
_LATER = frozenset({"watchlist", "tbr", "backlog", "unread", "unwatched", "unplayed"})
_ASKED = frozenset({"you", "anyone", "anybody", "y'all", "u", "ya", "someone", "guys", "yall"})
_AFTER = re.compile(r"\bi (?:have )?(?:never|havent|still have not|have not|didnt)\b")
_SCORE = re.compile(r"^(?:\s*\(\d{4}\))?\W{0,3}(\d{1,3}(?:\.\d)?)\s*/\s*(5|10|100)\b|^\W{0,3}([★⭐]{1,5})")
_SCORE_BEFORE = re.compile(r"(\d{1,2}(?:\.\d)?)\s*/\s*(5|10)\W{1,4}$")
_PRAISE = words_in("praise")
_BLAME = words_in("blame")
_TURNED = frozenset({"not", "isnt", "wasnt", "dont", "didnt", "never", "no", "hardly", "cant"})


def is_held(words: Words, match: TitleMatch, domain: Domain) -> bool:
    """Return False if the writer says that they have not taken it in, only plan to, or asks others about it."""
    start = _sentence_start(words, match.first)
    left = words.plain[start : match.first]
    if not _LATER.isdisjoint(left):
        return False
    verbs = [n for n, word in enumerate(left) if word in domain.taking]
    if not verbs:
        right = words.plain[match.last + 1 : match.last + 16]
        return _AFTER.search(" ".join(right)) is None
    before = left[max(verbs[-1] - 5, 0) : verbs[-1]]
    if "until" in words.plain[match.last + 1 : match.last + 4]:
        return True  # I didn't see it until last year
    if _NOT & set(before) and "only" not in before and not ({"cant", "believe"} <= set(before)):
        return False
    if _PLANS & set(before) or left[max(verbs[-1] - 2, 0) : verbs[-1]][-2:] == ["going", "to"]:
        return False
    return not (before[-1:] and before[-1] in _ASKED and {"have", "did", "has"} & set(before))


def opinion_of(words: Words, match: TitleMatch) -> float | None:
    """Return what the writer thinks of a title, from -1 to 1: a score such as 8/10, else praise or blame near by."""
    end, start = words.spans[match.last][1], words.spans[match.first][0]
    score = _SCORE.match(words.text[end : end + 22]) or _SCORE_BEFORE.search(words.text[max(start - 12, 0) : start])
    if score is not None:
        return _scored(score)
    first = _sentence_start(words, match.first)
    near = [*words.plain[max(match.first - 5, first) : match.first], *_sentence_rest(words, match.last)]
    total = 0
    for n, word in enumerate(near):
        sign = (word in _PRAISE) - (word in _BLAME)
        total += -sign if sign and _TURNED & set(near[max(n - 3, 0) : n]) else sign
    return None if total == 0 else max(-1.0, min(1.0, 0.7 * total))


def _scored(score: re.Match[str]) -> float:
    if score.re is _SCORE and score.group(3):
        return round((len(score.group(3)) - 1) / 2 - 1, 3)
    value, top = float(score.group(1)), float(score.group(2))
    return round(max(-1.0, min(1.0, 2 * value / top - 1)), 3)


def _sentence_start(words: Words, first: int) -> int:
    start = first
    while start > 0 and not words.begins[start] and first - start < 12:
        start -= 1
    if start > 0 and ":" in words.gap(start - 1):  # on my watchlist: ...
        return max(start - 4, 0)
    return start


def _sentence_rest(words: Words, last: int) -> list[str]:
    rest = []
    for n in range(last + 1, min(last + 8, len(words))):
        if words.begins[n] or words.plain[n] in ("but", "and"):
            break
        rest.append(words.plain[n])
    return rest
