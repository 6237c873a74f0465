"""The advisor as an oracle: what attackers learn of one rating of another person, and what the guard costs the askers.

``python -m benchmarks oracle`` on MovieLens-1M, where RECLOAK_DATA names the folder of data, and on its likeness.
Each case is a target and an item of theirs, guessed once as it is and once with that rating taken out, so a coin is
right in half of the guesses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import measure
from benchmarks.mentions import _ratings, _source


def main(arguments: list[str]) -> None:
    n = int(arguments[0]) if arguments else 60
    for name, source in {"MovieLens-1M": _source(), "synthetic": None}.items():
        if name == "synthetic" or source is not None:
            _show(name, source, n if source else n // 2)


def _show(name: str, source: str | None, n: int) -> None:
    print(f"{name}: {n} cases, accuracy with 95 % interval (a coin: 0.5), guesses that depend on the rating, questions")
    for attack, crowd in (  # as many accounts that about twenty of a crowd, the border, have a set of known items
        ("ordinary user", None), ("ordinary user", 0.3), ("1 account", None), ("1 account", 0.3),
        ("52 accounts", 1.0), ("104 accounts", 0.5), ("104 accounts", 0.3), ("173 accounts", 0.3),
        ("104 accounts, by direction", 0.3), ("173 accounts, by direction", 0.3),
    ):  # fmt: skip
        told = measure("benchmarks.oracle:attack", source, attack, crowd, n).result
        advice = "exact" if crowd is None else f"crowd {crowd}"
        print(
            f"  {attack:26} {advice:10} {told['rate']:.3f} ({told['low']:.3f} to {told['high']:.3f})"
            f"  {told['differ']:.3f}  {told['asked']:.0f}",
            flush=True,
        )
    for crowd, price in measure("benchmarks.oracle:prices", source, 10 * n).result.items():
        print(f"  crowd {crowd}: " + ", ".join(f"{name} {value:.3f}" for name, value in price.items()), flush=True)


def _numbered(source: str | None) -> Any:
    from recloak._ratings.model import Ratings

    ratings = _ratings(source)
    return Ratings.from_arrays(ratings.users(), ratings.items, ratings.values)


def attack(source: str | None, name: str, crowd: float | None, n: int) -> dict[str, float]:
    from tests.attacks.oracle_worlds import outsiders, told, with_accounts

    from recloak._mentions.oracle_guard import OracleGuard

    guard = None if crowd is None else OracleGuard(b"0123456789abcdef", crowd)
    ratings = _numbered(source)
    if name == "ordinary user":
        trials = outsiders(ratings, guard, n)
    else:
        trials = with_accounts(ratings, guard, n, int(name.split(maxsplit=1)[0]), by_direction="direction" in name)
    share, differ, asked = told(trials)
    return {"rate": share.rate, "low": share.low, "high": share.high, "differ": differ, "asked": asked}


def prices(source: str | None, n: int) -> dict[str, dict[str, float]]:
    """Compare guarded with exact advice on drafts of 1 to 20 mentions that people rated."""
    from recloak._mentions.advisor import advise
    from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor
    from recloak._mentions.oracle_guard import OracleGuard

    ratings = _numbered(source)
    asked = _questions(ratings, n)
    exact = prepare_exact_advisor(ratings)
    real = [advise(exact, *one) for one in asked]
    found = {}
    for crowd in (1.0, 0.5, 0.3):
        index = prepare_advisor(ratings, guard=OracleGuard(b"0123456789abcdef", crowd))
        found[str(crowd)] = _price(real, [advise(index, *one) for one in asked])
    return found


def _questions(ratings: Any, n: int) -> list[tuple[int, list[int], list[int]]]:
    rng, asked = np.random.default_rng(1), []
    for user in rng.choice(ratings.n_users, n).tolist():
        row = ratings.items[ratings.row(user)]
        said = rng.choice(row, min(int(rng.choice([1, 2, 3, 5, 8, 12, 20])), len(row)), replace=False).tolist()
        cut = int(rng.integers(len(said)))
        asked.append((user, said[:cut], said[cut:]))
    return asked


def _price(real: list[Any], told: list[Any]) -> dict[str, float]:
    bands = {"1": 0, "2 to 5": 0, "6 to 10": 0, "1 to 10": 0, "11 to 100": 1, "101 to 1,000": 2, "beyond 1,000": 3}
    pairs = list(zip(real, told, strict=True))
    ways = [(a.cheapest, b.cheapest) for a, b in pairs if not a.hidden and a.cheapest and b.cheapest]
    return {
        "same band": float(np.mean([bands[a.after] == bands[b.after] for a, b in pairs])),
        "hidden and told so": float(np.mean([b.hidden for a, b in pairs if a.hidden])),
        "told hidden and not": float(np.mean([b.hidden for a, b in pairs if not a.hidden])),
        "way out found": float(np.mean([b.cheapest is not None for a, b in pairs if a.cheapest])),
        "changes, exact": float(np.mean([len(a.drop) + len(a.add) for a, _ in ways])),
        "changes, guarded": float(np.mean([len(b.drop) + len(b.add) for _, b in ways])),
    }
