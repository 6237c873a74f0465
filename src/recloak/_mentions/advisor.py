"""The posting privacy advisor that paper 004 asks for (section 6.3): advice before a post is published.

From what a user has mentioned before and is about to mention, it works out the user's place in the list of every
attacker of the panel (`_mentions.panel_kernels`), and which change would hide them among at least k from all of them.
It answers for the user who asks and is no oracle on others:

- a place is given as a band, never as a number;
- no other user, and no count of other users, is ever named;
- what is tried, and in which order, is chosen by the public popularity of items and the asker's own ratings;
- a secret part of the people is never used, whoever asks (`_mentions.oracle_guard`).

The place is the smallest over the attackers: those of the paper, those who know about misdirection, and those who use
opinions and times, also for posters who wait. *Hidden* means hidden from all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.results import counted, plural
from recloak._mentions.advisor_index import AdvisorIndex, Item
from recloak._mentions.draft_question import Said, make_question
from recloak._mentions.draft_rank_kernels import added_up, places, worst_with, worst_without
from recloak._mentions.draft_search import MOST_TRIED, DraftGaps, HidingChange, Way, cheapest_change
from recloak._mentions.oracle_guard import BANDS, EXACT_BANDS, Bands, band_of, border_from
from recloak._mentions.panel_kernels import PANEL

_SHOWN_ADDS = 3
_TELLING = 3  # mentions that give most away
_SMALL = 0.5  # a change is small if it leaves out at most this share of the draft


@dataclass(frozen=True, slots=True, repr=False)
class DraftChange:
    """A change of the draft and the band after it."""

    drop: tuple[Item, ...]
    add: tuple[Item, ...]
    band: str
    series: tuple[tuple[Item, str], ...] = ()  # name the series instead of the title
    no_opinions: bool = False

    def __repr__(self) -> str:
        return counted(self, f"drop {len(self.drop)}", f"add {len(self.add)}", f"place {self.band}")

    def to_json(self) -> dict[str, Any]:
        """Return the items and the band, ready for JSON."""
        series = [{"item": item, "name": name} for item, name in self.series]
        lists = {"drop": list(self.drop), "add": list(self.add), "band": self.band, "series": series}
        return {**lists, "no_opinions": self.no_opinions}


@dataclass(frozen=True, slots=True, repr=False)
class Advice:
    """The advisor's answer; every place is a band."""

    k: int
    before: str  # the band by earlier mentions alone
    after: str  # the band once the draft is posted, before the strongest attacker
    hidden: bool  # whether the draft as it is keeps the user beyond the first k of every attacker
    attackers: dict[str, str]  # the band before each attacker who uses what is known
    telling: Item | None  # the mention of the draft that reveals most; None where the user rated none of them
    most_telling: tuple[Item, ...]  # the three that reveal most
    drops: tuple[DraftChange, ...]  # each mention of the draft left out
    adds: tuple[DraftChange, ...]  # a few single additions
    unvoiced: DraftChange | None  # without opinions; None where there are none
    cheapest: DraftChange | None  # the cheapest change that hides from every attacker; None where none was found
    small: bool  # whether the cheapest change keeps at least half of the mentions
    uses: tuple[str, ...]  # what was looked at: titles, opinions, times
    n_unknown: int  # mentions of items that nobody rated: they reveal nothing

    @property
    def strongest(self) -> str:
        """The attacker with the smallest band, the most knowing of equals."""
        order = {name: place for place, (_, name) in enumerate(EXACT_BANDS)}
        known = {**order, BANDS[0][1]: 0}
        return min(reversed(list(self.attackers)), key=lambda name: known[self.attackers[name]])

    def __repr__(self) -> str:
        state = "hidden" if self.hidden else "not hidden"
        unknown = [plural(self.n_unknown, "unknown item")] if self.n_unknown else []
        return counted(self, f"k = {self.k}", f"place {self.before} before, {self.after} after", state, *unknown)

    def to_json(self) -> dict[str, Any]:
        """Return the advice, ready for JSON."""
        names = ("k", "before", "after", "hidden", "telling", "small", "n_unknown")
        plain = {name: getattr(self, name) for name in names}
        lists = {"attackers": self.attackers, "strongest": self.strongest, "uses": list(self.uses)}
        changes = {name: [one.to_json() for one in getattr(self, name)] for name in ("drops", "adds")}
        single = {
            name: None if getattr(self, name) is None else getattr(self, name).to_json()
            for name in ("unvoiced", "cheapest")
        }
        return {**plain, **lists, "most_telling": list(self.most_telling), **changes, **single}


def advise(
    index: AdvisorIndex,
    user: Item,
    earlier: Iterable[Item | Said],
    draft: Iterable[Item | Said],
    *,
    k: int = 10,
    time: int | None = None,
    most_tried: int = MOST_TRIED,
) -> Advice:
    """Return advice for one user, who wants to stay beyond the first k, on a draft post that mentions items.

    ``time`` is that of the draft; without it, what times tell is not looked at. An index of `prepare_advisor` gives
    guarded advice: bands of `BANDS`, and hidden means beyond the first border at k or more (10, 100, 1,000). One of
    `prepare_exact_advisor` gives exact advice, in `EXACT_BANDS`.
    """
    if not 1 <= k < index.ratings.n_users:
        raise OptionError(f"k must be at least 1 and below the number of users, got {k}")
    bands = EXACT_BANDS if index.guard is None else BANDS
    border = k if index.guard is None else border_from(k, bands)
    gaps = DraftGaps(index, make_question(index, user, earlier, draft, time), most_tried)
    return _Adviser(gaps, bands, float(border)).advice(k)


