"""The steps of running a policy: each takes the run so far and returns it with its own result recorded.

The release is made as ``candidate`` and becomes ``release`` only when every gate held, so that a folder of that name
was never less than verified and audited. Reports about the original data go into a folder of their own that only the
owner can read.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recloak
from recloak._core.calendar_day import today
from recloak._core.errors import InputError
from recloak._core.files import require_folder_name, require_parent, written_file
from recloak._core.folder_lock import locked_folder
from recloak._core.logger import log
from recloak._library.certify_release import write_certificate
from recloak._library.sources import ReadSource, as_ratings, origin_of
from recloak._policy.policy import Policy
from recloak._policy.run_record import RunRecord, hash_of_ratings, step_seed
from recloak._releases.folder_checks import private_beside
from recloak._releases.model.release_format import MANIFEST
from recloak._releases.publishing import require_publishable

if TYPE_CHECKING:
    from recloak._core.randomness import Rng
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._ratings.model import Ratings

REPORTS, CANDIDATE, RELEASE, CERTIFICATE = "reports-private", "candidate", "release", "certificate.html"
_README = """\
release/            may be handed out, whole and unchanged
certificate.html    may be handed out (with certificate.html.sig where it is signed)
release-private/    who is who: never hand it out
reports-private/    figures about the original data: for the owner

