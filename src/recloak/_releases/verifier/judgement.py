"""The verdict on a release, whoever looked at its parts: one machine or the tasks of a cluster."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from recloak._core.errors import InputError, OptionError
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.model.statistics import STATISTICS
from recloak._releases.verifier.claims import Claims, read_claims, telling_problems
from recloak._releases.verifier.diversity_check import Starved
from recloak._releases.verifier.drawn_check import DrawnFindings
from recloak._releases.verifier.link_check import Exceeded
from recloak._releases.verifier.part_findings import CHANGED, READ, UNREADABLE, PartSummary
from recloak._releases.verifier.statistics_parts import statistics_problems

_OTHER_SOURCE = "the source is not this release's"


class Totals(NamedTuple):
    """What all parts hold together; a user or group without cells counts as a row that is empty."""

    k: int  # the smallest number of users with the same items and labels
    n_users: int
    n_items: int
    n_ratings: int
    n_distinct: int  # rows that differ from each other
    fewest: int  # cells of a row
    most: int
    bare: int | None  # the first user or group without cells
    empty: int | None  # the first group without members


class ReleaseInspection(Protocol):
    """A look at all parts of a release; what only the owner's ratings can tell is asked for when it is needed."""

    @property
    def summaries(self) -> Sequence[PartSummary]:
        """The parts, in the order of the manifest."""

    def totals(self) -> Totals:
        """Add the parts up; asked for only if each part by itself is right."""

    def unknown_items(self, original: Any) -> int:
        """Count the items of the release that the original does not have."""

    def named_once(self, original: Any, mapping: Any) -> bool:
        """Return whether the mapping names every user of the original, and every published one, once."""

    def starved(self, original: Any, diversity: Diversity) -> Starved:
        """Count the users whose items stand together in too few rows."""

    def drawn_against(self, original: Any, mapping: Any) -> DrawnFindings | None:
        """Compare drawn rows with people; None where the mapping is not one of these users and groups."""

    def exceeded(self, original: Any, mapping: Any) -> Exceeded | None:
        """Count the cells above the cap on links; None where the mapping is not one of these users."""


def check_release(
    folder: str | Path,
    inspect: Callable[[Claims], ReleaseInspection],
    *,
    k: int | None,
    original: Any,
    diversity: Diversity | str | None,
    mapping: Any,
    content: bool = False,
) -> Verdict:
    """Judge a released folder by an inspection of its parts."""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: is not a folder")
    if k is not None and k < 2:
        raise OptionError(f"k must be at least 2, got {k}")
    if diversity is not None and original is None:
        raise OptionError("diversity can only be checked against the original ratings; give original=... as well")
    claims, problems = read_claims(Path(folder).resolve(), content=content)
    if claims is None:
        return Verdict(k, None, None, None, tuple(problems), content=content)
    required = max(k or 2, claims.k)
    inspection = None if problems else inspect(claims)
    problems = problems if inspection is None else _part_problems(claims, inspection.summaries)
    if inspection is None or problems:
        return Verdict(required, None, None, None, tuple(problems), content=content)
    verdict = _judge(claims, required, inspection.totals())
    if original is None:
        return verdict
    more = tuple(_owner_problems(claims, inspection, original, _wanted(claims, diversity), mapping))
    verdict = replace(verdict, problems=(*verdict.problems, *more))
    return verdict if more or not claims.is_drawn else _judge_drawn(verdict, inspection, original, mapping)


def _judge_drawn(verdict: Verdict, inspection: ReleaseInspection, original: Any, mapping: Any) -> Verdict:
    """Add what the owner can tell of drawn rows: whether they are nearer to people than chance allows."""
    if mapping is None:
        told = "how near drawn rows are to people takes who is who; give private=... as well"
        return replace(verdict, measured=(told,))
    found = inspection.drawn_against(original, mapping)
    if found is None:
        return replace(verdict, problems=(*verdict.problems, f"{_OTHER_SOURCE}: the mapping has other groups"))
    return replace(verdict, problems=(*verdict.problems, *found.problems()), measured=tuple(found.measured()))


def _part_problems(claims: Claims, summaries: Sequence[PartSummary]) -> list[str]:
    """Say what is wrong with the parts; of changed files nothing else is said, nor of those that cannot be read."""
    for state in (CHANGED, UNREADABLE):
        if refused := [problem for part in summaries if part.state == state for problem in part.problems]:
            return list(dict.fromkeys(refused))
    assert len(summaries) == len(claims.parts)
    assert all(part.state == READ for part in summaries)
    problems = [problem for part in summaries for problem in part.problems]
    for table, group in itertools.groupby(summaries, key=lambda part: part.table):
        problems += _sequence_problems(claims, table, list(group))
    return list(dict.fromkeys(problems))


