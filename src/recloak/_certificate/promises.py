"""Which promises of a release the verifier derives from its public files, and which are the publisher's word.

A sentence counts as proved only where it is known to be checked; every other one is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recloak._releases.model.manifest import facts_in
from recloak._releases.model.release_format import Verdict
from recloak._report.formats import count

_NUMBER = r"-?[0-9.e+-]+"
_CHECKED = (
    re.compile(rf"Every [a-z]+ lies on the grid of step {_NUMBER} from {_NUMBER} to {_NUMBER}\."),
    re.compile(
        rf"Every number that stands for a group or an item is a multiple of {_NUMBER}, and the members of a group have "
        r"one and the same\."
    ),
)
_CAPPED = "No item stands in a row of whose members more than "


def proved(manifest: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Return what follows from the public files; of drawn rows, only how many there are of each group."""
    own = _by_mode(manifest)
    kept = [one for one in manifest["promised"] if one in own or _is_checked(one, verdict)]
    return [*([] if own else [sizes(verdict)]), *kept, *_compared(verdict)]


def claimed(manifest: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Return the other promises, which take the publisher's word."""
    shown = proved(manifest, verdict)
    return [one for one in manifest["promised"] if one not in shown]


def sizes(verdict: Verdict) -> str:
    """Return what the files show of drawn rows."""
    return f"Every one of the {count(verdict.n_groups or 0)} groups has at least {count(verdict.k_found or 0)} rows."


def _by_mode(manifest: Mapping[str, Any]) -> list[str]:
    """Return the sentences of a mode that can be seen in its rows: none, where they were drawn."""
    facts = facts_in(dict(manifest))
    if facts.words.is_drawn:
        return []
    shared = facts.words.guarantee.format(k=facts.k, others=facts.k - 1)
    return [facts.told(one) for one in (shared, *(facts.words.promised if facts.words.is_complete else ()))]


def _is_checked(sentence: str, verdict: Verdict) -> bool:
    """Return whether a sentence is checked; a cap on links is where the source was given."""
    if sentence.startswith(_CAPPED):
        return not any(one.startswith("max_link") for one in verdict.unchecked)
    return any(one.fullmatch(sentence) for one in _CHECKED)


def _compared(verdict: Verdict) -> list[str]:
    """Return what was compared with the source, without what was not."""
    done = [one for one in verdict.measured if not one.startswith("not tested") and "give private=" not in one]
    return [f"Compared with the source, {one.rstrip('.')}." for one in done]
