"""Attack the original and the release, side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recloak._attacks.options import AuditOptions
from recloak._core.files import sha256_of
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import several
from recloak._library.opened_releases import folder_of, open_release, open_second, require_folders
from recloak._library.sources import as_ratings, origin_of
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    from recloak._attacks.audit_result import Audit
    from recloak._attacks.gate import Gate
    from recloak._core.randomness import Rng
    from recloak._evaluation.frontier import Frontier
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.pages import About
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._report.measured_remedies import Alternatives
    from recloak._report.page import Page


@suggests_keywords
def audit(
    source: RatingsLike,
    release: ReleaseLike,
    *,
    private: PathLike | None = None,
    second: ReleaseLike | None = None,
    second_private: PathLike | None = None,
    again: bool | Sequence[ReleaseLike] = False,
    gates: Sequence[Gate | str] = (),
    accept: Sequence[str] = (),
    targets: int = 1000,
    known: Sequence[int] = (1, 2, 4, 8, 16),
    varied_at: int = 8,
    link_cap: float | None = None,
    probe: RatingsLike | None = None,
    held_out: RatingsLike | None = None,
    later: RatingsLike | None = None,
    mentions: RatingsLike | None = None,
    attribute: PathLike | None = None,
    sensitive: PathLike | None = None,
    sybils: int = 0,
    frontier: Frontier | PathLike | None = None,
    fidelity: bool = False,
    seed: int | None = None,
    rng: Rng = None,
) -> Audit:
    """Run every attack on the ratings and on their release, and say how risky the release is.

    Parameters
    ----------
    source
        The ratings that were published: anything that holds ratings, see `read`.
    release
        The public folder or a `Release`; it is verified first.
    private
        The folder that says who is who, which scores the attacks; by default the one that `publish` makes.
    second, second_private
        Another release of the same people to intersect with, and its private folder.
    again
        Further releases of the same people; True: make one now, with another seed, and throw it away.
    gates
        Lines that the release must stay below, such as ``"scoreboard@8<0.05"``.
    accept
        Attacks whose success you accept, such as ``membership``: they stay breached, but ``acceptable`` passes over
        them. An attack that names people cannot be accepted.
    targets
        How many targets are drawn for each attack.
    known
        How many items of a target are known.
    varied_at
        How many items are known where the kind of knowledge is varied.
    link_cap
        Count cells in which more than this share of the group rated the item; by default what the release promises.
    probe
        Ratings left out of the source: evaluates the release as well (``Audit.evaluation``).
    held_out
        Ratings of people who are not in the release: tests membership on them.
    later
        Ratings of the same people that are not in the source.
    mentions
        What the same people rated in public elsewhere.
    attribute
        A CSV file with the columns user and value: can the value be told from the release?
    sensitive
        A file with items, one in a line: can it be told who rated one?
    sybils
        Publish again, in private, with so many copies of some people planted: are they left alone with them?
    frontier
        What `frontier` measured on this source, or the file in which it keeps its points: the page then says what
        another setting would bring, and at which price.
    fidelity
        Compare leaderboards of 5 + 5 algorithms on the release and on the source too, see `fidelity`; with a probe
        this is always done (``Audit.fidelity``).
    seed, rng
        Draw other targets: a whole number, or a numpy generator. By default the seed follows from the release, so
        that nobody chose it; ``Audit.seed_from`` and a certificate say which it was.

    Returns
    -------
    Audit
        Every outcome, the gates, the verdict on each criterion and one on all; ``not measured`` is never safe. The
        people at the greatest risk are written into the private folder (``worst-off.csv``).

    Raises
    ------
    InputError
        If the source, a folder or an option cannot be used.
    RefusedError
        If the release does not keep its promise or was changed.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> release = recloak.publish(ratings, k=3, seed=1)
    >>> recloak.audit(ratings, release, targets=30, known=(2,), varied_at=2).promise
    'pass'
    """
    others = [] if isinstance(again, bool) else list(several("again", again, '["released-in-may"]'))
    for one, hidden in ((release, private), (second, second_private), *((other, None) for other in others)):
        if one is not None:
            require_folders(one, hidden)
    second = others.pop(0) if second is None and others else second
    options = AuditOptions(
        targets=targets, known=several("known", known, "(2, 8)"), varied_at=varied_at, link_cap=link_cap
    )
    from recloak._attacks.audit_result import seed_of_release
    from recloak._attacks.auditing import audit as attack
    from recloak._attacks.event_views import values_seen
    from recloak._attacks.gate import parse_gate
    from recloak._core.randomness import seed_or_rng
    from recloak._library.audit_knowledge import owner_knowledge, write_worst_off
    from recloak._library.opened_releases import account_of, manifest_of, private_of, require_published
    from recloak._library.pages import About, drawn_by
    from recloak._library.planting import publish_planted
    from recloak._report.measured_remedies import alternatives_in

    lines = several("gates", gates, '["scoreboard@8<0.05"]')
    wanted = [parse_gate(one) if isinstance(one, str) else one for one in lines]
    taken = several("accept", accept, '["NAME"]')
    alternatives = alternatives_in(frontier, manifest_of(release))
    original = as_ratings(source)
    ratings = values_seen(original, manifest_of(release))
    view = open_release(release, private, ratings)
    require_published(original, account_of(release, private))
    other = open_second(second, second_private, again is True, release, private, original)
    owner = owner_knowledge(
        ratings, more=others, held_out=held_out, later=later, mentions=mentions, attribute=attribute,
        sensitive=sensitive,
    )  # fmt: skip
    digest = _digest_of(release, view.manifest)
    chosen = seed is not None or rng is not None
    streams = seed_or_rng(seed, rng) if chosen else seed_or_rng(seed_of_release(digest), None)
    if sybils:
        account, stream = account_of(release, private), streams.stream("planted copies")
        owner = replace(owner, sybils=publish_planted(account, original, sybils, stream))
    found = attack(ratings, view, second=other, owner=owner, options=options, gates=wanted, accept=taken, rng=streams)
    write_worst_off(found, ratings, private_of(release, private))
    useful = None if probe is None else _evaluated(ratings, view, as_ratings(probe), found.seed)
    boards = _leaderboards(ratings, view, probe, found.seed) if fidelity or probe is not None else None
    about = About(origin_of(source), folder_of(release), None if probe is None else origin_of(probe))
    return replace(
        found,
        evaluation=useful,
        fidelity=boards,
        manifest_sha256=None if folder_of(release) is None else digest,
        seed_from="caller" if chosen else "manifest",
        draw=drawn_by(_page, manifest=view.manifest, about=about, alternatives=alternatives),
    )


def _leaderboards(ratings: Any, view: Any, probe: Any, seed: int) -> Any:
    """Compare a few algorithms on both sides; without a probe protocol A alone."""
    from recloak._core.randomness import Randomness
    from recloak._evaluation.fidelity.measuring import measure_fidelity
    from recloak._evaluation.fidelity.training_rows import TrainingRows
    from recloak._evaluation.holdout import probe_from
    from recloak._evaluation.options import FidelityOptions

    held_out = None if probe is None else probe_from(ratings, as_ratings(probe))
    options = FidelityOptions(quick=True, splits=1 if probe is not None else 2)
    rows = TrainingRows.of_release(view, ratings)
    return measure_fidelity(ratings, rows, held_out, options=options, rng=Randomness(seed).child("fidelity"))


def _digest_of(release: ReleaseLike, manifest: dict[str, Any]) -> str:
    """Return the hash of the manifest's file, or of what it would say for a release in memory."""
    folder = folder_of(release)
    if folder is not None:
        return sha256_of(folder / MANIFEST)
    return hashlib.sha256(json.dumps(manifest, sort_keys=True, default=str).encode()).hexdigest()


def _evaluated(ratings: Any, view: Any, held_out: Any, seed: int) -> Any:
    from recloak._evaluation.evaluating import evaluate
    from recloak._evaluation.holdout import probe_from

    return evaluate(ratings, view, probe_from(ratings, held_out), rng=seed)


def _page(found: Audit, manifest: dict[str, Any], about: About, alternatives: Alternatives) -> Page:
    from recloak._report.audit_page import audit_page

    useful: Any = found.evaluation
    boards: Any = found.fidelity
    return audit_page(
        found, useful, boards, manifest=manifest, source=about.name, provenance=about.rows(found.seed),
        alternatives=alternatives,
    )  # fmt: skip
