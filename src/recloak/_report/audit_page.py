"""The page of ``recloak audit``: every attack on the original and on the release, side by side."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from recloak._attacks.attack import ACTORS, CRITERIA
from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Passage
from recloak._attacks.model import Outcome
from recloak._evaluation.fidelity.model import Fidelity
from recloak._evaluation.model import Evaluation
from recloak._report.audit_sections import (
    by_attack,
    cell_sections,
    naming_sections,
    titles_of,
    verdict_in_words,
    worst_section,
)
from recloak._report.evaluate_page import evaluate_account, usefulness_chapters
from recloak._report.fidelity_page import fidelity_account, leaderboard_chapters
from recloak._report.formats import count, percent, plural, with_interval
from recloak._report.measured_remedies import NO_ALTERNATIVES, Alternatives
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table, Tone


def audit_page(
    audit: Audit, evaluation: Evaluation | None = None, fidelity: Fidelity | None = None, *, manifest: dict[str, Any],
    source: str, provenance: Provenance = (), alternatives: Alternatives = NO_ALTERNATIVES,
) -> Page:  # fmt: skip
    """Return the page of an audit and, where they were measured, of the usefulness of the same release.

    ``alternatives`` say what other settings would bring, where a frontier measured them.
    """
    more = () if evaluation is None else usefulness_chapters(evaluation)
    steps = () if evaluation is None else evaluate_account(evaluation)
    boards = () if fidelity is None else leaderboard_chapters(fidelity)
    steps += () if fidelity is None else fidelity_account(fidelity)
    return Page(
        title="How risky is this release, and what is it good for?" if more or boards else "How risky is this release?",
        subtitle=source,
        verdict=audit_verdict(audit),
        facts=audit_facts(audit, manifest),
        chapters=(*overview_chapters(audit, alternatives), *more[:1], *detail_chapters(audit), *more[1:], *boards),
        account=Account((*audit_account(audit), *steps), provenance, folded=True),
    )


NOT_APPLICABLE = "not applicable"
_MOST_TITLES = 3  # of attacks in one sentence
_TONES: dict[str, Tone] = {"breached": "alert", "not measured": "caution", "bounded": "good"}


def audit_verdict(audit: Audit) -> PageVerdict:
    """Return the verdict: what was broken comes first, then what was not measured, then what was bounded."""
    text = " ".join(_sentences(audit))
    if closed := [passage for passage in audit.passages if not passage.passed]:
        return PageVerdict("alert", "Gate failed", f"{closed[0].gate} does not hold: {closed[0].reason}.", text)
    return PageVerdict(_TONES[audit.verdict], audit.verdict.capitalize(), _headline(audit), text)


def _headline(audit: Audit) -> str:
    """Return the worst news in one sentence."""
    if audit.promise == "fail":
        return "Some people can be named more often than the release promises."
    if audit.verdict == "breached":
        which = _listed([one for one in CRITERIA if audit.verdict_on(one) == "breached"])
        if audit.promise != "pass":
            return f"The release reveals more than it should ({which}), and whether people can be named is not known."
        return f"Nobody is named more often than promised, but the release reveals more than it should: {which}."
    if audit.verdict == "bounded":
        return "No attack got further than the release promises, or than a guess without it."
    if audit.failures or audit.promise == "not measured":
        return f"Not every {'attack' if audit.failures else 'attack on identity'} could be run, so nothing is sure."
    which = _listed([one for one in CRITERIA if audit.verdict_on(one) == "not measured"])
    return f"No attack that was run got further than it should, but what was run does not settle {which}."


def _listed(criteria: list[str]) -> str:
    *first, last = (one.replace("-", " ") for one in criteria)
    return f"{', '.join(first)} and {last}" if first else last


def _sentences(audit: Audit) -> Iterator[str]:
    if identifying := [one for one in audit.outcomes if one.identifies and one.release is not None]:
        yield _strongest(max(identifying, key=lambda one: one.release.high if one.release else 0.0))
    if leaking := [one for one in audit.outcomes if one.verdict == "breached" and not one.identifies]:
        yield f"Better than guessing without the release: {titles_of(leaking)}."
    if missing := [one for one in audit.outcomes if one.verdict == "not measured"]:
        yield _not_measured(missing)
    if idle := [one for one in audit.outcomes if one.verdict == "not applicable"]:
        yield f"Not applicable to what this source holds, which is neither good nor bad news: {titles_of(idle)}."
    for attack, runs in by_attack(audit.failures).items():
        yield f"“{attack.title}” broke down: {runs[0].reason}."


def _not_measured(missing: list[Outcome]) -> str:
    """Return a sentence on what is not known; a long list is for the chapter of its own."""
    attacks = by_attack(missing)
    if len(attacks) > _MOST_TITLES:
        return f"Nothing is known about {plural(len(attacks), 'kind')} of attack, which were not measured."
    return f"Not measured, so nothing is known about it: {titles_of(missing)}."


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


def audit_facts(audit: Audit, manifest: dict[str, Any]) -> tuple[Fact, ...]:
    """Return the key figures of an audit."""
    targets = max((one.release.n for one in audit.outcomes if one.release and one.identifies), default=0)
    breached = sum(one.verdict == "breached" for one in audit.outcomes)
    missing = sum(one.verdict == "not measured" for one in audit.outcomes)
    idle = sum(one.verdict == "not applicable" for one in audit.outcomes)
    others = f", {idle} not applicable" if idle else ""
    return (
        Fact("Promise", f"k = {manifest.get('k', '?')}", f"{manifest.get('mode', 'unknown')} release"),
        Fact("Users", count(manifest.get("n_users", 0)), f"in {count(manifest.get('n_groups', 0))} groups"),
        Fact("Targets", count(targets), "drawn at random for each attack"),
        Fact("Attacks", count(len(audit.outcomes)), f"{breached} breached, {missing} not measured{others}"),
    )


def overview_chapters(audit: Audit, alternatives: Alternatives = NO_ALTERNATIVES) -> tuple[Chapter, ...]:
    """Return what suffices to decide: the table of criteria, the gates, and the worst outcomes."""
    worst = Chapter("The three worst outcomes, and what to do", sections=worst_section(audit.outcomes, alternatives))
    chapters = (_criteria_chapter(audit), _gates_chapter(audit.passages), worst)
    return tuple(chapter for chapter in chapters if chapter.sections)


def detail_chapters(audit: Audit) -> tuple[Chapter, ...]:
    """Return the chapters on identity and on what else is revealed, folded."""
    chapters = (_identity_chapter(audit), _leaks_chapter(audit), _missing_chapter(audit))
    return tuple(replace(chapter, folded=True) for chapter in chapters if chapter.sections)


def _missing_chapter(audit: Audit) -> Chapter:
    """Return every attack that was not measured, with the reason."""
    missing = by_attack(one for one in audit.outcomes if one.verdict == "not measured")
    if not missing:
        return Chapter("What was not measured")
    rows = tuple((attack.title, runs[0].reason or "the attack did not run") for attack, runs in missing.items())
    section = Section("Attacks without a result", "Nothing is known about these. Never read this as safe.",
                      table=Table(("Attack", "Why it was not measured"), rows, n_labels=2))  # fmt: skip
    return Chapter("What was not measured", sections=(section,))


def _criteria_chapter(audit: Audit) -> Chapter:
    """Return the table of criteria by actors, with which the page opens."""
    if not audit.outcomes:
        return Chapter("Verdict by criterion and attacker")
    actors = [one for one in ACTORS if any(one in row["actors"] for row in audit.criteria.values())]
    head = ("Criterion", "Verdict", *(f"{one.capitalize()}: {ACTORS[one]}" for one in actors))
    rows = tuple(
        (
            name.replace("-", " ").capitalize(),
            row["verdict"],
            *(row["actors"].get(one, NOT_APPLICABLE) for one in actors),
        )
        for name, row in audit.criteria.items()
    )
    meaning = (
        "Breached: an attack got further than it should. Bounded: attacks were run and none did. Not measured: nothing "
        "is settled; never read this as safe. Not applicable: recloak has no attack of this kind. The criteria are "
        "those of the European data protection authorities (WP216)."
    )
    section = Section("", meaning, table=Table(head, rows, n_labels=len(head)))
    return Chapter("Verdict by criterion and attacker", sections=(section,))


def _identity_chapter(audit: Audit) -> Chapter:
    intro = (
        "Each attacker knows some of a target's ratings and names a released user. k-anonymity promises that nobody is "
        "named more often than one time in k. How often the right group is named is shown beside it: it tells how much "
        "the groups themselves give away, which k-anonymity does not bound. “Bounded by” gives the upper end of the "
        "95 % interval; “breached” means that even its lower end lies above what is promised."
    )
    return Chapter("Can a person be found?", intro, sections=naming_sections(audit.outcomes))


def _leaks_chapter(audit: Audit) -> Chapter:
    intro = (
        "A group can hide a person and still reveal something about them: what all its members have in common, a "
        "rating that shows who is behind it, or what members learn by comparing. k-anonymity does not limit this. Each "
        "attack is shown against what the attacker can guess without the release; more than five percentage points "
        "above that is called breached."
    )
    return Chapter(
        "What does the release reveal about people it does not name?", intro, sections=cell_sections(audit.outcomes)
    )


def _gates_chapter(passages: tuple[Passage, ...]) -> Chapter:
    if not passages:
        return Chapter("Gates")
    rows = tuple((str(one.gate), "pass" if one.passed else "fail", one.reason) for one in passages)
    meaning = "Lines that this release must stay below; the upper end of the 95 % interval counts."
    section = Section("Lines to stay below", meaning, table=Table(("Gate", "Result", "Why"), rows, n_labels=3))
    return Chapter("Gates", sections=(section,))


def audit_account(audit: Audit) -> tuple[str, ...]:
    """Return what was done, one step for each kind of attack."""
    steps = [
        "Verified the release from its public files, and read it as a stranger would. The private mapping was used "
        "only to score the attackers."
    ]
    for attack, runs in by_attack(audit.outcomes).items():
        steps.append(f"{attack.title}: the attacker {_attacker(runs)}. {_results(runs)}.")
    return tuple(steps)


def _attacker(runs: list[Outcome]) -> str:
    """Return who attacks, without how much is known if several runs differ in that."""
    return runs[0].attack.attacker if len(runs) > 1 else runs[0].attacker.replace("; ", ", ")


def _results(runs: list[Outcome]) -> str:
    worst = max(runs, key=lambda one: one.release.high if one.release else -1.0)
    verdict = verdict_in_words(worst) if worst.release else worst.verdict
    at_most = " at most" if worst.release and len({verdict_in_words(one) for one in runs}) > 1 else ""
    return f"{plural(len(runs), 'run')}: {verdict}{at_most}"
