"""Insiders: members of a group who put their ratings together and read another member's off its label.

The colluders go through what the target may have done, "did not rate" or "gave s stars", and through how many of the
members that they do not know rated as well, and ask how likely each makes the published label:

    padded  label = (ratings of the raters + predictions for the others) / |C|, the model's alone below min_raters
    pure    label = mean of the raters' ratings; below min_raters it is a prediction, and says little

What the model predicts comes from a low-rank fit of the released table (`table_fit`), and the colluders' own factors by
ridge regression of their ratings in the fitted directions. The rules and min_raters are public.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import WITH_NUMBERS, Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.drawn_evidence import activity, counts_of, evidence
from recloak._attacks.model import Hits, Line, PersonRisks, Public, step_of
from recloak._attacks.person_fit import Population, population
from recloak._attacks.public_columns import item_means
from recloak._attacks.released_cells import Members, members_of, rows_of
from recloak._attacks.table_fit import Floats, TableFit
from recloak._attacks.two_samples import auc
from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings

_MOST_TARGETS = 400
_SURE = 3.0  # log odds at which an insider is sure
_IMPOSSIBLE = -30.0
_NEVER = 1_000_000
_VAGUE = 0.5  # how far predictions in a pure release lie from ours, in steps


@dataclass(frozen=True, eq=False, slots=True)
class _World:
    """What all insiders know: the release, its rules, a fit of it, and how people rate."""

    people: Population
    padded: bool
    min_raters: int
    stars: Floats  # (n_stars,) the values of the scale
    popularity: NDArray[np.float64]  # (n_items,) share of all people who rated, common knowledge
    blur: float  # standard deviation of a label around what makes it

    @property
    def fit(self) -> TableFit:
        """The fit of the released table."""
        return self.people.fit

    @property
    def noise(self) -> float:
        """The standard deviation of a rating around its prediction."""
        return self.people.taste


@dataclass(frozen=True, eq=False, slots=True)
class _Reading:
    """What insiders read about one target: items looked at, star believed in, and how far rating is believed."""

    items: NDArray[np.int64]
    shared: NDArray[np.bool_]  # whether a colluder rated the item
    star: Floats
    belief: NDArray[np.float64]  # log odds that the target rated the item


def insider(
    public: Public, ratings: Ratings, targets: NDArray[np.integer], *, colluders: int, min_raters: int = 2,
    rng: Rng = None,
) -> Hits:  # fmt: skip
    """Attack the ratings of each target with some members of its group; details hold what an outsider can read."""
    stream = randomness(rng).stream("insider", colluders)
    world, members, tally = _world(public, ratings, min_raters), members_of(public), _Tally(public, ratings)
    for user, label in zip(targets, rows_of(public, public.owner[targets]), strict=True):
        others = _others(members, int(public.owner[user]), int(user))
        if len(others) >= colluders:
            known = stream.permutation(others)[:colluders]
            reading = _read(world, ratings, label, known, len(others) + 1)
            if public.drawn is not None:
                odds = _odds_by_counts(world, public, ratings, int(public.owner[user]), known)
                reading = replace(reading, belief=odds[reading.items])
            tally.add(int(user), label, reading)
    return tally.hits(colluders)


def _others(members: Members, group: int, user: int) -> NDArray[np.int64]:
    everybody = members.users[members.starts[group] : members.starts[group + 1]]
    return everybody[everybody != user]


def _world(public: Public, ratings: Ratings, min_raters: int) -> _World:
    people, step = population(public), step_of(ratings.scale)
    n_stars = min(round(ratings.scale.span / step) + 1, 41)
    return _World(
        people, public.is_complete, min_raters,
        np.linspace(ratings.scale.low, ratings.scale.high, n_stars).astype(np.float32),
        np.clip(ratings.popularity / ratings.n_users, 1e-4, 1 - 1e-4),
        blur=max(1.5 * people.fit.spread if public.is_complete else _grid(public) / 3, 0.01 * step),
    )  # fmt: skip


def _grid(public: Public) -> float:
    """Return the step of the grid on which the labels lie."""
    return float(np.diff(public.values).min(initial=public.scale.span))


def _read(world: _World, ratings: Ratings, label: Floats, colluders: NDArray[np.int64], size: int) -> _Reading:
    """Return what the colluders believe of the items that one of them rated; in a pure release, of the whole row."""
    n_raters, told, surprise, predictions = np.zeros((4, ratings.n_items))
    for one in colluders:
        row = ratings.row(int(one))
        items, values = ratings.items[row], ratings.values[row]
        predicted = world.people.predict(items, values)
        n_raters[items] += 1
        told[items] += values
        surprise[items] += values - predicted[items]
        predictions += predicted
    group = world.fit.predict(world.fit.coefficients(label[None, :]))[0].astype(np.float64)
    n_unknown = size - 1 - len(colluders)
    target = np.clip((size * group - predictions) / (1 + n_unknown), world.stars[0], world.stars[-1])
    seen = np.flatnonzero(~np.isnan(label) & ((n_raters > 0) | (not world.padded)))
    cells = _Cells(
        seen, label[seen], group[seen], target[seen], n_raters[seen], told[seen], surprise[seen], n_unknown, size
    )
    return _believe(world, cells)


def _odds_by_counts(
    world: _World, public: Public, ratings: Ratings, group: int, colluders: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the log odds that the target rated each item, by how often it was drawn beyond what colluders explain."""
    told = np.zeros(ratings.n_items)
    for one in colluders:
        told[ratings.items[ratings.row(int(one))]] += 1
    probability = np.clip(world.popularity * activity(public)[group], 1e-6, 0.95)
    counts = counts_of(public, np.array([group]))[0]
    return (
        np.log(probability)
        - np.log1p(-probability)
        + evidence(public, counts, public.weights[group] * probability, told)
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Cells:
    """Some cells of the target's group, as its colluders see them; all of shape (n_cells,)."""

    items: NDArray[np.int64]
    label: Floats
    group: NDArray[np.float64]  # what the model says of the group
    target: NDArray[np.float64]  # and of the target: the group's total less the colluders'
    n_raters: NDArray[np.float64]  # colluders who rated
    told: NDArray[np.float64]  # their ratings summed up
    surprise: NDArray[np.float64]  # the same less what the model says of them
    n_unknown: int  # members who are neither the target nor collude
    size: int


def _believe(world: _World, cells: _Cells) -> _Reading:
    """Weigh every hypothesis about the target by how well it explains the label."""
    popular = world.popularity[cells.items]
    unrated = _explains(world, cells, None)
    expected = 0.5 * (cells.target + cells.group) if world.padded else cells.group
    probability = -0.5 * np.square((world.stars[None, :] - expected[:, None]) / world.noise)  # (n_cells, n_stars)
    probability -= np.logaddexp.reduce(probability, axis=1, keepdims=True)
    by_star = probability + np.column_stack([_explains(world, cells, float(star)) for star in world.stars])
    evidence = np.logaddexp.reduce(by_star, axis=1) - unrated
    odds = np.log(popular) - np.log1p(-popular)
    return _Reading(cells.items, cells.n_raters > 0, world.stars[by_star.argmax(axis=1)], odds + evidence)


def _explains(world: _World, cells: _Cells, star: float | None) -> NDArray[np.float64]:
    """Return the log likelihood of each label if the target gave so many stars, or did not rate."""
    popular, by_count = world.popularity[cells.items], []
    for more in range(cells.n_unknown + 1):  # so many of the unknown members rated
        n_raters = cells.n_raters + more + (star is not None)
        made, variance = _label(world, cells, star, more, n_raters)
        variance = variance + world.blur**2
        fits = -0.5 * np.square(cells.label - made) / variance - 0.5 * np.log(variance)
        nobody = np.where(n_raters > 0, 0.0, 0.0 if world.padded else _IMPOSSIBLE)
        by_count.append(_binomial(cells.n_unknown, more, popular) + fits + nobody)
    return np.asarray(np.logaddexp.reduce(by_count, axis=0))


def _label(
    world: _World, cells: _Cells, star: float | None, more: int, n_raters: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the label that would be published, and its variance by what is not known."""
    enough = n_raters >= world.min_raters
    if world.padded:
        moved = cells.surprise + (0.0 if star is None else star - cells.target)
        made, variance = cells.group + moved / cells.size, more * world.noise**2 / cells.size**2
        return np.where(enough, made, cells.group), np.where(enough, variance, 0.0)
    count = np.maximum(n_raters, 1)
    made = (cells.told + (star or 0.0) + more * cells.group) / count
    vague = np.square(_VAGUE * (world.stars[1] - world.stars[0]))
    return np.where(enough, made, cells.group), np.where(enough, more * world.noise**2 / count**2, vague)


def _binomial(n: int, x: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    return math.log(math.comb(n, x)) + x * np.log(p) + (n - x) * np.log1p(-p)


class _Tally:
    """What was read, told and guessed so far."""

    def __init__(self, public: Public, ratings: Ratings) -> None:
        self.ratings, self.means = ratings, item_means(public)
        self.popularity = ratings.popularity.astype(np.float64)  # counted once: there may be 100 M ratings
        self.right = self.told = self.guessed = self.cells = self.all_cells = 0
        self.sure = self.sure_right = 0
        self.beliefs: list[tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]] = []
        self.people: list[tuple[int, float]] = []

    def add(self, user: int, label: Floats, reading: _Reading) -> None:
        """Count one target."""
        row = self.ratings.row(user)
        items, truth = self.ratings.items[row], self.ratings.values[row]
        rated, place = np.isin(reading.items, items), np.searchsorted(items, reading.items)
        read = rated & reading.shared
        true = truth[place[read]]
        right = _is_right(reading.star[read], true, self.ratings)
        self.right += int(right.sum())
        self.told += int(_is_right(label[reading.items[read]], true, self.ratings).sum())
        self.guessed += int(_is_right(self.means[reading.items[read]], true, self.ratings).sum())
        self.cells += int(read.sum())
        self.all_cells += len(items)
        self.sure += int((reading.belief > _SURE).sum())
        self.sure_right += int((rated & (reading.belief > _SURE)).sum())
        self.beliefs.append((rated, reading.belief, self.popularity[reading.items]))
        self.people.append((user, float(right.sum()) / max(len(items), 1)))

    def hits(self, colluders: int) -> Hits:
        """Return what it comes to."""
        if not self.cells:
            raise InputError(f"no target has {colluders} other members in its group who rated something with it")
        rated, belief, popular = (np.concatenate(each) for each in zip(*self.beliefs, strict=True))
        known = len(rated) and rated.any() and not rated.all()
        details = {
            "told_by_label": self.told / self.cells,
            "guessed_from_item_mean": self.guessed / self.cells,
            "cells": self.cells,
            "shared_with_colluders": self.cells / self.all_cells,
            "link_auc": auc(belief[rated], belief[~rated]) if known else 0.5,
            "link_auc_by_popularity": auc(popular[rated], popular[~rated]) if known else 0.5,
            "sure_links_right": self.sure_right / max(self.sure, 1),
            "sure_links_found": self.sure_right / max(int(rated.sum()), 1),
        }
        users, risks = zip(*self.people, strict=True)
        return Hits(
            wilson(self.right, self.cells), details=details, people=PersonRisks(np.array(users), np.array(risks))
        )


def _is_right(estimate: NDArray[np.floating], truth: NDArray[np.float32], ratings: Ratings) -> NDArray[np.bool_]:
    """Return where an estimate, brought to the scale, is the true rating."""
    step = step_of(ratings.scale)
    rounded = np.clip(np.round(estimate / step) * step, ratings.scale.low, ratings.scale.high)
    return np.abs(rounded - truth) < step / 2


def _rules(manifest: dict[str, Any]) -> tuple[int, ...]:
    """Return the fewest raters whose ratings move a label, as published; labels of the model may be so in name only."""
    told = int(manifest.get("min_raters") or 1)
    return (told,) if manifest.get("labels", "raters") == "raters" else (_NEVER, told)


def _run(given: AttackInput) -> Findings:
    assert given.release is not None
    targets = np.sort(given.randomness.stream("insider").permutation(given.targets())[: given.most(_MOST_TARGETS)])
    public, colluders = given.public_release(), given.colluders or 1
    each = [
        insider(public, given.ratings, targets, colluders=colluders, min_raters=rule, rng=given.randomness)
        for rule in _rules(given.release.manifest)
    ]
    hits = max(each, key=lambda one: (one.user.rate, one.details["link_auc"]))
    outsider = max(hits.details["told_by_label"], hits.details["guessed_from_item_mean"])
    n, told = hits.user.n, float(hits.details["link_auc"])
    links = Line("link_auc", wilson(told * n, n), float(hits.details["link_auc_by_popularity"]))
    return Findings(hits, baseline=float(outsider), lines=(links,))


ATTACK = Attack(
    name="insider",
    remedy="leave --labels at model, or raise k: each member then knows a smaller part of the group.",
    kind=Kind.TELLS_CELLS,
    values=WITH_NUMBERS,
    title="Members who put their ratings together (insiders)",
    short="insiders",
    attacker="has members of the target's group work out from its labels, and their own ratings, what the target rated",
    unit="ratings read off exactly, of items that one of them rated too",
    baseline="an outsider's best guess",
    criterion="inference",
    actor="insider",
    run=_run,
    varied=Varied.COLLUDERS,
    details={
        "cells": "Cells looked at",
        "told_by_label": "Read off the label as it is",
        "guessed_from_item_mean": "Guessed by the item's mean",
        "shared_with_colluders": "Share of the target's ratings that this is",
        "link_auc": "Did the target rate it? AUC",
        "link_auc_by_popularity": "The same by popularity, AUC",
        "sure_links_right": "Of the links that they are sure of, right",
        "sure_links_found": "Links found so",
    },
    order=110,
)
