"""How sure somebody who knows a person's group can be that the person rated each item.

First what each row says by itself (`posteriors`). Then what it says to somebody who has seen people of other groups: a
logistic regression of "rated" on popularity, what the row says, how far its label lies above the item's mean, how
active the group is, and what people of groups with a like row rate (`place_links`). Popularity is among them, so that
such beliefs are no worse than popularity but for chance.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.drawn_evidence import member_odds
from recloak._attacks.group_likelihood import GroupModel, group_model_of
from recloak._attacks.model import Public, step_of
from recloak._attacks.place_links import PlaceLinks, learn_places, log_odds
from recloak._attacks.released_cells import rows_of
from recloak._ratings.model import Ratings

_LEARNED_CELLS = 1_000_000
_FEWEST_PEOPLE, _MOST_PEOPLE = 20, 300
_ROUNDS = 12
_RIDGE = 1.0
_BLOCK_CELLS = 2_000_000


def beliefs(public: Public, ratings: Ratings, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return how much the attacker believes in each item, for each of some profiles: (len(profiles), n_items).

    Where the label says nothing, what is left is how popular an item is: common knowledge.
    """
    distinct, place = np.unique(profiles, return_inverse=True)
    return posteriors(group_model_of(public, ratings), distinct)[place]


def posteriors(model: GroupModel, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the chance that a member of each profile rated each item, given the published row.

    With p the popularity: p / (1 - (1 - p)^|C|) in a pure row that has the item, and in a padded row p times how much
    likelier the residual is if this member rated.
    """
    rows, size = rows_of(model.public, profiles), model.size
    active = model.active[profiles][:, None] if model.shows_presence else np.ones((len(profiles), 1))
    p = np.clip(model.popularity[None, :] * active, 1e-6, 0.95)
    nobody_else = (1 - p) ** (size - 1)
    if model.public.drawn is not None:
        return member_odds(model.public, profiles, p)
    if not model.public.is_complete:
        return np.where(np.isnan(rows), 0, p / (1 - nobody_else * (1 - p))).astype(np.float32)
    if not model.shows_presence:
        return p.astype(np.float32)
    two = 1 - nobody_else * (1 - p) - size * p * nobody_else  # chance that any two rated, so that ratings moved it
    moved, still = _densities(model, profiles, rows)
    likelier = (moved + nobody_else * (still - moved)) / (still + two * (moved - still))
    return np.clip(p * likelier, 0, 1).astype(np.float32)


def _densities(
    model: GroupModel, profiles: NDArray[np.integer], rows: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how likely each residual is where ratings moved a label, and where they did not."""
    square = np.square((rows - model.fit.predict(model.places[profiles])).astype(np.float64))
    still = model.blur**2
    moved = still + 2.2 * (model.taste / model.size) ** 2
    first, second = (np.exp(-0.5 * square / each) / np.sqrt(each) + 1e-9 for each in (moved, still))
    return first, second


def learned_beliefs(public: Public, ratings: Ratings, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the log odds that a member of each of some profiles rated each item: (len(profiles), n_items).

    Even profiles are judged by what people of odd ones teach, and the other way round.
    """
    model = group_model_of(public, ratings)
    distinct, place = np.unique(profiles, return_inverse=True)
    found = np.empty((len(distinct), ratings.n_items), np.float32)
    for half in (0, 1):
        mine = np.flatnonzero(distinct % 2 == half)
        if not len(mine):
            continue
        weights, places = _learn(model, ratings, 1 - half)
        step = max(_BLOCK_CELLS // max(ratings.n_items, 1), 1)
        for first in range(0, len(mine), step):
            some = mine[first : first + step]
            found[some] = _signs(model, distinct[some], places) @ weights
    return found[place]


def _signs(model: GroupModel, profiles: NDArray[np.integer], places: PlaceLinks) -> NDArray[np.float64]:
    """Return what there is to see of each cell: (len(profiles), n_items, n_signs)."""
    popular = log_odds(np.broadcast_to(model.popularity, (len(profiles), model.public.n_items)))
    told = log_odds(posteriors(model, profiles))
    above = np.nan_to_num(rows_of(model.public, profiles) - model.means) / step_of(model.public.scale)
    active = np.log(model.active[profiles]) * model.shows_presence  # else it is chance, and few people teach
    active = np.broadcast_to(active[:, None], popular.shape)
    near = places.beyond_popularity(profiles)
    each = (popular, np.square(popular), told - popular, above, above * popular, active, active * popular)
    return np.stack((*each, near, near * popular, np.ones_like(popular)), axis=-1)


def _learn(model: GroupModel, ratings: Ratings, half: int) -> tuple[NDArray[np.float64], PlaceLinks]:
    """Return the weights of the signs, learned from people of every other profile, and what their places taught.

    Each of these people is looked at with what places taught about the others.
    """
    places = learn_places(model, ratings, half)
    users = np.flatnonzero(model.public.owner % 2 == half)
    if not len(users):
        return np.eye(10)[0], places  # one group only: popularity is all there is
    n = int(np.clip(_LEARNED_CELLS // max(ratings.n_items, 1), _FEWEST_PEOPLE, min(_MOST_PEOPLE, len(users))))
    users = users[np.linspace(0, len(users) - 1, min(n, len(users))).astype(np.int64)]
    rated = np.zeros((len(users), ratings.n_items))
    for place, user in enumerate(users):
        rated[place, ratings.items[ratings.row(int(user))]] = 1
    signs = _signs(model, model.public.owner[users], places.crossed())
    return _regression(signs.reshape(-1, signs.shape[-1]), rated.ravel()), places


def _regression(signs: NDArray[np.float64], rated: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's steps, from popularity as it is."""
    weights, ridge = np.eye(signs.shape[1])[0], _RIDGE * np.eye(signs.shape[1])
    for _ in range(_ROUNDS):
        probability = 1 / (1 + np.exp(-np.clip(signs @ weights, -30, 30)))
        slope = signs.T @ (rated - probability) - _RIDGE * (weights - np.eye(len(weights))[0])
        step = np.linalg.solve((signs * (probability * (1 - probability))[:, None]).T @ signs + ridge, slope)
        weights = weights + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-4:
            break
    return weights
