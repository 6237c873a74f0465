"""An evaluation as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from recloak._evaluation.model import Evaluation, Scored
from recloak._report.evaluate_page import CALLED, evaluate_verdict
from recloak._report.formats import percent


def print_evaluation(found: Evaluation) -> None:
    """Print the verdict and the scores to standard output."""
    console, verdict = Console(highlight=False), evaluate_verdict(found)
    console.print(f"[bold]{verdict.word}: {verdict.headline}[/bold]\n{verdict.text}\n")
    console.print(_scores(found))


def _scores(found: Evaluation) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for place, column in enumerate(("predictor", "trained on", "RMSE", "MAE", "covered", "nDCG@10", "recall@10")):
        table.add_column(column, justify="right" if place > 1 else "left")
    for name, sides in found.recommenders.items():
        for side, scored in sides.items():
            table.add_row(CALLED[name], side, *_cells(scored))
    for name, scored in found.baselines.items():
        table.add_row(CALLED[name], "baseline", *_cells(scored))
    table.add_row("own profile", "release", *_cells(Scored(found.target_deviation)))
    table.add_row("nearest profile", "release", *_cells(Scored(found.similar_user_deviation)))
    return table


def _cells(one: Scored) -> tuple[str, ...]:
    ranking = (None, None) if one.ranking is None else (one.ranking.ndcg, one.ranking.recall)
    return (
        *map(_number, (one.accuracy.rmse, one.accuracy.mae)),
        percent(one.accuracy.coverage),
        *map(_number, ranking),
    )


def _number(x: float | None) -> str:
    return "–" if x is None else f"{x:.4f}"
