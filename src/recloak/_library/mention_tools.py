"""The functions of `recloak.mentions`: find, identify, defend, prepare_advisor, advise."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError, OptionError
from recloak._core.options import whole_number
from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.results import counted, plural
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import several, share
from recloak._library.pages import drawn_by
from recloak._library.sources import as_ratings, origin_of
from recloak._mentions import advisor as advisors
from recloak._mentions import advisor_index, defences, identification
from recloak._mentions.advisor import Advice
from recloak._mentions.advisor_index import AdvisorIndex, Item
from recloak._mentions.defences import Defences
from recloak._mentions.draft_question import Said
from recloak._mentions.found_mentions import FoundMentions, find_mentions, popularity_of, read_aliases, read_popularity
from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.model import Identification, Mentions
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import read_posts, read_titles
from recloak._report.defences_page import defences_page
from recloak._report.identify_page import identify_page
from recloak._report.page import Page
from recloak._report.provenance import hashes_by_name, versions

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike, Table
    from recloak._ratings.model import Ratings

    TableLike = Table | FoundMentions | str | os.PathLike[str]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Advisor:
    """Ratings prepared for advice; threads may share it."""

    _index: AdvisorIndex

    def __repr__(self) -> str:
        ratings, kind = self._index.ratings, "exact" if self._index.guard is None else "guarded"
        return counted(self, plural(ratings.n_users, "user"), plural(ratings.n_items, "item"), kind)


@suggests_keywords
def find(
    posts: TableLike | Sequence[str],
    titles: TableLike,
    *,
    popularity: TableLike | Mapping[Item, float] | None = None,
    ratings: RatingsLike | None = None,
    domain: str | None = None,
    aliases: TableLike | Mapping[str, Item] | None = None,
    text: str | None = None,
    user: str | None = None,
    title: str | None = None,
) -> FoundMentions:
    """Find the titles that posts name.

    Parameters
    ----------
    posts
        A file (CSV, TSV, JSONL, Parquet, or plain text with a post per line), a table, or a list of texts.
    titles
        A title list with ids: a file (``movies.csv``, ``movies.dat``, ``.item`` or any table) or a table.
    popularity
        Numbers by item, as a table, a file or a mapping: of two films of one name the more popular is chosen.
    ratings
        Ratings to count the popularity from instead.
    domain
        What the titles are: ``films``, ``books``, ``music``, ``games`` or ``shop``; guessed where it is not given.
    aliases
        Other names of items, as a table or file with columns ``alias`` and ``item``, or a mapping.
    text, user, title
        Columns of the text and of the user of a post, and of the title in the list, where they are not recognised.

    Returns
    -------
    FoundMentions
        A row per find: ``post``, ``user``, ``item``, ``title``, ``start``, ``end``, ``text``, ``confidence``, ``tier``
        (``sure``, or ``possible``: a person should confirm it), ``reason``, ``held`` (false where the writer says that
        they have not seen or read it), ``opinion`` (from -1 to 1 where the post tells it), and ``time`` where the post
        has one.

    Raises
    ------
    InputError
        If a file or table cannot be read, or both ``popularity`` and ``ratings`` are given.

    Examples
    --------
    >>> import recloak.mentions
    >>> found = recloak.mentions.find(["I loved The Matrix (1999)"], "movies.csv")
    >>> found
    <FoundMentions: 1 post, 1 sure, 0 possible>
    >>> found.to_polars()["item"].to_list()
    [1]
    """
    if popularity is not None and ratings is not None:
        raise OptionError("give popularity=... or ratings=..., not both")
    post_table, title_list = read_posts(posts, text=text, user=user), read_titles(titles, title=title)
    by_item = None if popularity is None else read_popularity(popularity)
    if ratings is not None:
        by_item = popularity_of(as_ratings(ratings))
    named = () if aliases is None else read_aliases(aliases)
    return find_mentions(post_table, title_list, popularity=by_item, domain=domain, aliases=named)


@suggests_keywords
def identify(
    source: RatingsLike,
    mentions: TableLike,
    *,
    floor: float = 0.05,
    heavy: float = 1 / 3,
    flat: bool = False,
    fuzz: float = 1.0,
    unsaid: str = "any",
    ignore: float = 0.01,
    possible: bool = False,
    absent: float = 0.0,
    threshold: float = 0.5,
    seed: int | None = None,
    rng: Rng = None,
) -> Identification:
    """Re-identify in ratings the people whose mentions are known, with every algorithm.

    Parameters
    ----------
    source
        Ratings: a path, several paths, a table, a sparse matrix or `Ratings`.
    mentions
        Who mentioned which item, as a file, a table, or what `find` found; users carry their ids in the ratings.
    floor
        Sub-score of a mention that the candidate has not rated.
    heavy
        Scoring leaves out candidates who rated more than this share of all items.
    flat
        Scoring gives every rated mention 1, whatever its popularity.
    fuzz
        How far apart two ratings may be for FuzzyRating.
    unsaid
        Whether a mention whose rating is not known counts for ``any`` of its raters, or for ``none``.
    ignore
        Share of the items, most rated first, that the adaptive attacker ignores.
    possible
        Also count finds of tier ``possible``.
    absent
        Share of the targets removed from the data, to see whether the attacker notices.
    threshold
        Probability from which the attacker names somebody.
    seed, rng
        A seed or a numpy generator that draws who is absent; seed 0 if neither is given.

    Returns
    -------
    Identification
        The share of people identified by algorithm and k, with 95 % intervals.

    Raises
    ------
    InputError
        If a source cannot be read, nobody mentions anything, or an option breaks its rule.

    Examples
    --------
    >>> import recloak.mentions
    >>> recloak.mentions.identify("ratings.csv", "mentions.csv")
    <Identification: 8 targets, 40 users>
    """
    options = IdentifyOptions(floor=floor, heavy=heavy, flat=flat, fuzz=fuzz, unsaid=unsaid, ignore=ignore)
    absent, threshold = share("absent", absent), share("threshold", threshold)
    generator = seed_or_rng(0 if seed is None and rng is None else seed, rng)
    ratings = as_ratings(source)
    targets = _targets(mentions, ratings, sure_only=not possible)
    result = identification.identify(ratings, targets, options, absent=absent, threshold=threshold, rng=generator)
    return replace(result, draw=_drawn_by(identify_page, source, mentions))


@suggests_keywords
def defend(
    source: RatingsLike,
    mentions: TableLike,
    *,
    floor: float = 0.05,
    heavy: float = 1 / 3,
    flat: bool = False,
    fuzz: float = 1.0,
    unsaid: str = "any",
    ignore: float = 0.01,
    possible: bool = False,
) -> Defences:
    """Try the defences of people who mention items: leaving out data or mentions, and misdirection.

    Parameters
    ----------
    source
        Ratings: a path, several paths, a table, a sparse matrix or `Ratings`.
    mentions
        Who mentioned which item, as a file, a table, or what `find` found.
    floor, heavy, flat, fuzz, unsaid, ignore
        How the attacker scores; see `identify`.
    possible
        Also count finds of tier ``possible``.

    Returns
    -------
    Defences
        Every defence at every strength, against the plain and the adaptive attacker.

    Raises
    ------
    InputError
        If a source cannot be read, or an option breaks its rule.

    Examples
    --------
    >>> import recloak.mentions
    >>> recloak.mentions.defend("ratings.csv", "mentions.csv")
    <Defences: 8 targets, 9 defences>
    """
    options = IdentifyOptions(floor=floor, heavy=heavy, flat=flat, fuzz=fuzz, unsaid=unsaid, ignore=ignore)
    ratings = as_ratings(source)
    result = defences.defend(ratings, _targets(mentions, ratings, sure_only=not possible), options)
    return replace(result, draw=_drawn_by(defences_page, source, mentions))


def _targets(given: TableLike, ratings: Ratings, *, sure_only: bool) -> Mentions:
    """Read mentions; raise where they cannot be of these ratings, for a rate of 0 would read as safe."""
    targets = read_mentions(given, ratings, sure_only=sure_only)
    if targets.n_targets and not targets.present.any():
        raise InputError(
            f"nothing can be measured: 0 of the {targets.n_targets} people who mention something are in the ratings"
        )
    if targets.n_targets and not targets.n_mentions:
        raise InputError(
            f"nothing can be measured: 0 of the {int(targets.outside.sum())} items mentioned are in the ratings"
        )
    return targets


def _drawn_by(make: Callable[..., Page], source: object, mentions: object) -> Callable[[Any, bool], str]:
    """Return the function that draws a result; the files are hashed when a page is drawn."""
    origin = origin_of(source)
    return partial(_draw, make, origin.name, (*origin.paths, *origin_of(mentions).paths))


def _draw(make: Callable[..., Page], name: str, files: tuple[str, ...], result: Any, head: bool) -> str:
    provenance = (*hashes_by_name(files), ("Versions", versions()))
    return drawn_by(make, source=name, provenance=provenance)(result, head)


@suggests_keywords
def prepare_advisor(
    source: RatingsLike,
    *,
    secret: bytes | None = None,
    exact: bool = False,
    mentions: TableLike | None = None,
    floor: float = 0.05,
    heavy: float = 1 / 3,
    flat: bool = False,
) -> Advisor:
    """Prepare ratings once, so that `advise` answers in milliseconds.

    Parameters
    ----------
    source
        Ratings: a path, several paths, a table, a sparse matrix or `Ratings`.
    secret
        At least 16 bytes, always the same for the same people: it decides whose ratings are used. None: a new one.
    exact
        Use all ratings and answer exactly; for those who may see all ratings, never for their users.
    mentions
        Who mentioned which item, with times and opinions where known, as for `identify`: the attackers learn from them
        how posts follow ratings. None: they take it to be as in other forums.
    floor, heavy, flat
        How the attacker scores; see `identify`.

    Returns
    -------
    Advisor
        For `advise`; threads may share it.

    Raises
    ------
    InputError
        If the source cannot be read, the secret is too short, or both ``secret`` and ``exact`` are given.

    Examples
    --------
    >>> import recloak.mentions
    >>> recloak.mentions.prepare_advisor("ratings.csv", secret=b"kept by the operator")
    <Advisor: 40 users, 6 items, guarded>
    """
    options = IdentifyOptions(floor=floor, heavy=heavy, flat=flat)
    if exact and secret is not None:
        raise OptionError("exact=True looks at everybody and has no use for secret=...")
    guard = OracleGuard() if secret is None else OracleGuard(secret)
    ratings = as_ratings(source)
    taught = None if mentions is None else read_mentions(mentions, ratings)
    if exact:
        return Advisor(advisor_index.prepare_exact_advisor(ratings, options, mentions=taught))
    return Advisor(advisor_index.prepare_advisor(ratings, options, guard=guard, mentions=taught))


@suggests_keywords
def advise(
    advisor: Advisor | RatingsLike,
    user: Item,
    earlier: Iterable[Item | Said],
    draft: Iterable[Item | Said],
    *,
    k: int = 10,
    time: int | None = None,
    secret: bytes | None = None,
) -> Advice:
    """Advise one user before posting: how easily the draft identifies them, and the cheapest change that hides them.

    Parameters
    ----------
    advisor
        What `prepare_advisor` returned; or ratings, with ``secret``, for a single question.
    user
        The id of the user who asks.
    earlier
        Ids of the items that the user mentioned before, or `Said` with the opinion and the time of each.
    draft
        Ids of the items that the draft mentions, or `Said`.
    k
        The user wants to stay beyond the first k of every attacker's list.
    time
        When the draft is posted, in seconds since 1970; None: what times give away is not looked at.
    secret
        As in `prepare_advisor`; needed with ratings, because a new one at every question would reveal more people.

    Returns
    -------
    Advice
        Places as bands, and what to leave out or add; nothing about other users.

    Raises
    ------
    InputError
        If the user is not in the ratings, k is out of range, or the secret is missing.

    Examples
    --------
    >>> import recloak.mentions
    >>> advisor = recloak.mentions.prepare_advisor("ratings.csv", exact=True)
    >>> recloak.mentions.advise(advisor, 1, [0], [1, 2], k=5).n_unknown
    0
    """
    if not isinstance(advisor, Advisor):
        if secret is None:
            raise OptionError("advice on ratings needs secret=..., always the same for the same people")
        advisor = prepare_advisor(advisor, secret=secret)
    elif secret is not None:
        raise OptionError("a prepared advisor has its secret; leave secret=... out")
    is_text = advisor._index.ratings.item_ids.is_text
    mentioned = [_item_ids(name, given, is_text) for name, given in (("earlier", earlier), ("draft", draft))]
    when = None if time is None else whole_number("time", time)
    return advisors.advise(advisor._index, user, *mentioned, k=whole_number("k", k), time=when)


def _item_ids(name: str, given: Iterable[Item | Said], is_text: bool) -> list[Said]:
    """Return mentions with ids of the kind that the ratings have; another would count as an item nobody rated."""
    kind = "texts" if is_text else "whole numbers"
    said = [one if isinstance(one, Said) else Said(one) for one in several(name, given, "[1, 2]")]
    ids = [one.item if isinstance(one.item, str) else whole_number(name, one.item) for one in said]
    for one in ids:
        if isinstance(one, str) != is_text:
            raise OptionError(f"{name} must be item ids of the ratings, which are {kind}, got {one!r}")
    return [replace(one, item=id_) for one, id_ in zip(said, ids, strict=True)]
