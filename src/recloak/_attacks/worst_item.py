"""The worst case: rare items, and groups, whose users a release gives away, however well it hides everybody else.

A mean over people hides a few who are given away. Twenty people who used one item and hardly anything else come into
the same groups, and the rows of these groups show the item. So the attacker looks at rare items alone, and claims that
all members of a group used an item where the row points to it most:

    surest  the surest cells of all rare items, until they speak of 20, 50 or 100 people; of propensities by three
            orders: the highest, the furthest above the item's mean, the furthest ahead of every other group
    item    of one item the first group, or the first ones that hold as many people as used it, as anybody may know
    exact   a pure row shows the items of all its members: if 20 people used an item and its rows have 20, all did

Everybody is looked at, so the share of a surest claim that is right is a fact about this release, without an interval.
Claims about one item are thousands, and some are right by luck: of these counts only the share that is right at least,
by a lower bound that holds for all of them at once (Clopper and Pearson 1934, Bonferroni). A claim that is more often
right than wrong is a breach. The control is the same attack on people who were dealt to the groups by lot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.drawn_evidence import counts_of
from recloak._attacks.group_likelihood import group_model_of
from recloak._attacks.link_beliefs import posteriors
from recloak._attacks.model import Hits, PersonRisks, Public
from recloak._attacks.released_cells import cells_of
from recloak._core.errors import InputError
from recloak._core.intervals import Share
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

RARE = 0.1  # an item that fewer people used than this share is rare
LIMIT = 0.5  # a claim that is more often right than wrong gives people away
LEVELS = (20, 50, 100)  # people of whom the surest claims speak
_ERROR = 0.05  # of all lower bounds together
_MOST_CELLS = 40_000_000  # beyond, items are drawn
_BLOCK = 4_000_000

Scores = NDArray[np.float32]  # (n_profiles, n_items looked at) how far each row points to an item, -inf: not at all
Used = NDArray[np.int32]  # (n_profiles, n_items looked at) members who used it


@dataclass(frozen=True, eq=False, slots=True)
class Claim:
    """A claim that all members of some groups used some items."""

    kind: str  # surest, item or exact
    groups: NDArray[np.int64]  # (n_cells,)
    columns: NDArray[np.int64]  # (n_cells,) places among the items looked at
    people: int
    right: int

    def counted(self, n_claims: int) -> float:
        """Return what counts of the claim, which is one of so many about single items."""
        if self.kind != "item" or not self.right:
            return self.right / max(self.people, 1)
        return float(betaincinv(self.right, self.people - self.right + 1, _ERROR / n_claims))


def claims_on(
    public: Public, ways: list[Scores], n_users: NDArray[np.integer], used: Used
) -> list[Claim]:  # fmt: skip
    """Return every claim on items that so many people used; ``used`` is the truth, which says how many are right."""
    found: list[Claim] = []
    for scores in ways:
        found += [_claim("surest", *cells, public, used) for cells in _surest(scores, public.weights)]
        for column, n in enumerate(n_users):
            groups = _first_groups(scores[:, column], public.weights, int(n))
            found += [_claim("item", one, np.full(len(one), column), public, used) for one in groups]
    if not public.is_complete and public.drawn is None:
        found += _exact(public, ways[0], n_users, used)
    if not found:
        raise InputError("the rows point to no rare item")
    return found


def _claim(
    kind: str, groups: NDArray[np.int64], columns: NDArray[np.int64], public: Public, used: Used
) -> Claim:  # fmt: skip
    return Claim(kind, groups, columns, int(public.weights[groups].sum()), int(used[groups, columns].sum()))


def _surest(
    scores: Scores, weights: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:  # fmt: skip
    """Yield the cells with the highest scores that speak of as many people as each level; equal scores go together."""
    most = LEVELS[-1] // max(int(weights.min()), 1) + 1
    if scores.size <= most:
        return
    line = np.partition(scores.ravel(), scores.size - most)[scores.size - most]
    groups, columns = np.nonzero((scores >= line) & np.isfinite(scores))
    order = np.argsort(-scores[groups, columns], kind="stable")
    groups, columns = groups[order], columns[order]
    for end in sorted({_end(scores[groups, columns], weights[groups], level) for level in LEVELS} - {0}):
        yield groups[:end], columns[:end]


def _first_groups(scores: Scores, weights: NDArray[np.int64], n_users: int) -> Iterator[NDArray[np.int64]]:
    """Yield the first group of an item, and the first ones that hold as many people as used it."""
    order = np.argsort(-scores, kind="stable")[: int(np.isfinite(scores).sum())]
    if not len(order) or (len(order) == len(scores) and scores[order[0]] == scores[order[-1]]):
        return  # nothing points to the item, or all rows alike
    for end in sorted({_end(scores[order], weights[order], people) for people in (1, n_users)}):
        yield order[:end]


def _end(falling: Scores, weights: NDArray[np.int64], people: int) -> int:
    """Return how many of some cells, the highest first, hold so many people; equal ones are taken together."""
    if not len(falling):
        return 0
    ends = np.flatnonzero(np.append(np.diff(falling) != 0, True)) + 1
    held = np.cumsum(weights)[ends - 1]
    return int(ends[min(int(np.searchsorted(held, people)), len(ends) - 1)])


def _exact(public: Public, scores: Scores, n_users: NDArray[np.integer], used: Used) -> Iterator[Claim]:
    """Yield what follows for certain from rows that show all items of their members."""
    for column, n in enumerate(n_users):
        groups = np.flatnonzero(np.isfinite(scores[:, column]))
        claim = _claim("exact", groups, np.full(len(groups), column), public, used)
        if claim.right == n:  # all who used it are there, so that the attacker's figure is the true one
            yield claim


def _scores(public: Public, ratings: Ratings, items: NDArray[np.int64]) -> Iterator[Scores]:
    """Yield ways to score how far the row of each group points to each item."""
    if public.drawn is not None:
        yield _by_rows(public, lambda some: counts_of(public, some)[:, items] / public.weights[some][:, None])
        return
    labels = _by_rows(public, lambda some: cells_of(public, some, items))
    if ratings.kind is RATINGS or not public.is_complete:  # what is a high label depends on the item
        with np.errstate(invalid="ignore"):
            labels = labels - np.nanmean(labels, axis=0, keepdims=True)
    yield np.where(np.isnan(labels), -np.inf, labels).astype(np.float32)
    if ratings.kind is not RATINGS and public.is_complete:
        yield labels - labels.mean(axis=0, keepdims=True)
        yield _leads(labels)
    model = group_model_of(public, ratings)
    if ratings.kind is RATINGS and model.shows_presence:
        yield _by_rows(public, lambda some: posteriors(model, some)[:, items])


def _leads(labels: Scores) -> Scores:
    """Return how far the first group of each item is ahead of the second; other groups are not pointed to."""
    if len(labels) < 2:
        return np.zeros_like(labels)
    second, first = np.partition(labels, -2, axis=0)[-2:]
    return np.where((labels == first) & (first > second), first - second, -np.inf).astype(np.float32)


def _by_rows(public: Public, read: Callable[[NDArray[np.int64]], NDArray[np.floating]]) -> Scores:
    """Read all rows, a block of them at a time."""
    step = max(_BLOCK // max(public.n_items, 1), 1)
    starts = range(0, public.n_profiles, step)
    blocks = [read(np.arange(first, min(first + step, public.n_profiles))) for first in starts]
    return np.vstack(blocks).astype(np.float32)


def _looked_at(public: Public, ratings: Ratings, stream: np.random.Generator) -> NDArray[np.int64]:
    """Return the rare items that at least two people used, some of them where there are very many cells."""
    n_users = ratings.popularity
    rare = np.flatnonzero((n_users >= 2) & (n_users < RARE * ratings.n_users))
    if not len(rare):
        raise InputError(f"no item was used by two people and by less than {100 * RARE:g} % of all")
    return np.sort(stream.permutation(rare)[: max(_MOST_CELLS // max(public.n_profiles, 1), 1)])


class Uses(NamedTuple):
    """Who used which of some items, in the order of the items."""

    users: NDArray[np.int64]
    columns: NDArray[np.int64]  # ascending places among the items

    def of(self, column: int) -> NDArray[np.int64]:
        """Return the users of one item."""
        return self.users[slice(*np.searchsorted(self.columns, (column, column + 1)))]

    def by_group(self, owner: NDArray[np.int32], n_profiles: int, n_items: int) -> Used:
        """Count the members of each group who used each of the items."""
        found = np.zeros((n_profiles, n_items), np.int32)
        np.add.at(found, (owner[self.users], self.columns), 1)
        return found


def uses_of(ratings: Ratings, items: NDArray[np.int64]) -> Uses:
    """Return who used each of some items; nothing as large as the ratings is made."""
    column = np.full(ratings.n_items, -1)
    column[items] = np.arange(len(items))
    found = [np.empty((2, 0), np.int64)]
    for first in range(0, ratings.n_ratings, _BLOCK):
        columns = column[ratings.items[first : first + _BLOCK]]
        kept = np.flatnonzero(columns >= 0)
        found.append(np.stack((np.searchsorted(ratings.indptr, kept + first, "right") - 1, columns[kept])))
    users, columns = np.concatenate(found, axis=1)
    order = np.argsort(columns, kind="stable")
    return Uses(users[order], columns[order])


def worst(claims: list[Claim]) -> tuple[Claim, float]:
    """Return the claim that counts most, and how much it does."""
    n_claims = sum(one.kind == "item" for one in claims)
    counted = [one.counted(n_claims) for one in claims]
    place = int(np.argmax(counted))
    return claims[place], counted[place]


def _people(claims: list[Claim], uses: Uses, public: Public) -> PersonRisks:
    """Return for each person how much the worst claim counts that is right about the person."""
    n_claims, risks = sum(one.kind == "item" for one in claims), np.zeros(len(public.owner))
    for claim in claims:
        counted = claim.counted(n_claims)
        for column in np.unique(claim.columns) if counted > RARE else ():
            users = uses.of(int(column))
            named = users[np.isin(public.owner[users], claim.groups[claim.columns == column])]
            risks[named] = np.maximum(risks[named], counted)
    return PersonRisks(np.arange(len(risks)), risks)


def _dealt(public: Public, stream: np.random.Generator) -> NDArray[np.int32]:
    """Return the group of each person where people are dealt to groups by lot."""
    return stream.permutation(public.owner)


def _run(given: AttackInput) -> Findings:
    public, ratings, stream = given.public_release(), given.ratings, given.randomness.stream("worst item")
    items = _looked_at(public, ratings, stream)
    ways, n_users = list(_scores(public, ratings, items)), ratings.popularity[items]
    uses, shape = uses_of(ratings, items), (public.n_profiles, len(items))
    truth, lots = (uses.by_group(owner, *shape) for owner in (public.owner, _dealt(public, stream)))
    claims = claims_on(public, ways, n_users, truth)
    (claim, counted), (_, control) = worst(claims), worst(claims_on(public, ways, n_users, lots))
    surest: dict[str, float] = {}
    for one in claims:  # of the orders that speak of as many people the best counts
        if one.kind == "surest":
            name = f"right_of_the_surest_{one.people}"
            surest[name] = max(surest.get(name, 0.0), one.right / one.people)
    details = {
        "rare_items": int(((ratings.popularity >= 2) & (ratings.popularity < RARE * ratings.n_users)).sum()),
        "items_looked_at": len(items),
        "worst_claim": claim.kind,
        "people_in_the_worst_claim": claim.people,
        "of_them_right": claim.right,
        "by_lot": control,
        **surest,
    }
    hits = Hits(
        Share(counted, counted, counted, claim.people), control=Share(control, control, control, claim.people),
        details=details, people=_people(claims, uses, public),
    )  # fmt: skip
    usual = float(n_users[claim.columns].mean() / ratings.n_users)
    return Findings(hits, baseline=min(usual, counted))


ATTACK = Attack(
    name="worst-item",
    remedy="raise k; leave out items that hardly anybody used; in mode pure cap how sure a link can be (--max-link).",
    drawn_rows=True,
    kind=Kind.TELLS_CELLS,
    limit=LIMIT,
    title="A rare item whose users are given away (worst case)",
    short="worst item",
    attacker="claims that all members of a group used a rare item, where the rows point to it most",
    unit="people of whom the worst claim is right",
    baseline="the popularity of its items",
    criterion="inference",
    run=_run,
    details={
        "rare_items": "Rare items there are",
        "items_looked_at": "Rare items looked at",
        "worst_claim": "",
        "people_in_the_worst_claim": "People whom the worst claim is about",
        "of_them_right": "People of whom it is right",
        "by_lot": "The worst claim where people are dealt to groups by lot",
    },
    order=94,
)
