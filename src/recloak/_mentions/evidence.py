"""The evidence in a match's own words and marks: each piece adds to the log odds and has a reason in plain words.

The prior is how specific the words are (`Lexicon`). Quotes, emphasis and capitals speak for a title; small letters in a
post with capitals, names of people and everyday phrases speak against it. What stands around a match is weighed in
`surroundings`. The weights are round numbers, set on the ``tune`` half of the labelled posts; they are log odds: 2
makes a title seven times likelier.
"""

from dataclasses import dataclass, field

from recloak._mentions.surroundings import weigh_after, weigh_before, weigh_place
from recloak._mentions.text import EVERYDAY, FUNCTION, RARE, Words, is_name, phrases, words_in
from recloak._mentions.title_matching import TitleIndex, TitleMatch

_SPEECH = words_in("speech")
_FUNCTION = words_in("function")
_NAMES = words_in("names")
_COMMON = words_in("common")
_SURNAMES = words_in("surnames")
_DETERMINERS, _QUALITY = words_in("determiners"), words_in("quality")
_MEDIA = frozenset({"movie", "film", "book", "novel", "song", "album", "game", "movies", "films", "books"})
PRIOR, PER_SPECIFICITY = -4.2, 1.15
_OPEN, _CLOSE = "\"“«'‘*_”『「《【„", "\"”»'’*_“』」》】"
_PRONOUNS = words_in("pronouns")


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


def weigh(words: Words, match: TitleMatch, index: TitleIndex, *, talk: bool) -> Evidence:
    """Return all evidence except the year, the other finds and which title of that name is meant."""
    specificity = index.specificity[match.pattern]
    evidence = Evidence(PRIOR + index.domain.prior + PER_SPECIFICITY * specificity)
    if specificity >= RARE:
        evidence.reasons.append((0.5, "its words are seldom used otherwise"))
    evidence.marked = _weigh_marks(evidence, words, match, specificity)
    pronoun = match.key in _PRONOUNS and not evidence.marked
    if not pronoun or words.capital(match.first):
        weigh_before(evidence, words, match, specificity, index.domain)
        weigh_after(evidence, words, match, specificity, index.domain)
        weigh_place(evidence, words, match, specificity)
    _weigh_names(evidence, words, match, specificity)
    _weigh_phrase(evidence, words, match, index)
    if talk:
        evidence.add(0.5, f"the post is about {index.domain.name}")
    if match.misspelled:
        evidence.add(-0.5, "spelled a little differently")
    return evidence


def is_talk(words: Words, index: TitleIndex) -> bool:
    """Return True if a post uses words of the domain, or names somebody well known in film."""
    return not index.domain.about.isdisjoint(words.plain)


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
    if not emphasis and (_SPEECH & set(near)):
        evidence.add(-1.5, "the quotes follow a word of speaking")
        return False
    evidence.add(3.8 if emphasis else 3.3, "set off by emphasis" if emphasis else "stands in quotes")
    return True


