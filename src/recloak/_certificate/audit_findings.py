"""What an audit says of each criterion, by its attacks alone.

The JSON of an audit is a file that anybody can edit. So the verdicts at its top are never taken over: they are made
again from its attacks, and a file whose own verdicts differ is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recloak._attacks.attack import CRITERIA, Attack, Kind
from recloak._attacks.registry import attacks
from recloak._core.errors import InputError
from recloak._report.formats import count

NOT_MEASURED = "not measured"
FEWEST_PEOPLE = 100  # fewer, unless they are everybody, bound nothing: the interval of a share of 1 is 0 to 79 %
_ORDER = ("breached", NOT_MEASURED, "bounded")  # the worst first
_OF_PEOPLE = ("targets ", "people ", "records ")  # how the unit of an attack begins that counts people
_FOREIGN = "the audit is not the JSON of recloak audit --json"

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one criterion, how many people were attacked, and why nothing is known where nothing is."""

    verdict: str
    people: int | None = None
    reason: str = ""

    def sentence(self) -> str:
        """Return how many people were attacked, or why that is too few."""
        if self.reason:
            return f"{self.reason[:1].upper()}{self.reason[1:]}."
        return "" if self.people is None else f"People attacked: {count(self.people)}."


def findings_of(audit: Mapping[str, Any], n_users: int) -> dict[str, Finding]:
    """Return what holds on each criterion; raise InputError for an audit that is none, or contradicts itself."""
    _require_runs(audit)
    _require_gates(audit)
    told = {one: _told(audit, one) for one in CRITERIA}
    if audit.get("verdict") != worst([*told.values(), *_gates(audit)]):
        raise InputError("the verdict of the audit contradicts its attacks and gates")
    return {one: _finding(told[one], _about(audit, one), n_users) for one in CRITERIA}


def worst(verdicts: list[str]) -> str:
    """Return the worst of some verdicts; of none, that nothing was measured."""
    return next((one for one in _ORDER if one in verdicts), NOT_MEASURED)


def overall(audit: Mapping[str, Any], findings: Mapping[str, Finding]) -> str:
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
    needed = _word(one) in ("bounded", "breached")
    return all(_is_share(share) for share in _shares(one)) and (not needed or bool(one.get("release")))


def _is_share(share: Any) -> bool:
    names = ("rate", "low", "high", "baseline", "bound", "n")
    return all(isinstance(share.get(name), int | float) for name in names) and 0 <= share["low"] <= share["high"] <= 1


def _shares(one: Run) -> Iterator[dict[str, Any]]:
    """Yield what an attack reached, and its further figures, each with its own bound."""
    if one.get("release"):
        yield {**one["release"], "bound": one.get("bound"), "baseline": one.get("baseline")}
    yield from (one.get("also") or {}).values()


def _exceeds(share: Mapping[str, Any]) -> bool:
    return bool(share["low"] > share["bound"] + 1e-12)


def _word(one: Run) -> str:
    """Return the verdict without the figure in *bounded by x*."""
    verdict = str(one.get("verdict"))
    return "bounded" if verdict.startswith("bounded by ") else verdict


def _gates(audit: Mapping[str, Any]) -> list[str]:
    return ["bounded" if one["passed"] else "breached" for one in audit.get("gates", ())]


def _about(audit: Mapping[str, Any], criterion: str) -> list[Run]:
    return [one for one in audit["attacks"] if one["criterion"] == criterion and _word(one) != "not applicable"]


def _told(audit: Mapping[str, Any], criterion: str) -> str:
    """Return the verdict on a criterion; an audit may be more careful than its attacks, where one broke down."""
    follows, entry = _follows(_about(audit, criterion)), audit["criteria"].get(criterion)
    told = entry.get("verdict") if isinstance(entry, dict) else None
    if told == follows or (told, follows) == (NOT_MEASURED, "bounded"):
        return str(told)
    raise InputError(f"the audit contradicts itself: by its attacks, {criterion.replace('-', ' ')} is {follows}")


def _follows(runs: list[Run]) -> str:
    """Return the verdict that follows from attacks; of one that names people, silence is not safe."""
    words, known = [_word(one) for one in runs], _known()
    if "breached" in words:
        return "breached"
    naming = {name for name, attack in known.items() if attack.kind is Kind.IDENTIFIES}
    silent = any(_word(one) == NOT_MEASURED and one["name"] in naming for one in runs)
    return NOT_MEASURED if silent or "bounded" not in words else "bounded"


def _finding(verdict: str, runs: list[Run], n_users: int) -> Finding:
    people = _people([one for one in runs if _word(one) in ("bounded", "breached")])
    if verdict != "bounded":
        return Finding(verdict, people)
    if people is None:
        return Finding(NOT_MEASURED, reason="how many people were attacked is not known")
    if people < min(FEWEST_PEOPLE, n_users):
        who = "1 person was" if people == 1 else f"{people} people were"
        return Finding(NOT_MEASURED, people, f"only {who} attacked; at least {FEWEST_PEOPLE}, or everybody, are needed")
    return Finding(verdict, people)


def _people(measured: list[Run]) -> int | None:
    """Return the fewest people of an attack: its cases where these are people, else those whose risk it tells."""
    counted = [int(one["release"]["n"]) for one in measured if _unit(one).startswith(_OF_PEOPLE)]
    risks = [one["worst"].get("people") for one in measured if isinstance(one.get("worst"), dict)]
    return min(counted or [one for one in risks if isinstance(one, int)], default=None)


def _unit(one: Run) -> str:
    known = _known().get(one["name"])
    return str(one.get("unit", "")) if known is None else known.unit


def _known() -> dict[str, Attack]:
    return {one.name: one for one in attacks()}
