"""The advisor in its plain form: every variant of a draft is scored from the first mention to the last."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from recloak._core.errors import OptionError
from recloak._mentions.advisor import Advice, DraftChange
from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.identification_kernels import standings
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import band_of
from recloak._ratings.model import Ratings


@dataclass(frozen=True, eq=False)
class PlainIndex:
    ratings: Ratings
    candidates: Candidates
    weights: np.ndarray
    popular: np.ndarray
    ignored: tuple[frozenset[int], ...]


def prepare(ratings, options=None):
    options = options or IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    popular = np.argsort(-candidates.raters, kind="stable")
    n_rated = int(np.count_nonzero(candidates.raters))
    ignored = tuple(frozenset(popular[: int(np.ceil(s * n_rated))].tolist()) for s in (0.0, 0.01, 0.02))
    return PlainIndex(ratings, candidates, gains(candidates.raters, candidates.n_users, options), popular, ignored)


def advise(index, user, earlier, draft, *, k=10):
    if not 1 <= k < index.candidates.n_users:
        raise OptionError(f"k must be at least 1 and below the number of users, got {k}")
    asked = PlainQuestion(index, index.ratings.user_ids.number(user), *_numbers(index, earlier, draft))
    after, *without = asked.places([[], *([one] for one in asked.draft)])
    return Advice(
        k=k,
        before=band_of(asked.places([asked.draft])[0]),
        after=band_of(after),
        hidden=bool(after > k),
        telling=_telling(asked, without),
        drops=tuple(DraftChange((asked.id(one),), (), band_of(p)) for one, p in zip(asked.draft, without, strict=True)),
        adds=_single_adds(asked),
        cheapest=DraftChange((), (), band_of(after)) if after > k else _cheapest(asked, k),
        n_unknown=asked.n_unknown,
    )


def _numbers(index, earlier, draft):
    ids = index.ratings.item_ids

    def code(item):
        return -1 if ids.is_text != isinstance(item, str) else int(ids.encode(pl.Series([item]))[0])

    old, new = ([code(item) for item in items] for items in (earlier, draft))
    known = list(dict.fromkeys(one for one in old if one >= 0))
    fresh = [one for one in dict.fromkeys(new) if one >= 0 and one not in known]
    return known, fresh, sum(one < 0 for one in (*old, *new))


@dataclass(frozen=True, eq=False)
class PlainQuestion:
    index: PlainIndex
    user: int
    earlier: list[int]
    draft: list[int]
    n_unknown: int

    def id(self, item):
        return self.index.ratings.item_ids.ids[item]

    def own(self):
        return set(self.index.ratings.items[self.index.ratings.row(self.user)].tolist())

    def places(self, drops):
        return self.places_of([self.earlier + [one for one in self.draft if one not in some] for some in drops])

    def places_of(self, said):
        """Return those above and half of those tied, before the worst attacker."""
        if not said:
            return []
        read = [[i for i in items if i not in ignored] or items for ignored in self.index.ignored for items in said]
        places = self.stand(read)
        return places.reshape(len(self.index.ignored), len(said)).min(axis=0).tolist()

    def stand(self, read):
        candidates, columns = self.index.candidates, self.index.candidates.columns
        indptr = np.concatenate(([0], np.cumsum([len(items) for items in read]))).astype(np.int64)
        items = np.array([item for one in read for item in one], np.int32)
        listed = ~candidates.heavy
        listed[self.user] = True  # a heavy rater asks too, and gets the answer of an attacker who lists them
        targets, ones = np.full(len(read), self.user, np.int32), np.ones(candidates.n_users)
        by_item = (columns.indptr, columns.users, columns.values, self.index.weights, ones, listed, -1.0, True)
        counts, _ = standings(indptr, items, np.full(len(items), np.nan, np.float32), targets, *by_item)
        return counts[:, 0] + (counts[:, 1] + 1) / 2

    def decoys(self):
        taken = {*self.own(), *self.earlier, *self.draft}
        below = self.index.popular[max(map(len, self.index.ignored)) :].tolist()
        return [item for item in below if item not in taken][:10]


def _telling(asked, without):
    raters = asked.index.candidates.raters
    rated = [(-p, int(raters[one]), one) for one, p in zip(asked.draft, without, strict=True) if one in asked.own()]
    return asked.id(min(rated)[2]) if rated else None


def _single_adds(asked):
    decoys = asked.decoys()[:3]
    places = asked.places_of([[*asked.earlier, *asked.draft, decoy] for decoy in decoys])
    return tuple(DraftChange((), (asked.id(one),), band_of(place)) for one, place in zip(decoys, places, strict=True))


def _cheapest(asked, k):
    drops, decoys = _best_drops(asked), asked.decoys()
    for cost in range(1, len(drops) + len(decoys) + 1):
        mixes = [(d, cost - d) for d in range(len(drops) + 1) if 0 <= cost - d <= len(decoys)]
        said = [asked.earlier + [one for one in asked.draft if one not in drops[:d]] + decoys[:a] for d, a in mixes]
        places = asked.places_of(said)
        best = int(np.argmax(places))
        if places[best] > k:
            d, a = mixes[best]
            return DraftChange(tuple(map(asked.id, drops[:d])), tuple(map(asked.id, decoys[:a])), band_of(places[best]))
    return None


def _best_drops(asked):
    left = sorted(asked.draft, key=lambda item: int(asked.index.candidates.raters[item]))[:12]
    chosen: list[int] = []
    while left and len(chosen) < 4:
        places = asked.places([[*chosen, one] for one in left])
        chosen.append(left.pop(int(np.argmax(places))))
    return chosen