def _weigh_capitals(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    run = range(match.first, match.last + 1)
    plain, text, spans = words.plain, words.text, words.spans
    content = [n for n in run if plain[n] not in _FUNCTION and text[spans[n][0]].isalpha()] or list(run)
    high = [n for n in content if words.capital(n)]
    if len(high) < len(content):
        _weigh_small(evidence, words, content, specificity)
        return
    inner = [n for n in high if not words.begins[n]]
    if len(content) > 1:
        small_words = specificity < EVERYDAY and len(inner) == len(content)  # *At Last*: no name has such capitals
        evidence.add(3.6 if small_words else 2.6 if len(inner) > 1 else 1.6, "written with capitals")
    elif inner:
        _weigh_one_capital(evidence, words, match, words.plain[inner[0]], specificity)
    else:
        evidence.add(0.4, "begins the sentence")


def _weigh_small(evidence: Evidence, words: Words, content: list[int], specificity: float) -> None:
    """Weigh small letters: against a title where the writer marks names, for it where nothing has capitals."""
    if words.cased and words.capitals:
        if any(words.raw(n)[0].islower() and not words.begins[n] for n in content):
            weight = -1.8 if specificity < RARE + 1.5 else -0.8
            evidence.add(weight, "written in small letters where others are not")
    elif words.cased and specificity < RARE:
        evidence.add(-0.5, "written in small letters")
    elif specificity >= RARE:
        evidence.add(0.9, "no word of the post has a capital")
    elif len(content) > 1:
        evidence.add(0.6, "no word of the post has a capital")


def _weigh_one_capital(evidence: Evidence, words: Words, match: TitleMatch, word: str, specificity: float) -> None:
    """Weigh one capital inside a sentence: names always have one, everyday words only in a title."""
    article = match.first < match.last and words.capital(match.first)
    if word in ("i", "id", "im", "ill"):
        return
    if is_name(word) and not article:
        evidence.add(0.2, "written with a capital")
    elif word in _FUNCTION or specificity < EVERYDAY + FUNCTION + 0.1:
        evidence.add(3.2, "an everyday word with a capital inside a sentence")
    else:
        evidence.add(2.0, "written with a capital inside a sentence")


def _weigh_phrase(evidence: Evidence, words: Words, match: TitleMatch, index: TitleIndex) -> None:
    """Weigh everyday phrases (*the others*), and kinds of a title (*a superhero movie*), that have no mark."""
    if evidence.marked or match.first == match.last:
        return
    capitals = all(words.capital(n) for n in (match.first, match.last)) and not words.shouted
    if capitals:
        return
    if match.key in phrases() or " ".join(match.key.split()[1:]) in phrases():
        evidence.add(-1.3, "also an everyday phrase")
    elif index.specificity[match.pattern] < RARE + 1 and not words.cased:
        evidence.add(0.5, "no everyday phrase")
    if words.plain[match.last] in _MEDIA and match.last - match.first < 2:
        before = words.plain[match.first - 1] if match.first and not words.begins[match.first] else ""
        described = before in _DETERMINERS or before in _QUALITY or before in _COMMON
        evidence.add(-4.0 if described else -1.0, f"reads like a kind of {index.domain.item}")


def _weigh_names(evidence: Evidence, words: Words, match: TitleMatch, specificity: float) -> None:
    """Weigh a first name before, and a capital before or after that the title does not explain."""
    if evidence.marked or words.shouted:
        return
    first, last = match.first, match.last
    one = first == last
    if not words.capital(first):
        _weigh_small_names(evidence, words, match)
        return
    before = first > 0 and words.gap(first - 1) in (" ", " ' ") and words.capital(first - 1)
    after = last + 1 < len(words) and words.gap(last) in (" ", "-") and words.capital(last + 1)
    if before and words.plain[first - 1] in _NAMES:
        evidence.add(-3.5 if one else -1.5, "follows a first name")
    elif before and one and not words.begins[first - 1] and not possessive(words, first - 1):
        evidence.add(-2.0, "part of a longer name")
    if after and words.capital(last) and words.plain[last + 1] not in _FUNCTION and specificity < RARE + 2:
        evidence.add(-2.5 if one else -1.2, "part of a longer name")
    if one and is_name(match.key):
        evidence.add(-0.8, "also the name of a person or a place")


def _weigh_small_names(evidence: Evidence, words: Words, match: TitleMatch) -> None:
    """Weigh people's names without capitals: *emma watson*, *kevin hart*."""
    first, last = match.first, match.last
    before = words.plain[first - 1] if first > 0 and words.gap(first - 1) == " " else ""
    if first == last and before in _NAMES and before not in _COMMON:
        evidence.add(-2.5, "follows a first name")
    if words.plain[last] not in _NAMES or last + 1 >= len(words) or words.gap(last) != " ":
        return
    following = words.plain[last + 1]
    if following in _SURNAMES and first == last:
        evidence.add(-3.0, "part of a person's name")


def possessive(words: Words, position: int) -> bool:
    """Return True if a word ends like an owner: *Kubrick's*."""
    return words.raw(position).endswith(("'s", "’s", "s'", "s’"))
