"""The values that pass between the steps of publishing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InternalError
from recloak._ratings.model import Scale


@dataclass(frozen=True, eq=False, slots=True)
class Padding:
    """A prediction for every cell, kept as factors and biases; the dense matrix never exists.

    A cell is ``r_ui = mu + b_u + b_i + p_u . q_i``. It is linear in the user's numbers, so the mean over a group of
    users is the same expression over the mean of their numbers; whoever shows a value brings it inside the scale.
    """

    mu: float
    user_bias: NDArray[np.float32]  # (n_users,)
    item_bias: NDArray[np.float32]  # (n_items,)
    user_factors: NDArray[np.float32]  # (n_users, rank)
    item_factors: NDArray[np.float32]  # (n_items, rank)
    scale: Scale

    @property
    def rank(self) -> int:
        """Number of factors."""
        return self.user_factors.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_users, n_items)``."""
        return len(self.user_bias), len(self.item_bias)

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
        """Predict one cell per (user, item) pair, inside the scale."""
        dots = np.einsum("rf,rf->r", self.user_factors[users], self.item_factors[items])
        cells = self.mu + self.user_bias[users] + self.item_bias[items] + dots
        return np.clip(cells, self.scale.low, self.scale.high).astype(np.float32)

    def rows(self, users: slice | NDArray[np.integer]) -> NDArray[np.float32]:
        """Predict every item for a few users, not clipped: (len(users), n_items). Ask for blocks, never for all."""
        cells = self.user_factors[users] @ self.item_factors.T
        cells += self.user_bias[users][:, None]
        cells += (self.item_bias + np.float32(self.mu))[None, :]
        return cells


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """A partition of the users: ``labels[u]`` is the group of user u, groups numbered from 0 without a gap."""

    labels: NDArray[np.int32]  # (n_users,)
    k: int  # every group has at least k members

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max()) + 1 if len(self.labels) else 0

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of members of each group."""
        return np.bincount(self.labels, minlength=self.n_groups)

    def members(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return starts and users by group: group g is ``users[starts[g]:starts[g + 1]]``, users ascending."""
        users = np.argsort(self.labels, kind="stable").astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(self.sizes)))
        return starts, users

    def require_bounds(self) -> None:
        """Raise InternalError unless every size lies in [k, 2k - 1]."""
        sizes = self.sizes
        if len(sizes) and not (sizes.min() >= self.k and sizes.max() <= 2 * self.k - 1):
            raise InternalError(
                f"group sizes must lie in [{self.k}, {2 * self.k - 1}], got {sizes.min()} to {sizes.max()}"
            )
