"""Singling out in the sense of Cohen and Nissim (2020, doi:10.1073/pnas.1914598117): a row that describes one person.

The attacker writes down, from the release alone, a sentence that is true of hardly anybody and yet of exactly one
person in the data. Of a pure row: "all my items are in this row". Of a padded row: "my ratings agree with what ratings
added to this row", beyond what one person in 10 n reaches by chance. Either may add "and my coin, which shows heads one
time in k, does". A sentence as rare that says nothing is true of exactly one of n people about one time in eleven: the
baseline. Of a row that lacks items he also names a few of them (`item_sentences`), which is all that a drawn row tells.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.item_sentences import Crowd, ItemRows, Told, tell
from recloak._attacks.model import Hits, Line, Public, expected_share
from recloak._attacks.public_columns import item_means
from recloak._attacks.released_cells import rows_of
from recloak._attacks.table_fit import fit_of
from recloak._ratings.model import Ratings

RARITY = 0.1  # people expected to fit a sentence by chance
_ROWS, _MOST_PEOPLE = 300, 20_000
_ITEM_ROWS = 1000
_OF_DRAWN, _OF_SHARED = 2, 1  # items in a sentence about a row
_STRICTER = (1.0, 1.3, 1.7, 2.2, 3.0)


def isolated(public: Public, ratings: Ratings, stream: np.random.Generator, k: int) -> Hits:
    """Return the share of rows whose sentence is true of exactly one person.

    Which sentence is best, by how strict its line is and by how many coins, is learned on half of the rows.
    """
    profiles = stream.permutation(public.n_profiles)[:_ROWS]
    people = _people(public, ratings, profiles, stream)
    fitting = (_padded if public.is_complete else _pure)(public, people, profiles)
    probabilities = np.column_stack([_one_left(fitting, 1 / coin) for coin in sorted({1, 2, max(k, 2)})])
    learned = np.arange(len(profiles)) % 2 == 0
    best = int(probabilities[learned].mean(axis=0).argmax())
    tested = probabilities[~learned] if len(profiles) > 1 else probabilities
    fits = float(np.median(fitting[:, best % fitting.shape[1]]))
    return Hits(expected_share(tested[:, best]), details={"people_a_sentence_fits": fits})


def _one_left(fitting: NDArray[np.int64], coin: float) -> NDArray[np.float64]:
    """Return the chance that exactly one of those a sentence fits is left by a coin that each throws."""
    return np.asarray(fitting * coin * (1 - coin) ** np.maximum(fitting - 1, 0), np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class _People:
    """The ratings of the people looked at."""

    users: NDArray[np.int64]  # (n_ratings,) from 0
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_people: int

    def sums(self, per_rating: NDArray[Any]) -> NDArray[np.float64]:
        """Sum up something about each rating for every person."""
        return np.bincount(self.users, per_rating, self.n_people).astype(np.float64)


def _people(public: Public, ratings: Ratings, profiles: NDArray[np.int64], stream: np.random.Generator) -> _People:
    """Return everybody, or where there are many the members of the profiles and a sample of the others."""
    chosen = np.isin(public.owner, profiles)
    chosen[stream.permutation(ratings.n_users)[:_MOST_PEOPLE]] = True
    users = np.flatnonzero(chosen)
    rows = [ratings.row(int(user)) for user in users]
    lengths = np.diff(ratings.indptr)[users]
    items = np.concatenate([ratings.items[row] for row in rows])
    values = np.concatenate([ratings.values[row] for row in rows])
    return _People(np.repeat(np.arange(len(users)), lengths), items, values, len(users))


def _pure(public: Public, people: _People, profiles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count whose items all lie in each row; 0 where outsiders fit as well, for then it is not rare: (n_rows, 1)."""
    lengths = np.bincount(people.users, minlength=people.n_people)
    count = np.array(
        [int((people.sums(~np.isnan(row)[people.items]) == lengths).sum()) for row in rows_of(public, profiles)]
    )
    return np.where(count <= public.weights[profiles], count, 0)[:, None]


def _padded(public: Public, people: _People, profiles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count whose surprises agree with a row's residuals more than one in 10 n would by chance: (n_rows, n_lines)."""
    surprises = people.values - item_means(public)[people.items]
    length = np.sqrt(np.maximum(people.sums(np.square(surprises)), 1e-9))
    lines = -float(ndtri(RARITY / people.n_people)) * np.array(_STRICTER)
    count = []
    for residuals in fit_of(public).residuals(rows_of(public, profiles)):
        agreement = people.sums(surprises * residuals[people.items]) / length
        centre = np.median(agreement)
        spread = 1.4826 * np.median(np.abs(agreement - centre)) + 1e-12
        count.append([int(((agreement - centre) / spread > line).sum()) for line in lines])
    return np.array(count)


def _run(given: AttackInput) -> Findings:
    public, stream = given.public_release(), given.randomness.stream("singling out")
    if given.release is not None and given.release.drawn is not None:
        told = _by_items(_drawn_rows(given.release.drawn.rows, stream), _OF_DRAWN, given)
        gained = max(told.share.rate - told.baseline, 0.0) / max(1 - told.baseline, 1e-9)
        details = {"people_a_sentence_fits": float(np.median(told.fits)), "gained": gained}
        return Findings(Hits(told.share, control=told.control, details=details), baseline=told.baseline)
    hits, usual = isolated(public, given.ratings, stream, given.k), RARITY * math.exp(-RARITY)
    if public.is_complete:
        return Findings(hits, baseline=usual)
    told = _by_items(_shared_rows(public, stream), _OF_SHARED, given)
    return Findings(hits, baseline=usual, lines=(Line("rarest_item", told.share, told.baseline),))


def _by_items(rows: ItemRows, n: int, given: AttackInput) -> Told:
    return tell(rows, n, Crowd.of(given.ratings), _strangers(given), given.randomness.stream("items of a row"))


def _strangers(given: AttackInput) -> Crowd | None:
    """Return as many people who are not in the release as are in it, for fewer would be told apart more easily."""
    outside, n_users = given.held_out, given.ratings.n_users
    if outside is None or outside.n_users < n_users:
        return None
    chosen = given.randomness.stream("strangers").permutation(outside.n_users)[:n_users]
    return Crowd.outside(outside, given.ratings.n_items, chosen)


def _drawn_rows(rows: Ratings, stream: np.random.Generator) -> ItemRows:
    chosen = stream.permutation(rows.n_users)[:_ITEM_ROWS]
    return ItemRows(tuple(rows.items[rows.row(int(row))] for row in chosen), rows.popularity)


def _shared_rows(public: Public, stream: np.random.Generator) -> ItemRows:
    table = rows_of(public, stream.permutation(public.n_profiles)[:_ITEM_ROWS])
    return ItemRows(tuple(np.flatnonzero(~np.isnan(row)) for row in table), np.diff(public.indptr))


ATTACK = Attack(
    name="singling-out",
    remedy="raise k; in mode pure leave rare items out (--min-shown).",
    kind=Kind.TELLS_CELLS,
    title="A sentence that is true of one person only (singling out)",
    short="singling out",
    attacker="writes down, from the release alone, a rare sentence that is true of exactly one person",
    unit="rows whose sentence is true of one person only",
    baseline="a sentence as rare that says nothing about the data",
    criterion="singling-out",
    actor="public",
    run=_run,
    details={"people_a_sentence_fits": "", "gained": "Gained over the baseline, of what is there to gain"},
    drawn_rows=True,
    order=78,
)
