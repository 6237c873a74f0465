"""Mentions: posts per second of the finder, identification against a plain version, the advisor's answer.

``python -m benchmarks mentions`` runs the parts that take seconds; ``python -m benchmarks mentions netflix`` adds the
preset with the shape of the Netflix Prize data (minutes, gigabytes).
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import measure

_LABELLED = Path(__file__).parents[1] / "tests" / "mentions" / "labelled"


def main(arguments: list[str]) -> None:
    print("Finding: 60,000 titles, 10,000 posts")
    found = measure("benchmarks.mentions:find", 60_000, 10_000)
    print(f"  {found.result['speed']:,.0f} posts per second, titles indexed in {found.result['index']:.1f} s ({found})")
    print("Indexing: 500,000 titles")
    big = measure("benchmarks.mentions:index_many", 500_000)
    print(f"  {big.result['seconds']:.0f} s of CPU, {big.result['variants']:,.0f} variants ({big})")
    print("Identifying: all users of MovieLens-1M, 20 mentions each, five algorithms")
    took = measure("benchmarks.mentions:identify_all", _source())
    print(f"  {took.result['targets']:,} targets in {took.result['seconds']:.1f} s ({took})")
    print("Scoring, by columns and by dicts and sets")
    ratio = measure("benchmarks.mentions:against_plain", _source(), 30).result
    print(f"  {ratio['ours'] * 1e3:.2f} ms against {ratio['plain'] * 1e3:.0f} ms a target: {ratio['times']:.0f} times")
    advice = measure("benchmarks.mentions:advise_some", _source(), 200).result
    print("Advising against the panel, 15 earlier mentions and 5 new ones, CPU a question")
    for name in ("exact", "guarded"):
        print(f"  {name}: median {advice[name][0]:.2f} ms, 95 % below {advice[name][1]:.2f} ms")
    if "netflix" in arguments:
        big = measure("benchmarks.mentions:identify_netflix", 1_000)
        print(f"Netflix preset, 1,000 targets: {big.result['seconds']:.0f} s to identify ({big})")


def _source() -> str | None:
    """Name the real MovieLens-1M where it is, else nothing: then the synthetic one serves."""
    file = Path(os.environ.get("RECLOAK_DATA", "")) / "ml" / "ml-1m.inter"
    return str(file) if file.is_file() else None


def _ratings(source: str | None) -> Any:
    from recloak._ratings.readers import read
    from recloak._ratings.synthetic.options import SynthOptions
    from recloak._ratings.synthetic.rating_stream import synthesise

    return read(source) if source else synthesise(SynthOptions(preset="ml-1m"), rng=1)


def find(n_titles: int, n_posts: int) -> dict[str, float]:
    from recloak._mentions.title_finder import find_titles
    from recloak._mentions.title_matching import index_titles
    from recloak._mentions.titles import parse
    from recloak._ratings.synthetic.made_up_titles import make_titles

    own = [line.split(",", 1)[1].strip().strip('"') for line in (_LABELLED / "titles.csv").read_text().splitlines()[1:]]
    lines = own + make_titles(n_titles - len(own), rng=1)
    start = time.process_time()
    index = index_titles([parse(n, line) for n, line in enumerate(lines)])
    indexed = time.process_time() - start
    posts = _posts(lines, n_posts)
    start = time.process_time()
    n_found = sum(len(find_titles(post, index)) for post in posts)
    took = time.process_time() - start
    return {"speed": n_posts / took, "index": indexed, "found": n_found, "characters": sum(map(len, posts)) / n_posts}


def index_many(n_titles: int) -> dict[str, float]:
    from recloak._mentions.title_matching import index_titles
    from recloak._mentions.titles import parse
    from recloak._ratings.synthetic.made_up_titles import make_titles

    lines = make_titles(n_titles, rng=1)
    start = time.process_time()
    index = index_titles(parse(n, line) for n, line in enumerate(lines))
    return {"seconds": time.process_time() - start, "variants": len(index.patterns)}


def _posts(titles: list[str], n: int) -> list[str]:
    """Make posts from the labelled ones, each with a title of the list put in: every other one dated, else small."""
    files = [file for part in ("tune", "held") for file in sorted((_LABELLED / part).glob("*.txt"))]
    texts = [line.translate(str.maketrans("{}|", "   ")) for file in files for line in file.read_text().splitlines()]
    rng = np.random.default_rng(1)
    posts = []
    for number in range(n):
        title = titles[int(rng.integers(len(titles)))]
        said = title if number % 2 else title.rpartition(" (")[0].lower()
        posts.append(f"{texts[int(rng.integers(len(texts)))]} I watched {said} too.")
    return posts


def _mentions(ratings: Any, users: Any, each: int) -> Any:
    import polars as pl

    from recloak._mentions.mention_tables import mentions_from_table

    rng, rows = np.random.default_rng(2), []
    for user in users:
        rated = ratings.items[ratings.row(int(user))]
        rows += [(int(user), int(item)) for item in rng.choice(rated, min(each, len(rated)), replace=False)]
    who, what = (np.array(column) for column in zip(*rows, strict=True))
    table = pl.DataFrame({"user": ratings.user_ids.decode(who), "item": ratings.item_ids.decode(what)})
    return mentions_from_table(table, ratings)


def identify_all(source: str | None) -> dict[str, float]:
    from recloak._mentions.algorithms import ALGORITHMS, Candidates, rank_targets
    from recloak._mentions.options import IdentifyOptions

    ratings = _ratings(source)
    mentions = _mentions(ratings, np.arange(ratings.n_users), 20)
    start = time.perf_counter()
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    for name in ALGORITHMS:
        rank_targets(name, candidates, mentions, options)
    return {"seconds": time.perf_counter() - start, "targets": mentions.n_targets}


def against_plain(source: str | None, n_targets: int) -> dict[str, float]:
    from recloak._mentions.algorithms import Candidates, rank_targets
    from recloak._mentions.options import IdentifyOptions

    ratings = _ratings(source)
    mentions = _mentions(ratings, np.arange(ratings.n_users), 20)
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    rank_targets("scoring", candidates, mentions, options)
    start = time.process_time()
    standing = rank_targets("scoring", candidates, mentions, options)
    ours = (time.process_time() - start) / mentions.n_targets
    start = time.process_time()
    plain = _plain_scoring(ratings, mentions, n_targets)
    each = (time.process_time() - start) / n_targets
    assert plain == np.where(standing.tied > 0, standing.better, 0)[:n_targets].tolist()
    return {"ours": ours, "plain": each, "times": each / ours}


def _plain_scoring(ratings: Any, mentions: Any, n_targets: int) -> list[int]:
    """Score every user by a dict of sets, as one would write it first."""
    rated = {user: set(ratings.items[ratings.row(user)].tolist()) for user in range(ratings.n_users)}
    raters = ratings.popularity.tolist()
    listed = [user for user, items in rated.items() if len(items) <= ratings.n_items / 3]
    better = []
    for t in range(n_targets):
        said = mentions.items[mentions.indptr[t] : mentions.indptr[t + 1]].tolist()
        scores = {}
        for user in listed:
            score = 1.0
            for item in said:
                score *= 1 - (raters[item] - 1) / ratings.n_users if item in rated[user] else 0.05
            scores[user] = score
        own = scores.get(int(mentions.users[t]), 0.0)
        better.append(sum(score > own * (1 + 1e-9) for score in scores.values()) if own else 0)
    return better


def advise_some(source: str | None, n: int) -> dict[str, list[float]]:
    from recloak._mentions.advisor import advise
    from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor

    ratings = _ratings(source)
    rng = np.random.default_rng(1)
    asked = []
    for user in rng.choice(ratings.n_users, n, replace=False).tolist():
        row = ratings.items[ratings.row(user)]
        said = ratings.item_ids.decode(rng.choice(row, min(20, len(row)), replace=False)).to_list()
        asked.append((ratings.user_ids.ids[user], said[:15], said[15:]))
    indexes = {"exact": prepare_exact_advisor(ratings), "guarded": prepare_advisor(ratings)}
    return {name: _quantiles([partial(advise, index, *one) for one in asked]) for name, index in indexes.items()}


def _quantiles(calls: list[Any]) -> list[float]:
    """Give the median and the 95 % quantile of CPU milliseconds, the first calls left out: they load the kernels."""
    times = []
    for call in calls:
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return [float(np.quantile(times[5:], share)) for share in (0.5, 0.95)]


def identify_netflix(n_targets: int) -> dict[str, float]:
    import tempfile

    from recloak._mentions.identification import identify
    from recloak._ratings.readers import read
    from recloak._ratings.synthetic.options import FileOptions, SynthOptions
    from recloak._ratings.synthetic.synthetic_files import write_synthetic

    with tempfile.TemporaryDirectory() as folder:
        write_synthetic(Path(folder) / "netflix.parquet", SynthOptions(preset="netflix"), FileOptions(), rng=1)
        ratings = read(Path(folder) / "netflix.parquet")
    chosen = np.random.default_rng(3).choice(ratings.n_users, n_targets, replace=False)
    mentions = _mentions(ratings, np.sort(chosen), 20)
    start = time.perf_counter()
    found = identify(ratings, mentions)
    return {"seconds": time.perf_counter() - start, "scoring": found.algorithms["scoring"].rate[0]}