While a run is under way, or where a gate failed, there is a folder candidate/ instead of release/: keep it to yourself.
"""


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """What the steps have done so far."""

    policy: Policy
    source: ReadSource
    folder: Path
    record: RunRecord
    seed: int
    owner: str = ""
    key: PathLike | None = None
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reason: str = ""  # why it stops here

    @property
    def reports(self) -> Path:
        """Where reports go that are for the owner alone."""
        return self.folder / REPORTS

    @property
    def release(self) -> Path:
        """The release: named so once every gate held, before that a candidate."""
        final = self.folder / RELEASE
        return final if (final / MANIFEST).exists() else self.folder / CANDIDATE

    @property
    def certificate(self) -> Path:
        """The certificate."""
        return self.folder / CERTIFICATE

    def seed_of(self, step: str) -> int:
        """Return the seed of a step."""
        return step_seed(self.seed, step)

    def with_result(self, step: str, result: Mapping[str, Any]) -> RunSoFar:
        """Return the run with the result of a step, which may stop it."""
        return replace(self, results={**self.results, step: result}, reason=str(result.get("stops", "")))

    def finished(self, step: str, result: Mapping[str, Any], *files: Path) -> RunSoFar:
        """Return the run with a step recorded on disk."""
        log.info("%s: %s", step, result.get("summary", "done"))
        return replace(self, record=self.record.with_step(step, result, files)).with_result(step, result)


@contextmanager
def begin(
    policy: Policy, source: RatingsLike, folder: Path, *, owner: str, key: PathLike | None, seed: int | None, rng: Rng
) -> Iterator[RunSoFar]:
    """Read the ratings and open the folder for this run alone: a new one, or that of a run that was stopped.

    Where a step raises, the release and the certificate of an earlier run are taken back: they no longer stand for
    anything that was checked.
    """
    _require_place(folder)
    ratings = as_ratings(source)
    require_publishable(ratings, policy.publish)
    about, read = _about(policy, ratings, seed, rng), ReadSource(ratings, origin_of(source))
    folder.mkdir(exist_ok=True)
    with locked_folder(folder):
        record = _opened_record(folder, about)
        try:
            yield RunSoFar(policy, read, folder, record, int(record.about["seed"]), owner, key)
        except Exception:
            if done := withdrawn(folder):
                log.warning("%s", done)
            raise


def _about(policy: Policy, ratings: Ratings, seed: int | None, rng: Rng) -> dict[str, str]:
    """Return what a run belongs to."""
    from recloak._core.randomness import seed_or_rng

    wanted = "" if seed is None and rng is None else str(seed_or_rng(seed, rng).seed)
    return {
        "policy": policy.sha256,
        "ratings": hash_of_ratings(ratings),
        "version": recloak.__version__,
        "seed": wanted,
    }


def _opened_record(folder: Path, about: Mapping[str, str]) -> RunRecord:
    """Return the record of a folder, with a seed, written to disk."""
    record = RunRecord.open(folder / REPORTS, about)
    if not record.about["seed"]:
        record = replace(record, about={**record.about, "seed": str(secrets.randbits(128))})
    _fill_folder(folder)
    record.write()
    return record


def _require_place(folder: Path) -> None:
    """Refuse a folder that holds anything but a run, and a file."""
    require_folder_name(folder)
    require_parent(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a folder, where the release and its reports go")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / REPORTS / "run.json").is_file():
        raise InputError(f"{folder}: the folder exists and is not empty; choose another or remove it first")


def _fill_folder(folder: Path) -> None:
    (folder / REPORTS).mkdir(mode=0o700, exist_ok=True)
    with written_file(folder / "README.txt") as aside:
        aside.write_text(_README, encoding="utf-8")


def _inspect(run: RunSoFar) -> RunSoFar:
    found = recloak.inspect(run.source, targets=run.policy.audit.targets, seed=run.seed_of("inspect"))
    files = _report(run, "inspect", found)
    ratings = run.source.ratings
    counts = f"{ratings.n_users:,} users, {ratings.n_items:,} items, {ratings.n_ratings:,} {ratings.kind.nouns}"
    return run.finished("inspect", {"summary": counts}, *files)


def _publish(run: RunSoFar) -> RunSoFar:
    candidate = run.folder / CANDIDATE
    if not (candidate / MANIFEST).exists():
        recloak.publish(run.source, candidate, policy=run.policy, seed=run.seed_of("publish"))
    manifest = json.loads((candidate / MANIFEST).read_text(encoding="utf-8"))
    groups = f"{manifest['n_groups']:,} groups of at least {manifest['k']}, mode {manifest['mode']}"
    return run.finished("publish", {"summary": groups})


def _verify(run: RunSoFar) -> RunSoFar:
    verdict = recloak.verify(run.release, original=run.source, k=run.policy.publish.k)
    result: dict[str, Any] = {"summary": verdict.verdict, **verdict.to_mapping()}
    if not verdict.passed:
        result["stops"] = f"the release does not keep its promise: {verdict.problems[0]}"
        return run.with_result("verify", result)  # not recorded: it is looked at again
    return run.finished("verify", result)


def _audit(run: RunSoFar) -> RunSoFar:
    plan = run.policy.audit.to_mapping()
    accepts_silence = plan.pop("accept_unmeasured")
    found = recloak.audit(run.source, run.release, **plan)
    files = _report(run, "audit", found)
    accepted = f", accepted by the policy: {', '.join(found.accepted_breaches)}" if found.accepted_breaches else ""
    summary = f"{found.verdict}{accepted}"
    result: dict[str, Any] = {"summary": summary, "verdict": found.verdict, "criteria": found.criteria}
    if not found.acceptable and (why := _why_not(found, accepts_silence)):
        result["stops"] = why
    return run.finished("audit", result, *files)


def _why_not(found: recloak.Audit, accepts_silence: bool) -> str:
    """Return why an audit stops a run; nothing, where all that is missing may be missing by the policy."""
    closed = [f"gate {one.gate} failed: {one.reason}" for one in found.passages if not one.passed]
    if closed:
        return "; ".join(closed)
    if found.not_accepted:
        names = ", ".join(found.not_accepted)
        return f"breached and not accepted: {names}; change the release, or name them under accept in the policy"
    if found.promise == "not measured" and accepts_silence and not found.failures:
        return ""
    if found.promise == "fail":
        return "people are named more often than the release promises"
    return "not every attack that names people could be measured, so nothing is known"


def _evaluate(run: RunSoFar) -> RunSoFar:
    options = run.policy.publish.to_mapping()
    plan = run.policy.evaluate.to_mapping()
    found = recloak.evaluate(run.source, **plan, **options, seed=run.seed_of("evaluate"))
    files = _report(run, "evaluate", found)
    rmse = found.target_deviation.rmse
    summary = "see reports-private/evaluate.html" if rmse is None else f"error of the own group's row {rmse:.3f} (RMSE)"
    return run.finished("evaluate", {"summary": summary}, *files)


def _certify(run: RunSoFar) -> RunSoFar:
    """Verify the release once more, only then give it its name, and write the certificate."""
    verdict = recloak.verify(run.release, original=run.source, k=run.policy.publish.k)
    if not verdict.passed:
        return run.with_result("certificate", {"stops": f"the release was changed: {verdict.problems[0]}"})
    if (taken := next((new for old, new in _renamings(run.folder) if old.exists() and new.exists()), None)) is not None:
        return run.with_result("certificate", {"stops": f"{taken} is in the way of the release; move it elsewhere"})
    for old, new in _renamings(run.folder):
        if old.exists():
            old.rename(new)
    due = run.policy.review.date_from(today())
    audit = run.reports / "audit.json"
    write_certificate(
        run.folder / RELEASE, verdict, run.certificate, audit=audit, review=due, owner=run.owner, key=run.key
    )
    summary = f"review by {due}" if due else "no review date"
    return run.finished("certificate", {"summary": summary}, run.certificate)


def _renamings(folder: Path) -> tuple[tuple[Path, Path], tuple[Path, Path]]:
    """Return how a candidate is renamed: who is who comes first, and a kill between the two is mended by the next run.

    Back it goes in the other order.
    """
    candidate, release = folder / CANDIDATE, folder / RELEASE
    return (private_beside(candidate), private_beside(release)), (candidate, release)


def withdrawn(folder: Path) -> str:
    """Take back the release and the certificate of an earlier run where a gate fails now; return what was done."""
    from recloak._certificate.signature import ENDING

    names = [name for name in (CERTIFICATE, f"{CERTIFICATE}{ENDING}") if (folder / name).exists()]
    for name in names:
        (folder / name).unlink()
    done = [f"removed {' and '.join(names)}"] if names else []
    if (folder / RELEASE).exists():
        done.append(_taken_back(folder))
    return "; ".join(done)


def _taken_back(folder: Path) -> str:
    """Name the release a candidate again; return what was done, or that it still lies there."""
    left = f"the folder {RELEASE}/ is still there and must not be handed out"
    if (folder / CANDIDATE).exists():
        return left
    for old, new in reversed(_renamings(folder)):
        if new.exists() and not old.exists():
            try:
                new.rename(old)
            except OSError:
                break
    return left if (folder / RELEASE).exists() else f"renamed {RELEASE}/ to {CANDIDATE}/, which must not be handed out"


def _report(run: RunSoFar, name: str, found: Any) -> tuple[Path, Path]:
    """Write a result as page and as JSON, readable for the owner alone; return both files."""
    page, data = run.reports / f"{name}.html", run.reports / f"{name}.json"
    found.write_page(page)
    with written_file(data, mode=0o600) as aside:
        aside.write_text(json.dumps(found.to_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return page, data


STEPS: dict[str, Callable[[RunSoFar], RunSoFar]] = {
    "inspect": _inspect,
    "publish": _publish,
    "verify": _verify,
    "audit": _audit,
    "evaluate": _evaluate,
    "certificate": _certify,
}
