"""The published related lists, as rendered answers; nothing but the history is read.

The latest release is read completely and then replaces the one before in a single step, so that every answer comes from
one complete release.
"""

from __future__ import annotations

import hashlib
import time as clock
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from recloak._core.errors import InputError
from recloak._related.history import History, ReleaseRecord, limit_wait, lists_of, newest, table_of, without_gaps
from recloak._related.operator_view import view_of
from recloak._report.page import render
from recloak._report.related_page import related_page
from recloak._service.catalogue import Catalogue, Item
from recloak._service.schema import HistoryAnswer, Moved, PastRelease, Related, RelatedAnswer

_MAX_CACHED = 2_000
_WAIT = 0.5  # seconds; loading at the start is more patient
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
class _Loaded:
    """One complete release, and the answers that have been rendered from it."""

    release: ReleaseRecord
    lists: dict[str, tuple[Item, Entries]]  # by the item's id as text
    rendered: dict[str, Rendered] = field(default_factory=dict)
    past: OrderedDict[tuple[str, int], Rendered] = field(default_factory=OrderedDict)


class PublishedLists:
    """The latest published release, and access to earlier ones."""

    def __init__(self, where: str | Path, catalogue: Catalogue | None) -> None:
        self._catalogue = catalogue
        self._history = History(where, create=False)
        self._loaded: _Loaded | None = None
        self.is_fresh = False  # whether the history could be read when it was last looked at
        self.refresh()
        self._require_titles()
        limit_wait(self._history, _WAIT)

    @property
    def release(self) -> int | None:
        """The number of the release that is served."""
        loaded = self._loaded
        return None if loaded is None else loaded.release.number

    def refresh(self) -> bool:
        """Load the latest release if it is a new one; return whether it is."""
        try:
            latest = newest(self._history)
            is_new = latest is not None and latest.number != self.release
            if latest is not None and is_new:
                self._loaded = _Loaded(latest, _lists(self._history, latest.number))
        except BaseException:
            self.is_fresh = False
            raise
        self.is_fresh = True
        return is_new

    def related(self, item: str) -> Rendered | None:
        """Return an item's list in the latest release, or None if it has none."""
        loaded = self._loaded
        if loaded is None or item not in loaded.lists:
            return None
        found = loaded.rendered.get(item)
        if found is None:
            found = loaded.rendered[item] = Rendered.of(self._answer(loaded, *loaded.lists[item]))
        return found

    def history(self, item: str, last: int) -> Rendered | None:
        """Return an item's lists in the last releases, or None if it is in none of them."""
        loaded = self._loaded
        if loaded is None or "\0" in item:  # PostgreSQL cannot store this character
            return None
        found = loaded.past.get((item, last))
        if found is None:
            answer = self._past(loaded, item, last)
            if answer is None:
                return None
            found = loaded.past[(item, last)] = Rendered.of(answer)
            if len(loaded.past) > _MAX_CACHED:
                loaded.past.popitem(last=False)
        return found

    def operator_page(self) -> str:
        """Return the operator's page, which says more than was published."""
        titles = None if self._catalogue is None else self._catalogue.by_text_id
        return render(related_page(view_of(self._history, now=int(clock.time())), titles=titles))

    def close(self) -> None:
        """Close the history."""
        self._history.close()

    def _require_titles(self) -> None:
        """Raise InputError if the history shares no item with the titles: other ids, or another catalogue."""
        if self._loaded is None or self._catalogue is None or not self._loaded.lists:
            return
        if not self._loaded.lists.keys() & self._catalogue.by_text_id.keys():
            self.close()
            raise InputError("no item of the history is in the title list; are the ids of the same kind?")

    def _answer(self, loaded: _Loaded, item: Item, entries: Entries) -> RelatedAnswer:
        about = loaded.release
        related = self._related(entries)
        return RelatedAnswer(item=item, title=self._title(item), release=about.number, time=about.time, related=related)

    def _past(self, loaded: _Loaded, item: str, last: int) -> HistoryAnswer | None:
        if not self.is_fresh:  # each request would wait in vain
            raise InputError("the history could not be read when it was last looked at")
        shown = [one for one in self._history.releases if one.number <= loaded.release.number][-last:]
        found = lists_of(self._history, item, [one.number for one in shown])
        if not found:
            return None
        lists = [[(place, self._id(name)) for place, name in found.get(one.number, [])] for one in shown]
        past = [
            PastRelease(
                release=one.number,
                time=one.time,
                related=self._related(entries),
                changes=[] if n == 0 else self._moves(lists[n - 1], entries),
            )
            for n, (one, entries) in enumerate(zip(shown, lists, strict=True))
        ]
        id_ = self._id(item)
        return HistoryAnswer(item=id_, title=self._title(id_), releases=past[::-1])

    def _related(self, entries: Entries) -> list[Related]:
        return [Related(position=place, item=item, title=self._title(item)) for place, item in entries]

    def _moves(self, before: Entries, now: Entries) -> list[Moved]:
        """Return what moved between two lists: the present items in order, then those that are gone."""
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
        return None if self._catalogue is None else self._catalogue.by_text_id.get(str(item))


def _lists(history: History, number: int) -> dict[str, tuple[Item, Entries]]:
    found: dict[str, tuple[Item, Entries]] = {}
    for _, item, position, related in without_gaps(table_of(history, number)).iter_rows():
        found.setdefault(str(item), (item, []))[1].append((position, related))
    return found
