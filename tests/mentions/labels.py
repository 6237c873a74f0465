"""The labelled posts: read their marks, and count what a finder got right."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "labelled"
_MARK = re.compile(r"\{([^|}]*)\|(\??)([^}]*)\}")


@dataclass(frozen=True)
class Labelled:
    """One post, the films it names, and those that may be found but need not be."""

    kind: str
    text: str
    films: frozenset[tuple[str, int]]
    allowed: frozenset[tuple[str, int]]


def labelled(part):
    """Yield the posts of ``tune`` or ``held``."""
    for file in sorted((FOLDER / part).glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield _read(file.stem, line)


def _read(kind, line):
    films: set[tuple[str, int]] = set()
    allowed: set[tuple[str, int]] = set()
    for surface, optional, label in _MARK.findall(line):
        name, _, year = (label if "(" in label else f"{surface} ({label})").rpartition(" ")
        (allowed if optional else films).add(key(name, int(year.strip("()"))))
    return Labelled(kind, _MARK.sub(r"\1", line), frozenset(films), frozenset(allowed))


def key(name, year):
    """Return what two title lists have in common for one film: its folded words and the year."""
    from recloak._mentions.text import fold_all
    from recloak._mentions.titles import article_first

    return " ".join(fold_all(article_first(name))), year


def title_lines():
    """Return (id, title) of the title list in the folder of the posts."""
    with (FOLDER / "titles.csv").open(encoding="utf-8", newline="") as file:
        return [(int(row["id"]), row["title"]) for row in csv.DictReader(file)]


@dataclass
class Count:
    """Right, wrong and missed finds."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self):
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self):
        return self.right / max(self.right + self.missed, 1)

    def __str__(self):
        counted = f"{self.right} right, {self.wrong} wrong, {self.missed} missed"
        return f"precision {self.precision:.3f} recall {self.recall:.3f} ({counted})"


def film_keys(title):
    """Return the keys under which a film of a list may be labelled."""
    return {key(name, year) for name in title.names for year in _years(title.year)}


def _years(year):
    return (0,) if year is None else (year - 1, year, year + 1)


def judge(post, found, titles):
    """Return the films named and found, found wrongly, and missed; a film is counted once per post."""
    right, wrong = set(), []
    for one in found:
        keys = film_keys(titles[one.title])
        hit = next((film for film in post.films if film in keys), None)
        if hit is not None:
            right.add(hit)
        elif not keys & post.allowed:
            wrong.append(one)
    return right, wrong, post.films - right


def measure(part, index, known=None):
    """Count over a part: finds of tier sure, and of both tiers; films that the title list lacks are left out."""
    from recloak._mentions.title_finder import find_titles

    sure, both, errors = Count(), Count(), []
    for post in labelled(part):
        if known is not None and not (post.films <= known):
            continue
        found = find_titles(post.text, index)
        for count, finds in ((sure, [one for one in found if one.tier == "sure"]), (both, found)):
            right, wrong, missed = judge(post, finds, index.titles)
            count.right += len(right)
            count.wrong += len({one.title for one in wrong})
            count.missed += len(missed)
            if count is both and (wrong or missed):
                errors.append((post, wrong, missed, found))
            elif count is sure and wrong:
                errors.append((post, wrong, set(), found))
    return sure, both, errors
