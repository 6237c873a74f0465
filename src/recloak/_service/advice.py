"""Posting advice: everything that is prepared before the first request, and the answer to one request."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recloak._core.errors import InputError
from recloak._mentions.advisor import Advice, advise, warm_up
from recloak._mentions.advisor import DraftChange as AdvisedChange
from recloak._mentions.advisor_index import AdvisorIndex, prepare_advisor
from recloak._mentions.draft_question import Said
from recloak._mentions.found_mentions import popularity_of
from recloak._mentions.model import NO_TIME
from recloak._mentions.oracle_guard import BANDS, OracleGuard
from recloak._mentions.post_files import TitleList
from recloak._mentions.shared_beginnings import series_of
from recloak._mentions.title_finder import FoundTitle, find_titles
from recloak._mentions.title_matching import TitleIndex, index_titles
from recloak._service.attacker_words import attacker_views, band_in_words, why
from recloak._service.catalogue import Catalogue, Item, build_catalogue
from recloak._service.schema import (
    AdviceRequest,
    AdviceResponse,
    Change,
    Found,
    Gives,
    Named,
    SeriesNamed,
    Tier,
)

if TYPE_CHECKING:
    from recloak._mentions.model import Mentions
    from recloak._ratings.model import Ratings

_ORDER = {name: place for place, name in enumerate(name for _, name in BANDS)}
_MAX_ALTERNATIVES = 8


@dataclass(frozen=True, eq=False, slots=True)
class AdvisorResources:
    """What advice needs: the prepared ratings and titles, and what people said before."""

    index: AdvisorIndex
    titles: TitleIndex
    catalogue: Catalogue
    users: dict[str, Item]  # by the name that a token carries
    earlier: dict[Item, list[Said]] = field(default_factory=dict)  # by user: what they named in public before

    def rated_by(self, user: Item) -> set[Item]:
        """Return the items that a user rated."""
        index = self.index
        row = index.ratings.row(index.user_numbers[user])
        return {index.item_ids[item] for item in index.ratings.items[row].tolist()}

    def own_ratings(self, user: Item) -> dict[Item, float]:
        """Return what a user rated, and how."""
        index = self.index
        row = index.ratings.row(index.user_numbers[user])
        items = [index.item_ids[item] for item in index.ratings.items[row].tolist()]
        return dict(zip(items, index.ratings.values[row].tolist(), strict=True))


def prepare(
    ratings: Ratings, titles: TitleList, mentions: Mentions | None = None, *, guard: OracleGuard | None = None
) -> AdvisorResources:
    """Prepare ratings, titles and known mentions for advice, and advise once, so that the kernels are compiled."""
    if ratings.n_users < 2:
        raise InputError(f"advice needs the ratings of at least 2 users, got {ratings.n_users}")
    catalogue = build_catalogue(titles, ratings.item_ids)
    title_index = index_titles(catalogue.titles, popularity=popularity_of(ratings))
    users = ratings.user_ids.ids.to_list()
    by_name = {str(user): user for user in users}
    series = series_of(catalogue.titles)
    index = prepare_advisor(ratings, guard=guard, mentions=mentions, series=series)
    advisor = AdvisorResources(index, title_index, catalogue, by_name, _earlier_mentions(ratings, mentions))
    warm_up(index, users[0])
    return advisor


def _earlier_mentions(ratings: Ratings, mentions: Mentions | None) -> dict[Item, list[Said]]:
    if mentions is None:
        return {}
    rows = zip(mentions.users.tolist(), mentions.indptr.tolist(), mentions.indptr[1:].tolist(), strict=False)
    return {ratings.user_ids.ids[user]: _said(ratings, mentions, start, end) for user, start, end in rows if user >= 0}


def _said(ratings: Ratings, mentions: Mentions, start: int, end: int) -> list[Said]:
    items = ratings.item_ids.decode(mentions.items[start:end]).to_list()
    told = zip(items, mentions.opinions[start:end].tolist(), mentions.times[start:end].tolist(), strict=True)
    return [
        Said(item, None if np.isnan(stars) else stars, None if when == NO_TIME else when) for item, stars, when in told
    ]


@dataclass(frozen=True, slots=True)
class _Mention:
    """A title found in the text, with the writer's corrections."""

    find: FoundTitle
    start: int
    end: int
    item: Item | None
    tier: Tier
    counted: bool


