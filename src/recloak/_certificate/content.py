"""What a certificate says: built from the manifest, the verdict of the verifier and, where there is one, an audit.

Every sentence comes from one of these. What the public files show is *proved*, and the rest that a release promises is
*claimed*. What nobody measured is called *not measured*. The page names no source, no seed of the release and no
person, so that it can be handed out with the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from recloak._attacks.attack import CRITERIA
from recloak._attacks.audit_result import seed_of_release
from recloak._attacks.registry import attacks
from recloak._certificate.audit_findings import (
    NOT_MEASURED,
    AuditedRelease,
    CriterionFinding,
    breached,
    findings_of,
    not_accepted,
    overall,
)
from recloak._certificate.promises import claimed, proved
from recloak._core.errors import InputError
from recloak._releases.model.manifest import facts_in
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import Verdict
from recloak._report.formats import count, percent, plural
from recloak._report.provenance import versions

_MOST_FILES = 6

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a certificate cannot know by itself."""

    made_on: date
    review: date | None = None
    owner: str = ""
    key: str | None = None  # fingerprint of the owner's key, where the certificate is signed


@dataclass(frozen=True, slots=True)
class Certificate:
    """One page: a headline, what was released, what was proved, what was attacked, what is not covered."""

    tone: str  # good, caution or alert
    headline: str
    released: Rows  # label, value
    files: Rows  # name, size, SHA-256
    proved: tuple[str, ...]
    claimed: tuple[str, ...]  # by the publisher, not checked
    attacked: Rows  # criterion, verdict, the strongest attack
    attacked_note: str
    not_covered: tuple[str, ...]
    dates: Rows  # label, value
    manifest_sha256: str
    signed: bool


def certificate_of(
    manifest: Mapping[str, Any], manifest_sha256: str, verdict: Verdict, audit: Mapping[str, Any] | None,
    about: Circumstances,
) -> Certificate:  # fmt: skip
    """Return the certificate of a release that passed; raise InputError for one that did not, or another's audit."""
    _require_proof(verdict)
    _require_same(audit, manifest_sha256)
    findings = {} if audit is None else findings_of(audit, AuditedRelease.of(manifest))
    tone, found = _outcome(audit, findings)
    return Certificate(
        tone=tone,
        headline=f"{_proof(manifest, verdict)} Attacks: {found}.",
        released=tuple(_released(manifest)),
        files=_files(manifest),
        proved=tuple(_proved(manifest, verdict)),
        claimed=tuple(claimed(manifest, verdict)),
        attacked=_attacked(audit, findings),
        attacked_note=" ".join(_note(audit)),
        not_covered=tuple(_not_covered(manifest, verdict)),
        dates=tuple(_dates(about)),
        manifest_sha256=manifest_sha256,
        signed=about.key is not None,
    )


def _require_proof(verdict: Verdict) -> None:
    if not verdict.passed:
        raise InputError(f"a release that fails gets no certificate: {verdict.problems[0]}")
    if verdict.content:
        raise InputError("a certificate needs the check of every byte; leave content=True out")


def _require_same(audit: Mapping[str, Any] | None, manifest_sha256: str) -> None:
    """Refuse the audit of another release, and one that does not say of which it is."""
    if audit is None:
        return
    if audit.get("manifest_sha256") != manifest_sha256:
        raise InputError("the audit is of another release: it names another manifest, or none")


def _proof(manifest: Mapping[str, Any], verdict: Verdict) -> str:
    first = proved(manifest, verdict)[0]
    return f"Proved: {first[:1].lower()}{first[1:]}"


def _outcome(audit: Mapping[str, Any] | None, findings: Mapping[str, CriterionFinding]) -> tuple[str, str]:
    """Return the tone and what the attacks came to."""
    if audit is None:
        return "caution", NOT_MEASURED
    found = overall(audit, findings)
    if found == "breached":
        others = [*not_accepted(audit), *_closed(audit)]
        told = "and not accepted by the owner" if others else "which the owner accepts as listed below"
        return "alert", f"breached, {told}"
    return ("good" if found == "bounded" else "caution"), found


def _closed(audit: Mapping[str, Any]) -> list[str]:
    return [str(one["gate"]) for one in audit.get("gates", ()) if not one["passed"]]


