"""A question to the advisor in the numbers of the ratings: who asks, what they said before, and what they would say."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recloak._core.results import counted
from recloak._mentions.advisor_index import AdvisorIndex, Item
from recloak._mentions.clues import in_stars
from recloak._mentions.model import NO_TIME
from recloak._mentions.panel_kernels import EDGES, N_STEPS

MOST_ADDS = 60
LEAST_ADDS = 3  # may be added to the shortest draft; to others no more than they have mentions


@dataclass(frozen=True, slots=True, repr=False)
class Said:
    """A mention and what is known of it: the opinion that it voices, in stars, and its time, in seconds since 1970.

    Examples
    --------
    >>> Said(318, rating=4.5, time=1_700_000_000)
    <Said: with opinion, with time>
    """

    item: Item
    rating: float | None = None
    time: int | None = None

    def __repr__(self) -> str:
        return counted(
            self,
            f"with{'' if self.rating is not None else 'out'} opinion",
            f"with{'' if self.time is not None else 'out'} time",
        )


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Spoken:
    """Some mentions as the loops take them."""

    items: NDArray[np.int64]
    times: NDArray[np.int64]
    opinions: NDArray[np.float32]  # on a scale of 0 to 4, nan: none
    mine: NDArray[np.float64]  # (n, 3) whether the writer rated it, how, and when
    muted: NDArray[np.bool_]  # counts for nobody else

    def __len__(self) -> int:
        return len(self.items)

    def at(self, chosen: Sequence[int] | NDArray[np.integer]) -> Spoken:
        """Return some of the mentions."""
        places = np.asarray(chosen, np.int64)
        return Spoken(*(getattr(self, name)[places] for name in self.__slots__))

    def unvoiced(self) -> Spoken:
        """Return the mentions without opinions."""
        return replace(self, opinions=np.full_like(self.opinions, np.nan))


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Question:
    """One user, their earlier mentions and their draft, and what might be added."""

    user: int
    earlier: Spoken
    draft: Spoken
    decoys: Spoken
    n_unknown: int
    appetite: float
    norm: float
    moments: NDArray[np.int64]  # when the user rated, ascending

    def evidence(self, index: AdvisorIndex, spoken: Spoken) -> NDArray[np.float64]:
        """Return how much each mention speaks for the writer, by public numbers and the writer's own ratings."""
        known, pool = index.known, index.pool
        told = known.logit - np.log(np.expm1(pool.rates[spoken.items] * self.appetite))
        distances = np.abs(spoken.mine[:, 1] - spoken.opinions)
        steps = np.minimum(np.nan_to_num(2 * distances + 0.5).astype(np.int64), N_STEPS - 1)
        told = told + np.where(np.isnan(spoken.opinions), 0.0, known.opinion[steps])
        timed = (spoken.times != NO_TIME) & (len(pool.times) > 0)
        lags = np.where(timed, spoken.times - spoken.mine[:, 2], 0.0)
        told = told + np.where(timed, known.same_item[np.searchsorted(EDGES, lags)], 0.0)
        return np.where(spoken.mine[:, 0] > 0, told, -np.inf)


def make_question(
    index: AdvisorIndex,
    user: Item,
    earlier: Iterable[Item | Said],
    draft: Iterable[Item | Said],
    time: int | None = None,
) -> Question:
    """Return a question in the numbers of the ratings.

    An item mentioned before is not new in the draft, and one that nobody rated is only counted. ``time`` is that of the
    draft, where a mention does not tell its own.
    """
    number = index.user_numbers.get(user)
    if number is None:
        number = index.ratings.user_ids.number(user)  # raises InputError
    before = _numbered(index, earlier, None)
    posted = _numbered(index, draft, time)
    old = {item: said for item, said in before if item >= 0}
    new = {item: said for item, said in posted if item >= 0 and item not in old}
    row = index.ratings.row(number)
    own = _Own(index, row)
    last = max((said.time for said in new.values() if said.time is not None), default=time)
    decoys = _decoys(index, number, {*own.places, *old, *new}, most_adds(len(new)))
    moments = np.zeros(0, np.int64) if index.ratings.times is None else np.sort(index.ratings.times[row])
    return Question(
        user=number,
        earlier=own.spoken(old),
        draft=own.spoken(new),
        decoys=own.unrated(decoys, last),
        n_unknown=sum(item < 0 for item, _ in (*before, *posted)),
        appetite=(row.stop - row.start) / max(index.ratings.n_ratings / index.ratings.n_users, 1e-9),
        norm=float(index.norms[number]),
        moments=moments,
    )


