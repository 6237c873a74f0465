"""Mentions of other people, or of other items, are not measured: a rate of 0 would read as safe."""

import numpy as np
import polars as pl
import pytest

import recloak
import recloak.mentions
from tests.library.small_world import small_ratings

RATINGS = small_ratings()
MENTIONS = RATINGS.select("user", "item").head(80)


@pytest.mark.parametrize("measure", [recloak.mentions.identify, recloak.mentions.defend])
def test_nothing_is_measured_of_people_or_items_that_are_not_in_the_ratings(measure):
    people = MENTIONS["user"].n_unique()
    with pytest.raises(recloak.InputError, match=f"nothing can be measured: 0 of the {people} people"):
        measure(RATINGS, MENTIONS.with_columns(pl.col("user") + 1000))
    with pytest.raises(recloak.InputError, match="nothing can be measured: 0 of the 80 items"):
        measure(RATINGS, MENTIONS.with_columns(pl.col("item") + 1000))


def test_who_is_not_in_the_ratings_is_told():
    strangers = pl.concat([MENTIONS, MENTIONS.head(3).with_columns(pl.col("user") + 1000)])
    found = recloak.mentions.identify(RATINGS, strangers)
    present = MENTIONS["user"].n_unique()
    assert f"{found.n_targets} targets, {present} of them in the ratings" in repr(found)
    assert "of them" not in repr(recloak.mentions.identify(RATINGS, MENTIONS))


@pytest.fixture(scope="module")
def advisor():
    return recloak.mentions.prepare_advisor(RATINGS, exact=True)


def test_an_unknown_item_is_told(advisor):
    advice = recloak.mentions.advise(advisor, 1, [0], [1, 777], k=5)
    assert advice.n_unknown == 1
    assert repr(advice).endswith(", 1 unknown item>")


def test_ids_of_any_whole_number_type_are_the_items_they_name(advisor):
    plain = recloak.mentions.advise(advisor, 1, [0], [1, 2], k=5)
    assert recloak.mentions.advise(advisor, 1, np.array([0]), pl.Series([1, 2]), k=5) == plain


@pytest.mark.parametrize("draft", [["1"], 2, "12", [1.5], [None], [True]])
def test_what_cannot_be_an_item_of_the_ratings_is_refused(advisor, draft):
    with pytest.raises(recloak.OptionError, match="draft must be"):
        recloak.mentions.advise(advisor, 1, [0], draft, k=5)
    with pytest.raises(recloak.OptionError, match="earlier must be"):
        recloak.mentions.advise(advisor, 1, draft, [0], k=5)
