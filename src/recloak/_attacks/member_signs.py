"""Signs that a person is in the data, in a complete release whose labels come from a model.

Such a release gives away two things that were fitted to its members. The items: with z the person's place and a one,
an item rated by n people was solved from ``A = n E[z z^T] + noise cov^-1``, so the person's own rating pulled the item
towards itself by the share ``h = z^T A^-1 z``. Where h is large, on items that few rated, the ratings of a member fit
too well: ``sum h (1 - e^2 / s^2)`` is the log likelihood ratio to first order. The groups: the row of a group lies
nearer to its members than it would without them. An attacker weighs all signs together (`membership`).

The same person outside the data is seen by taking both back: the own group is left out, and each item of the person
goes back by ``A^-1 z e / (1 - h)``, as if it had been solved without this rating.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.group_likelihood import GroupModel
from recloak._attacks.table_fit import Floats, TableFit
from recloak._ratings.model import Ratings

_RIVALS = 5  # the best group is compared with the second, and with the one after so many
_LEAST = 1e-9
_MOST_PULL = 0.6  # an item that hardly anybody else rated was shrunk towards the mean by more than this says
_SAMPLE, _ROUNDS = 400, 3  # people looked at to see how people rate, and how often

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class ItemMemory:
    """How people spread, and how far one rating pulls an item.

    For an item rated by n people ``A^-1 = turn diag(1 / (n spread + 1)) turn^T``.
    """

    fit: TableFit
    centre: Numbers  # (rank,) of people along the directions
    precision: Numbers  # (rank, rank) their inverse covariance
    noise: float  # variance of a rating around a person's own prediction
    turn: Numbers  # (rank + 1, rank + 1)
    spread: Numbers  # (rank + 1,)
    typical: Numbers  # (rank, rank) second moments of the items as they are rated: what a distance between rows costs


@dataclass(frozen=True, eq=False, slots=True)
class Person:
    """A person's ratings beside what the model says of their items."""

    basis: Numbers  # (n_known, rank)
    left: Numbers  # (n_known,) ratings less the means of their items
    level: Numbers  # (n_known,) these means, less the mean of all items
    place: Numbers  # (rank,)
    others: Numbers  # (n_known,) how many other people rated each item

    @property
    def errors(self) -> Numbers:
        """How far each rating lies from the person's own prediction."""
        return np.asarray(self.left - self.basis @ self.place)

    def knowing(self, memory: ItemMemory, some: NDArray[np.integer]) -> Person:
        """Return the person of whom only some ratings are known."""
        return _placed(memory, self.basis[some], self.left[some], self.level[some], self.others[some])


def item_memory(model: GroupModel, ratings: Ratings) -> ItemMemory:
    """Return how people spread and how far a rating pulls an item; a sample of people shows how people rate."""
    fit, people, n_items = model.fit, model.people, model.public.n_items
    items: Numbers = np.vstack((fit.basis, fit.means - fit.means.mean())).astype(np.float64)  # (rank + 1, n_items)
    shares = model.popularity / model.popularity.sum()
    typical = (items[:-1] * shares) @ items[:-1].T
    nothing = np.empty((0, 0))
    memory = ItemMemory(
        fit, people.centre.astype(np.float64), people.precision, people.taste**2, nothing, nothing.ravel(), typical
    )
    for _ in range(_ROUNDS):
        memory = _as_people_rate(memory, ratings)
    root = np.linalg.cholesky((items @ items.T / n_items + _LEAST * np.eye(len(items))) / memory.noise)
    spread, turn = np.linalg.eigh(root.T @ _second_moments(memory) @ root)
    return replace(memory, turn=root @ turn, spread=np.maximum(spread, 0))


def _as_people_rate(memory: ItemMemory, ratings: Ratings) -> ItemMemory:
    """Measure how people spread and rate on evenly spaced people: one round of expectation and maximisation."""
    users = np.linspace(0, ratings.n_users - 1, min(_SAMPLE, ratings.n_users)).astype(np.int64)
    seen = [person_of(memory, ratings.items[row], ratings.values[row]) for row in map(ratings.row, users.tolist())]
    places = np.array([one.place for one in seen])
    unsure: list[Numbers] = [memory.noise * np.asarray(np.linalg.inv(_known(memory, one.basis))) for one in seen]
    covariance = np.cov(places.T, bias=True) + sum(unsure) / len(seen) + _LEAST * np.eye(places.shape[1])
    squares = [
        np.square(one.errors) + _quadratic(one.basis, np.asarray(more, np.float64))
        for one, more in zip(seen, unsure, strict=True)
    ]
    noise = max(float(np.concatenate(squares).mean()), _LEAST)
    return replace(
        memory, centre=places.mean(axis=0), precision=np.asarray(np.linalg.inv(covariance), np.float64), noise=noise
    )


def _quadratic(rows: Numbers, metric: Numbers) -> Numbers:
    """Return x^T M x of each row x."""
    return np.asarray(np.einsum("rf,rf->r", rows @ metric, rows))


