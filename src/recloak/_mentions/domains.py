"""What people say about films, books, music, games and things they buy: a pack of words for each domain.

A word of reading speaks for a book and against a film. The pack is named by the caller or guessed: by a column that
only lists of one domain have (``authors``), else by the words of the posts.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from recloak._core.errors import OptionError
from recloak._core.spelling import did_you_mean
from recloak._mentions.text import fold_all, words_in
from recloak._ratings.column_roles import fold

_FILE = Path(__file__).parent / "words" / "domains.toml"
_FOLLOWING = frozenset({"movie", "film", "trilogy", "franchise", "starring", "remake", "sequel"})
_ANY_TAKING = frozenset({"been", "touched", "owned", "heard", "got"})
_SAMPLE = 5_000  # posts that a guess looks at


@dataclass(frozen=True, slots=True)
class Domain:
    """The words of one domain, folded; words/domains.toml says what each set is for."""

    name: str
    item: str
    prior: float
    consuming: frozenset[str]
    meeting: frozenset[str]
    nouns: frozenset[str]
    talk: frozenset[str]
    parts: frozenset[str]
    rivals: frozenset[str]
    against: frozenset[str]
    columns: frozenset[str]
    about: frozenset[str]  # any of these makes a post talk of the domain
    context: frozenset[str]  # talk and parts
    after: frozenset[str]  # what follows a title
    taking: frozenset[str]  # consuming, meeting and verbs that go with both


@cache
def domains() -> dict[str, Domain]:
    """Return the packs by name, films first."""
    packs = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: _domain(name, words) for name, words in packs.items()}


def _domain(name: str, words: dict[str, Any]) -> Domain:
    given = ("item", "columns", "prior")
    sets = {role: frozenset(fold_all(text)) for role, text in words.items() if role not in given}
    return Domain(
        name=name,
        item=words["item"],
        prior=words["prior"],
        columns=frozenset(words["columns"].split()),
        about=sets["talk"] | sets["consuming"] | (words_in("surnames") if name == "films" else frozenset()),
        context=sets["talk"] | sets["parts"],
        after=sets["parts"] | _FOLLOWING,
        taking=sets["consuming"] | sets["meeting"] | _ANY_TAKING,
        **sets,
    )


def domain_named(name: str) -> Domain:
    """Return a pack by its name; raise OptionError if there is none."""
    if name not in domains():
        raise OptionError(f"domain must be one of {', '.join(domains())}, got {name!r}{did_you_mean(name, domains())}")
    return domains()[name]


def guess_domain(columns: Sequence[str], posts: Iterable[str]) -> Domain:
    """Return the domain that a title list's columns belong to alone, else the one whose words most posts use."""
    folded = {fold(name) for name in columns}
    by_column = [one for one in domains().values() if one.columns & folded]
    if len(by_column) == 1:
        return by_column[0]
    used: Counter[str] = Counter()
    for text in islice(posts, _SAMPLE):
        words = set(fold_all(text))
        used.update(name for name, one in domains().items() if words & (one.talk | one.nouns))
    return max(domains().values(), key=lambda one: used[one.name])