def warm_up(index: AdvisorIndex, user: Item) -> None:
    """Advise once, so that no question has to wait until its loops are compiled."""
    ratings = index.ratings
    row = ratings.row(index.user_numbers[user])
    said = [Said(index.item_ids[item], ratings.scale.low) for item in ratings.items[row][:2].tolist()]
    now = None if ratings.times is None else int(ratings.times.max())
    advise(index, user, [], said, k=1, time=now)
    DraftGaps(index, make_question(index, user, [], said, now)).keep(Way(strip=True, n_adds=1), 1.0)


class _Adviser:
    """Turns the gaps of a question into bands and changes."""

    def __init__(self, gaps: DraftGaps, bands: Bands, border: float) -> None:
        self.gaps, self.bands, self.border = gaps, bands, border
        self.index, self.question = gaps.index, gaps.question
        self.after = gaps.after()

    def advice(self, k: int) -> Advice:
        gaps = self.gaps
        by_attacker = places(self.after, gaps.attackers, gaps.margins)
        hidden = bool(by_attacker.min() > self.border)
        rated = [n for n in reversed(gaps.tried.tolist()) if self.question.draft.mine[n, 0] > 0]
        telling = tuple(self.id(n) for n in rated[:_TELLING])
        found = None if hidden else cheapest_change(gaps, self.border)
        cheapest = DraftChange((), (), self.band(by_attacker.min())) if hidden else self._changed(found)
        return Advice(
            k=k,
            before=self.band(self.worst(gaps.before)),
            after=self.band(by_attacker.min()),
            hidden=hidden,
            attackers={PANEL[a]: self.band(p) for a, p in zip(gaps.attackers, by_attacker, strict=True)},
            telling=telling[0] if telling else None,
            most_telling=telling,
            drops=self._drops(),
            adds=self._adds(),
            unvoiced=None if hidden else self._unvoiced(),
            cheapest=cheapest,
            small=cheapest is not None and len(cheapest.drop) <= _SMALL * max(len(self.question.draft), 1),
            uses=gaps.uses,
            n_unknown=self.question.n_unknown,
        )

    def id(self, position: int) -> Item:
        return self.index.item_ids[int(self.question.draft.items[position])]

    def band(self, place: float) -> str:
        return band_of(place, self.bands)

    def worst(self, gaps: NDArray[np.float32]) -> float:
        return float(places(gaps, self.gaps.attackers, self.gaps.margins).min())

    def _drops(self) -> tuple[DraftChange, ...]:
        tables = self.gaps.tables()
        parts = (tables.effects, tables.moments, tables.moment_of)
        without = worst_without(self.after, *parts, self.gaps.attackers, self.gaps.margins)
        return tuple(DraftChange((self.id(n),), (), self.band(place)) for n, place in enumerate(without.tolist()))

    def _adds(self) -> tuple[DraftChange, ...]:
        effects = self.gaps.added(_SHOWN_ADDS)
        places_then = worst_with(self.after, effects, self.gaps.attackers, self.gaps.margins)
        ids = [self.index.item_ids[item] for item in self.question.decoys.items[: len(effects)].tolist()]
        return tuple(DraftChange((), (id_,), self.band(p)) for id_, p in zip(ids, places_then.tolist(), strict=True))

    def _unvoiced(self) -> DraftChange | None:
        if not np.isfinite(self.question.draft.opinions).any():
            return None
        return DraftChange((), (), self.band(self.worst(self.gaps.after(strip=True))), no_opinions=True)

    def _changed(self, found: HidingChange | None) -> DraftChange | None:
        """Return a change in the ids of items, with the band that it reaches, worked out anew."""
        if found is None:
            return None
        tables, way = self.gaps.tables(strip=found.way.strip), found.way
        stays = [n for n in range(len(self.question.draft)) if n not in found.drop and n not in found.series]
        posted = tables.posted([*stays, *found.series], with_last=way.n_adds > 0)
        there = self.gaps.with_all(tables, stays, posted)
        there = added_up(there, tables.vague, tables.vague_of[list(found.series)])
        decoys = self.gaps.added(way.n_adds)
        there = added_up(there, decoys, np.arange(len(decoys)))
        added = self.question.decoys.items[: way.n_adds].tolist()
        return DraftChange(
            drop=tuple(self.id(n) for n in found.drop),
            add=tuple(self.index.item_ids[item] for item in added),
            band=self.band(self.worst(there)),
            series=tuple((self.id(n), self._series_name(n)) for n in found.series),
            no_opinions=way.strip,
        )

    def _series_name(self, position: int) -> str:
        return self.index.series_names[self.index.series_of[int(self.question.draft.items[position])]]
