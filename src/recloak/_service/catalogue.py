"""Titles by item id, and items by words of their titles."""

from collections.abc import Iterable
from dataclasses import dataclass

from recloak._core.errors import InputError
from recloak._mentions.post_files import TitleList
from recloak._mentions.text import fold_all
from recloak._mentions.titles import Title
from recloak._ratings.ids import IdMap

Item = int | str


@dataclass(frozen=True, eq=False, slots=True)
class Catalogue:
    """The titles of items; ids are of the same type (numbers or texts) as in the ratings."""

    titles: tuple[Title, ...]
    by_id: dict[Item, str]
    by_text_id: dict[str, str]  # by the id as text, as addresses and stores write it
    folded: tuple[str, ...]  # by title: its names in plain words, between spaces

    def title(self, item: Item) -> str | None:
        """Return an item's title, or None if it has none."""
        return self.by_id.get(item)

    def search(self, words: str, limit: int) -> list[Item]:
        """Return the items whose titles contain words that start with the given ones, ordered by title.

        They are not ordered by popularity: that would show how ratings change between two published releases.
        """
        wanted = " ".join(fold_all(words))
        if not wanted:
            return []
        hits = (n for n, names in enumerate(self.folded) if f" {wanted}" in names)
        ranked = sorted(hits, key=lambda n: (not self.folded[n].startswith(f" {wanted}"), self.folded[n]))
        return [self.titles[n].id for n in ranked[:limit]]


def build_catalogue(listed: TitleList, item_ids: IdMap | None) -> Catalogue:
    """Return the catalogue of a title list; raise InputError if it shares no item with the ratings."""
    titles = tuple(listed.titles)
    if item_ids is not None:
        titles = tuple(_with_ids_of_type(titles, text=item_ids.is_text))
        known = set(item_ids.ids.to_list())
        if not any(title.id in known for title in titles):
            raise InputError("no item of the title list is among the ratings; are the ids of the same kind?")
    folded = tuple(f" {' | '.join(' '.join(fold_all(name)) for name in title.names)} " for title in titles)
    names = {title.id: str(title) for title in titles}
    return Catalogue(titles, names, {str(id_): name for id_, name in names.items()}, folded)


def _with_ids_of_type(titles: Iterable[Title], *, text: bool) -> Iterable[Title]:
    """Convert ids to texts or to whole numbers; titles whose ids are no whole numbers are dropped."""
    for title in titles:
        plain = str(title.id)
        if text == isinstance(title.id, str):
            yield title
        elif text:
            yield Title(plain, title.names, title.year)
        elif plain.isascii() and plain.isdigit() and str(int(plain)) == plain:
            yield Title(int(plain), title.names, title.year)
