"""The page of ``recloak reproduce passive``: figures 4 to 7 of paper 003, and what an operator may read from them."""

from __future__ import annotations

from recloak.related.reproduce import DEFAULTS, PARAMETERS, SERIES, Outcome, Reproduction
from recloak.report.charts import Axis, lines
from recloak.report.page import Account, Chapter, Fact, Good, Page, Section, Table, Verdict

_LABELS = {
    "window": "attack window (releases)",
    "gap": "gap between releases (% of the ratings)",
    "delta": "delta",
    "top": "list length N",
}
_FIGURES: tuple[tuple[str, str, str, str, Good, bool], ...] = (
    (
        "Figure 4: overall recall",
        "recall",
        "recall",
        "Share of all true entries that stay in their list.",
        "higher",
        True,
    ),
    (
        "Figure 4: targeted recall",
        "targeted_recall",
        "targeted recall",
        "The same over lists that differ from the true ones.",
        "higher",
        True,
    ),
    (
        "Figure 5: suppressed entries",
        "suppressed",
        "entries per release",
        "True entries that are missing.",
        "lower",
        False,
    ),
    (
        "Figure 6: worst breach",
        "max_breach",
        "probability",
        "Largest probability of a right inference, by the exact verifier, each method by its own meaning of evidence.",
        "lower",
        True,
    ),
    ("Figure 7: run time", "seconds", "seconds", "Seconds of anonymising over all releases.", "lower", False),
)


def passive_page(found: Reproduction, source: str) -> Page:
    """Put all methods on one page."""
    chapters = tuple(_chapter(found, *figure) for figure in _FIGURES)
    return Page(
        title="Thwarting passive attacks: the paper's experiments",
        subtitle=f"{source}, {found.n_releases} releases, defaults: window 4, gap 5 %, delta 0.1, N = 5",
        verdict=_verdict(found),
        chapters=chapters,
        account=Account(
            (
                "True lists: cosine over ratings, the first from 10 % of the ratings, then one after every gap.",
                "PERM and SUPP are safe as a whole; the printed algorithm ran at the default setting only.",
                "Every release was checked by the exact verifier against the releases of its window.",
            )
        ),
        facts=tuple(
            Fact(one.series, f"{one.recall:.3f}", f"recall; worst breach {one.max_breach:.2f}") for one in found.literal
        ),
    )


def _verdict(found: Reproduction) -> Verdict:
    safe = [one for one in found.outcomes if one.series != "RP"]
    held = all(one.max_breach <= _delta(one) for one in safe)
    default = next(one for one in safe if one.series == "PERM, fresh" and one.parameter == "window" and one.value == 4)
    word = "holds" if held else "broken"
    text = "RP (noise on ratings) bounds nothing; the printed algorithm leaves violations."
    headline = f"PERM keeps {default.recall:.1%} of all entries with every inference at most {DEFAULTS['delta']:.0%}."
    return Verdict("good" if held else "alert", word, headline, text)


def _delta(one: Outcome) -> float:
    return one.value if one.parameter == "delta" else DEFAULTS["delta"]


def _chapter(
    found: Reproduction, heading: str, figure: str, label: str, meaning: str, good: Good, is_share: bool
) -> Chapter:
    sections = []
    for parameter in PARAMETERS:
        series = {name: _curve(found, name, parameter, figure) for name in SERIES}
        y = Axis(label, low=0.0, high=1.0) if is_share else Axis(label, low=0.0)
        rows = tuple((name, *(f"{series[name][value]:.3f}" for value in PARAMETERS[parameter])) for name in SERIES)
        table = Table(("method", *(f"{value:g}" for value in PARAMETERS[parameter])), rows)
        chart = lines(Axis(_LABELS[parameter]), y, series)
        sections.append(Section(f"{label.capitalize()} by {_LABELS[parameter]}", meaning, good, chart, table))
    return Chapter(heading, sections=tuple(sections))


def _curve(found: Reproduction, series: str, parameter: str, figure: str) -> dict[float, float]:
    return {
        one.value: getattr(one, figure) for one in found.outcomes if one.series == series and one.parameter == parameter
    }
