"""Run a policy: from a source to a certificate, in one go that can be stopped and started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import OptionError
from recloak._core.results import Result, counted, table_of
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import as_path
from recloak._policy.policy import Policy

if TYPE_CHECKING:
    from recloak._core.randomness import Rng
    from recloak._library.run_steps import RunSoFar
    from recloak._library.sources import PathLike, RatingsLike


@dataclass(frozen=True, slots=True, repr=False)
class Run(Result):
    """What came of running a policy.

    Attributes
    ----------
    policy : str
        The name of the policy.
    folder : Path
        Where everything lies.
    steps : mapping
        The result of each step that was done, by its name.
    stopped_at : str or None
        The step whose gate failed; None if all steps were done.
    reason : str
        Why it stopped.
    release, certificate : Path or None
        What may be handed out; None where a gate failed.
    """

    policy: str
    folder: Path
    steps: Mapping[str, Mapping[str, Any]]
    stopped_at: str | None = None
    reason: str = ""
    release: Path | None = None
    certificate: Path | None = None

    def __repr__(self) -> str:
        end = "done" if self.passed else f"stopped at {self.stopped_at}"
        return counted(self, self.policy, end, f"{len(self.steps)} steps")

    @property
    def passed(self) -> bool:
        """Whether every step was done and every gate held."""
        return self.stopped_at is None

    def to_json(self) -> dict[str, Any]:
        """Return the run as ``recloak run --json`` prints it."""
        places = {name: None if path is None else str(path) for name, path in self._places()}
        ending = {"verdict": "pass" if self.passed else "fail", "stopped_at": self.stopped_at, "reason": self.reason}
        return {
            "policy": self.policy,
            **ending,
            **places,
            "steps": {name: dict(one) for name, one in self.steps.items()},
        }

    def _places(self) -> Iterator[tuple[str, Path | None]]:
        yield from (("folder", self.folder), ("release", self.release), ("certificate", self.certificate))

    def to_polars(self) -> Any:
        """Return a row for each step with what it found."""
        return table_of({"step": name, "found": one.get("summary", "")} for name, one in self.steps.items())


@suggests_keywords
def run(
    policy: Policy | PathLike,
    source: RatingsLike,
    out: PathLike,
    *,
    owner: str = "",
    key: PathLike | None = None,
    seed: int | None = None,
    rng: Rng = None,
) -> Run:
    """Do everything that a policy asks for: inspect, publish, verify, attack, evaluate, certify.

    A run that was stopped goes on where it was when it is started again with the same policy, source and folder. It
    stops where a gate fails, and then neither ``release`` nor ``certificate.html`` exists: those of an earlier run are
    taken back, and ``reason`` says so.

    Parameters
    ----------
    policy
        A `Policy`, its file, or the name of a preset: ``research``, ``contest``, ``open-data`` or ``strict``.
    source
        Anything that holds ratings, see `read`.
    out
        The folder to fill. ``release`` and ``certificate.html`` in it may be handed out. ``release-private`` (who is
        who) and ``reports-private`` (pages about the original data, and how far the run got) may not.
    owner
        Who answers for the release, named on the certificate.
    key
        The owner's private key, which signs the certificate; `create_key` makes one.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Run
        ``passed``, and where the release and the certificate lie.

    Raises
    ------
    InputError
        If the policy, the source or the folder cannot be used.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> done = recloak.run("open-data", ratings, "shared", seed=1)
    >>> done.passed == (done.certificate is not None)
    True
    """
    from recloak._library.run_steps import begin

    rules = policy if isinstance(policy, Policy) else Policy.read(as_path("policy", policy))
    if key is not None:
        _require_key(key)
    if not isinstance(owner, str):
        raise OptionError(f"owner must be a text, got {owner!r}")
    with begin(rules, source, as_path("out", out), owner=owner, key=key, seed=seed, rng=rng) as sofar:
        return _all_steps(sofar)


def _all_steps(sofar: RunSoFar) -> Run:
    """Do one step after the other, up to the first whose gate fails."""
    from recloak._core import progress
    from recloak._library.run_steps import STEPS, withdrawn

    policy = sofar.policy.name
    for number, (name, step) in enumerate(STEPS.items(), 1):
        with progress.task(f"{name} ({number} of {len(STEPS)})"):
            sofar = _done(sofar, name, step)
        if sofar.reason:
            reason = "; ".join(filter(None, (sofar.reason, withdrawn(sofar.folder))))
            return Run(policy, sofar.folder, sofar.results, stopped_at=name, reason=reason)
    return Run(policy, sofar.folder, sofar.results, None, "", sofar.release, sofar.certificate)


def _done(sofar: RunSoFar, name: str, step: Callable[[RunSoFar], RunSoFar]) -> RunSoFar:
    """Return the run with a step done, unless it was done before."""
    earlier = None if name == "certificate" else sofar.record.result(name)  # another owner or key may be given now
    if earlier is None or (name == "publish" and not sofar.release.is_dir()):
        return step(sofar)
    return sofar.with_result(name, earlier)


def _require_key(key: PathLike) -> None:
    """Find out before the work whether the key can be used."""
    from recloak._certificate.keys import private_key

    private_key(as_path("key", key))
