"""Series of titles, so that a writer can say "one of the Alien films" instead of which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from recloak._mentions.titles import Title

Item = int | str

_NUMBER = r"(?:\d{1,2}|ii|iii|iv|vi{0,3}|ix|x)"
_AFTER = re.compile(
    rf"(?::\s|\s-\s|,\s|\s+(?:part|episode|chapter|volume|vol\.?|book)\s).*$|\s+{_NUMBER}$", re.IGNORECASE
)
_LEAST_LETTERS = 4  # a shorter beginning is no name of a series
_MOST_MEMBERS = 40  # a beginning of more titles is a common word


def series_of(titles: Iterable[Title]) -> dict[Item, str]:
    """Return the name of the series of each title that has one: the beginning that it shares with another title.

    Examples
    --------
    >>> series_of([Title(1, ("Alien",), 1979), Title(2, ("Alien 3",), 1992), Title(3, ("Fargo",), 1996)])
    {1: 'Alien', 2: 'Alien'}
    """
    members: dict[str, list[tuple[Item, str]]] = {}
    for title in titles:
        name = beginning(title.names[0])
        if len(name) >= _LEAST_LETTERS:
            members.setdefault(name.casefold(), []).append((title.id, name))
    shared = [group for group in members.values() if 2 <= len(group) <= _MOST_MEMBERS]
    return {item: group[0][1] for group in shared for item, _ in group}


def beginning(name: str) -> str:
    """Return a title without its number or subtitle."""
    return _AFTER.sub("", name).strip()


def members_by_name(series: Mapping[Item, str], numbers: Mapping[Item, int]) -> dict[str, list[int]]:
    """Return the numbers of the items of each series of which at least two are rated."""
    found: dict[str, list[int]] = {}
    for item, name in series.items():
        if item in numbers:
            found.setdefault(name, []).append(numbers[item])
    return {name: sorted(group) for name, group in found.items() if len(group) > 1}
