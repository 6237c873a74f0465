"""Risks of padded and pure releases of one source: the figures of docs/benchmarks.md, by the audit's own attackers.

python -m benchmarks risks ML-1M            padded, k = 5: labels of the model and of the raters, people held out;
                                            errors at k = 20 and 50
python -m benchmarks risks ML-1M K [RANK]   padded with labels of the model at another k or rank
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from recloak._attacks import registry
from recloak._attacks.attack_input import OutsideRatings, OwnerKnowledge
from recloak._attacks.auditing import audit
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import see_release
from recloak._evaluation.deviation import target_deviation
from recloak._evaluation.holdout import Probe, hold_out
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad
from recloak._releases.publishing import publish

SHOWN = ("membership", "residual", "insider", "insider-fit", "link", "likelihood")

DETAILS = ("link_auc", "link_auc_by_popularity", "told_by_label", "told_across_items", "told_by_popularity")


def main(arguments: list[str]) -> None:
    """Print the figures."""
    if not arguments:
        print(__doc__)
        sys.exit(2)
    k = int(arguments[1]) if len(arguments) > 1 else 5
    rank = int(arguments[2]) if len(arguments) > 2 else None
    inside, strangers = split_people(read(arguments[0]))
    rest, probe = hold_out(inside, 0.1, rng=7)
    plain = pad(rest, PadOptions(rank=rank), rng=7).predict(probe.users, probe.items)
    print(f"{inside.n_users} people published, {strangers.n_users} held out; model alone {_rmse(plain, probe):.4f}")
    if len(arguments) == 1:
        for larger in (20, 50):
            error = target_deviation(_shown(rest, "model", larger, rank).public, probe).rmse
            print(f"target deviation at k = {larger}: {error:.4f}", flush=True)
    for labels in ("model", "raters") if len(arguments) == 1 else ("model",):
        print(labels, json.dumps(measured(inside, strangers, rest, probe, labels, k, rank), indent=1), flush=True)


def split_people(ratings: Ratings, one_of: int = 10) -> tuple[Ratings, OutsideRatings]:
    """Hold a part of the people out."""
    held = np.random.default_rng(1).permutation(ratings.n_users)[: ratings.n_users // one_of]
    chosen = np.isin(ratings.users(), held)
    inside, outside = ratings.where(~chosen).compact(), ratings.where(chosen).compact()
    items = inside.item_ids.encode(outside.item_ids.ids)[outside.items]
    users, known = outside.users()[items >= 0], items >= 0
    indptr = np.searchsorted(users, np.arange(outside.n_users + 1)).astype(np.int64)
    return inside, OutsideRatings(indptr, items[known].astype(np.int32), outside.values[known].copy())


def measured(
    inside: Ratings, strangers: OutsideRatings, rest: Ratings, probe: Probe, labels: str, k: int, rank: int | None
) -> dict[str, Any]:
    """Publish and attack; the error is that of a release of nine tenths of the ratings."""
    error = target_deviation(_shown(rest, labels, k, rank).public, probe).rmse
    seen, start = _shown(inside, labels, k, rank), time.process_time()
    few = AuditOptions(known=(8, 16), varied_at=8)
    attacks = [one for one in registry.own_attacks() if one.name in SHOWN]
    found = audit(inside, seen, owner=OwnerKnowledge(held_out=strangers), options=few, attacks=attacks, rng=1)
    told = audit(inside, seen, options=few, attacks=[one for one in attacks if one.name == SHOWN[0]], rng=1)
    return {
        "target deviation": round(error or 0.0, 4),
        **{f"{one.name} {one.known or ''} {one.setting}": outcome_figures(one) for one in found.outcomes},
        "membership without people held out": outcome_figures(max(told.outcomes, key=lambda one: one.known or 0)),
        "cpu": round(time.process_time() - start, 1),
    }


def outcome_figures(outcome: Any) -> dict[str, Any]:
    """Return the figures of an outcome: its rate and baseline, its lines, its verdict."""
    share, group = outcome.release, outcome.group
    lines = {line.name: [round(line.share.rate, 3), round(line.baseline, 3)] for line in outcome.lines}
    rates = {} if share is None else {"rate": round(share.rate, 3), "baseline": round(outcome.baseline, 3)}
    told = outcome.details.get("release", {})
    rates |= {name: round(told[name], 3) for name in DETAILS if name in told}
    return {**rates, **({} if group is None else {"group": round(group.rate, 3)}), **lines, "verdict": outcome.verdict}


def _shown(ratings: Ratings, labels: str, k: int, rank: int | None) -> Any:
    with tempfile.TemporaryDirectory() as place:
        made = publish(ratings, k=k, labels=labels, pad_options=PadOptions(rank=rank), rng=1)
        made.write(Path(place) / "release", private=Path(place) / "private")
        return see_release(Path(place) / "release", Path(place) / "private", ratings)


def _rmse(found: Any, probe: Probe) -> float:
    return float(np.sqrt(np.mean(np.square(found.astype(np.float64) - probe.values))))
