"""Results as tables on the terminal: an inspection, an audit, an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recloak._attacks.audit_result import Audit
from recloak._attacks.model import Outcome
from recloak._cli.main import as_flags
from recloak._core.intervals import Share
from recloak._core.terminal_text import printable
from recloak._evaluation.fidelity.model import Fidelity
from recloak._evaluation.model import Evaluation, RecommenderScore, UseEvaluation
from recloak._ratings.exposure import Exposure
from recloak._ratings.summary import PERCENTILES, Summary
from recloak._ratings.value_kinds import ValueKind
from recloak._report.audit_page import NOT_APPLICABLE, audit_verdict
from recloak._report.audit_sections import worst_of
from recloak._report.evaluate_page import MODEL_NAMES, evaluate_verdict
from recloak._report.formats import count, day, decimals, number, percent, plural, with_interval
from recloak._report.inspect_page import headline, headline_level
from recloak._report.page import PageVerdict
from recloak._report.use_page import score_rows

if TYPE_CHECKING:
    from recloak._library.inspect_source import Inspection

_BAR = 30  # cells of the longest bar of the histogram


def print_inspection(inspection: Inspection) -> None:
    """Print what is in a source and how exposed its users are to standard output."""
    console, summary, exposure = Console(highlight=False), inspection.summary, inspection.exposure
    console.print(f"[bold]{escape(printable(inspection.source))}[/bold]")
    histograms = (_histogram(summary),) if summary.kind.varies else ()
    for table in (_counts(summary), _spreads(summary), *histograms, _exposure(exposure, summary.kind)):
        console.print(table)
    console.print(f"\n[bold]{headline(headline_level(exposure), summary.kind)}.[/bold]")


_WORST = 5


def print_audit(audit: Audit, *, show_all: bool = False) -> None:
    """Print the verdict, the worst attacks or all of them, the gates and the evaluation to standard output."""
    console = Console(highlight=False)
    _print_verdict(console, audit_verdict(audit))
    console.print(_criteria(audit))
    shown = audit.outcomes if show_all else worst_of(audit.outcomes, _WORST)
    console.print(_attacks(shown, None if show_all else "The worst outcomes"))
    if len(shown) < len(audit.outcomes):
        console.print(f"{plural(len(audit.outcomes), 'run')} of attacks in all; --all prints every one.")
    for passage in audit.passages:
        console.print(f"gate {passage.gate}: {'pass' if passage.passed else 'fail'}, {escape(passage.reason)}")
    if audit.accepted_breaches:
        console.print(f"breached and accepted by you: {', '.join(audit.accepted_breaches)}")
    if audit.not_accepted:
        console.print(f"breached and not accepted: {', '.join(audit.not_accepted)}")
    if isinstance(audit.evaluation, Evaluation):
        print_evaluation(audit.evaluation)
    if isinstance(audit.fidelity, Fidelity):
        console.print(audit.fidelity.verdict)


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the verdict and the scores to standard output."""
    console = Console(highlight=False)
    _print_verdict(console, evaluate_verdict(evaluation))
    console.print(_scores(evaluation))


def _print_verdict(console: Console, verdict: PageVerdict) -> None:
    console.print(f"[bold]{verdict.word}: {escape(verdict.headline)}[/bold]\n{escape(verdict.text)}\n")


