"""From a request to advice: find the titles, take the writer's corrections, ask the advisor, give names to items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recloak._mentions.advisor import Advice, advise
from recloak._mentions.advisor import DraftChange as AdvisedChange
from recloak._mentions.oracle_guard import BANDS, LAST_BAND
from recloak._mentions.title_finder import FoundTitle, find_titles
from recloak._service.schema import AdviceRequest, AdviceResponse, Band, Change, Found, Gives, Named, Tier
from recloak._service.state import Advisor
from recloak._service.title_search import Item, TitleSearch

WORDS = {
    "1 to 10": "nearly alone",
    "11 to 100": "one of dozens",
    "101 to 1,000": "one of hundreds",
    LAST_BAND: "one of thousands",
}
_ORDER = {name: place for place, name in enumerate(name for _, name in BANDS)}
_MOST_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True)
class _Meant:
    """A find as the writer means it."""

    find: FoundTitle
    start: int
    end: int
    item: Item | None
    tier: Tier
    counted: bool


def answer(advisor: Advisor, user: Item, asked: AdviceRequest) -> AdviceResponse:
    """Answer one request of one user."""
    earlier = [*advisor.said_by(user), *asked.earlier]
    own = advisor.has_rated(user)
    meant = [] if asked.text is None else list(_meant(advisor, asked, own))
    draft = asked.items or [one.item for one in meant if one.counted and one.item is not None]
    k = min(asked.k, advisor.index.ratings.n_users - 1)
    advice = advise(advisor.index, user, earlier, draft, k=k)
    telling = own - set(earlier)
    return AdviceResponse(
        k=advice.k,
        before=_band(advice.before),
        after=_band(advice.after),
        hidden=advice.hidden,
        finds=[_found(one, advice, telling, advisor) for one in meant],
        drops=[_change(one, advisor.catalogue) for one in advice.drops],
        adds=[_change(one, advisor.catalogue) for one in advice.adds],
        cheapest=None if advice.cheapest is None else _change(advice.cheapest, advisor.catalogue),
        n_unknown=advice.n_unknown,
    )


def _meant(advisor: Advisor, asked: AdviceRequest, own: set[Item]) -> Iterable[_Meant]:
    """Give the finds with the writer's corrections.

    A possible find counts once it is confirmed, or if the writer rated the item: a title that the writer did not rate
    misleads an attacker, and must not be counted for hidden before somebody says that it is one.
    """
    text = asked.text or ""
    chosen = {choice.start: choice.item for choice in asked.choices}
    units = Units(text)
    for find in find_titles(text, advisor.titles):
        start, end = units.of(find.start), units.of(find.end)
        if start in chosen:
            item = chosen[start]
            yield _Meant(find, start, end, item, "sure", counted=item is not None)
        else:
            item = advisor.titles.titles[find.title].id
            sure = find.tier == "sure"
            yield _Meant(find, start, end, item, "sure" if sure else "possible", counted=sure or item in own)


class Units:
    """Places in a text, from characters to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._wide = [] if text.isascii() else [n for n, sign in enumerate(text) if sign > "\uffff"]

    def of(self, place: int) -> int:
        """Give the number of code units before a character."""
        return place + sum(wide < place for wide in self._wide)


def _found(one: _Meant, advice: Advice, telling: set[Item], advisor: Advisor) -> Found:
    titles, catalogue = advisor.titles.titles, advisor.catalogue
    others = [titles[place].id for place in (one.find.title, *one.find.others)]
    return Found(
        start=one.start,
        end=one.end,
        text=one.find.text,
        item=one.item,
        title=None if one.item is None else catalogue.name(one.item),
        tier=one.tier,
        counted=one.counted,
        gives=_gives(one, advice, telling),
        alternatives=[_named(item, catalogue) for item in others if item != one.item][:_MOST_ALTERNATIVES],
    )


def _gives(one: _Meant, advice: Advice, telling: set[Item]) -> Gives:
    """Say how much a mention gives away: by the band without it, and by which one gives most."""
    if not one.counted or one.item not in telling:
        return "nothing"
    if one.item == advice.telling and not advice.hidden:
        return "most"
    without = next((change.band for change in advice.drops if change.drop == (one.item,)), advice.after)
    return "much" if _ORDER[without] > _ORDER[advice.after] else "little"


def _band(name: str) -> Band:
    return Band(band=name, words=WORDS[name])


def _change(change: AdvisedChange, catalogue: TitleSearch) -> Change:
    return Change(
        drop=[_named(item, catalogue) for item in change.drop],
        add=[_named(item, catalogue) for item in change.add],
        band=_band(change.band),
    )


def _named(item: Item, catalogue: TitleSearch) -> Named:
    return Named(item=item, title=catalogue.name(item))