def _sequence_problems(claims: Claims, table: str, parts: list[PartSummary]) -> Iterator[str]:
    """Say where the parts of a table do not follow each other; no row lies in two of them."""
    neighbours = list(itertools.pairwise(parts))
    if table == "members":
        whole = parts[0].first == 1 and parts[-1].last == claims.n_users
        if not whole or any(later.first != earlier.last + 1 for earlier, later in neighbours):
            yield f"members must name the users 1 to {claims.n_users} in order, each once"
    elif table == "groups" and (parts[0].first, parts[-1].last) != (1, claims.n_groups):
        yield f"groups must be 1 to {claims.n_groups} in order, each once"
    elif table in STATISTICS:
        if len(parts) > 1:
            yield f"{table} must lie in one file"
        return
    elif any(later.first <= earlier.last for earlier, later in neighbours):
        yield f"the parts of {table} do not follow each other"
    if not claims.content and not _evenly_cut(parts, _n_rows(claims, table)):
        yield f"the parts of {table} do not hold equally many rows"
    if len({part.kind for part in parts}) > 1:
        yield f"the items of {table} are of several types"


def _n_rows(claims: Claims, table: str) -> int:
    """Return how many users, groups or items the parts of a table name."""
    return {"members": claims.n_users, "items": claims.n_items}.get(table, claims.n_names)


def _evenly_cut(parts: list[PartSummary], n_names: int) -> bool:
    """Return whether the borders of parts follow from their number, so that they tell nothing about anybody."""
    bounds = [place * n_names // len(parts) for place in range(len(parts) + 1)]
    return all(part.first > first for part, first in zip(parts, bounds, strict=False)) and all(
        part.last <= last for part, last in zip(parts, bounds[1:], strict=True)
    )


def _judge(claims: Claims, required: int, totals: Totals) -> Verdict:
    """Judge what anybody can see."""
    problems = list(_count_problems(claims, totals)) + list(statistics_problems(claims))
    if not problems and not claims.content:
        counts = {name: getattr(totals, name) for name in ("n_users", "n_items", "n_ratings")}
        problems += telling_problems(claims, **counts, n_groups=_n_groups(claims, totals))
    if totals.k < required:
        few = "a group has" if claims.is_drawn else "a row is shared by"
        problems.append(f"k must be at least {required}, but {few} only {totals.k} users")
    return Verdict(
        required, totals.k, totals.n_users, _n_groups(claims, totals), tuple(problems), content=claims.content,
        drawn=claims.is_drawn,
    )  # fmt: skip


def _n_groups(claims: Claims, totals: Totals) -> int:
    return totals.n_distinct if claims.layout == "long" else claims.n_groups


def _count_problems(claims: Claims, totals: Totals) -> Iterator[str]:
    if totals.bare is not None:
        yield f"{claims.row_name} {totals.bare} has no ratings"
    if totals.empty is not None:
        yield f"group {totals.empty} has no members"
    if totals.n_items != claims.n_items:
        yield f"there are {totals.n_items} items, the manifest says {claims.n_items}"
    if totals.n_ratings != claims.n_ratings:
        yield f"there are {totals.n_ratings} ratings, the manifest says {claims.n_ratings}"
    if MODES[claims.mode].is_complete and (totals.fewest, totals.most) != (claims.n_items, claims.n_items):
        yield f"in a {claims.mode} release every row must have every item"
    if _n_groups(claims, totals) > claims.n_groups or (
        not claims.content and _n_groups(claims, totals) != claims.n_groups
    ):
        yield f"there are {totals.n_distinct} distinct rows, the manifest says {claims.n_groups} groups"


def _wanted(claims: Claims, diversity: Diversity | str | None) -> Diversity | None:
    """Return the diversity asked for, else the one the release claims."""
    if isinstance(diversity, str):
        return Diversity.parse(diversity)
    return claims.diversity if diversity is None else diversity


def _owner_problems(
    claims: Claims, inspection: ReleaseInspection, original: Any, wanted: Diversity | None, mapping: Any
) -> Iterator[str]:
    """Judge what only the owner of the source can see."""
    yield from _source_problems(claims, inspection, original)
    if wanted is not None:
        yield from inspection.starved(original, wanted).problems(wanted)
    if claims.max_link is None:
        if mapping is not None and not inspection.named_once(original, mapping):
            yield f"{_OTHER_SOURCE}: the mapping does not name every user of the source once"
        return
    if mapping is None:
        raise OptionError("the release caps links, which takes who is who to check; give private=... as well")
    exceeded = inspection.exceeded(original, mapping)
    if exceeded is None:
        yield "max_link could not be measured: the mapping does not name every user of the source once"
    else:
        yield from exceeded.problems(claims.max_link)


def _source_problems(claims: Claims, inspection: ReleaseInspection, original: Any) -> Iterator[str]:
    """Say why a release cannot have been made from a source: nothing checked against another one counts."""
    n_users, n_items = original.n_users, original.n_items
    if n_users != claims.n_users:
        yield f"{_OTHER_SOURCE}: it has {n_users} users, the release {claims.n_users}"
    if n_unknown := inspection.unknown_items(original):
        yield f"{_OTHER_SOURCE}: it does not have {n_unknown} of the release's {claims.n_items} items"
    elif not claims.leaves_out and n_items != claims.n_items:
        yield f"{_OTHER_SOURCE}: it has {n_items} items, the release {claims.n_items}"
