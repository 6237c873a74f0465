"""Attacks on the posting advisor: whether a token can be made an oracle on other people's ratings.

The attacker wants to know whether a target rated a certain item. They know some of the target's items, the public
numbers of raters and how the advisor scores, and may ask about any draft as often as they like. They see what everybody
sees, the answer as JSON, by the one function that is given to them.

- `probe` holds the token of an ordinary user. It weighs the target's known items up with as many of the user's own, so
  that the target stands just below the user without the item and just above with it: one place more. Where only
  mentions of the user's own count, it looks whether the item thins out those who share known items with the user.
- `probe_with_accounts` holds the token of one of many accounts that it brought into the ratings, all with most of the
  target's known items, the item in question, and a decoy that as many others have and the target has not. Over many
  sets of known items it compares the item with the decoy, before every attacker that an answer tells of: a set that
  hides one more person with the item has found the target.
- `probe_by_direction` knows that other people make a difference too, in either direction: it asks about all sets and
  guesses by whether the item hides more often than the decoy does.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recloak._core.randomness import Rng, randomness

Item = int | str
Ask = Callable[[Sequence[Item], Sequence[Item], int], Mapping[str, Any]]  # earlier, draft and k, to the answer

_FLOOR = 0.05  # what Scoring gives for an item that is not rated
_MOST_HEARD = 0.02  # the advisor's attackers ignore at most this share of the most-rated items
_FIRST = (1,)  # the band tells the first places apart, whatever k is asked for
_SIZES = (12, 10, 8, 6, 5, 4)  # known items in a draft, the best number first
_ALONE = "1"  # the band of a draft that nobody else fits
_MARGIN = 1e-3
_KEPT = 0.9  # each account has this share of the target's known items


@dataclass(frozen=True, slots=True)
class AskerKnowledge:
    """What the attacker knows before the first question."""

    own: tuple[Item, ...]  # what the token's user rated
    known: tuple[Item, ...]  # some of what the target rated
    raters: Mapping[Item, int]  # public numbers of raters
    n_users: int

    def weight(self, item: Item) -> float:
        """Return what Scoring adds for each rater of an item: ``log(1 - (raters - 1) / |U|) - log 0.05``."""
        return math.log(1 - (self.raters[item] - 1) / self.n_users) - math.log(_FLOOR)

    def always_heard(self) -> set[Item]:
        """Return the items that are not so popular that an adaptive attacker ignores them."""
        ranked = sorted(self.raters, key=lambda item: -self.raters[item])
        return set(ranked[math.ceil(_MOST_HEARD * len(ranked)) + 1 :])


@dataclass(frozen=True, slots=True)
class Guess:
    """What the attacker says of the item, and how many questions it took."""

    rated: bool
    n_asked: int


class _Line:
    """The line to the advisor, with a counter."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.n_asked = 0

    def standing(self, draft: Sequence[Item], ks: Sequence[int]) -> tuple[str | bool, ...]:
        """Read what the answers say about the place of a draft before Scoring, whose weights are known beforehand."""
        self.n_asked += len(ks)
        return tuple(self.ask([], draft, k)["attackers"]["scoring"] for k in ks)

    def everything(self, draft: Sequence[Item], k: int) -> tuple[str | bool, ...]:
        """Read the place before every attacker, and whether the draft hides."""
        self.n_asked += 1
        answer = self.ask([], draft, k)
        return (answer["hidden"], answer["after"], answer["before"], *answer["attackers"].values())


def probe(ask: Ask, knowledge: AskerKnowledge, item: Item, *, most: int = 60) -> Guess:
    """Guess whether the target rated an item, with the token of an ordinary user and at most so many questions."""
    line = _Line(ask)
    for draft in _balanced(knowledge, item):
        if line.n_asked + 2 * len(_FIRST) > most:
            break
        alone = line.standing(draft, _FIRST)
        if alone[0] == _ALONE:  # else others are in the way
            return Guess(line.standing([*draft, item], _FIRST) != alone, line.n_asked)
    return _by_thinning(line, knowledge, item, most)


def _balanced(knowledge: AskerKnowledge, item: Item) -> Iterator[list[Item]]:
    """Return drafts in which the user outweighs the target, but not if the target rated the item as well.

    As many known items as own ones, all as rare as can be: few others come near.
    """
    heard = knowledge.always_heard()
    known = sorted(heard & {*knowledge.known} - {item}, key=knowledge.weight, reverse=True)
    own = sorted(heard & {*knowledge.own} - {*known, item}, key=knowledge.weight, reverse=True)
    for n in _SIZES:
        mine = sum(map(knowledge.weight, own[:n]))
        for first in range(len(known) - n + 1):
            ahead = mine - sum(map(knowledge.weight, known[first : first + n]))
            if _MARGIN < ahead < knowledge.weight(item) - _MARGIN:
                yield [*known[first : first + n], *own[:n]]
                break


def _by_thinning(line: _Line, knowledge: AskerKnowledge, item: Item, most: int) -> Guess:
    """Guess by whether adding the item to sets of common items leaves the user as hidden as before."""
    common = sorted({*knowledge.known} & {*knowledge.own} - {item}, key=knowledge.weight)
    kept = []
    for n_common in range(1, len(common) + 1):
        if line.n_asked + 2 > most:
            break
        draft = common[:n_common]
        kept.append(line.standing(draft, (10,)) == line.standing([*draft, item], (10,)))
    return Guess(bool(kept) and sum(kept) * 2 > len(kept), line.n_asked)


def accounts(known: Sequence[Item], item: Item, decoy: Item, n_accounts: int, rng: Rng) -> list[list[Item]]:
    """Plan what accounts rate, so that sets of known items are shared by every small number of them.

    The first has everything and holds the token.
    """
    stream = randomness(rng).stream("accounts")
    keep = stream.random((n_accounts, len(known))) < _KEPT
    keep[0] = True
    return [[*itertools.compress(known, row), item, decoy] for row in keep.tolist()]


def probe_with_accounts(
    ask: Ask, known: Sequence[Item], item: Item, decoy: Item, *, left_out: int = 3, k: int = 10
) -> Guess:
    """Guess whether the target rated an item, with the token of the first of `accounts`.

    Sets of all known items but ``left_out`` are tried: the fewer are left out, the fewer others have them together.
    """
    line = _Line(ask)
    for size in range(len(known), max(len(known) - left_out, 1) - 1, -1):
        for chosen in itertools.combinations(known, size):
            if line.everything([*chosen, item], k) != line.everything([*chosen, decoy], k):
                return Guess(True, line.n_asked)
    return Guess(False, line.n_asked)


def probe_by_direction(
    ask: Ask, known: Sequence[Item], item: Item, decoy: Item, *, left_out: int = 2, k: int = 10
) -> Guess:
    """Guess as `probe_with_accounts`, by which of item and decoy leaves the account better hidden in more answers."""
    line, ahead = _Line(ask), 0
    for size in range(len(known), max(len(known) - left_out, 1) - 1, -1):
        for chosen in itertools.combinations(known, size):
            told = [line.everything([*chosen, one], k)[3:] for one in (item, decoy)]
            ahead += sum(_depth(a) - _depth(b) for a, b in zip(*told, strict=True))
    return Guess(ahead > 0, line.n_asked)


def _depth(band: str | bool) -> int:
    """Give the first place of a band as a number of digits: 1 for "1 to 10", 4 for "beyond 1,000"."""
    return len("".join(sign for sign in str(band).split(" to ")[0] if sign.isdigit()))
