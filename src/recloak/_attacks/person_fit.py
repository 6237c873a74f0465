"""What the model behind a release would say of a person whose ratings are known: ridge regression in its directions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public, step_of
from recloak._attacks.table_fit import Floats, TableFit, fit_of, places_of

_SAMPLE = 500
_WIDER = 1.5  # single people spread wider along the directions than groups of them
_TASTE = 0.9  # standard deviation of a rating around a prediction on a scale of five stars


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """How people spread along the fitted directions, judged by the groups."""

    fit: TableFit
    centre: Floats  # (rank,)
    precision: NDArray[np.float64]  # (rank, rank) inverse covariance of people
    taste: float  # standard deviation of a rating around a prediction

    def place_of(self, items: NDArray[np.integer], ratings: Floats) -> Floats:
        """Return where a person with these ratings stands along the directions."""
        basis = self.fit.basis[:, items]
        left = ratings - self.fit.means[items] - self.centre @ basis
        moved = np.linalg.solve(basis @ basis.T + self.taste**2 * self.precision, basis @ left)
        return (self.centre + moved).astype(np.float32)

    def predict(self, items: NDArray[np.integer], ratings: Floats) -> Floats:
        """Return what the model says of a person with these ratings, for every item."""
        return self.fit.predict(self.place_of(items, ratings)[None, :])[0]


def population(public: Public) -> Population:
    """Return how people spread, by a sample of the profiles."""
    fit, step = fit_of(public), step_of(public.scale)
    n_rows = min(public.n_profiles, _SAMPLE)
    places = places_of(public, np.linspace(0, public.n_profiles - 1, n_rows).astype(np.int64))
    spread = np.cov(places.T) if n_rows > 1 else np.zeros((places.shape[1],) * 2)
    covariance = _WIDER * np.atleast_2d(spread) + 1e-3 * step**2 * np.eye(places.shape[1])
    return Population(fit, places.mean(axis=0), np.linalg.inv(covariance.astype(np.float64)), taste_of(public))


def taste_of(public: Public) -> float:
    """Return how far ratings lie from predictions, on the scale of a release."""
    return _TASTE * max(public.scale.span / 4, step_of(public.scale) / 2)
