"""What is in a source, and how exposed its users already are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.files import written_file
from recloak._core.results import Result, counted, plural, table_of
from recloak._core.spelling import suggests_keywords
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.sources import Origin, as_ratings, origin_of
from recloak._ratings.options import ExposureOptions

if TYPE_CHECKING:
    from recloak._core.randomness import Randomness, Rng
    from recloak._library.sources import RatingsLike, Source
    from recloak._ratings.exposure import Exposure
    from recloak._ratings.summary import Summary
    from recloak._report.page import Page


@dataclass(frozen=True, slots=True, repr=False)
class Inspection(Result):
    """What `inspect` found.

    Attributes
    ----------
    source : str
        The name of the source, without its folders.
    summary : Summary
        Counts, scale, histogram, spread and times.
    exposure : Exposure
        The share of users whom a few known items single out.

    Examples
    --------
    >>> import recloak
    >>> found = recloak.inspect(recloak.synth(users=30, items=20, ratings=200, seed=1), seed=1)
    >>> found.summary.n_ratings, found.exposure.at(8, with_ratings=True).unique.n
    (200, 30)
    """

    source: str
    summary: Summary
    exposure: Exposure

    def __repr__(self) -> str:
        found = self.summary
        counts = plural(found.n_users, "user"), plural(found.n_items, "item"), plural(found.n_ratings, "rating")
        return counted(self, *counts, plural(self.exposure.n_targets, "target"))

    @property
    def seed(self) -> int:
        """The seed that gives the same figures again."""
        return self.exposure.seed

    def to_json(self) -> dict[str, Any]:
        """Return the value as the command line prints it with ``--json``."""
        return {"source": self.source, **self.summary.to_json(), "exposure": self.exposure.to_json()}

    def to_polars(self) -> Any:
        """Return the exposure: a row for each number of known items, without and with their ratings."""
        return table_of(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for level in self.exposure.levels:
            unique = {"unique": level.unique.rate, "low": level.unique.low, "high": level.unique.high}
            yield {"known": level.known, "with_ratings": level.with_ratings, **unique, "guess": level.guess}

    def to_svg(self) -> str:
        """Return the first chart of the page as a picture."""
        from recloak._report.draw import picture
        from recloak._report.formats import count
        from recloak._report.inspect_page import headline, headline_level, unique_chart

        kind = self.summary.kind
        counts = f"{count(self.summary.n_users)} users, {count(self.summary.n_ratings)} {kind.nouns}"
        caption = f"{self.source}: {counts}; 95 % intervals"
        sentence = headline(headline_level(self.exposure), kind)
        return picture(unique_chart(self.exposure, kind), headline=sentence, caption=caption)

    def write_page(self, path: str | Path) -> None:
        """Write the page (``.html``) or its first chart (``.svg``), whole or not at all."""
        text = self.to_svg() if Path(path).suffix == ".svg" else self.to_html()
        with written_file(path) as aside:
            aside.write_text(text, encoding="utf-8")


@suggests_keywords
def inspect(
    source: RatingsLike,
    *,
    targets: int = 1000,
    known: Sequence[int] = (1, 2, 4, 8),
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
    seed: int | None = None,
    rng: Rng = None,
) -> Inspection:
    """Summarise ratings and measure how exposed their users already are.

    Parameters
    ----------
    source
        Anything that holds ratings, see `read`; on Spark paths or a `Source`.
    targets
        The number of users to look for.
    known
        The numbers of known items, ascending.
    engine, master, conf
        ``"local"`` or ``"spark"``, and Spark's master and settings (``"KEY=VALUE"``).
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Inspection
        The summary, the exposure and a page.

    Raises
    ------
    InputError
        If the source cannot be read or an option breaks its rule.

    Examples
    --------
    >>> import recloak
    >>> found = recloak.inspect(recloak.synth(users=30, items=20, ratings=200, seed=1), seed=1)
    >>> found
    <Inspection: 30 users, 20 items, 200 ratings, 30 targets>
    >>> found.to_polars().columns
    ['known', 'with_ratings', 'unique', 'low', 'high', 'guess']
    """
    from recloak._core.randomness import seed_or_rng
    from recloak._library.pages import drawn_by

    options, origin = ExposureOptions(targets=targets, known=tuple(known)), origin_of(source)
    generator = seed_or_rng(seed, rng)
    if on_spark(engine, master, conf):
        found = _on_spark(require_files(source), options, generator, master, conf)
    else:
        found = _here(source, options, generator)
    return Inspection(origin.name, *found, draw=drawn_by(_page, origin=origin))


def _here(source: RatingsLike, options: ExposureOptions, generator: Randomness) -> tuple[Summary, Exposure]:
    from recloak._ratings.exposure import expose
    from recloak._ratings.summary import summarise

    ratings = as_ratings(source)
    return summarise(ratings), expose(ratings, options, rng=generator)


def _on_spark(
    source: Source, options: ExposureOptions, generator: Randomness, master: str | None, conf: Sequence[str]
) -> tuple[Summary, Exposure]:
    with spark_session(master, conf) as spark:
        from recloak._spark.inspection import expose, summarise
        from recloak._spark.source import open_source
        from recloak._spark.user_blocks import opened_blocks

        with opened_blocks(spark, source.paths, source.options) as blocks:
            opened = open_source(spark, source.paths, source.options)
            return summarise(opened, blocks), expose(blocks, options, rng=generator)


def _page(found: Inspection, origin: Origin) -> Page:
    from recloak._report.inspect_page import inspect_page
    from recloak._report.provenance import hashes_by_name, versions

    provenance = (("Seed", str(found.seed)), *hashes_by_name(origin.paths), ("Versions", versions()))
    return inspect_page(found.summary, found.exposure, source=found.source, provenance=provenance)
