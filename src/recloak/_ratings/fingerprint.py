"""A hash of who rated what, by which a private folder knows the ratings that it belongs to."""

import hashlib
import json

from recloak._ratings.model import Ratings


def fingerprint_of(ratings: Ratings) -> str:
    """Return the SHA-256 of users, items and values, whatever file they came from; times do not count."""
    digest = hashlib.sha256(repr((ratings.shape, ratings.kind.name)).encode())
    for ids in (ratings.user_ids.ids, ratings.item_ids.ids):
        digest.update(json.dumps([str(one) for one in ids.to_list()]).encode())
    for array in (ratings.indptr, ratings.items, ratings.values):
        digest.update(array.data)
    return digest.hexdigest()
