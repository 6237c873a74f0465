"""Titles by item id, and items by words of their titles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recloak._core.errors import InputError
from recloak._mentions.post_files import TitleList
from recloak._mentions.text import fold_all
from recloak._mentions.titles import Title
from recloak._ratings.ids import IdMap

Item = int | str


@dataclass(frozen=True, eq=False, slots=True)
class TitleSearch:
    """The titles of items; ids are of the kind that the ratings use."""

    titles: tuple[Title, ...]
    by_id: dict[Item, str]
    by_letters: dict[str, str]  # by the id in letters, as addresses and stores write it
    folded: tuple[str, ...]  # by title: its names in plain words, between spaces

    def name(self, item: Item) -> str | None:
        """Give an item's title, where it has one."""
        return self.by_id.get(item)

    def search(self, words: str, limit: int) -> list[Item]:
        """Give items whose titles hold words that begin so, in the order of their titles.

        The order says nothing of popularity: that would tell how ratings move between two published releases.
        """
        wanted = " ".join(fold_all(words))
        if not wanted:
            return []
        hits = (n for n, names in enumerate(self.folded) if f" {wanted}" in names)
        ranked = sorted(hits, key=lambda n: (not self.folded[n].startswith(f" {wanted}"), self.folded[n]))
        return [self.titles[n].id for n in ranked[:limit]]


def catalogue_of(listed: TitleList, item_ids: IdMap | None) -> TitleSearch:
    """Make a catalogue; refuse a title list that shares no item with the ratings."""
    titles = tuple(listed.titles)
    if item_ids is not None:
        titles = tuple(_of_kind(titles, text=item_ids.is_text))
        known = set(item_ids.ids.to_list())
        if not any(title.id in known for title in titles):
            raise InputError("no item of the title list is among the ratings; are the ids of the same kind?")
    folded = tuple(f" {' | '.join(' '.join(fold_all(name)) for name in title.names)} " for title in titles)
    names = {title.id: str(title) for title in titles}
    return TitleSearch(titles, names, {str(id_): name for id_, name in names.items()}, folded)


def _of_kind(titles: Iterable[Title], *, text: bool) -> Iterable[Title]:
    """Write ids as the ratings do: as texts or as whole numbers."""
    for title in titles:
        if text != isinstance(title.id, str):
            plain = str(title.id)
            if text:
                yield Title(plain, title.names, title.year)
            elif plain.isascii() and plain.isdigit() and str(int(plain)) == plain:
                yield Title(int(plain), title.names, title.year)
        else:
            yield title
