"""The page of ``recloak reproduce passive``: figures 4 to 7 of paper 003, and what they mean for an operator."""

from dataclasses import dataclass

from recloak._related.passive_experiments import (
    DEFAULTS,
    PARAMETERS,
    PRINTED,
    SAFE_SERIES,
    SERIES,
    ExperimentResult,
    PassiveReproduction,
)
from recloak._report.charts import Axis, Lines, lines
from recloak._report.formats import percent
from recloak._report.page import Account, Better, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

_LABELS = {
    "window": "attack window (releases)",
    "gap": "gap between releases (% of the ratings)",
    "delta": "delta",
    "top": "list length N",
}


@dataclass(frozen=True, slots=True)
class _Figure:
    """One figure of the paper: which field of a result it shows, and how."""

    heading: str
    field: str
    label: str
    intro: str
    better: Better
    digits: int = 3
    is_share: bool = True


_FIGURES = (
    _Figure(
        "Figure 4: overall recall", "recall", "Overall recall",
        "Share of all true entries that stay in their list, mean over the releases after the first.", "higher",
    ),
    _Figure(
        "Figure 4: targeted recall", "targeted_recall", "Targeted recall",
        "The same over lists that differ from the true ones.", "higher",
    ),
    _Figure(
        "Figure 5: suppressed entries", "suppressed", "Suppressed entries per release",
        "True entries that are missing from a release, on average.", "lower", digits=0, is_share=False,
    ),
    _Figure(
        "Figure 6: probability of a successful attack", "max_breach", "Worst breach",
        "Largest probability of a right inference in any pair of releases, by the exact verifier; each method by its "
        "own meaning of evidence, RP by fresh. It must not exceed delta.",
        "lower",
    ),
    _Figure(
        "Figure 7: run time", "seconds", "CPU seconds of anonymising",
        "CPU seconds, all releases together, without similarities and proof. RP only adds noise as ratings arrive.",
        "lower", digits=1, is_share=False,
    ),
)  # fmt: skip


_METHODS = (
    "An observer watches the lists and infers what a person added; delta is how sure of it one may be at most. "
    "PERM moves or removes the entries that would tell more, SUPP only removes them, RP puts noise on the ratings and "
    "bounds nothing. Recall is the share of the true entries that stay."
)


