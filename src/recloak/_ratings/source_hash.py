"""A hash of who rated what, by which a private folder knows the ratings that it belongs to."""

import hashlib
import json

from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS


def fingerprint_of(ratings: Ratings) -> str:
    """Return the SHA-256 of users, items and ratings, whatever file they came from.

    Times do not count, nor does how often something was used: counts are published as levels.
    """
    digest = hashlib.sha256(repr(ratings.shape).encode())
    for ids in (ratings.user_ids.ids, ratings.item_ids.ids):
        digest.update(json.dumps([str(one) for one in ids.to_list()]).encode())
    digest.update(ratings.indptr.data)
    digest.update(ratings.items.data)
    if ratings.kind is RATINGS:
        digest.update(ratings.values.data)
    return digest.hexdigest()
