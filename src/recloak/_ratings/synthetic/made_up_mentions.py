"""Public mentions: what some users say in the open about the items they rated, and about a few they did not.

The number of mentions of a user follows a power law; 82 % of the mentioned items are rated by the mentioner and popular
items are mentioned more (Frankowski et al. 2006, "You are what you say", section 3.1). A mention carries the opinion
it voices, mostly the user's own rating. Its time is that of the item's rating and a delay, exponential with a mean of
`MentionOptions.lag` days; a share of 1 - `MentionOptions.linked` follows another rating of the user's instead, as do
mentions of items that the user did not rate.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._ratings.synthetic.options import MentionOptions

MENTIONS = {"user": pl.Int32, "item": pl.Int32, "rating": pl.UInt8, "time": pl.Int64}
_SAME_OPINION = 0.8  # of the mentions of rated items; the others voice one star more or less
_DAY = 86_400.0
_MOST = 300


@dataclass(frozen=True, eq=False, slots=True)
class Forum:
    """What the mentions of all users share."""

    options: MentionOptions
    popularity: NDArray[np.int64]  # (n_items,)
    cumulated: NDArray[np.float64]  # (n_items,) shares of the ratings, for draws by popularity
    histogram: NDArray[np.float64]  # cumulated shares of the stars
    rng: Randomness


def make_forum(
    options: MentionOptions, popularity: NDArray[np.int64], histogram: tuple[float, ...], rng: Randomness
) -> Forum:
    """Prepare for drawing mentions."""
    shares = np.cumsum(popularity) / popularity.sum()
    return Forum(options, popularity, shares, np.cumsum(histogram) / np.sum(histogram), rng.child("mentions"))


def make_mentions(ratings: Ratings, options: MentionOptions | None = None, *, rng: Rng = None) -> pl.DataFrame:
    """Draw public mentions of the users of any timed ratings on a scale of whole stars.

    The table has the columns ``user``, ``item``, ``rating`` and ``time``; users and items are the ids of the ratings.
    """
    options = options or MentionOptions()
    low = round(ratings.scale.low)
    stars = ratings.values.round().astype(np.int64) - low
    histogram = np.bincount(stars, minlength=round(ratings.scale.span) + 1) / len(stars)
    forum = make_forum(options, ratings.popularity, tuple(histogram), randomness(rng).child("synthetic"))
    times = ratings.times if ratings.times is not None else np.zeros(ratings.n_ratings, np.int64)
    drawn = draw_mentions(forum, 0, ratings.indptr, ratings.items, (stars + 1).astype(np.uint8), times)
    return drawn.with_columns(
        ratings.user_ids.decode(drawn["user"].to_numpy()).alias("user"),
        ratings.item_ids.decode(drawn["item"].to_numpy()).alias("item"),
        (pl.col("rating").cast(pl.Int16) + (low - 1)).alias("rating"),
    )


def draw_mentions(
    forum: Forum,
    first: int,
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    stars: NDArray[np.uint8],
    times: NDArray[np.int64],
) -> pl.DataFrame:
    """Draw the mentions of users ``first``, ``first + 1``, ... (inside numbers; stars count from 1)."""
    parts = []
    for u in range(len(starts) - 1):
        stream = forum.rng.stream(first + u)
        if stream.random() < forum.options.mentioners:
            row = slice(int(starts[u]), int(starts[u + 1]))
            parts.append(_mentions_of(forum, first + u, items[row], stars[row], times[row], stream))
    return pl.concat(parts) if parts else pl.DataFrame(schema=MENTIONS)


def _mentions_of(
    forum: Forum,
    user: int,
    items: NDArray[np.int32],
    stars: NDArray[np.uint8],
    times: NDArray[np.int64],
    stream: np.random.Generator,
) -> pl.DataFrame:
    """Draw one user's mentions, ascending by time."""
    n = min(_power_law(forum.options.exponent, stream), len(items))
    n_rated = int(stream.binomial(n, forum.options.rated))
    own = _own_items(forum, items, n_rated, stream)
    other = _other_items(forum, items, n - n_rated, stream)
    opinions = np.concatenate((_voiced(stars[own], len(forum.histogram), stream), _guessed(forum, len(other), stream)))
    start = np.concatenate((times[own], stream.choice(times, len(other))))
    when = start + stream.exponential(forum.options.lag * _DAY, len(start)).astype(np.int64)
    if forum.options.linked < 1.0:
        loose = stream.random(len(start)) >= forum.options.linked
        when = np.where(loose, when - start + stream.choice(times, len(start)), when)
    table = pl.DataFrame(
        {
            "user": np.full(len(when), user),
            "item": np.concatenate((items[own], other)),
            "rating": opinions,
            "time": when,
        },
        schema=MENTIONS,
    )
    return table.sort("time", "item")


def _power_law(exponent: float, stream: np.random.Generator) -> int:
    """Draw a whole number n >= 1 with P(n >= m) = m^(1 - exponent), cut at a most."""
    return min(int((1.0 - stream.random()) ** (-1.0 / (exponent - 1.0))), _MOST)


def _own_items(forum: Forum, items: NDArray[np.int32], n: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Pick n of a user's ratings, those of popular items sooner (Efraimidis & Spirakis 2006: smallest e / w)."""
    keys = stream.exponential(size=len(items)) / forum.popularity[items] ** forum.options.popularity_power
    return np.argsort(keys, kind="stable")[:n]


def _other_items(forum: Forum, items: NDArray[np.int32], n: int, stream: np.random.Generator) -> NDArray[np.int32]:
    """Pick up to n distinct items the user did not rate, by popularity; fewer where hardly any are left."""
    rated = set(items.tolist())
    found: dict[int, None] = {}  # a dict keeps the order
    for _ in range(50 * n):
        if len(found) == n:
            break
        item = int(np.searchsorted(forum.cumulated, stream.random(), side="right"))
        if item < len(forum.popularity) and item not in rated:
            found[item] = None
    return np.array(list(found), dtype=np.int32)


def _voiced(stars: NDArray[np.uint8], n_stars: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Say mostly what was rated, at times a star more or less."""
    off = np.where(stream.random(len(stars)) < _SAME_OPINION, 0, stream.choice((-1, 1), len(stars)))
    return np.clip(stars.astype(np.int64) + off, 1, n_stars)


def _guessed(forum: Forum, n: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Draw opinions on items that were not rated."""
    return np.searchsorted(forum.histogram, stream.random(n), side="right").clip(max=len(forum.histogram) - 1) + 1
