"""How likely is it that a person with certain ratings is a member of each group? Presence and label together.

Of a known rating r of item i, with F the model's prediction for the group and e = label - F (`table_fit`):

    padded  -(r - F)^2 / 2 s^2 + log of  P(e | a member rated i with r) / P(e | anybody)
    pure    -(r - label)^2 / 2 s^2 + log of  P(i in the row | a member rated it) / P(i in a row of this length)

    drawn   see `drawn_evidence`

A label that enough raters moved lies their surprises / |C| from F, one that nobody moved lies at F but for the grid. So
the residual tells that somebody rated, which way, and not only how much a group likes the item.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.drawn_evidence import activity, added, score_drawn
from recloak._attacks.model import Public, step_of
from recloak._attacks.person_fit import Population, population, taste_of
from recloak._attacks.public_columns import columns_of, item_means, lengths
from recloak._attacks.released_cells import rows_of
from recloak._attacks.table_fit import Floats, TableFit, fit_of, places_of
from recloak._core.compiling import njit
from recloak._ratings.model import Ratings

_BLOCK_CELLS = 20_000_000
_FEW_MOVED = 20  # labels that count as moved in every profile, so that a handful makes nobody look active
_BY_CHANCE = 0.002  # share of the labels that do not fit in a release of the model alone
_MISSING = 0.002  # chance that a row lacks an item that a member rated: left out by an option, or knowledge is wrong
MANY_KNOWN = 100  # with so many ratings known a person's own prediction is better than that of the group


@dataclass(frozen=True, eq=False, slots=True)
class GroupModel:
    """What an outsider knows about all groups of a release."""

    public: Public
    fit: TableFit
    places: Floats  # (n_profiles, rank) each profile along the fitted directions; empty for a pure release
    popularity: NDArray[np.float64]  # (n_items,) share of all people who rated
    spread: NDArray[np.float64]  # (n_items,) share of the profiles that have the item
    means: NDArray[np.float64]  # (n_items,) mean label
    active: NDArray[np.float64]  # (n_profiles,) how much the members rate, 1 on average
    moved: float  # share of the labels that do not fit, as where ratings moved them; 0 for a pure release
    people: Population
    size: float  # of a group
    taste: float  # standard deviation of a rating around a prediction
    blur: float  # and of a label around what makes it

    @property
    def shows_presence(self) -> bool:
        """Whether rows can tell who rated: they lack items, or more labels than by chance were moved."""
        return not self.public.is_complete or self.moved > _BY_CHANCE


_MODELS: "WeakKeyDictionary[Public, GroupModel]" = WeakKeyDictionary()


def group_model(public: Public, popularity: NDArray[np.floating]) -> GroupModel:
    """Return what an outsider works out about a release before attacking anybody."""
    fit, step, spread = fit_of(public), step_of(public.scale), np.diff(public.indptr) / max(public.n_profiles, 1)
    places, active, moved = _shapes(public, fit)
    return GroupModel(
        public, fit, places, np.clip(popularity, 1e-4, 0.99), np.clip(spread, 1e-4, 1 - 1e-4),
        np.nan_to_num(item_means(public), nan=public.scale.low + public.scale.span / 2), active, moved,
        population(public),
        size=public.n_users / max(public.n_profiles, 1), taste=taste_of(public),
        blur=max(fit.spread * 1.3, 0.01 * step),
    )  # fmt: skip


def group_model_of(public: Public, ratings: Ratings) -> GroupModel:
    """Return the model of a release, made once for all attacks."""
    if public not in _MODELS:
        _MODELS[public] = group_model(public, ratings.popularity / max(ratings.n_users, 1))
    return _MODELS[public]


def _shapes(public: Public, fit: TableFit) -> tuple[Floats, NDArray[np.float64], float]:
    """Return each profile's place along the directions, how active its members are, and the share of labels moved.

    In a pure release activity is the number of items; in a padded one it shows in the labels that ratings moved, which
    need two raters, hence the root.
    """
    if public.drawn is not None:
        return np.empty((public.n_profiles, 0), np.float32), activity(public), 0.0
    if not public.is_complete:
        return np.empty((public.n_profiles, 0), np.float32), _relative(lengths(public)), 0.0
    if public.factors is not None:  # which nothing moved
        return places_of(public), np.ones(public.n_profiles), 0.0
    step = max(_BLOCK_CELLS // max(public.n_items, 1), 1)
    places, moved = [], []
    for first in range(0, public.n_profiles, step):
        rows = rows_of(public, np.arange(first, min(first + step, public.n_profiles)))
        places.append(fit.coefficients(rows))
        moved.append((np.abs(rows - fit.predict(places[-1])) > fit.cut).sum(axis=1))
    counts = np.concatenate(moved)
    share = float(counts.sum()) / max(public.n_profiles * public.n_items, 1)
    return np.vstack(places), _relative(np.sqrt(counts + _FEW_MOVED)), share


def _relative(numbers: NDArray[np.floating] | NDArray[np.integer]) -> NDArray[np.float64]:
    return np.maximum(numbers, 1) / np.maximum(numbers, 1).mean()


def score_groups(model: GroupModel, items: NDArray[np.integer], ratings: Floats) -> tuple[Floats, Floats]:
    """Return for each group how well it fits a person's taste, and the evidence that the person is in it."""
    taste, presence = np.zeros((2, model.public.n_profiles), np.float32)
    surprises = _surprises(model, items, ratings)
    step = max(_BLOCK_CELLS // max(model.public.n_profiles, 1), 1)
    for first in range(0, len(items), step):
        part = slice(first, first + step)
        _add_scores(model, items[part], ratings[part], surprises[part], taste, presence)
    return taste, presence


def _add_scores(
    model: GroupModel, items: NDArray[np.integer], ratings: Floats, surprises: Floats, taste: Floats, presence: Floats
) -> None:
    """Add what some known ratings say."""
    public = model.public
    if public.drawn is not None:
        score_drawn(
            columns_of(public), public.drawn.counts, items.astype(np.int32), ratings, model.popularity[items],
            model.means[items], model.active, public.weights, (added(public), model.taste), taste, presence,
        )  # fmt: skip
    elif public.is_complete:
        predicted = np.clip(
            model.fit.means[items][:, None] + model.fit.basis[:, items].T @ model.places.T,
            model.fit.low,
            model.fit.high,
        )  # (n_known, n_profiles)
        if public.factors is not None:  # which no rating moved: there is no other evidence
            taste -= np.square(ratings[:, None] - predicted).sum(axis=0) / (2 * model.taste**2)
            return
        _score_padded(
            columns_of(public), items.astype(np.int32), ratings, predicted, model.popularity[items],
            surprises, model.active, (model.size, model.taste, model.blur), taste, presence,
        )  # fmt: skip
    else:
        _score_pure(
            columns_of(model.public), items.astype(np.int32), ratings, model.spread[items], model.means[items],
            model.active, model.taste, taste, presence,
        )  # fmt: skip


def _surprises(model: GroupModel, items: NDArray[np.integer], ratings: Floats) -> Floats:
    """Return how far each known rating lies from the person's own prediction; nan where too little is known."""
    if len(items) < MANY_KNOWN or not model.public.is_complete:
        return np.full(len(items), np.nan, np.float32)
    return ratings - model.people.predict(items, ratings)[items]


@njit(cache=True, nogil=True)
def _normal(x, variance):  # type: ignore[no-untyped-def]
    return np.exp(-0.5 * x * x / variance) / np.sqrt(variance)


@njit(cache=True, nogil=True)
def _score_padded(columns, items, ratings, predicted, popularity, surprises, active, given, taste, presence):  # type: ignore[no-untyped-def]
    size, noise, blur = given
    still, one = blur * blur, noise * noise / (size * size)
    for c in range(len(items)):
        start = columns.indptr[items[c]]
        for g in range(len(taste)):
            p = min(popularity[c] * active[g], 0.95)
            none = (1.0 - p) ** (size - 1)
            others = 1.0 - none  # chance that another member rated as well
            moved = 1.0 - none * (1.0 - p) - size * p * none  # that any two did
            e = columns.values[columns.codes[start + g]] - predicted[c, g]
            surprise = ratings[c] - predicted[c, g]
            nobody = _normal(e, still)
            own = surprise if np.isnan(surprises[c]) else surprises[c]
            member = others * _normal(e - own / size, still + one) + (1 - others) * nobody
            anybody = moved * _normal(e, still + 2.2 * one) + (1 - moved) * nobody
            presence[g] += np.log((member + 1e-9) / (anybody + 1e-9))
            taste[g] -= 0.5 * surprise * surprise / (noise * noise)


@njit(cache=True, nogil=True)
def _score_pure(columns, items, ratings, spread, means, length, noise, taste, presence):  # type: ignore[no-untyped-def]
    for c in range(len(items)):
        item, rate = items[c], -np.log(1.0 - spread[c])  # a row of mean length lacks the item with chance exp(-rate)
        for g in range(len(presence)):
            presence[g] += np.log(_MISSING) + rate * length[g]
        before = (ratings[c] - means[c]) ** 2
        for place in range(columns.indptr[item], columns.indptr[item + 1]):
            g, label = columns.holders[place - columns.shift[item]], columns.values[columns.codes[place]]
            taste[g] += 0.5 * (before - (ratings[c] - label) ** 2) / (noise * noise)
            held = np.log((1 - _MISSING) / (1.0 - np.exp(-rate * length[g])))
            presence[g] += held - np.log(_MISSING) - rate * length[g]