def passive_page(result: PassiveReproduction, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of all methods."""
    figures = tuple(_chapter(result, figure) for figure in _FIGURES)
    return Page(
        title="Thwarting passive attacks, repeated",
        subtitle=f"{source}: {result.n_releases} releases; window 4, gap 5 %, delta 0.1, N = 5 unless varied",
        verdict=_verdict(result),
        facts=_facts(result),
        chapters=(_recall_by_delta(result), _claims(result), *figures, *_printed(result)),
        account=Account(_account(result), provenance),
    )


def _verdict(result: PassiveReproduction) -> PageVerdict:
    held = all(one.max_breach <= run[3] for run, one in result.outcomes.items() if run[0] in SAFE_SERIES)
    default, noise = result.default("PERM, fresh"), result.default("RP")
    headline = (
        f"PERM keeps {percent(default.recall)} of all entries, and no inference from lists that moved is right in more "
        f"than {percent(DEFAULTS['delta'])}."
    )
    if not held:
        return PageVerdict("alert", "Broken", "A release exceeds its delta: see figure 6.")
    text = (
        f"Noise on the ratings (RP) keeps {percent(noise.recall)} and bounds nothing: its worst inference is right in "
        f"{percent(noise.max_breach)}. Under the paper's own reading, total, PERM keeps "
        f"{percent(result.default('PERM, total').recall)}, and no method can keep more than "
        f"{percent(result.ceilings[DEFAULTS['delta']])}."
    )
    return PageVerdict("good", "The bound holds", headline, text)


def _facts(result: PassiveReproduction) -> tuple[Fact, ...]:
    shown = (*((name, result.default(name)) for name in SERIES), *result.printed.items())
    return tuple(
        Fact(name, percent(one.recall), f"of the entries kept; worst breach {one.max_breach:.2f}")
        for name, one in shown
    )


def _recall_by_delta(result: PassiveReproduction) -> Chapter:
    curves = {name: result.curve(name, "delta", "recall") for name in SAFE_SERIES}
    curves["no method above (total)"] = result.ceilings
    meaning = (
        "Choose the smallest delta whose recall you can live with. Fresh bounds the probability that somebody added "
        "the item since the earlier release, total that somebody has it at all; under total an entry that has left can "
        "hardly return, which is why no method can pass the last line."
    )
    chart = _chart("delta", "Overall recall", curves, is_share=True)
    section = Section("Recall against delta", meaning, "higher", chart, _table("delta", curves, 3))
    return Chapter("Which delta?", _METHODS, sections=(section,))


def _claims(result: PassiveReproduction) -> Chapter:
    """Return what the paper says of its figures beside what was found here."""
    perm, supp, noise = (result.default(name) for name in ("PERM, total", "SUPP, total", "RP"))
    faster = supp.seconds / perm.seconds if perm.seconds else float("inf")
    within = max(one.max_breach - run[3] for run, one in result.outcomes.items() if run[0] in SAFE_SERIES)
    kept, spared = perm.recall - supp.recall, supp.suppressed - perm.suppressed
    rows = (
        ("PERM keeps more than SUPP", f"recall {perm.recall:.3f} against {supp.recall:.3f}", _held(kept > 0)),
        ("PERM suppresses less", f"{perm.suppressed:.0f} against {supp.suppressed:.0f}", _held(spared > 0)),
        ("RP keeps least", f"recall {noise.recall:.3f}", _held(noise.recall < min(perm.recall, supp.recall))),
        ("With RP some are found out for sure", f"worst breach {noise.max_breach:.2f}", _held(noise.max_breach > 0.99)),
        ("PERM and SUPP stay within delta", f"at most {within:+.3f} from delta", _held(within <= 0)),
        ("PERM is at least twice as fast", f"{faster:.1f} times as fast", _held(faster >= 2)),
    )  # fmt: skip
    meaning = "The paper prints its figures as curves without values. These are its claims, at the default setting."
    section = Section("The paper's claims, and ours", meaning, table=Table(("Claim", "Here", ""), rows, n_labels=3))
    return Chapter("Beside the paper", sections=(section,))


def _held(holds: bool) -> str:
    return "as in the paper" if holds else "not so here"


def _chapter(result: PassiveReproduction, figure: _Figure) -> Chapter:
    return Chapter(figure.heading, figure.intro, sections=tuple(_section(result, figure, name) for name in PARAMETERS))


def _section(result: PassiveReproduction, figure: _Figure, parameter: str) -> Section:
    curves = {name: result.curve(name, parameter, figure.field) for name in SERIES}
    chart = _chart(parameter, figure.label, curves, is_share=figure.is_share)
    heading = f"{figure.label} by {_LABELS[parameter]}"
    return Section(heading, _reading(figure, curves), figure.better, chart, _table(parameter, curves, figure.digits))


def _reading(figure: _Figure, curves: dict[str, dict[float, float]]) -> str:
    """Return the first and last value of the first series in words."""
    name = next(iter(SAFE_SERIES))
    first, *_, last = curves[name].values()
    return f"{name}: from {first:.{figure.digits}f} to {last:.{figure.digits}f} along the axis."


def _chart(parameter: str, label: str, curves: dict[str, dict[float, float]], *, is_share: bool) -> Lines:
    y = Axis(label, percent=True, low=0.0, high=1.0) if is_share else Axis(label, low=0.0)
    return lines(Axis(_LABELS[parameter], ticks=tuple(float(v) for v in PARAMETERS[parameter])), y, curves)


def _table(parameter: str, curves: dict[str, dict[float, float]], digits: int) -> Table:
    rows = tuple(
        (name, *(f"{curve[value]:.{digits}f}" for value in PARAMETERS[parameter])) for name, curve in curves.items()
    )
    return Table((_LABELS[parameter], *(f"{value:g}" for value in PARAMETERS[parameter])), rows)


def _printed(result: PassiveReproduction) -> tuple[Chapter, ...]:
    if not result.printed:
        return ()
    shown = {**result.printed, **{name: result.default(name) for name in PRINTED}}
    head = ("Method", "Overall recall", "Targeted recall", "Suppressed per release", "Worst breach", "CPU seconds")
    meaning = (
        "The printed steps handle one item after the other: a replacement or an exchange can undo what was done "
        "before, so the worst breach stays above delta. Ours is safe as a whole."
    )
    table = Table(head, tuple((name, *_cells(one)) for name, one in shown.items()))
    return (Chapter("The printed algorithm", sections=(Section("At the default setting", meaning, table=table),)),)


def _cells(one: ExperimentResult) -> tuple[str, ...]:
    shares = (f"{one.recall:.3f}", f"{one.targeted_recall:.3f}")
    return (*shares, f"{one.suppressed:.0f}", f"{one.max_breach:.3f}", f"{one.seconds:.1f}")


def _account(result: PassiveReproduction) -> tuple[str, ...]:
    steps = (
        "True lists: cosine over ratings, the first from 10 % of the ratings, then one after every gap.",
        "PERM and SUPP are made safe as a whole; replacements come from the 20 most similar items.",
        "RP disturbs every rating once with uniform noise of variance 1.",
        "Every release was checked by the exact verifier against the releases of its window.",
    )
    return (*steps, "The printed algorithm ran at the default setting only.") if result.printed else steps
