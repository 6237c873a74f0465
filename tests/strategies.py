"""Small random inputs for the property tests."""

import numpy as np
from hypothesis import strategies as st

from recloak._ratings.model import Ratings


@st.composite
def small_ratings(draw, *, min_users=2, max_users=12, max_items=8, timed=False, low=1, high=5):
    """Draw ratings in which every user has rated at least one item."""
    n_users = draw(st.integers(min_users, max_users))
    n_items = draw(st.integers(2, max_items))
    rows = []
    for user in range(n_users):
        rated = draw(st.sets(st.integers(0, n_items - 1), min_size=1, max_size=n_items))
        rows += [(user, item, draw(st.integers(low, high))) for item in sorted(rated)]
    users, items, values = (np.array(column) for column in zip(*rows, strict=True))
    times = np.array(draw(st.lists(st.integers(0, 10**6), min_size=len(rows), max_size=len(rows)))) if timed else None
    return Ratings.from_arrays(users, items, values.astype(np.float64), times)
