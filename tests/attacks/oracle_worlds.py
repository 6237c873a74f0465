"""Two worlds that differ in one cell, for attacks on the advisor: in one the target rated the item, in the other not.

The public numbers of raters are the same in both, so whatever an attacker tells apart comes from the target's rating.
"""

from dataclasses import dataclass, replace

import numpy as np
from tests.attacks.oracle import AskerKnowledge, Guess, accounts, probe, probe_by_direction, probe_with_accounts

from recloak._core.intervals import wilson
from recloak._mentions.advisor import advise
from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor
from recloak._ratings.model import Ratings


def prepare(ratings, guard):
    """Prepare guarded advice, or exact advice where there is no guard."""
    return prepare_exact_advisor(ratings) if guard is None else prepare_advisor(ratings, guard=guard)


def without(index, user, item):
    """Give the same advisor had the user not rated the item; all public numbers stay as they are."""
    number, pool = index.listed[user], index.pool
    column = slice(pool.indptr[item], pool.indptr[item + 1])
    place = np.flatnonzero(pool.users[column] == number)
    if number < 0 or not len(place):
        return index
    indptr = pool.indptr.copy()
    indptr[item + 1 :] -= 1
    cut = {
        name: np.delete(getattr(pool, name), pool.indptr[item] + place[0])
        for name in ("users", "values", "times")
        if len(getattr(pool, name))
    }
    return replace(index, pool=pool._replace(indptr=indptr, **cut))


def asker(index, user_id):
    """Give the function that a token's holder has."""
    return lambda earlier, draft, k: advise(index, user_id, earlier, draft, k=k).to_json()


@dataclass(frozen=True)
class Trial:
    """One target and item, guessed in both worlds."""

    rated: Guess  # where the target rated the item
    unrated: Guess  # where not

    @property
    def n_right(self):
        return int(self.rated.rated) + int(not self.unrated.rated)


def ids(ratings, items):
    return ratings.item_ids.decode(np.asarray(items)).to_list()


def case(ratings, rng, n_known, n_popular):
    """Draw a target, known items of theirs outside the most popular, and one more item of theirs to ask about."""
    rank = np.argsort(np.argsort(-ratings.popularity, kind="stable"))
    while True:
        target = int(rng.integers(ratings.n_users))
        row = rng.permutation(ratings.items[ratings.row(target)])
        known = row[rank[row] >= n_popular][:n_known]
        if len(known) == n_known and len(row) > n_known and len(row) <= ratings.n_items / 3:
            return target, known, int(rng.choice(np.setdiff1d(row, known)))


def drawn_anew(guard, n):
    """Give the guard with another secret for another trial."""
    return None if guard is None else replace(guard, secret=guard.secret + n.to_bytes(2))


def outsiders(ratings, guard, n_trials, *, n_known=12, n_popular=1000, seed=1):
    """Let ordinary users probe targets; a draw of the secret for every trial."""
    rng, trials = np.random.default_rng(seed), []
    public = dict(zip(ids(ratings, np.arange(ratings.n_items)), ratings.popularity.tolist(), strict=True))
    index = prepare(ratings, guard)
    for n in range(n_trials):
        index = index if guard is None else prepare(ratings, drawn_anew(guard, n))
        target, known, item = case(ratings, rng, n_known, n_popular)
        user = int(rng.choice(np.flatnonzero(np.arange(ratings.n_users) != target)))
        own = ratings.items[ratings.row(user)]
        knowledge = AskerKnowledge(tuple(ids(ratings, own)), tuple(ids(ratings, known)), public, ratings.n_users)
        asked, user_id = ids(ratings, [item])[0], ratings.user_ids.ids[user]
        worlds = (index, without(index, target, item))
        trials.append(Trial(*(probe(asker(world, user_id), knowledge, asked) for world in worlds)))
    return trials


def with_accounts(ratings, guard, n_trials, n_accounts, *, n_known=12, n_popular=1000, seed=2, by_direction=False):
    """Let attackers bring accounts into the ratings and probe from one of them."""
    attack = probe_by_direction if by_direction else probe_with_accounts
    rng, trials = np.random.default_rng(seed), []
    for n in range(n_trials):
        target, known, item = case(ratings, rng, n_known, n_popular)
        known_ids, (asked, decoy) = ids(ratings, known), ids(ratings, [item, twin(ratings, target, item)])
        rows = accounts(known_ids, asked, decoy, n_accounts, n)
        bigger, token = joined(ratings, rows)
        index = prepare(bigger, drawn_anew(guard, n))
        cell = bigger.user_ids.number(ratings.user_ids.ids[target]), bigger.item_ids.number(asked)
        worlds = (index, without(index, *cell))
        out = 0 if n_accounts == 1 else 2 if by_direction else 3
        trials.append(Trial(*(attack(asker(one, token), known_ids, asked, decoy, left_out=out) for one in worlds)))
    return trials


def twin(ratings, target, item):
    """Give the item that is rated nearly as often and that the target did not rate: the attacker is lucky."""
    apart = np.abs(ratings.popularity - ratings.popularity[item]).astype(float)
    apart[ratings.items[ratings.row(target)]] = np.inf
    return int(apart.argmin())


def joined(ratings, rows):
    """Give the ratings with new users, whose ids come after all others, and the id of the first."""
    first = int(ratings.user_ids.ids.max()) + 1
    new = [np.full(len(row), first + n) for n, row in enumerate(rows)]
    users = np.concatenate([ratings.user_ids.decode(ratings.users()).to_numpy(), *new])
    items = np.concatenate([ratings.item_ids.decode(ratings.items).to_numpy(), *(np.array(row) for row in rows)])
    return Ratings.from_arrays(users, items, np.full(len(users), 3.0)), first


def told(trials):
    """Give the accuracy (a coin has 0.5), how often the guess depends on the rating, and the number of questions."""
    share = wilson(sum(trial.n_right for trial in trials), 2 * len(trials))
    differ = sum(trial.rated.rated != trial.unrated.rated for trial in trials) / len(trials)
    return share, differ, float(np.mean([trial.rated.n_asked for trial in trials]))
