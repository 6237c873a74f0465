"""Advice: of the posts called well hidden, how many leave the writer within the first ten of any attacker; words kept.

``python -m benchmarks advice`` on MovieLens-1M with synthetic posters and on the taggers of ml-latest-small, where
RECLOAK_DATA names the folder of data; ``frontier`` adds how many mentions stay at each protection, and what the guard
costs. The attackers learn from one half of the people; the other half asks, and is attacked among all users. Whoever
followed the advice and added titles is also attacked by the panel without the most-rated items, at several levels: who
knows that advice adds well-known titles leaves them out.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import measure

_SECRET = b"0123456789abcdef"
_POSTERS = 20  # mentions of each poster of the frontier
_SIZES = (1, 2, 4, 8)  # mentions of a post, beside all that somebody said
_LEVELS = (2, 5, 10, 20, 50)
_LEFT_OUT = (0.01, 0.03, 0.06, 0.12, 0.2, 0.3)  # shares of the items, the most-rated first
_ALL_TRIED = 2_000


def main(arguments: list[str]) -> None:
    for name in ("taggers", "MovieLens-1M"):
        print(
            f"{name}: posts called well hidden for k = 10, share within the first ten of any attacker (95 % interval)"
        )
        for label, guarded in (("guarded advice", True), ("exact advice", False)):
            print(f" {label}", flush=True)
            for line in measure("benchmarks.advice:followed", name, guarded).result:
                print(f"  {line}", flush=True)
        if "frontier" in arguments:
            for line in measure("benchmarks.advice:frontier", name).result:
                print(f"  {line}", flush=True)


def _data(name: str) -> tuple[Any, Any]:
    """Return ratings and the mentions of people, with times, and opinions where there are any."""
    from recloak._mentions.mention_tables import mentions_from_table, read_mentions
    from recloak._ratings.readers import read
    from recloak._ratings.synthetic.made_up_mentions import make_mentions
    from recloak._ratings.synthetic.options import MentionOptions

    folder = Path(os.environ.get("RECLOAK_DATA", ""))
    if name == "taggers":
        ratings = read(folder / "ml-latest-small" / "ratings.csv")
        return ratings, read_mentions(folder / "ml-latest-small" / "tags.csv", ratings)
    ratings = read(folder / "ml" / "ml-1m.inter")
    return ratings, mentions_from_table(make_mentions(ratings, MentionOptions(mentioners=0.1), rng=1), ratings)


def _part(mentions: Any, people: Any) -> Any:
    """Return the mentions of some people."""
    mine = people[mentions.owners()]
    by_mention = {name: getattr(mentions, name)[mine] for name in ("items", "ratings", "opinions", "times")}
    by_target = {name: getattr(mentions, name)[people] for name in ("users", "outside")}
    indptr = np.concatenate(([0], np.cumsum(mentions.counts[people])))
    return replace(mentions, target_ids=mentions.target_ids.filter(people), indptr=indptr, **by_mention, **by_target)


def _said(ratings: Any, mentions: Any, t: int) -> list[Any]:
    from recloak._mentions.draft_question import Said
    from recloak._mentions.model import NO_TIME

    part = slice(mentions.indptr[t], mentions.indptr[t + 1])
    rows = zip(mentions.items[part], mentions.opinions[part], mentions.times[part], strict=True)
    ids = ratings.item_ids.ids
    return [
        Said(ids[int(item)], None if np.isnan(stars) else float(stars), None if when == NO_TIME else int(when))
        for item, stars, when in rows
    ]


def _followed(said: list[Any], change: Any) -> list[Any]:
    """Return a post after its writer followed the advice; series are left out, as the attackers read titles only."""
    from recloak._mentions.draft_question import Said

    left = [one for one in said if one.item not in {*change.drop, *(item for item, _ in change.series)}]
    stripped = [replace(one, rating=None) if change.no_opinions else one for one in left]
    last = max((one.time for one in said if one.time is not None), default=None)
    return [*stripped, *(Said(item, None, last) for item in change.add if stripped)]


class _Attackers:
    """All attackers of the panel, taught by some people, on whoever posts among all users."""

    def __init__(self, ratings: Any, teachers: Any) -> None:
        from recloak._mentions.algorithms import Candidates, gains
        from recloak._mentions.clues import ClueCounts, make_pool
        from recloak._mentions.options import IdentifyOptions

        candidates = Candidates.of(ratings, IdentifyOptions())
        weights = gains(candidates.raters, candidates.n_users, IdentifyOptions())
        self.ratings = ratings
        self.ranks = np.argsort(np.argsort(-ratings.popularity, kind="stable")) / ratings.n_items
        self.pool = make_pool(ratings, candidates, weights, np.ones(ratings.n_users, np.bool_))
        self.known = ClueCounts(self.pool, teachers, ratings).constants(np.ones(teachers.n_targets, np.bool_))

    def without_popular(self, user: int, said: list[Any], share: float) -> bool:
        """Return whether any attacker who leaves out the most-rated items has a poster within the first ten."""
        left = [one for one in said if self.ranks[self.ratings.item_ids.number(one.item)] >= share]
        return bool(left) and bool((self.places(user, left, slice(None)) <= 10).any())

    def places(self, user: int, said: list[Any], attackers: Any) -> Any:
        """Return the expected place of a poster before each attacker."""
        from recloak._mentions.clues import in_stars
        from recloak._mentions.model import NO_TIME
        from recloak._mentions.panel_kernels import panel_standings

        items = np.array([self.ratings.item_ids.number(one.item) for one in said], np.int32)
        times = np.array([NO_TIME if one.time is None else one.time for one in said], np.int64)
        stars = np.array([np.nan if one.rating is None else one.rating for one in said], np.float32)
        ends, me = np.array([0, len(items)], np.int64), np.array([user], np.int32)
        arrays = (ends, items, times, in_stars(stars, self.ratings), me)
        counts, _ = panel_standings(*arrays, self.pool, self.known)
        place = counts[0, :, 0] + (counts[0, :, 1] + 1) / 2
        return np.where(counts[0, :, 1] > 0, place, np.inf)[attackers]


def followed(name: str, guarded: bool = True) -> list[str]:
    """Return how often any attacker finds who was called well hidden, before and after following the advice."""
    from recloak._mentions.panel_kernels import PANEL

    ratings, mentions = _data(name)
    half = np.arange(mentions.n_targets) % 2 == 0
    rows = []
    for turn, people in enumerate((half, ~half) * 3 if name == "taggers" else (half,)):  # few taggers: all ask thrice
        secret = _SECRET + bytes([turn])
        rows += _cases(ratings, _part(mentions, people), _part(mentions, ~people), secret, guarded)
    return [*_lines(rows), f"found by: {_finders(rows, PANEL)}", _without_popular(rows)]


def _cases(ratings: Any, teachers: Any, askers: Any, secret: bytes, guarded: bool) -> list[dict[str, Any]]:
    """Return what becomes of the posts of some people, each of some size, if others taught the attackers."""
    from recloak._mentions.advisor import advise
    from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor
    from recloak._mentions.oracle_guard import OracleGuard
    from recloak._mentions.panel_kernels import N_ATTACKERS

    guard = OracleGuard(secret)
    index = (
        prepare_advisor(ratings, guard=guard, mentions=teachers)
        if guarded
        else prepare_exact_advisor(ratings, mentions=teachers)
    )
    attack, every, rows = _Attackers(ratings, teachers), np.arange(N_ATTACKERS), []
    for t in np.flatnonzero(askers.present & (askers.counts > 0)).tolist():
        user = int(askers.users[t])
        for said in _posts(_said(ratings, askers, t), t):
            advice = advise(index, ratings.user_ids.ids[user], [], said, k=10, most_tried=_ALL_TRIED)
            rows.append(_case(attack, user, said, advice, every))
    return rows


def _posts(said: list[Any], seed: int) -> list[list[Any]]:
    """Return all that somebody said, and posts of a few of these mentions."""
    order = np.random.default_rng(seed).permutation(len(said)).tolist()
    return [[said[n] for n in order[:size]] for size in (*(s for s in _SIZES if s < len(said)), len(said))]


def _case(attack: _Attackers, user: int, said: list[Any], advice: Any, every: Any) -> dict[str, Any]:
    change = advice.cheapest
    then = said if advice.hidden or change is None else _followed(said, change)
    return {
        "n": len(said),
        "hidden": advice.hidden,
        "advised": change is not None and not advice.hidden and len(then) > 0,
        "kept": 0 if change is None else len(said) - len(change.drop) - len(change.series),
        "before": attack.places(user, said, every),
        "then": attack.places(user, then, every) if then else np.full(len(every), np.inf),
        "adds": 0 if change is None else len(change.add),
        "left_out": [change is not None and change.add and attack.without_popular(user, then, x) for x in _LEFT_OUT],
    }


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    called = [row for row in rows if row["hidden"]]
    advised = [row for row in rows if row["advised"]]
    kept, said = sum(row["kept"] for row in rows), sum(row["n"] for row in rows)
    return [
        f"as they are, all posts      {_share(rows, 'before')}",
        f"called well hidden as is    {_share(called, 'before')}",
        f"after following the advice  {_share(advised, 'then')}",
        f"both                        {_share([*called, *advised], 'then')}",
        f"mentions kept {kept / said:.3f} of all, {np.mean([row['kept'] / row['n'] for row in rows]):.3f} a person; "
        f"added {np.mean([row['adds'] for row in rows]):.1f}",
    ]


def _without_popular(rows: list[dict[str, Any]]) -> str:
    """Return how many of those who added titles are found by who leaves out the most-rated items."""
    added = [row["left_out"] for row in rows if row["advised"] and row["adds"]]
    found = np.sum(added, axis=0) if added else np.zeros(len(_LEFT_OUT))
    told = ", ".join(f"{share:.0%} {int(n)}" for share, n in zip(_LEFT_OUT, found, strict=True))
    return f"of {len(added)} with additions, found by the panel without the most-rated share of the items: {told}"


def _share(rows: list[dict[str, Any]], name: str) -> str:
    from recloak._core.intervals import wilson

    if not rows:
        return "none"
    found = sum(bool((row[name] <= 10).any()) for row in rows)
    share = wilson(found, len(rows))
    return f"{found} of {len(rows)}: {share.rate:.3f} ({share.low:.3f} to {share.high:.3f})"


def _finders(rows: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    hidden = [row["then"] <= 10 for row in rows if row["hidden"] or row["advised"]]
    counts = np.sum(hidden, axis=0) if hidden else np.zeros(len(names))
    return ", ".join(f"{name} {int(count)}" for name, count in zip(names, counts, strict=True) if count) or "nobody"


def frontier(name: str) -> list[str]:
    """Return the share of mentions kept at each k by a crude greedy search and by ours, all before the same panel."""
    from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor
    from recloak._mentions.oracle_guard import OracleGuard

    ratings, mentions = _data(name)
    people = _writers(ratings, mentions, name)
    lines = ["mentions kept of all / a person: crude greedy, ours leaving out, with up to 60 more titles"]
    exact = prepare_exact_advisor(ratings, mentions=mentions)
    for label, timed in (("titles alone", False), ("titles, opinions and times", True)):
        gaps = _gaps(exact, people, timed)
        lines += [f"exact, {label}, k = {k}: " + ", ".join(_kept_by(gaps, k)) for k in _LEVELS]
        for share in (1.0, 0.5, 0.3):
            guard = OracleGuard(_SECRET, share)
            gaps = _gaps(prepare_advisor(ratings, guard=guard, mentions=mentions), people, timed)
            lines.append(f"guarded, crowd {share}, {label}, k = 10: " + ", ".join(_kept_by(gaps, 10)))
    return lines


def _gaps(index: Any, people: list[tuple[int, list[Any]]], timed: bool) -> list[Any]:
    """Return the gaps of what some people said, with or without times and opinions."""
    from recloak._mentions.draft_question import make_question
    from recloak._mentions.draft_search import DraftGaps

    found = []
    for user, said in people:
        asked = said if timed else [replace(one, time=None, rating=None) for one in said]
        question = make_question(index, index.ratings.user_ids.ids[user], [], asked)
        found.append(DraftGaps(index, question, _ALL_TRIED))
    return found


def _writers(ratings: Any, mentions: Any, name: str) -> list[tuple[int, list[Any]]]:
    """Return the taggers, or users of MovieLens-1M who mention twenty of their items a week after rating them."""
    from recloak._mentions.draft_question import Said

    if name == "taggers":
        chosen = np.flatnonzero(mentions.present & (mentions.counts > 0))
        return [(int(mentions.users[t]), _said(ratings, mentions, int(t))) for t in chosen]
    rng, found = np.random.default_rng(7), []
    for user in rng.choice(ratings.n_users, 60, replace=False).tolist():
        row = ratings.row(user)
        places = rng.choice(np.arange(row.start, row.stop), min(_POSTERS, row.stop - row.start), replace=False)
        later = ratings.times[places] + rng.exponential(7 * 86_400, len(places)).astype(np.int64)
        ids = ratings.item_ids.decode(ratings.items[places]).to_list()
        rows = zip(ids, ratings.values[places].tolist(), later.tolist(), strict=True)
        found.append((user, [Said(*one) for one in rows]))
    return found


def _kept_by(gaps: list[Any], k: int) -> list[str]:
    from recloak._mentions.draft_search import Way

    counts = np.array([len(one.question.draft) for one in gaps])
    crude = np.array([_greedy(one, k) for one in gaps])
    ours = np.array([_most(one, [Way()], k) for one in gaps])
    ways = [Way(strip, n) for strip in (False, True) for n in (0, 20, 60)]
    adds = np.array([_most(one, ways, k) for one in gaps])
    return [f"{kept.sum() / counts.sum():.2f} / {np.mean(kept / counts):.2f}" for kept in (crude, ours, adds)]


def _most(gaps: Any, ways: list[Any], k: int) -> int:
    found = [gaps.keep(way, float(k)) for way in ways]
    return max((int((state == 2).sum()) for hidden, state in found if hidden), default=0)


def _greedy(gaps: Any, k: int) -> int:
    """Leave out the mention that helps most until the writer is hidden; return how many are left.

    Of a long draft a fiftieth is left out at once, those that help most.
    """
    from recloak._mentions.draft_rank_kernels import places, worst_without

    tables, left = gaps.tables(), list(range(len(gaps.question.draft)))
    while left:
        now = gaps.with_all(tables, left, tables.posted(left, with_last=False))
        if places(now, gaps.attackers, gaps.margins).min() > k:
            break
        without = worst_without(
            now, tables.effects[left], tables.moments, tables.moment_of[left], gaps.attackers, gaps.margins
        )
        worst = set(np.argsort(-without, kind="stable")[: max(len(left) // 50, 1)].tolist())
        left = [n for place, n in enumerate(left) if place not in worst]
    return len(left)