def _released(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    mode = MODES[manifest["mode"]]
    people, groups = count(manifest["n_users"]), count(manifest["n_groups"])
    yield "Data", f"{plural(manifest['n_ratings'], 'rating')} of {plural(manifest['n_items'], 'item')}"
    yield "People", f"{people} in {groups} groups"
    yield "Method, as claimed", f"mode {mode.name} ({mode.text}), k = {manifest['k']}"
    yield "A rating, as claimed", facts_in(dict(manifest)).label_meaning
    yield "Manifest", "manifest.json, whose SHA-256 below stands for all files"


def _files(manifest: Mapping[str, Any]) -> Rows:
    """Return the first files; the manifest's hash covers all."""
    named = list(manifest["files"].items())
    shown = [(name, f"{count(about['bytes'])} bytes", about["sha256"]) for name, about in named[:_MOST_FILES]]
    more = len(named) - _MOST_FILES
    return (*shown, *([(f"and {plural(more, 'more file')}", "", "hashes in manifest.json")] if more > 0 else []))


def _proved(manifest: Mapping[str, Any], verdict: Verdict) -> Iterator[str]:
    yield (
        f"Check: recloak verify, from the public files alone, by code that shares nothing with what made the release. "
        f"Result: pass. Smallest group found: {verdict.k_found}; required: {verdict.k_required}. Every byte of every "
        "file was accounted for."
    )
    yield from proved(manifest, verdict)


def _attacked(audit: Mapping[str, Any] | None, findings: Mapping[str, CriterionFinding]) -> Rows:
    if audit is None:
        return tuple((_words(one), NOT_MEASURED, "No audit was given.") for one in CRITERIA)
    return tuple(_criterion(one, findings[one], audit) for one in CRITERIA)


def _words(criterion: str) -> str:
    return criterion.replace("-", " ").capitalize()


def _criterion(name: str, finding: CriterionFinding, audit: Mapping[str, Any]) -> tuple[str, str, str]:
    tried = [one for one in audit["attacks"] if one["criterion"] == name and one.get("release")]
    strongest = _sentence(max(tried, key=_excess)) if tried else "No attack was measured."
    return _words(name), finding.verdict, f"{finding.sentence()} {strongest}".strip()


def _excess(one: Mapping[str, Any]) -> float:
    """Return how far an attack got above what it may reach: the larger, the worse."""
    bound = one["bound"] if one.get("bound") is not None else one["baseline"]
    breached = 1.0 if one["verdict"] == "breached" else 0.0
    return breached + float(one["release"]["high"]) - float(bound)


def _sentence(one: Mapping[str, Any]) -> str:
    titles = {attack.name: attack.title for attack in attacks()}
    release, known = one["release"], "" if one.get("known") is None else f", {one['known']} items known"
    reached = f"{percent(release['rate'])} (95 % interval {100 * release['low']:.1f} to {100 * release['high']:.1f})"
    limit = "" if one.get("bound") is None else f"; called breached above {percent(one['bound'])}"
    attack, baseline = titles.get(one["name"], one["name"]), percent(one["baseline"])
    return f"{attack}{known}: {reached}; without the release {baseline}{limit}."


def _note(audit: Mapping[str, Any] | None) -> Iterator[str]:
    yield "Per criterion of the European data protection authorities (WP216), the strongest attack."
    if audit is None:
        return
    missing = sum(one["verdict"] == NOT_MEASURED for one in audit["attacks"])
    yield f"{plural(len(audit['attacks']), 'run')} of attacks, {count(missing)} of them not measured."
    yield "The figures are those of the audit that the publisher gave; they were not measured again."
    yield _how_drawn(audit)
    if audit.get("promise") == "not measured":
        yield "Some attacks that name people could not be measured, so nothing is known about them."
    others = not_accepted(audit)
    if accepted := [one for one in breached(audit) if one not in others]:
        yield f"Breached and accepted by the owner: {', '.join(accepted)}."
    if others:
        yield f"Breached and not accepted: {', '.join(others)}."
    for one in audit.get("gates", ()):
        yield f"Gate {one['gate']}: {'passed' if one['passed'] else 'failed'}."


def _how_drawn(audit: Mapping[str, Any]) -> str:
    """Return how the targets were drawn; a seed that follows from the release was not chosen for its outcome."""
    seed, targets = audit.get("seed"), audit.get("targets")
    if not isinstance(seed, int) or not isinstance(targets, int):
        return "How many targets were drawn, and by which seed, is not known."
    follows = seed == seed_of_release(str(audit.get("manifest_sha256")))
    whose = "follows from the release" if follows else f"is {seed}, which the publisher chose"
    return f"At most {plural(targets, 'target')} for each attack; the seed that drew them {whose}."


def _not_covered(manifest: Mapping[str, Any], verdict: Verdict) -> Iterator[str]:
    yield from manifest["not_promised"]
    for claim in verdict.unchecked:
        yield f"Not checked here, since it needs the source: {claim}."
    yield (
        "Attacks that recloak does not know, and knowledge that nobody foresaw. Whether the data are anonymous in the "
        "sense of a law is a judgement for lawyers, for which this page gives facts."
    )


def _dates(about: Circumstances) -> Iterator[tuple[str, str]]:
    yield "Date", about.made_on.isoformat()
    yield "Review by", "no review date was set" if about.review is None else about.review.isoformat()
    yield "Owner", about.owner or "not named"
    yield "Key", about.key or "not signed"
    yield "Versions", versions()
