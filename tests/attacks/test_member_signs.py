"""What the model behind a release remembers of its members: naive versions, and a model known to leak."""

import dataclasses

import numpy as np
import pytest

from recloak._attacks.member_signs import ItemMemory, Person, _likelihood_signs, _pulls, forgotten, person_of
from recloak._attacks.table_fit import TableFit

RANK, N_ITEMS, N_USERS, NOISE = 3, 40, 200, 0.6


@pytest.fixture(scope="module")
def solved():
    """Return people, what they rated, and items solved from their ratings: ``A^-1 sum z t``."""
    rng = np.random.default_rng(4)
    z = np.column_stack((rng.normal(0, 0.8, (N_USERS, RANK)), np.ones(N_USERS)))
    truth = rng.normal(0, 0.6, (N_ITEMS, RANK + 1))
    stars = z @ truth.T + rng.normal(0, NOISE**0.5, (N_USERS, N_ITEMS))
    return z, stars, rng.random(stars.shape) < 0.3


def item_numbers(z, stars, rated, left_out=None):
    """Solve every item from its raters."""
    found = []
    for item in range(N_ITEMS):
        raters = rated[:, item].copy()
        if left_out is not None:
            raters[left_out] = False
        known = z[raters].T @ z[raters] + NOISE * np.eye(RANK + 1)
        found.append(np.linalg.solve(known, z[raters].T @ stars[raters, item]))
    return np.array(found)


def memory_of(z, numbers, prior=None):
    fit = TableFit(numbers[:, -1], numbers[:, :-1].T, 0.01, -9.0, 9.0)
    spread, turn = np.linalg.eigh(z.T @ z / len(z) / NOISE)  # with a prior of 1: A = noise (n spread + 1)
    return ItemMemory(
        fit, np.zeros(RANK), np.eye(RANK), NOISE, turn / NOISE**0.5, spread, np.eye(RANK) if prior is None else prior
    )


def test_the_pull_of_a_rating_is_the_obvious_one(solved):
    z, stars, rated = solved
    memory, items = memory_of(z, item_numbers(z, stars, rated)), np.flatnonzero(rated[7])
    person = person_of(memory, items, stars[7, items], rated[:, items].sum(axis=0) - 1)
    moved, share = _pulls(memory, person)
    own = np.append(person.place, 1.0)
    for place, item in enumerate(items):
        inverse = np.linalg.inv(rated[:, item].sum() * (z.T @ z / len(z)) + NOISE * np.eye(RANK + 1))
        assert np.allclose(moved[place], inverse @ own)
        assert share[place] == pytest.approx(own @ inverse @ own)


def test_items_that_forgot_a_person_are_nearly_those_solved_without_the_person(solved):
    z, stars, rated = solved
    with_all = item_numbers(z, stars, rated)
    kept, gone = [], []
    for user in range(40):
        items = np.flatnonzero(rated[user])
        person = person_of(memory_of(z, with_all), items, stars[user, items], rated[:, items].sum(axis=0) - 1)
        person = dataclasses.replace(person, place=z[user, :-1])
        without = item_numbers(z, stars, rated, left_out=user)[items]
        back = forgotten(memory_of(z, with_all), person)
        kept.append(np.square(person.basis - without[:, :-1]).sum())
        gone.append(np.square(back.basis - without[:, :-1]).sum())
    assert sum(gone) < 0.35 * sum(kept)  # the second moments stand in for the raters' own


def test_the_likelihood_of_groups_is_the_obvious_one(solved):
    z, stars, rated = solved
    memory, items = memory_of(z, item_numbers(z, stars, rated)), np.flatnonzero(rated[3])
    person = person_of(memory, items, stars[3, items])
    places = np.random.default_rng(0).normal(0, 1, (30, RANK))
    scores = -np.square(person.left - places @ person.basis.T).sum(axis=1) / (2 * NOISE)
    first, second = np.sort(scores)[::-1][:2]
    found = _likelihood_signs(person, places - person.place, NOISE)
    assert found[-1] == pytest.approx(first / len(items))
    assert found[1] == pytest.approx((first - second) / np.sqrt(len(items)))


def test_a_person_of_whom_little_is_known_stands_where_the_few_ratings_say(solved):
    z, stars, rated = solved
    memory, items = memory_of(z, item_numbers(z, stars, rated)), np.flatnonzero(rated[5])
    whole = person_of(memory, items, stars[5, items])
    assert isinstance(whole, Person)
    few = person_of(memory, items[:4], stars[5, items[:4]])
    assert np.allclose(whole.knowing(memory, np.arange(4)).place, few.place)
