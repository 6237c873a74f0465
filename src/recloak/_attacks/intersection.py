"""Several releases of the same people, grouped differently: k-anonymity does not compose.

*intersection*: whoever knows the target's group in each believes in the items that all of them speak for; in pure
releases every item of the target is in all rows, so the others fall away with each release. *join*: if a person has the
same name in two releases, nothing at all has to be known to put both groups together. Rows that are drawn anew for
every release are evidence that adds up: of single items, and of who is in the data.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.group_likelihood import group_model_of
from recloak._attacks.link import best_bets, bets_won
from recloak._attacks.link_beliefs import beliefs, learned_beliefs
from recloak._attacks.membership import membership_together
from recloak._attacks.model import Hits, Line, Public, expected_share
from recloak._core.errors import InputError
from recloak._core.intervals import Share, wilson
from recloak._ratings.model import Ratings

_RARE = 0.1  # share of people who rated a rare item, at most
_MOST_TARGETS = 300  # whose membership is looked at in every release


def intersection(
    releases: list[Public], ratings: Ratings, targets: NDArray[np.integer]
) -> tuple[Hits, tuple[Line, ...]]:
    """Attack the links of each target with several releases; details hold what fewer of them give."""
    each = [beliefs(seen, ratings, seen.owner[targets]) for seen in releases]
    popular = np.clip(ratings.popularity / ratings.n_users, 1e-6, 0.95).astype(np.float32)
    alone = bets_won(best_bets(each[0]), ratings, targets)
    won = bets_won(best_bets(_together(each, popular)), ratings, targets)
    details, lines = {"one_release": alone.rate}, tuple[Line, ...]()
    if not any(seen.is_complete or seen.drawn is not None for seen in releases):
        shares = [_in_all_rows(each[: n + 1], ratings, targets) for n in range(len(each))]
        details |= {f"right_in_all_of_{n + 1}": share.rate for n, share in enumerate(shares)}
        lines = (Line("right_in_all_rows", shares[-1], shares[0].rate),)
    return Hits(won, details=details), lines


def _together(each: list[NDArray[np.float32]], popular: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply up what the releases add to popularity; an item that one row lacks is out."""
    found = np.log(popular)[None, :] * np.ones((len(each[0]), 1), np.float32)
    for believed in each:
        found = np.where(believed > 0, found + np.log(np.maximum(believed, 1e-9) / popular), -np.inf)
    return np.maximum(found, -1e9)


def _in_all_rows(each: list[NDArray[np.float32]], ratings: Ratings, targets: NDArray[np.integer]) -> Share:
    """Return how many of the items that are in every row the target rated: everything of the target is among them."""
    there = np.logical_and.reduce([believed > 0 for believed in each])
    right = sum(int(row[ratings.items[ratings.row(int(user))]].sum()) for row, user in zip(there, targets, strict=True))
    return wilson(right, max(int(there.sum()), 1))


def _run(given: AttackInput) -> Findings:
    assert given.second is not None  # as it needs
    releases = [given.public_release(), given.second.public, *(more.public for more in given.owner.more_releases)]
    if all(seen.drawn is not None for seen in releases):
        hits, rare = drawn_together(releases, given.ratings, given.targets())
        lines: tuple[Line, ...] = (rare, _members_together(releases, given))
    else:
        hits, lines = intersection(releases, given.ratings, given.targets())
    return Findings(hits, baseline=float(hits.details["one_release"]), lines=lines)


def drawn_together(releases: list[Public], ratings: Ratings, targets: NDArray[np.integer]) -> tuple[Hits, Line]:
    """Bet on ten items by rows that were drawn several times, and on ten rare ones.

    Every release is a draw of its own, so that what each adds to popularity adds up; how much that is worth the
    attacker has learned from people of other groups (`learned_beliefs`).
    """
    share = np.clip(ratings.popularity / ratings.n_users, 1e-5, 0.95)
    popular, rare = np.log(share / (1 - share)), share < _RARE
    each = [learned_beliefs(seen, ratings, seen.owner[targets]) for seen in releases]
    together = sum(each) - (len(each) - 1) * popular.astype(np.float32)
    alone, won = (bets_won(best_bets(believed), ratings, targets) for believed in (each[0], together))
    rarely = [
        bets_won(best_bets(np.where(rare, believed, -np.inf)), ratings, targets) for believed in (each[0], together)
    ]
    return Hits(won, details={"one_release": alone.rate}), Line("rare_together", rarely[1], rarely[0].rate)


def _members_together(releases: list[Public], given: AttackInput) -> Line:
    """Return how well members are told from others by rows that were drawn several times, beside one release alone."""
    stream = given.randomness.stream("membership together")
    targets = np.sort(stream.permutation(given.targets())[: given.most(_MOST_TARGETS)])
    models = [group_model_of(seen, given.ratings) for seen in releases]
    alone, together = membership_together(models, given.ratings, targets, stream=stream, held_out=given.held_out)
    return Line("membership_together", together, max(alone.rate, 0.5))


def _run_join(given: AttackInput) -> Findings:
    assert given.release is not None
    assert given.second is not None  # as it needs
    one, other = given.release, given.second
    if one.names is None or other.names is None:
        raise InputError("a release does not say how its people are named")
    same = one.names == other.names
    pairs = one.public.owner.astype(np.int64) * other.public.n_profiles + other.public.owner
    _, place, count = np.unique(pairs, return_inverse=True, return_counts=True)
    alone = np.where(same, 1 / count[place], 0.0)
    one_alone = float((1 / np.maximum(one.public.weights[one.public.owner], 1)).mean())
    alone = np.maximum(alone, 1 / np.maximum(one.public.weights[one.public.owner], 1))  # without a join, one of k
    return Findings(Hits(expected_share(alone), details={"same_name": float(same.mean())}), baseline=one_alone)


ATTACKS = (
    Attack(
        name="intersection",
        remedy="do not publish the same people twice with another grouping; withdraw the earlier release first.",
        kind=Kind.TELLS_CELLS,
        drawn_rows=True,
        title="Several releases of the same people (intersection)",
        short="intersection",
        attacker="knows the target's group in each of several releases and bets on ten items that all speak for",
        unit="bets won",
        baseline="one release alone",
        criterion="linkability",
        run=_run,
        needs=("release", "second release"),
        details={
            "one_release": "",
            "rare_together": "Bets won on items that fewer than a tenth rated, by all releases together",
            "membership_together": "Members told from others by all releases together (AUC), all ratings known",
        },
        order=120,
    ),
    Attack(
        name="join",
        remedy="publish again with another seed or other options, so that no name is used twice.",
        kind=Kind.TELLS_CELLS,
        title="The same name in two releases (join)",
        short="join",
        attacker="puts two releases together by the names of their people, and names one of those in both groups",
        unit="people named correctly, where the group is known",
        baseline="one release alone",
        criterion="linkability",
        actor="public",
        run=_run_join,
        needs=("release", "second release"),
        details={"same_name": "People with one name in both"},
        order=121,
    ),
)