def _second_moments(memory: ItemMemory) -> Numbers:
    """Return E[z z^T] of a person's z = (place, 1)."""
    mean = np.append(memory.centre, 1.0)
    found = np.outer(mean, mean)
    found[:-1, :-1] += np.linalg.inv(memory.precision)
    return np.asarray(found)


def person_of(
    memory: ItemMemory, items: NDArray[np.integer], ratings: Floats, others: NDArray[np.integer] | None = None
) -> Person:
    """Return a person with these ratings; ``others`` says how many other people rated each item."""
    left = (ratings - memory.fit.means[items]).astype(np.float64)
    counts = np.zeros(len(items)) if others is None else others.astype(np.float64)
    level = (memory.fit.means[items] - memory.fit.means.mean()).astype(np.float64)
    return _placed(memory, memory.fit.basis[:, items].T.astype(np.float64), left, level, counts)


def _placed(memory: ItemMemory, basis: Numbers, left: Numbers, level: Numbers, others: Numbers) -> Person:
    """Return the person at the place that the ratings say: ridge regression."""
    moved = np.linalg.solve(_known(memory, basis), basis.T @ (left - basis @ memory.centre))
    return Person(basis, left, level, memory.centre + moved, others)


def _known(memory: ItemMemory, basis: Numbers) -> Numbers:
    return np.asarray(basis.T @ basis + memory.noise * memory.precision)


def _pulls(memory: ItemMemory, person: Person) -> tuple[Numbers, Numbers]:
    """Return A^-1 z of each item, and the share h by which the person's rating pulled it."""
    along = memory.turn.T @ np.append(person.place, 1.0)
    weights = along / ((person.others[:, None] + 1) * memory.spread + 1)  # (n_known, rank + 1)
    return weights @ memory.turn.T, np.minimum(weights @ along, _MOST_PULL)


def forgotten(memory: ItemMemory, person: Person) -> Person:
    """Return the person as if the items had been solved without any of these ratings."""
    moved, share = _pulls(memory, person)
    back = moved * (person.errors / (1 - share))[:, None]
    left, level = person.left + back[:, -1], person.level - back[:, -1]
    return _placed(memory, person.basis - back[:, :-1], left, level, person.others)


def signs_by_model(memory: ItemMemory, person: Person, places: Floats) -> Numbers:
    """Return the signs that a person is in the data, with groups that stand at these places."""
    return np.concatenate((_item_signs(memory, person), _group_signs(memory, person, places.astype(np.float64))))


def _item_signs(memory: ItemMemory, person: Person) -> Numbers:
    """Return how well the ratings fit where they could have pulled their items."""
    errors, share = np.square(person.errors), _pulls(memory, person)[1]
    own, weights = max(float(errors.mean()), 0.05 * memory.noise), share / (share.sum() + _LEAST)
    fits = share * (1 - errors / own)
    taste = person.basis @ (person.place - memory.centre)
    wanted = person.left - person.basis @ memory.centre
    return np.array([
        (share * (1 - errors / memory.noise)).sum(), fits.sum(),
        fits.sum() / np.sqrt(2 * np.square(share).sum() + _LEAST), np.log(share.mean() + _LEAST),
        np.log(np.square(share).sum() + _LEAST), np.log(own), np.log(errors + 0.05).mean(),
        weights @ (wanted * taste), weights @ np.square(wanted), weights @ np.square(taste), weights @ errors / own,
        weights @ (person.errors * person.level), weights @ np.square(person.level),
    ])  # fmt: skip


def _group_signs(memory: ItemMemory, person: Person, places: Numbers) -> Numbers:
    """Return how near the nearest group stands, beside the others: by the ratings, and by three distances."""
    n, offsets = len(person.left), places - person.place
    found = _likelihood_signs(person, offsets, memory.noise)
    for metric in (memory.typical, _known(memory, person.basis) / n, memory.precision):
        found += _nearness(np.sqrt(np.maximum(_quadratic(offsets, metric), 0)))
    return np.array([*found, np.log(n)])


def _likelihood_signs(person: Person, offsets: Numbers, noise: float) -> list[float]:
    """Return how likely the ratings are in the best groups, by how far each stands from the person."""
    ahead = person.basis.T @ person.errors
    lost = _quadratic(offsets, person.basis.T @ person.basis) - 2 * offsets @ ahead  # less likely than by the own place
    scores = -(lost + float(np.square(person.errors).sum())) / (2 * noise)
    first, second, later = -_first_ones(-scores)
    n, spread = len(person.left), float(scores.std()) + _LEAST
    own = -float(np.square(person.errors).sum()) / (2 * noise)
    gaps = [(first - own) / n, (first - second) / np.sqrt(n), (first - later) / np.sqrt(n), (first - second) / spread]
    return [*gaps, (first - float(scores.mean())) / spread, first / n]


def _nearness(distances: Numbers) -> list[float]:
    first, second, later = _first_ones(distances) + _LEAST
    return [first, second - first, first / second, first / (float(distances.mean()) + _LEAST), first / later]


def _first_ones(numbers: Numbers) -> Numbers:
    """Return the least, the second and a later one of some numbers."""
    places = [min(place, len(numbers) - 1) for place in (0, 1, _RIVALS)]
    return np.asarray(np.partition(numbers, places)[places])