def _numbered(index: AdvisorIndex, given: Iterable[Item | Said], time: int | None) -> list[tuple[int, Said]]:
    said = [one if isinstance(one, Said) else Said(one) for one in given]
    timed = [one if one.time is not None or time is None else replace(one, time=time) for one in said]
    return [(_number(index, one.item), one) for one in timed]


def _number(index: AdvisorIndex, item: Item) -> int:
    return index.item_numbers.get(item, -1) if isinstance(item, (int, str)) else -1


def most_adds(n_draft: int) -> int:
    """Return how many titles may be added to a draft of so many mentions."""
    return min(max(LEAST_ADDS, n_draft), MOST_ADDS)


def _decoys(index: AdvisorIndex, user: int, taken: set[int], most: int) -> list[int]:
    """Return items to add that the user has neither rated nor mentioned, in an order that only the advisor knows.

    Whoever could tell which mentions were added would leave them out, and find the writer as before.
    """
    seed = hashlib.blake2b(
        str(index.ratings.user_ids.ids[user]).encode(), digest_size=8, key=index.secret[:64]
    ).digest()
    stream = np.random.default_rng(int.from_bytes(seed, "big"))
    some = index.proposals[np.argsort(stream.random(len(index.proposals)))[: most + len(taken)]]
    return list(itertools.islice((item for item in some.tolist() if item not in taken), most))


class _Own:
    """What the writer rated."""

    def __init__(self, index: AdvisorIndex, row: slice) -> None:
        ratings = index.ratings
        self.index = index
        self.places = {item: row.start + n for n, item in enumerate(ratings.items[row].tolist())}

    def spoken(self, said: dict[int, Said]) -> Spoken:
        """Return mentions as the loops take them."""
        ratings, items = self.index.ratings, np.array(list(said), np.int64)
        unheard = ratings.kind.name == "presence"  # there is no rating that an opinion could be compared with
        stars = np.array([np.nan if one.rating is None or unheard else one.rating for one in said.values()], np.float32)
        times = np.array([NO_TIME if one.time is None else one.time for one in said.values()], np.int64)
        mine = np.array([self._mine(item) for item in said], np.float64).reshape(-1, 3)
        return Spoken(items, times, in_stars(stars, ratings), mine, muted(self.index, items, mine[:, 0] > 0))

    def unrated(self, items: list[int], time: int | None) -> Spoken:
        """Return mentions of items that the writer did not rate, all at one time and without opinions."""
        numbers, n = np.array(items, np.int64), len(items)
        times, unsaid = np.full(n, NO_TIME if time is None else time, np.int64), np.full(n, np.nan, np.float32)
        return Spoken(numbers, times, unsaid, np.zeros((n, 3)), muted(self.index, numbers, np.zeros(n, np.bool_)))

    def _mine(self, item: int) -> tuple[float, float, float]:
        """Return whether the writer rated an item, how, and when."""
        place = self.places.get(item)
        if place is None:
            return 0.0, 0.0, 0.0
        ratings = self.index.ratings
        value = in_stars(ratings.values[place : place + 1], ratings)[0]
        return 1.0, float(value), 0.0 if ratings.times is None else float(ratings.times[place])


def muted(index: AdvisorIndex, items: NDArray[np.int64], rated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which mentions count for nobody else: where there is a guard, what neither the writer nor many rated."""
    if index.guard is None:
        return np.zeros(len(items), np.bool_)
    return ~rated & (index.raters[items] < index.guard.widely * index.ratings.n_users)


def as_series(index: AdvisorIndex, question: Question, spoken: Spoken) -> tuple[Spoken, NDArray[np.int64]]:
    """Return mentions of series instead of titles, where there are any, and where each mention finds its own."""
    with_one = [place for place, item in enumerate(spoken.items.tolist()) if item in index.series_of]
    columns = [index.series_of[int(spoken.items[place])] for place in with_one]
    found = np.full(len(spoken), -1, np.int64)
    found[with_one] = np.arange(len(with_one))
    part = spoken.at(with_one)
    mine = np.array([_rated_last(index, question, column) for column in columns], np.float64).reshape(-1, 3)
    items = np.array(columns, np.int64)
    unsaid = np.full(len(items), np.nan, np.float32)
    return Spoken(items, part.times, unsaid, mine, muted(index, items, mine[:, 0] > 0)), found


def _rated_last(index: AdvisorIndex, question: Question, column: int) -> tuple[float, float, float]:
    """Return whether the writer rated an item of a series, and when last."""
    row = index.ratings.row(question.user)
    mine = np.isin(index.ratings.items[row], index.members[column])
    if not mine.any():
        return 0.0, 0.0, 0.0
    return 1.0, 0.0, 0.0 if index.ratings.times is None else float(index.ratings.times[row][mine].max())
