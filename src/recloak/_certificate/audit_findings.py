"""What an audit says of each criterion, by its attacks alone.

The JSON of an audit is a file that anybody can edit. So the verdicts at its top are never taken over: they are made
again from its attacks, and a file whose own verdicts differ is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recloak._attacks.attack import CRITERIA, Attack, Kind
from recloak._attacks.judging import FEWEST_TARGETS
from recloak._attacks.model import ROUNDING
from recloak._attacks.options import AuditOptions
from recloak._attacks.planning import EVERYTHING, PLAIN, AuditShape, PlannedRun, variations
from recloak._attacks.registry import attacks
from recloak._core.errors import InputError
from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS, VALUE_KINDS
from recloak._releases.model.modes import MODES
from recloak._report.formats import count

NOT_MEASURED = "not measured"
_ORDER = ("breached", NOT_MEASURED, "bounded")  # the worst first
_MOST_NAMED = 3  # of the runs that an audit lacks
_OF_PEOPLE = ("targets ", "people ", "records ")  # how the unit of an attack begins that counts people
_FOREIGN = "the audit is not the JSON of recloak audit --json"

Audited = Mapping[str, Any]  # one run of an attack, as the file has it


@dataclass(frozen=True, slots=True)
class AuditedRelease:
    """What a manifest says about the release that was attacked."""

    n_users: int
    shape: AuditShape

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> AuditedRelease:
        """Return it; a complete release of counts shows what was used, as presence does."""
        kind = VALUE_KINDS[manifest.get("values", RATINGS.name)]
        if kind is COUNTS and MODES[manifest["mode"]].is_complete:
            kind = PRESENCE
        shape = AuditShape(int(manifest["k"]), int(manifest["n_items"]), kind)
        return cls(int(manifest["n_users"]), shape)


@dataclass(frozen=True, slots=True)
class CriterionFinding:
    """The verdict on one criterion, how many people were attacked, and why nothing is known where nothing is."""

    verdict: str
    people: int | None = None
    reason: str = ""

    def sentence(self) -> str:
        """Return how many people were attacked, or why that is too few."""
        if self.reason:
            return f"{self.reason[:1].upper()}{self.reason[1:]}."
        return "" if self.people is None else f"People attacked: {count(self.people)}."


def findings_of(audit: Mapping[str, Any], release: AuditedRelease) -> dict[str, CriterionFinding]:
    """Return what holds on each criterion; raise InputError if the text is no audit, or contradicts itself.

    What the audit lacks of the runs that there are today is not measured.
    """
    _require_runs(audit)
    _require_gates(audit)
    told = {one: _told(audit, one) for one in CRITERIA}
    if audit.get("verdict") != worst([*told.values(), *_gates(audit)]):
        raise InputError("the verdict of the audit contradicts its attacks and gates")
    missing = {one: _missing(audit, one, release.shape) for one in CRITERIA}
    return {one: _finding(told[one], _about(audit, one), release.n_users, missing[one]) for one in CRITERIA}


def _missing(audit: Mapping[str, Any], criterion: str, shape: AuditShape) -> list[str]:
    """Return the runs that a default audit has and this one lacks, by name and what is known."""
    there = {_run_of(one["name"], one.get("known"), one.get("setting", PLAIN)) for one in audit["attacks"]}
    takes = [one for one in attacks() if one.criterion == criterion and shape.kind.name in one.values]
    runs = [(one.name, run) for one in takes for run in variations(one, shape, AuditOptions())]
    return [_in_words(name, run) for name, run in runs if _run_of(name, run.known, run.setting) not in there]


def _run_of(name: str, known: Any, setting: Any) -> tuple[str, Any, Any]:
    return name, None if setting == EVERYTHING else known, setting  # how many that is depends on the source


def _in_words(name: str, run: PlannedRun) -> str:
    told = run.setting if run.setting != PLAIN else "" if run.known is None else f"{run.known} known"
    return f"{name} ({told})" if told else name


def worst(verdicts: list[str]) -> str:
    """Return the worst of some verdicts; of none, that nothing was measured."""
    return next((one for one in _ORDER if one in verdicts), NOT_MEASURED)


def overall(audit: Mapping[str, Any], findings: Mapping[str, CriterionFinding]) -> str:
    """Return the worst of all criteria and gates."""
    return worst([*(one.verdict for one in findings.values()), *_gates(audit)])


def breached(audit: Mapping[str, Any]) -> list[str]:
    """Return the names of the attacks that breached the release, each once."""
    return list(dict.fromkeys(str(one["name"]) for one in audit["attacks"] if _word(one) == "breached"))


def not_accepted(audit: Mapping[str, Any]) -> list[str]:
    """Return those of them that the owner did not accept."""
    return [one for one in breached(audit) if one not in audit.get("accepted", ())]


def _require_runs(audit: Mapping[str, Any]) -> None:
    if not isinstance(audit.get("criteria"), dict) or not isinstance(audit.get("attacks"), list):
        raise InputError(_FOREIGN)
    if not audit["attacks"]:
        raise InputError("the audit holds no attacks, so it says nothing")
    for one in audit["attacks"]:
        if not _is_run(one):
            raise InputError(_FOREIGN)
        if _word(one) != "breached" and any(_exceeds(share) for share in _shares(one)):
            raise InputError(
                f"the audit contradicts itself: {one['name']} exceeds its bound and is not called breached"
            )
        if _word(one) == "bounded" and any(_may_exceed(share) for share in _shares(one)):
            raise InputError(f"the audit contradicts itself: {one['name']} may exceed its bound and is called bounded")


def _require_gates(audit: Mapping[str, Any]) -> None:
    gates = audit.get("gates", [])
    if not isinstance(gates, list) or not isinstance(audit.get("accepted", []), list):
        raise InputError(_FOREIGN)
    if not all(isinstance(one, dict) and "gate" in one and isinstance(one.get("passed"), bool) for one in gates):
        raise InputError(_FOREIGN)


def _is_run(one: Any) -> bool:
    """Return whether an entry is one of an attack; what is called bounded must have been measured against a bound."""
    if not isinstance(one, dict) or not isinstance(one.get("name"), str) or one.get("criterion") not in CRITERIA:
        return False
    if _word(one) not in (*_ORDER, "not applicable") or not isinstance(one.get("also") or {}, dict):
        return False
    known = _known().get(one["name"])
    if known is not None and known.criterion != one["criterion"]:
        return False
    needed = _word(one) in ("bounded", "breached")
    return all(_is_share(share) for share in _shares(one)) and (not needed or bool(one.get("release")))


def _is_share(share: Any) -> bool:
    names = ("rate", "low", "high", "baseline", "bound", "n")
    return all(isinstance(share.get(name), int | float) for name in names) and 0 <= share["low"] <= share["high"] <= 1


def _shares(one: Audited) -> Iterator[dict[str, Any]]:
    """Yield what an attack reached, and its further figures, each with its own bound."""
    if one.get("release"):
        yield {**one["release"], "bound": one.get("bound"), "baseline": one.get("baseline")}
    yield from (one.get("also") or {}).values()


def _exceeds(share: Mapping[str, Any]) -> bool:
    return bool(share["low"] > share["bound"] + ROUNDING)


def _may_exceed(share: Mapping[str, Any]) -> bool:
    return bool(share["high"] > share["bound"] + ROUNDING)


def _word(one: Audited) -> str:
    """Return the verdict without the figure in *bounded by x*."""
    verdict = str(one.get("verdict"))
    return "bounded" if verdict.startswith("bounded by ") else verdict


def _gates(audit: Mapping[str, Any]) -> list[str]:
    return ["bounded" if one["passed"] else "breached" for one in audit.get("gates", ())]


def _about(audit: Mapping[str, Any], criterion: str) -> list[Audited]:
    return [one for one in audit["attacks"] if one["criterion"] == criterion and _word(one) != "not applicable"]


def _told(audit: Mapping[str, Any], criterion: str) -> str:
    """Return the verdict on a criterion; an audit may be more careful than its attacks, where one broke down."""
    follows, entry = _follows(_about(audit, criterion)), audit["criteria"].get(criterion)
    told = entry.get("verdict") if isinstance(entry, dict) else None
    if told == follows or (told, follows) == (NOT_MEASURED, "bounded"):
        return str(told)
    raise InputError(f"the audit contradicts itself: by its attacks, {criterion.replace('-', ' ')} is {follows}")


def _follows(runs: list[Audited]) -> str:
    """Return the verdict that follows from attacks; one that cannot tell is not safe, nor one silent on names."""
    words, known = [_word(one) for one in runs], _known()
    if "breached" in words:
        return "breached"
    naming = {name for name, attack in known.items() if attack.kind is Kind.IDENTIFIES}
    silent = any(_word(one) == NOT_MEASURED and (one["name"] in naming or _is_open(one)) for one in runs)
    return NOT_MEASURED if silent or "bounded" not in words else "bounded"


def _is_open(one: Audited) -> bool:
    """Return whether an attack that bounds nothing was tried, whatever its entry says of that."""
    tried = one.get("release") is not None
    return tried or one.get("undecided") is True or any(_may_exceed(share) for share in _shares(one))


def _finding(verdict: str, runs: list[Audited], n_users: int, missing: list[str]) -> CriterionFinding:
    people = _people([one for one in runs if _word(one) in ("bounded", "breached")])
    if verdict != "bounded":
        return CriterionFinding(verdict, people)
    if missing:
        more = f" and {count(len(missing) - _MOST_NAMED)} more" if len(missing) > _MOST_NAMED else ""
        return CriterionFinding(NOT_MEASURED, people, f"the audit lacks {', '.join(missing[:_MOST_NAMED])}{more}")
    if people is None:
        return CriterionFinding(NOT_MEASURED, reason="how many people were attacked is not known")
    if people < min(FEWEST_TARGETS, n_users):
        who = "1 person was" if people == 1 else f"{people} people were"
        return CriterionFinding(
            NOT_MEASURED, people, f"only {who} attacked; at least {FEWEST_TARGETS}, or everybody, are needed"
        )
    return CriterionFinding(verdict, people)


def _people(measured: list[Audited]) -> int | None:
    """Return the fewest people of an attack: its cases where these are people, else those whose risk it tells."""
    counted = [int(one["release"]["n"]) for one in measured if _unit(one).startswith(_OF_PEOPLE)]
    risks = [one["worst"].get("people") for one in measured if isinstance(one.get("worst"), dict)]
    return min(counted or [one for one in risks if isinstance(one, int)], default=None)


def _unit(one: Audited) -> str:
    known = _known().get(one["name"])
    return str(one.get("unit", "")) if known is None else known.unit


def _known() -> dict[str, Attack]:
    return {one.name: one for one in attacks()}
