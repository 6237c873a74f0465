"""The labelled posts: read their marks, and count what a finder got right."""

import csv
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "labelled"
DOMAINS = ("films", "books", "music", "games", "shop")
MARK = re.compile(r"\{([^|}]*)\|([?-]?)([^}]*)\}")
_CATALOGUES = {"films": "titles", "films-scripts": "scripts"}


@dataclass(frozen=True)
class Labelled:
    """One post, the titles it names, those that may be found but need not be, and those said not to be held."""

    kind: str
    text: str
    films: frozenset[tuple[str, int]]
    allowed: frozenset[tuple[str, int]]
    unheld: frozenset[tuple[str, int]] = field(default=frozenset())

    @property
    def domain(self):
        """What the post is about: the first word of the file's name, films where it names no domain."""
        return domain_of(self.kind)

    @property
    def catalogue(self):
        """The title list that the post belongs to."""
        return _CATALOGUES.get(self.kind) or _CATALOGUES.get(self.domain, self.domain)

    @property
    def small(self):
        """Whether the post is written without capitals."""
        return not any(sign.isupper() for sign in self.text)

    @property
    def listed(self):
        """Whether the post is mostly a list of titles."""
        return self.kind.endswith("-list")


def domain_of(kind):
    """Return the domain of a kind of post."""
    return kind.split("-")[0] if kind.split("-")[0] in DOMAINS else "films"


def labelled(part, domain=None):
    """Yield the posts of ``tune`` or ``held``, of one domain or of all."""
    for file in sorted((FOLDER / part).glob("*.txt")):
        if domain in (None, domain_of(file.stem)):
            for line in file.read_text(encoding="utf-8").splitlines():
                yield read_line(file.stem, line)


def read_line(kind, line):
    """Return the post of one marked line."""
    found: dict[str, set[tuple[str, int]]] = {"": set(), "?": set(), "-": set()}
    for surface, sign, label in MARK.findall(line):
        found[sign].add(_film(surface, label) if domain_of(kind) == "films" else key(label or surface, 0))
    named, text = frozenset(found[""] | found["-"]), MARK.sub(r"\1", line)
    return Labelled(kind, text, named, frozenset(found["?"]), frozenset(found["-"]))


def _film(surface, label):
    name, _, year = (label if "(" in label else f"{surface} ({label})").rpartition(" ")
    return key(name, int(year.strip("()")))


def key(name, year):
    """Return what two title lists have in common for one title: its folded words and the year."""
    from recloak._mentions.text import fold_all
    from recloak._mentions.titles import article_first

    return " ".join(fold_all(article_first(name))), year


def title_lines(catalogue="titles"):
    """Return (id, title) of a title list in the folder of the posts."""
    with (FOLDER / f"{catalogue}.csv").open(encoding="utf-8", newline="") as file:
        return [(int(row["id"]), row["title"]) for row in csv.DictReader(file)]


def read_titles_of(catalogue):
    """Return the titles of a list in the folder of the posts, with who made them."""
    from recloak._mentions.post_files import read_titles

    return read_titles(FOLDER / f"{catalogue}.csv").titles


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


@cache
def film_keys(title):
    """Return the keys under which a title of a list may be labelled; labels outside films have no year."""
    names = [short for name in title.names for short in (name, re.split(r"[:;]", name)[0])]
    whole = {key(name, year) for name in names for year in _years(title.year)}
    return whole | {key(name, 0) for name in names}


def _years(year):
    return (0,) if year is None else (year - 1, year, year + 1)


def judge(post, found, titles):
    """Return the titles named and found, found wrongly, and missed; a title is counted once per post."""
    right, wrong = set(), []
    for one in found:
        keys = film_keys(titles[one.title])
        hit = next((film for film in post.films if film in keys), None)
        if hit is not None:
            right.add(hit)
        elif not keys & post.allowed:
            wrong.append(one)
    return right, wrong, post.films - right


def measure(part, index, known=None, *, posts=None):
    """Count over posts: finds of tier sure, and of both tiers; titles that the list lacks are left out."""
    from recloak._mentions.title_finder import find_titles

    sure, both, errors = Count(), Count(), []
    for post in labelled(part, "films") if posts is None else posts:
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
