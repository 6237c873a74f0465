"""The pages of results: what each shows, and where its figures come from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recloak._library.sources import Origin
from recloak._report.page import Page, head_html, render
from recloak._report.provenance import hashes_of, manifest_hash, versions

Rows = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class About:
    """What a result is about: the source, and where there are, the release and the probe. Hashes are taken late."""

    source: Origin
    folder: Path | None = None
    probe: Origin | None = None

    @property
    def name(self) -> str:
        """The source, and where it lies in a folder, its release."""
        folder = "" if self.folder is None else f" in the folder {self.folder.absolute().name}"
        return f"{self.source.name} and its release{folder}"

    def rows(self, seed: int | None) -> Rows:
        """Return what it takes to do it again: the seed, hashes and versions."""
        sources = (*hashes_of(self.source.paths, "the source"), *manifest_hash(self.folder))
        probe = () if self.probe is None else hashes_of(self.probe.paths, "the probe")
        return (("Seed", str(seed)), *sources, *probe, ("Versions", versions()))


def drawn_by(make: Callable[..., Page], **known: Any) -> Callable[[Any, bool], str]:
    """Return the function that draws a result: the whole page, or its head."""
    return partial(_draw, partial(make, **known))


def _draw(make: Callable[[Any], Page], found: Any, head: bool) -> str:
    return head_html(make(found)) if head else render(make(found))
