"""The page of ``recloak related advise``: what is kept against what is inferred, our settings beside other ways."""

from recloak._attacks.yields import ACCURACIES
from recloak._evaluation.list_advice import JUDGED_AT, LATER, NOISE, RARER, TRUE, AdvisedSetting, ListAdvice
from recloak._report.charts import Axis, ChartPoint, Lines, Series
from recloak._report.formats import count, decimals, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table


def advice_page(advice: ListAdvice, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of an advice."""
    return Page(
        title="Related lists: which delta, which horizon?",
        subtitle=source,
        verdict=_verdict(advice),
        facts=_facts(advice),
        chapters=(Chapter("What is kept, and what is inferred", sections=(_section(advice),)),),
        account=Account(_account(advice), provenance),
    )


def _verdict(advice: ListAdvice) -> PageVerdict:
    if advice.best is None:
        return PageVerdict("caution", "None recommended", advice.sentence)
    return PageVerdict("plain", "Recommended", advice.sentence)


def _facts(advice: ListAdvice) -> tuple[Fact, ...]:
    seen = advice.others[0].observation
    return (
        Fact("Releases", count(advice.n_releases), "replayed for every setting"),
        Fact("Targets", count(seen.n_targets), f"with {count(seen.n_added)} additions between releases"),
        Fact("Settings", count(len(advice)), f"beside {plural(len(advice.others), 'other way')} to publish"),
    )


def _section(advice: ListAdvice) -> Section:
    meaning = (
        "To the right more of the true lists is kept; further down less is inferred. The yield is the share of all "
        f"that people added that a learned observer infers while {JUDGED_AT:.0%} of the inferences are right. A delay "
        "protects nobody who waits, so its yield is that of true lists. Noise is on counts of people per item and "
        "pair, private over all releases together; per person it hides all that somebody rated, per rating one rating."
    )
    measured = [one for one in (*advice.settings, *advice.others) if one.observation.is_measured]
    return Section("Which way to publish?", meaning, None, _chart(measured) if measured else None, _table(advice))


def _chart(found: list[AdvisedSetting]) -> Lines:
    ways = {"bound": [one for one in found if one.delta is not None]}
    for way in (TRUE, RARER, LATER, NOISE):
        ways[way] = [one for one in found if one.way == way]
    series = tuple(
        Series(name, tuple(sorted(map(_point, some), key=lambda point: point.x))) for name, some in ways.items() if some
    )
    return Lines(
        Axis("true entries kept", percent=True, low=0, high=1),
        Axis(f"yield, {JUDGED_AT:.0%} right", percent=True, low=0),
        series,
    )


def _point(one: AdvisedSetting) -> ChartPoint:
    found = next(each.yielded for each in one.observation.yields or () if each.accuracy == JUDGED_AT)
    return ChartPoint(one.recall, found.rate, found.low, found.high)


def _table(advice: ListAdvice) -> Table:
    head = ("Way", "Setting", "Recall", "Last recall", "Breach", *(f"{level:.0%} right" for level in ACCURACIES))
    return Table(head, tuple(_row(one) for one in (*advice.settings, *advice.others)), n_labels=2)


def _row(one: AdvisedSetting) -> tuple[str, ...]:
    yields = [with_interval(each.yielded) for each in one.observation.yields or ()] or ["not measured"] * len(
        ACCURACIES
    )
    return (one.way, one.name, percent(one.recall), percent(one.last_recall), decimals(one.max_breach), *yields)


def _account(advice: ListAdvice) -> tuple[str, ...]:
    return (
        f"Replayed the ratings as {plural(advice.n_releases, 'release')} for every setting; each was verified.",
        "Measured recall against the true lists of the same night under the same static rule.",
        "Attacked each with an observer who knows all that a target held, taught by the other half of the people.",
        "A setting protects if its yield is, even by the upper end of its interval, at most two thirds of that of true "
        f"lists. Of those that protect and keep {percent(advice.least_recall)}, recommended is the one that keeps most "
        "among those whose yield cannot be told from the lowest. Where none protects, none is recommended.",
    )
