"""The page of ``recloak audit``: every attack on the original and on the release, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Passage
from recloak._attacks.model import Outcome
from recloak._evaluation.model import Evaluation
from recloak._report.audit_sections import by_attack, cell_sections, naming_sections, titles_of, verdict_in_words
from recloak._report.evaluate_page import evaluate_account, evaluate_chapter
from recloak._report.formats import count, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table


def audit_page(
    found: Audit,
    useful: Evaluation | None = None,
    *,
    manifest: dict[str, Any],
    source: str,
    provenance: tuple[tuple[str, str], ...] = (),
) -> Page:
    """Put an audit, and where there is one the evaluation of the same release, onto one page."""
    more = () if useful is None else (evaluate_chapter(useful),)
    steps = () if useful is None else evaluate_account(useful)
    return Page(
        title="How risky is this release, and what is it good for?" if more else "How risky is this release?",
        subtitle=source,
        verdict=audit_verdict(found),
        facts=audit_facts(found, manifest),
        chapters=(*audit_chapters(found), *more),
        account=Account((*audit_account(found), *steps), provenance),
    )


def audit_verdict(found: Audit) -> PageVerdict:
    """Say what was broken first, then what was not measured, then what was bounded."""
    text = " ".join(_sentences(found))
    closed = [passage for passage in found.passages if not passage.passed]
    if closed:
        return PageVerdict("alert", "Gate closed", f"{closed[0].gate} does not hold: {closed[0].reason}.", text)
    if found.verdict == "fail":
        return PageVerdict("alert", "Breached", "Some people can be named more often than the release promises.", text)
    if found.verdict == "not measured":
        which = "attack" if found.failures else "attack on identity"
        headline = f"Not every {which} could be run, so nothing is sure."
        return PageVerdict("caution", "Not measured", headline, text)
    if any(one.verdict == "breached" for one in found.outcomes):
        headline = "Nobody is named more often than promised, but the release tells more than a guess would."
        return PageVerdict("caution", "Bounded, with leaks", headline, text)
    return PageVerdict("good", "Bounded", "No attack got further than the release promises.", text)


def _sentences(found: Audit) -> Iterator[str]:
    named = [one for one in found.outcomes if one.identifies and one.release is not None]
    if named:
        yield _strongest(max(named, key=lambda one: one.release.high if one.release else 0.0))
    told = [one for one in found.outcomes if one.verdict == "breached" and not one.identifies]
    if told:
        yield f"More than a guess about hidden people: {titles_of(told)}."
    missing = [one for one in found.outcomes if one.verdict == "not measured"]
    if missing:
        yield f"Not measured, so nothing is said about it: {titles_of(missing)}."
    for attack, runs in by_attack(found.failures).items():
        yield f"“{attack.title}” broke down: {runs[0].reason}."


def _strongest(worst: Outcome) -> str:
    assert worst.release is not None
    before = "" if worst.original is None else f"; in the original data it names {percent(worst.original.rate)}"
    known = "" if worst.known is None else f" with {plural(worst.known, 'known rating')}"
    setting = "" if worst.setting == "plain" else f", {worst.setting}"
    return (
        f"The strongest attack on identity is “{worst.attack.title}”{known}{setting}: it names "
        f"{with_interval(worst.release)} of the targets{before}. The release promises at most "
        f"{percent(worst.bound or 0.0)}."
    )


def audit_facts(found: Audit, manifest: dict[str, Any]) -> tuple[Fact, ...]:
    """Give the figures one looks for first."""
    targets = max((one.release.n for one in found.outcomes if one.release and one.identifies), default=0)
    breached = sum(one.verdict == "breached" for one in found.outcomes)
    missing = sum(one.verdict == "not measured" for one in found.outcomes)
    return (
        Fact("Promise", f"k = {manifest.get('k', '?')}", f"{manifest.get('mode', 'unknown')} release"),
        Fact("Users", count(manifest.get("n_users", 0)), f"in {count(manifest.get('n_groups', 0))} groups"),
        Fact("Targets", count(targets), "drawn at random for each attack"),
        Fact("Attacks", count(len(found.outcomes)), f"{breached} breached, {missing} not measured"),
    )


def audit_chapters(found: Audit) -> tuple[Chapter, ...]:
    """Give the chapters on identity, on what else is told, and on the gates."""
    chapters = (_naming(found), _beyond(found), _gates(found.passages))
    return tuple(chapter for chapter in chapters if chapter.sections)


def _naming(found: Audit) -> Chapter:
    intro = (
        "Each attacker knows some of a target's ratings and names a released user. k-anonymity promises that nobody is "
        "named more often than one time in k. How often the right group is named is shown beside it: it tells how much "
        "the groups themselves give away, which k-anonymity does not bound. “Bounded by” gives the upper end of the "
        "95 % interval; “breached” means that even its lower end lies above what is promised."
    )
    return Chapter("Can a person be found?", intro, sections=naming_sections(found.outcomes))


def _beyond(found: Audit) -> Chapter:
    intro = (
        "A person who stays hidden in a group may still be told on: by what the whole group has in common, by a label "
        "that betrays who is behind it, or by members who compare. k-anonymity promises nothing here, so each attack "
        "stands beside what an attacker guesses without the release; more than five points above it is called breached."
    )
    return Chapter("What is told about people who stay hidden?", intro, sections=cell_sections(found.outcomes))


def _gates(passages: tuple[Passage, ...]) -> Chapter:
    if not passages:
        return Chapter("Gates")
    rows = tuple((str(one.gate), "passed" if one.passed else "closed", one.reason) for one in passages)
    meaning = "Lines that this release must stay below; the upper end of the 95 % interval counts."
    section = Section("Lines to stay below", meaning, table=Table(("Gate", "Result", "Why"), rows, n_labels=3))
    return Chapter("Gates", sections=(section,))


def audit_account(found: Audit) -> tuple[str, ...]:
    """Tell what was done, one step for each kind of attack."""
    steps = [
        "Verified the release from its public files, and read it as a stranger would. The private mapping was used "
        "only to score the attackers."
    ]
    for attack, runs in by_attack(found.outcomes).items():
        steps.append(f"{attack.title}: the attacker {_attacker(runs)}. {_results(runs)}.")
    return tuple(steps)


def _attacker(runs: list[Outcome]) -> str:
    """Say who attacks, leaving out how much is known where several runs differ in that."""
    return runs[0].attack.attacker if len(runs) > 1 else runs[0].attacker.replace("; ", ", ")


def _results(runs: list[Outcome]) -> str:
    words = {verdict_in_words(one) for one in runs}
    shown = max(runs, key=lambda one: one.release.high if one.release else -1.0)
    ran = plural(len(runs), "run")
    return (
        f"{ran}: {verdict_in_words(shown)}" + ("" if len(words) == 1 else " at most")
        if shown.release
        else f"{ran}: not measured"
    )
