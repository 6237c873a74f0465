"""The algorithms of paper 004 in their obvious form, with exact fractions, over dicts and sets."""

import math
from fractions import Fraction

FLOOR = Fraction(1, 20)


def tables(ratings):
    """Return user -> {item: rating} and item -> number of raters."""
    rated = {
        user: dict(zip(ratings.items[row].tolist(), ratings.values[row].tolist(), strict=True))
        for user in range(ratings.n_users)
        for row in [ratings.row(user)]
    }
    return rated, ratings.popularity.tolist()


def targets(mentions):
    """Yield (user, [(item, rating)], number of items outside the ratings) per target."""
    for t in range(mentions.n_targets):
        span = slice(mentions.indptr[t], mentions.indptr[t + 1])
        said = zip(mentions.items[span].tolist(), mentions.ratings[span].tolist(), strict=True)
        yield int(mentions.users[t]), list(said), int(mentions.outside[t])


def score(user, said, rated, raters, *, delta=None, floor=FLOOR, flat=False, none_unsaid=False):
    """Multiply equation 1 (delta None) or equation 3 over the mentions."""
    product = Fraction(1)
    for item, rating in said:
        counts = item in rated[user]
        if delta is not None and counts:
            counts = (not none_unsaid) if math.isnan(rating) else abs(rated[user][item] - rating) <= delta
        full = Fraction(1) if flat else 1 - Fraction(raters[item] - 1, len(rated))
        product *= full if counts else floor
    return product


def heavy(rated, n_items, share=Fraction(1, 3)):
    return {user for user, items in rated.items() if len(items) > share * n_items}


def place(target, scores):
    """Return how many score above the target and how many the same; (0, 0) if it is not in the list."""
    if target not in scores:
        return 0, 0
    own = scores[target]
    return sum(s > own for s in scores.values()), sum(s == own for s in scores.values())


def by_scoring(ratings, mentions, **how):
    rated, raters = tables(ratings)
    listed = set(rated) - heavy(rated, ratings.n_items)
    return [place(t, {u: score(u, said, rated, raters, **how) for u in listed}) for t, said, _ in targets(mentions)]


def by_intersection(ratings, mentions):
    rated, _ = tables(ratings)
    found = []
    for target, said, outside in targets(mentions):
        possible = {u for u in rated if not outside and all(item in rated[u] for item, _ in said)}
        found.append((0, len(possible) if target in possible else 0, len(possible)))
    return found


def by_tf_idf(ratings, mentions):
    rated, raters = tables(ratings)
    weight = [math.log2(len(rated) / n) if n else 0.0 for n in raters]
    norm = {u: math.sqrt(sum(weight[i] ** 2 for i in sorted(rated[u]))) or 1.0 for u in rated}
    found = []
    for target, said, _ in targets(mentions):
        cosine = {u: round(sum(weight[i] ** 2 for i, _ in said if i in rated[u]) / norm[u], 9) for u in rated}
        found.append(place(target, cosine))
    return found


def by_likelihood(user, said, rated, raters, q, activity_mean):
    """Return the log-likelihood ratio of one candidate, term by term."""
    total, appetite = 0.0, len(rated[user]) / activity_mean
    for item, _ in said:
        chance = 1 - (1 - raters[item] / (len(rated) + 1)) ** appetite
        total += math.log(q / chance) if item in rated[user] else math.log((1 - q) / (1 - chance))
    return total
