"""A policy as one frozen value, read from a TOML file or taken from a preset.

    review = "12 months"      # or a date: 2027-11-01

    [publish]                 # options of recloak publish
    mode = "padded"
    k = 10

    [audit]                   # options of recloak audit
    gates = ["scoreboard@8<0.05"]

    [evaluate]                # options of recloak evaluate
    holdout = 0.1

Everything is checked when the file is read, before any work is done. A key that does not exist is refused with the
file, the key and the rule.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from recloak._attacks.gate import parse_gate
from recloak._attacks.registry import attacks
from recloak._core.errors import OptionError, SourceError
from recloak._core.results import counted
from recloak._core.spelling import did_you_mean
from recloak._policy.options import PRESETS, AuditPlan, EvaluatePlan, changed
from recloak._policy.review import Review
from recloak._releases.options import FACTORS, PublishOptions, StatisticsOptions, WriteOptions

_SECTIONS = ("publish", "audit", "evaluate")
_KEYS = ("about", "review", *_SECTIONS)


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """What a release must promise, what it must withstand, and when it must be reviewed.

    Attributes
    ----------
    name : str
        The preset's name, or the name of the file without its ending.
    about : str
        What it is for, in a sentence.
    publish : PublishOptions
        How the release is made.
    writing : WriteOptions
        How its tables are written.
    counting : StatisticsOptions
        Which counts are published beside the rows.
    audit : AuditOptions
        How it is attacked, with the ``gates`` that must hold and the breaches that the owner will ``accept``.
    evaluate : EvaluateOptions
        How usefulness is measured.
    review : Review
        When the release must be looked at again.

    Examples
    --------
    >>> import recloak
    >>> policy = recloak.Policy.read("strict")
    >>> policy.name, policy.publish.k > 5
    ('strict', True)
    """

    name: str
    about: str
    publish: PublishOptions
    writing: WriteOptions
    counting: StatisticsOptions
    audit: AuditPlan
    evaluate: EvaluatePlan
    review: Review

    def __repr__(self) -> str:
        gates = f"{len(self.audit.gates)} gate{'s' * (len(self.audit.gates) != 1)}"
        return counted(self, self.name, self.publish.mode, f"k {self.publish.k}", gates, str(self.review))

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> Policy:
        """Return the policy in a TOML file, or the preset of that name; a file of the same name comes first."""
        path = Path(source)
        if not path.is_file() and str(source) in PRESETS:
            preset = resources.files("recloak._policy").joinpath("presets", f"{source}.toml")
            return _parsed(preset.read_bytes(), str(source), str(source))
        if not path.is_file():
            rule = f"there is no such file, and no such preset; the presets are {', '.join(PRESETS)}"
            raise SourceError(rule, file=path)
        return _parsed(path.read_bytes(), path.stem, str(path))

    def to_mapping(self) -> dict[str, Any]:
        """Return the policy as plain values, in the form of its file, without what is left at its default."""
        made = {"mode": self.publish.mode, "k": self.publish.k, **changed(self.publish)}
        made |= {**changed(self.writing), **changed(self.counting)}
        audit = {
            name: list(value) if isinstance(value, tuple) else value for name, value in changed(self.audit).items()
        }
        return {
            "about": self.about,
            "review": str(self.review),
            "publish": made,
            "audit": audit,
            "evaluate": self.evaluate.to_mapping(),
        }

    @property
    def sha256(self) -> str:
        """The hash of everything that the policy asks for; its name and its wording do not change it."""
        asked = {name: value for name, value in self.to_mapping().items() if name != "about"}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _parsed(content: bytes, name: str, file: str) -> Policy:
    try:
        found = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"is not TOML: {error}", file=file) from None
    _require_keys(found, _KEYS, file, "")
    sections = {one: _section(found, one, file) for one in _SECTIONS}
    release, writing, counting = _split(sections["publish"], file)
    policy = Policy(
        name=name,
        about=_text(found, "about", file),
        publish=_made(PublishOptions, release, "publish", file),
        writing=_made(WriteOptions, writing, "publish", file),
        counting=_made(StatisticsOptions, counting, "publish", file),
        audit=_made(AuditPlan, sections["audit"], "audit", file),
        evaluate=_made(EvaluatePlan, sections["evaluate"], "evaluate", file),
        review=_review(found.get("review"), file),
    )
    _check_together(policy, file)
    return policy


def _section(found: Mapping[str, Any], name: str, file: str) -> dict[str, Any]:
    section = found.get(name, {})
    if not isinstance(section, dict):
        raise SourceError(f"key {name}: must be a section, written [{name}]", file=file, value=section)
    return section


def _text(found: Mapping[str, Any], name: str, file: str) -> str:
    text = found.get(name, "")
    if not isinstance(text, str):
        raise SourceError(f"key {name}: must be a text", file=file, value=text)
    return text


def _split(section: dict[str, Any], file: str) -> list[dict[str, Any]]:
    """Return the keys of a section [publish] that make a release, that write it, and that count beside it."""
    kinds = [list(kind.to_mapping()) for kind in (PublishOptions(), WriteOptions(), StatisticsOptions())]
    _require_keys(section, tuple(name for names in kinds for name in names), file, "publish.")
    return [{name: value for name, value in section.items() if name in names} for names in kinds]


def _require_keys(found: Mapping[str, Any], known: tuple[str, ...], file: str, where: str) -> None:
    for key in found:
        if key not in known:
            hint = did_you_mean(key, known) or f"; there are: {', '.join(known)}"
            raise SourceError(f"key {where}{key}: there is no such key{hint}", file=file)


def _made(kind: Any, values: dict[str, Any], section: str, file: str) -> Any:
    """Return the options of a section; say file, section and rule where a value breaks one."""
    _require_keys(values, tuple(kind().to_mapping()), file, f"{section}.")
    try:
        return kind(**values)
    except OptionError as error:
        raise SourceError(f"section [{section}]: {error}", file=file) from None


def _review(given: object, file: str) -> Review:
    try:
        return Review.parse(given)
    except OptionError as error:
        raise SourceError(f"key review: {str(error).removeprefix('review ')}", file=file) from None


def _check_together(policy: Policy, file: str) -> None:
    """Refuse what could only fail after the work was done: a layout without its mode, attacks that do not exist."""
    try:
        policy.writing.for_mode(policy.publish.mode)
        if policy.writing.layout == FACTORS and (why := policy.publish.why_no_factors):
            raise OptionError(f"key publish.layout: factors does not go with the rest: {why}")
        gates = [parse_gate(one) for one in policy.audit.gates]
    except OptionError as error:
        raise SourceError(str(error), file=file) from None
    by_name = {one.name: one for one in attacks()}
    for key, names in (("gates", [one.name for one in gates]), ("accept", policy.audit.accept)):
        for name in names:
            if name not in by_name:
                rule = f"key audit.{key}: there is no attack {name!r}; there are: {', '.join(by_name)}"
                raise SourceError(rule, file=file)
    for name in policy.audit.accept:
        if by_name[name].kind == "identifies":
            rule = f"key audit.accept: {name} names people, which the release promises against; it cannot be accepted"
            raise SourceError(rule, file=file)
