"""Published related lists, ready to be given out; nothing that is not in the history can get here.

The latest release is read whole, in one go, and swapped in at once, so that every answer comes from one complete
release.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from recloak._core.errors import InputError
from recloak._related.history import History, ReleaseRecord, lists_of, newest, releases, table_of
from recloak._service.schema import HistoryAnswer, Moved, PastRelease, Related, RelatedAnswer
from recloak._service.title_search import Item, TitleSearch

_MOST_KEPT = 2_000
Entries = list[tuple[int, Item]]  # (position from 1, related item)


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as bytes, with its strong entity tag."""

    body: bytes
    etag: str

    @classmethod
    def of(cls, value: BaseModel) -> Rendered:
        """Render a value."""
        body = value.model_dump_json().encode()
        return cls(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


@dataclass(frozen=True, eq=False, slots=True)
class _Held:
    """One complete release, and what has been rendered of it."""

    release: ReleaseRecord
    lists: dict[str, tuple[Item, Entries]]  # by the item's id in letters
    rendered: dict[str, Rendered] = field(default_factory=dict)
    past: OrderedDict[tuple[str, int], Rendered] = field(default_factory=OrderedDict)


class PublishedLists:
    """The latest published release and the way to earlier ones."""

    def __init__(self, where: str | Path, catalogue: TitleSearch | None) -> None:
        self._catalogue = catalogue
        self._history = History(where, create=False)
        self._held: _Held | None = None
        self.is_fresh = False  # whether the last look into the history went well
        self.refresh()
        self._require_titles()

    @property
    def release(self) -> int | None:
        """The number of the release that is given out."""
        held = self._held
        return None if held is None else held.release.number

    def refresh(self) -> bool:
        """Look for a newer release and swap it in whole; say whether there was one."""
        try:
            found = self._look()
        except BaseException:
            self.is_fresh = False
            raise
        self.is_fresh = True
        return found

    def _look(self) -> bool:
        latest = newest(self._history)
        found = latest is not None and latest.number != self.release
        if latest is not None and found:
            self._held = _Held(latest, _lists(self._history, latest.number))
        return found

    def related(self, item: str) -> Rendered | None:
        """Give an item's list of the latest release; None: it has none."""
        held = self._held
        if held is None or item not in held.lists:
            return None
        found = held.rendered.get(item)
        if found is None:
            found = held.rendered[item] = Rendered.of(self._answer(held, *held.lists[item]))
        return found

    def history(self, item: str, last: int) -> Rendered | None:
        """Give an item's lists through the last releases; None: it is in none of them."""
        held = self._held
        if held is None or "\0" in item:  # PostgreSQL has no such letter
            return None
        found = held.past.get((item, last))
        if found is None:
            told = self._past(held, item, last)
            if told is None:
                return None
            found = held.past[(item, last)] = Rendered.of(told)
            if len(held.past) > _MOST_KEPT:
                held.past.popitem(last=False)
        return found

    def close(self) -> None:
        """Close the history."""
        self._history.close()

    def _require_titles(self) -> None:
        """Refuse a history that shares no item with the titles: ids of another kind, or another catalogue."""
        if self._held is None or self._catalogue is None or not self._held.lists:
            return
        if not self._held.lists.keys() & self._catalogue.by_letters.keys():
            self.close()
            raise InputError("no item of the history is in the title list; are the ids of the same kind?")

    def _answer(self, held: _Held, item: Item, entries: Entries) -> RelatedAnswer:
        about = held.release
        related = self._related(entries)
        return RelatedAnswer(item=item, title=self._title(item), release=about.number, time=about.time, related=related)

    def _past(self, held: _Held, item: str, last: int) -> HistoryAnswer | None:
        shown = [one for one in releases(self._history) if one.number <= held.release.number][-last:]
        found = lists_of(self._history, item, [one.number for one in shown])
        if not found:
            return None
        lists = [[(place, self._id(name)) for place, name in found.get(one.number, [])] for one in shown]
        told = [
            PastRelease(
                release=one.number,
                time=one.time,
                related=self._related(entries),
                changes=[] if n == 0 else self._moves(lists[n - 1], entries),
            )
            for n, (one, entries) in enumerate(zip(shown, lists, strict=True))
        ]
        id_ = self._id(item)
        return HistoryAnswer(item=id_, title=self._title(id_), releases=told[::-1])

    def _related(self, entries: Entries) -> list[Related]:
        return [Related(position=place, item=item, title=self._title(item)) for place, item in entries]

    def _moves(self, before: Entries, now: Entries) -> list[Moved]:
        """Give what moved between two lists: those that are there now in order, then those that went."""
        old, new = ({item: place for place, item in entries} for entries in (before, now))
        changed = [item for item in (*new, *old) if old.get(item) != new.get(item)]
        return [self._moved(item, old.get(item), new.get(item)) for item in dict.fromkeys(changed)]

    def _moved(self, item: Item, before: int | None, now: int | None) -> Moved:
        change: Any = (
            "appeared" if before is None else "vanished" if now is None else "rose" if now < before else "sank"
        )
        return Moved(item=item, title=self._title(item), change=change, before=before, now=now)

    def _id(self, name: str) -> Item:
        return int(name) if self._history.is_text is False else name

    def _title(self, item: Item) -> str | None:
        return None if self._catalogue is None else self._catalogue.by_letters.get(str(item))


def _lists(history: History, number: int) -> dict[str, tuple[Item, Entries]]:
    found: dict[str, tuple[Item, Entries]] = {}
    for _, item, position, related in table_of(history, number).iter_rows():
        found.setdefault(str(item), (item, []))[1].append((position, related))
    return found
