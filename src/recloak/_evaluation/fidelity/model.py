"""The values of a fidelity measurement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recloak._core.results import Result, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl

SMALL_REGRET = 1.0  # percent that the winner may lose on the original and still be called the right choice
CLOSE = 0.2  # how far tau may lie below its noise for an order to be called kept


@dataclass(frozen=True, slots=True)
class Entry:
    """An algorithm on two leaderboards: its mean score on the original and on the release."""

    name: str
    original: float
    release: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the leaderboard of a release agrees with that of the original.

    Attributes
    ----------
    tau : float
        Kendall's tau of the two orders: 1 equal, 0 unrelated.
    tau_noise : float or None
        The tau of the original with itself on other splits, the most that can be expected; None if split once.
    regret : float
        What the winner on the release loses on the original against the best there, in percent.
    winner, best : str
        Who wins on the release, and who wins on the original.
    entries : tuple of Entry
        All algorithms with both scores.
    """

    tau: float
    tau_noise: float | None
    regret: float
    winner: str
    best: str
    entries: tuple[Entry, ...]

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the algorithms is that of the original, but for noise."""
        return self.tau >= (1.0 if self.tau_noise is None else self.tau_noise) - CLOSE

    @property
    def finds_winner(self) -> bool:
        """Whether the winner on the release is as good as the best on the original."""
        return self.regret <= SMALL_REGRET

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        board = {one.name: {"original": one.original, "release": one.release} for one in self.entries}
        return {
            "tau": self.tau, "tau_noise": self.tau_noise, "regret": self.regret, "winner": self.winner,
            "best": self.best, "leaderboard": board,
        }  # fmt: skip

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Agreement:
        """Return the agreement that `to_json` wrote."""
        rest = {name: value for name, value in fields.items() if name != "leaderboard"}
        return cls(**rest, entries=tuple(Entry(name, **both) for name, both in fields["leaderboard"].items()))


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic of the original and of the release.

    Attributes
    ----------
    error : float or None
        How far the release is off; 0 is exact. ``meaning`` says how it is measured.
    rank : float or None
        Spearman's correlation of the two, where there are many values.
    ratio : float or None
        The median of release over original, where that makes sense.
    points : tuple of pairs
        Some of the values, (original, release), for charts.
    """

    meaning: str
    error: float | None
    rank: float | None = None
    ratio: float | None = None
    points: tuple[tuple[float, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, without the points of the chart."""
        return {"error": self.error, "rank": self.rank, "ratio": self.ratio, "meaning": self.meaning}


_OF_RATINGS = ("rmse", "item mean", "item variance", "histogram")
Protocol = dict[str, "Agreement | None"]  # contest -> agreement; None where nothing could be scored


@dataclass(frozen=True, slots=True, repr=False)
class Fidelity(Result):
    """Whether who compares algorithms on a release reaches the conclusions of the original.

    Attributes
    ----------
    outsider : dict
        Protocol A: the release is split by whoever downloads it. ``rmse`` and ``ndcg`` -> Agreement.
    owner : dict or None
        Protocol B: the owner scores a hidden probe. None without a probe.
    statistics : dict
        Name -> Statistic.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> found = recloak.fidelity(ratings, holdout=0.1, k=3, quick=True, splits=2, seed=1)
    >>> sorted(found.to_json()["fidelity"])
    ['A', 'B', 'statistics', 'verdict']
    """

    outsider: Protocol
    owner: Protocol | None
    statistics: dict[str, Statistic]
    n_people: int
    n_items: int
    splits: int
    seed: int | None = None

    def __repr__(self) -> str:
        told = [f"{name} {key} tau {one.tau:.2f}" for name, key, one in self.agreements() if one is not None]
        return counted(self, plural(self.n_people, "person", "people"), plural(self.n_items, "item"), *told)

    def agreements(self) -> Iterator[tuple[str, str, Agreement | None]]:
        """Yield protocol, contest and agreement; None where nothing could be scored."""
        for name, protocol in (("A", self.outsider), ("B", self.owner)):
            for key, one in (protocol or {}).items():
                yield name, key, one

    @property
    def verdict(self) -> str:
        """One sentence: whether who wins on the release wins on the original."""
        found = [one for _, _, one in self.agreements()]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(found):
            return "Not measured: too little could be scored on the release to compare the leaderboards."
        worst = max(known, key=lambda one: one.regret)
        if not all(one.finds_winner for one in known):
            return (
                f"Who wins on the release does not win on the original: {worst.winner} wins there, and loses "
                f"{worst.regret:.1f} % against {worst.best} here."
            )
        if not all(one.keeps_order for one in known):
            lowest = min(known, key=lambda one: one.tau)
            return (
                "Who wins on the release is a good choice on the original, but the order of the others is not kept "
                f"(Kendall's tau {lowest.tau:.2f})."
            )
        return "Who wins on the release wins on the original, and the order of the others is kept but for noise."

    @property
    def not_applicable(self) -> tuple[str, ...]:
        """The contests and statistics that make no sense for presence and counts; none for ratings."""
        return tuple(name for name in _OF_RATINGS if name not in self.outsider and name not in self.statistics)

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each protocol, contest and algorithm, with both scores."""
        return table_of(
            {"protocol": name, "contest": key, "algorithm": entry.name, "original": entry.original,
             "release": entry.release}
            for name, key, one in self.agreements() if one is not None for entry in one.entries
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the measurement in the form that the command line prints."""
        return {
            "fidelity": {
                "A": _to_json(self.outsider),
                "B": None if self.owner is None else _to_json(self.owner),
                "statistics": {name: one.to_json() for name, one in self.statistics.items()},
                "verdict": self.verdict,
                **({"not_applicable": list(idle)} if (idle := self.not_applicable) else {}),
            },
            "n_people": self.n_people,
            "n_items": self.n_items,
            "splits": self.splits,
            "seed": self.seed,
        }


def _to_json(protocol: Protocol) -> dict[str, Any]:
    return {name: None if one is None else one.to_json() for name, one in protocol.items()}