def answer(advisor: AdvisorResources, user: Item, request: AdviceRequest) -> AdviceResponse:
    """Return the answer to a user's request."""
    earlier = [*advisor.earlier.get(user, ()), *map(Said, request.earlier)]
    stars = advisor.own_ratings(user)
    rated = set(stars)
    mentions = [] if request.text is None else list(_mentions(advisor, request, rated))
    draft = request.items or [one.item for one in mentions if one.counted and one.item is not None]
    k = min(request.k, advisor.index.ratings.n_users - 1)
    voiced = stars if request.voiced and request.text is not None else {}
    said = [Said(item, voiced.get(item)) for item in draft]
    advice = advise(advisor.index, user, earlier, said, k=k, time=int(time.time()))
    revealing = rated - {one.item for one in earlier}
    catalogue = advisor.catalogue
    return AdviceResponse(
        k=advice.k,
        before=band_in_words(advice.before),
        after=band_in_words(advice.after),
        hidden=advice.hidden,
        attackers=attacker_views(advice),
        why=why(advice),
        looked_at=list(advice.uses),
        most_telling=[_named(item, catalogue) for item in advice.most_telling],
        finds=[_found(one, advice, revealing, advisor) for one in mentions],
        drops=[_change(one, catalogue) for one in advice.drops],
        adds=[_change(one, catalogue) for one in advice.adds],
        unvoiced=None if advice.unvoiced is None else _change(advice.unvoiced, catalogue),
        cheapest=None if advice.cheapest is None else _change(advice.cheapest, catalogue),
        small=advice.small,
        n_unknown=advice.n_unknown,
    )


def _mentions(advisor: AdvisorResources, request: AdviceRequest, rated: set[Item]) -> Iterable[_Mention]:
    """Yield the titles found in the text, with the writer's corrections.

    A possible find counts once it is confirmed, or if the writer rated the item: a title that the writer did not rate
    misleads an attacker, and must not make the writer look hidden before somebody confirms it.
    """
    text = request.text or ""
    chosen = {choice.start: choice.item for choice in request.choices}
    utf16 = Utf16Offsets(text)
    for find in find_titles(text, advisor.titles):
        start, end = utf16.offset(find.start), utf16.offset(find.end)
        if start in chosen:
            item = chosen[start]
            yield _Mention(find, start, end, item, "sure", counted=item is not None)
        else:
            item = advisor.titles.titles[find.title].id
            sure = find.tier == "sure"
            yield _Mention(find, start, end, item, "sure" if sure else "possible", counted=sure or item in rated)


class Utf16Offsets:
    """Converts offsets in a text from characters to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._wide = [] if text.isascii() else [n for n, character in enumerate(text) if character > "\uffff"]

    def offset(self, place: int) -> int:
        """Return the number of code units before a character."""
        return place + sum(wide < place for wide in self._wide)


def _found(one: _Mention, advice: Advice, revealing: set[Item], advisor: AdvisorResources) -> Found:
    titles, catalogue = advisor.titles.titles, advisor.catalogue
    others = [titles[place].id for place in (one.find.title, *one.find.others)]
    return Found(
        start=one.start,
        end=one.end,
        text=one.find.text,
        item=one.item,
        title=None if one.item is None else catalogue.title(one.item),
        tier=one.tier,
        counted=one.counted,
        gives=_gives(one, advice, revealing),
        alternatives=[_named(item, catalogue) for item in others if item != one.item][:_MAX_ALTERNATIVES],
    )


def _gives(one: _Mention, advice: Advice, revealing: set[Item]) -> Gives:
    """Return how much a mention gives away, judged by the band without it and by which mention gives most."""
    if not one.counted or one.item not in revealing:
        return "nothing"
    if one.item == advice.telling and not advice.hidden:
        return "most"
    without = next((change.band for change in advice.drops if change.drop == (one.item,)), advice.after)
    return "much" if _ORDER[without] > _ORDER[advice.after] else "little"


def _change(change: AdvisedChange, catalogue: Catalogue) -> Change:
    return Change(
        drop=[_named(item, catalogue) for item in change.drop],
        add=[_named(item, catalogue) for item in change.add],
        series=[SeriesNamed(item=item, title=catalogue.title(item), series=name) for item, name in change.series],
        no_opinions=change.no_opinions,
        band=band_in_words(change.band),
    )


def _named(item: Item, catalogue: Catalogue) -> Named:
    return Named(item=item, title=catalogue.title(item))