def _table(columns: tuple[str, ...], n_left: int = 1, title: str | None = None) -> Table:
    """Return an empty table whose first columns are aligned to the left, and the others to the right."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    table.title, table.title_justify, table.title_style = title and f"\n{title}", "left", "bold"
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < n_left else "right", overflow="fold")
    return table


def _counts(summary: Summary) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for label, value in _facts(summary):
        table.add_row(label, value)
    return table


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    scale = summary.scale
    yield "users", count(summary.n_users)
    yield "items", count(summary.n_items)
    yield summary.kind.nouns, f"{count(summary.n_ratings)} ({percent(summary.density)} of all pairs)"
    if summary.kind.varies:
        step = "any value between" if scale.step is None else f"in steps of {scale.step:g}"
        yield "scale", f"{scale.low:g} to {scale.high:g}, {step}, mean {summary.mean_rating:.2f}"
    if summary.times is not None:
        yield "time span", f"{day(summary.times.first)} to {day(summary.times.last)}"
    yield "repeated pairs", f"{plural(summary.n_repeated, 'row')} {summary.kind.repeated}"
    if summary.n_skipped:
        yield "bad rows", f"{count(summary.n_skipped)} skipped"
    for note in summary.notes:
        yield "note", escape(as_flags(note))
    for n, share in summary.top_shares:
        yield f"top {count(n)} items", f"{percent(share)} of the {summary.kind.nouns}"


def _spreads(summary: Summary) -> Table:
    columns = ("", *(f"{p:g}" for p in PERCENTILES), "mean")
    table = _table(columns, title=f"{summary.kind.nouns.capitalize()} per user and per item, by percentile")
    for label, spread in (("per user", summary.activity), ("per item", summary.popularity)):
        table.add_row(label, *(count(spread.at(p)) for p in PERCENTILES), number(spread.mean))
    return table


def _histogram(summary: Summary) -> Table:
    noun, nouns = summary.kind.noun, summary.kind.nouns
    table = _table((noun, "share", nouns), title=f"Which {nouns} there are")
    table.add_column("")
    most = max(bar.share for bar in summary.histogram)
    for bar in summary.histogram:
        place = f"{bar.low:g}" if bar.low == bar.high else f"{bar.low:.3g}–{bar.high:.3g}"
        table.add_row(place, percent(bar.share), count(bar.n), "█" * round(_BAR * bar.share / most))
    return table


def _exposure(exposure: Exposure, kind: ValueKind) -> Table:
    """Return how many users are found by known items, and by their values where these differ."""
    title = f"Users singled out by what is known of them ({plural(exposure.n_targets, 'user')}, 95 % intervals)"
    head = ("by items", f"by items and {kind.nouns}", "crowd", f"with {kind.nouns}")
    dated = {level.known: level for level in exposure.by_day}
    days = ("by items and days",) if dated else ()
    table = _table(("known", *(head if kind.varies else head[::2]), *days), title=title)
    table.caption, table.caption_justify = "crowd: how many users fit what is known (median)", "left"
    for known in sorted({level.known for level in exposure.levels}):
        levels = [exposure.at(known, with_ratings=labelled) for labelled in (False, True)][: 1 + kind.varies]
        sizes = [count(level.candidates[2]) for level in levels]
        table.add_row(str(known), *(with_interval(level.unique) for level in levels), *sizes,
                      *([with_interval(dated[known].unique)] if dated else []))  # fmt: skip
    return table


def _criteria(audit: Audit) -> Table:
    actors = list(dict.fromkeys(actor for row in audit.criteria.values() for actor in row["actors"]))
    table = _table(("criterion", "verdict", *actors), n_left=2 + len(actors))
    for criterion, row in audit.criteria.items():
        table.add_row(criterion, row["verdict"], *(row["actors"].get(actor, NOT_APPLICABLE) for actor in actors))
    return table


def _attacks(outcomes: Sequence[Outcome], title: str | None) -> Table:
    table = _table(("attack", "known", "original", "release", "guessing", "limit"), title=title)
    table.add_column("verdict", overflow="fold")
    for one in outcomes:
        name = one.name if one.setting == "plain" else f"{one.name}, {one.setting}"
        known = "" if one.known is None else str(one.known)
        limit = "–" if one.bound is None else percent(one.bound)
        table.add_row(name, known, _rate(one.original), _rate(one.release), percent(one.baseline), limit, one.verdict)
    return table


def _rate(share: Share | None) -> str:
    return "–" if share is None else percent(share.rate)


def _scores(evaluation: Evaluation) -> Table:
    if isinstance(evaluation, UseEvaluation):
        table = _table(("recommender", "trained on", "nDCG@10", "recall@10", "catalogue"), n_left=2)
        for row in score_rows(evaluation):
            table.add_row(*row)
        return table
    table = _table(("predictor", "trained on", "RMSE", "MAE", "covered", "nDCG@10", "recall@10"), n_left=2)
    for name, sides in evaluation.recommenders.items():
        for side, scored in sides.items():
            table.add_row(MODEL_NAMES[name], side, *_cells(scored))
    for name, scored in evaluation.baselines.items():
        table.add_row(MODEL_NAMES[name], "baseline", *_cells(scored))
    table.add_row("own profile", "release", *_cells(RecommenderScore(evaluation.target_deviation)))
    table.add_row("nearest profile", "release", *_cells(RecommenderScore(evaluation.similar_user_deviation)))
    return table


def _cells(one: RecommenderScore) -> tuple[str, ...]:
    ranking = (None, None) if one.ranking is None else (one.ranking.ndcg, one.ranking.recall)
    errors = map(decimals, (one.accuracy.rmse, one.accuracy.mae))
    return (*errors, percent(one.accuracy.coverage), *map(decimals, ranking))
