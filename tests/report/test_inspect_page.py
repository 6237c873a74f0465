"""The page of inspect says what was measured."""

import numpy as np
import pytest

from recloak._ratings.exposure import expose
from recloak._ratings.model import Ratings
from recloak._ratings.summary import summarise
from recloak._report.inspect_page import exposure_verdict, headline_level, inspect_page, summary_chapter, unique_chart
from recloak._report.page import render


def ratings_of(n_users, n_items, seed=1, **more):
    stream = np.random.default_rng(seed)
    n = n_users * 12
    return Ratings.from_arrays(
        stream.integers(0, n_users, n), stream.integers(0, n_items, n), stream.integers(1, 6, n), **more
    )


@pytest.fixture(scope="module")
def exposed():
    return ratings_of(200, 150, times=np.linspace(0, 10**8, 2400).astype(np.int64))


def test_the_headline_gives_the_least_knowledge_that_finds_half_of_the_users(exposed):
    found = expose(exposed, rng=1)
    level = headline_level(found)
    weaker = [other for other in found.levels if other.with_ratings and other.known < level.known]
    assert level.unique.rate >= 0.5
    assert all(other.unique.rate < 0.5 for other in weaker)
    verdict = exposure_verdict(found)
    assert verdict.tone == "alert"
    assert f"{100 * level.unique.rate:.1f}" in verdict.headline


def test_users_who_are_all_alike_are_never_called_safe():
    twins = Ratings.from_arrays(np.repeat(np.arange(30), 8), np.tile(np.arange(8), 30), np.full(240, 3.0))
    verdict = exposure_verdict(expose(twins, rng=1))
    assert verdict.tone == "plain"
    assert "safe" not in (verdict.word + verdict.headline + verdict.text).lower()
    assert "stronger ones were not tried" in verdict.word


def test_the_chart_shows_the_measured_shares(exposed):
    found = expose(exposed, rng=1)
    shown = {series.name: [point.y for point in series.points] for series in unique_chart(found).series}
    assert shown["items and ratings known"] == [found.at(n, with_ratings=True).unique.rate for n in (1, 2, 4, 8)]
    assert shown["items known"] == [found.at(n, with_ratings=False).unique.rate for n in (1, 2, 4, 8)]


def test_the_whole_page_renders_with_its_source_escaped(exposed):
    page = inspect_page(
        summarise(exposed), expose(exposed, rng=1), source="<b>mine</b>.csv", provenance=(("Seed", "1"),)
    )
    text = render(page)
    assert "&lt;b&gt;mine&lt;/b&gt;.csv" in text
    assert "<b>" not in text
    assert len(text.encode()) < 2_000_000


def test_years_are_shown_only_where_there_are_times(exposed):
    def headings(ratings):
        return [section.heading for section in summary_chapter(summarise(ratings)).sections]

    assert "When the ratings were given" in headings(exposed)
    assert "When the ratings were given" not in headings(ratings_of(20, 30))


def test_a_single_rating_makes_a_page():
    one = Ratings.from_arrays(["a"], ["x"], [4.0])
    assert "What was done" in render(inspect_page(summarise(one), expose(one, rng=1), source="one.csv"))


def test_dropped_rows_are_told():
    again = Ratings.from_arrays([1, 1, 2], [1, 1, 1], [2, 3, 3])
    assert (
        "1 named a pair that stood before; they were dropped, the latest counts"
        in summary_chapter(summarise(again)).intro
    )
