import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError
from recloak._ratings.model import Ratings, Scale
from recloak._releases.grid import default_step, make_grid
from recloak._releases.homogenise import group_rows, homogenise
from recloak._releases.model.manifest import not_promised
from recloak._releases.model.modes import MODES
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import HomogeniseOptions, PublishOptions
from recloak._releases.profiles import FullProfiles, Profiles
from recloak._releases.rating_tally import tally
from tests.releases.helpers import some_grouping, some_padding, some_ratings, some_release
from tests.strategies import small_ratings


def table(profiles: Profiles) -> dict[tuple[int, int], float]:
    """All cells as {(group, item): label}."""
    cells = profiles.rows(np.arange(len(profiles.counts)))
    groups = np.repeat(np.arange(len(profiles.counts)), np.diff(cells.indptr))
    return {(int(g), int(i)): float(v) for g, i, v in zip(groups, cells.items, cells.labels, strict=True)}


def of_raters(mode: str, min_raters: int = 2) -> HomogeniseOptions:
    """Labels that the raters' own ratings move, exact."""
    return HomogeniseOptions(
        mode=mode, labels=None if mode == "pure" else "raters", min_raters=min_raters, grid="none"
    )  # fmt: skip


def naive(ratings: Ratings, padding: Padding, grouping: Grouping, mode: str, min_raters: int):
    """The definitions, on the dense matrix."""
    rated = np.full(ratings.shape, np.nan)
    rated[ratings.users(), ratings.items] = ratings.values
    padded = np.where(np.isnan(rated), padding.rows(np.arange(ratings.n_users)), rated)
    cells = {}
    for g in range(grouping.n_groups):
        group = grouping.labels == g
        for i in range(ratings.n_items):
            n_raters = np.count_nonzero(~np.isnan(rated[group, i]))
            if mode == "pure" and n_raters == 0:
                continue
            enough = n_raters >= min_raters
            if mode == "pure":
                cells[g, i] = np.nanmean(rated[group, i]) if enough else padded[group, i].mean()
            else:
                cells[g, i] = (padded if enough else padding.rows(np.arange(ratings.n_users)))[group, i].mean()
    return {cell: float(np.clip(label, ratings.scale.low, ratings.scale.high)) for cell, label in cells.items()}


@given(small_ratings(min_users=4), st.sampled_from(["pure", "padded"]), st.integers(1, 3), st.integers(0, 99))
def test_labels_are_those_of_the_definition_on_the_dense_matrix(ratings, mode, min_raters, seed):
    padding, grouping = some_padding(ratings, seed=seed), some_grouping(ratings.n_users, 2, seed)
    found = table(homogenise(ratings, padding, grouping, of_raters(mode, min_raters)))
    assert found == pytest.approx(naive(ratings, padding, grouping, mode, min_raters), abs=1e-4)


@given(small_ratings(min_users=4), st.integers(0, 99))
def test_labels_of_the_model_alone_are_low_rank_whoever_rated_what(ratings, seed):
    """No cell holds anything but its group's numbers times its item's: nothing stands out where there are raters."""
    padding, grouping = some_padding(ratings, seed=seed), some_grouping(ratings.n_users, 2, seed)
    options = HomogeniseOptions(mode="padded", labels="model", grid="none")
    rows = group_rows(ratings, padding, grouping, options)
    predicted = rows.base + rows.bias[:, None] + rows.factors @ rows.item_factors
    wanted = dict(np.ndenumerate(np.clip(predicted, ratings.scale.low, ratings.scale.high)))
    assert table(homogenise(ratings, padding, grouping, options)) == pytest.approx(wanted, abs=1e-4)
    assert options.replace(labels=None).labels_of == "model"


@given(small_ratings(min_users=4), st.sampled_from(["pure", "padded"]), st.sampled_from([None, 0.1, 0.3, 0.5, 1.0]))
def test_every_label_lies_on_the_grid_at_most_half_a_step_from_its_exact_value(ratings, mode, step):
    padding, grouping = some_padding(ratings), some_grouping(ratings.n_users, 2)
    if step is not None and ratings.scale.span and step > ratings.scale.span:
        step = None
    grid = make_grid(ratings.scale, mode, step)
    exact = table(homogenise(ratings, padding, grouping, HomogeniseOptions(mode=mode, grid="none")))
    found = table(homogenise(ratings, padding, grouping, HomogeniseOptions(mode=mode, grid=step)))
    assert set(np.array(list(found.values()), np.float32)) <= set(grid.values)
    # The top of the scale may lie off the grid (5 on 1, 1.3, ..., 4.9): then a label moves by up to a whole step.
    reach = (grid.step or 0) / 2 + max(0.0, ratings.scale.high - float(grid.values[-1])) + 1e-4
    assert all(abs(found[cell] - exact[cell]) <= reach for cell in exact)


def test_the_average_of_a_pure_label_is_over_its_raters_and_of_a_padded_one_over_the_whole_group():
    ratings = Ratings.from_arrays([0, 1, 2], [0, 0, 1], [5.0, 1.0, 3.0])
    flat = Padding(
        2.0, np.zeros(3, np.float32), np.zeros(2, np.float32), np.zeros((3, 1), np.float32),
        np.zeros((2, 1), np.float32), ratings.scale,
    )  # fmt: skip
    one = Grouping(np.zeros(3, np.int32), 3)
    pure = table(homogenise(ratings, flat, one, of_raters("pure", 1)))
    padded = table(homogenise(ratings, flat, one, of_raters("padded", 1)))
    assert pure == {(0, 0): (5 + 1) / 2, (0, 1): 3.0}
    assert padded == pytest.approx({(0, 0): (5 + 1 + 2) / 3, (0, 1): (2 + 2 + 3) / 3})


def test_a_single_persons_rating_is_not_published_by_default():
    ratings = Ratings.from_arrays([0, 1, 2, 2], [0, 0, 1, 2], [4.0, 4.0, 5.0, 1.0])
    flat = Padding(
        3.0, np.zeros(3, np.float32), np.zeros(3, np.float32), np.zeros((3, 1), np.float32),
        np.zeros((3, 1), np.float32), ratings.scale,
    )  # fmt: skip
    one = Grouping(np.zeros(3, np.int32), 3)
    pure = table(homogenise(ratings, flat, one, of_raters("pure")))
    assert pure[0, 1] == pytest.approx((3 + 3 + 5) / 3)
    padded = table(homogenise(ratings, flat, one, of_raters("padded")))
    assert padded[0, 1] == 3.0


@given(small_ratings(min_users=4), st.sampled_from(["pure", "padded"]))
def test_homogenising_what_is_already_homogeneous_changes_nothing(ratings, mode):
    grouping = some_grouping(ratings.n_users, 2)
    padding = some_padding(ratings)
    options = of_raters(mode, 1).replace(grid=None)
    once = table(homogenise(ratings, padding, grouping, options))
    rows = [(u, i, label) for u in range(ratings.n_users) for (g, i), label in once.items() if g == grouping.labels[u]]
    users, items, labels = (np.array(column) for column in zip(*rows, strict=True))
    again = Ratings.from_arrays(users, ratings.item_ids.decode(items), labels, scale=ratings.scale)
    # Items that nobody in any group has cannot come back in pure mode; there are none, for every item is rated.
    assert table(homogenise(again, padding, grouping, options)) == pytest.approx(once)


@pytest.mark.parametrize(
    ("scale", "padded", "pure"),
    [
        (Scale(1, 5), 0.1, 0.5),
        (Scale(0.5, 5, 0.5), 0.1, 0.5),
        (Scale(0, 10), 0.2, 1.0),
        (Scale(1, 100), 2.0, 10.0),
        (Scale(3, 3), 1.0, 1.0),
    ],
)
def test_the_default_grid_follows_the_scale(scale, padded, pure):
    assert default_step(scale, "padded") == padded
    assert default_step(scale, "pure") == pure


@pytest.mark.parametrize("step", [0, -1, float("inf"), 9, 1e-9])
def test_a_grid_that_cannot_be_is_refused(step):
    with pytest.raises(OptionError, match="grid must"):
        make_grid(Scale(1, 5), "pure", step)


def test_a_grid_by_an_unknown_word_is_refused():
    with pytest.raises(OptionError, match="none"):
        HomogeniseOptions(grid="coarse")


def test_steps_of_different_users_are_refused():
    ratings = Ratings.from_arrays([0, 1], [0, 1], [1.0, 5.0])
    with pytest.raises(InputError, match="same users"):
        homogenise(ratings, some_padding(ratings), Grouping(np.zeros(3, np.int32), 2))


@given(small_ratings(min_users=4), st.sampled_from([0.34, 0.5, 0.6, 0.75, 1.0]), st.integers(0, 9))
def test_no_released_item_was_rated_by_more_than_the_allowed_share_and_no_other_is_left_out(ratings, share, seed):
    padding, grouping = some_padding(ratings, seed=seed), some_grouping(ratings.n_users, 2, seed)
    all_cells = table(homogenise(ratings, padding, grouping, HomogeniseOptions(mode="pure")))
    raters = {
        (g, i): np.count_nonzero((grouping.labels[ratings.users()] == g) & (ratings.items == i)) for g, i in all_cells
    }
    wanted = {cell for cell in all_cells if raters[cell] <= share * grouping.sizes[cell[0]] + 1e-9}
    capped = HomogeniseOptions(mode="pure", max_link=share)
    if {g for g, _ in wanted} != set(range(grouping.n_groups)):
        with pytest.raises(InputError, match="without a single item"):
            homogenise(ratings, padding, grouping, capped)
    else:
        assert table(homogenise(ratings, padding, grouping, capped)) == {cell: all_cells[cell] for cell in wanted}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_raters": 3}, "min_raters=... needs labels='raters'"),
        ({"labels": "model", "min_raters": 1}, "min_raters=... needs labels='raters'"),
        ({"labels": "model", "paper": True}, "leave labels='model' out"),
        ({"labels": "model", "mode": "pure"}, "labels is for mode padded"),
        ({"labels": "raters", "mode": "pure"}, "labels is for mode padded"),
        ({"labels": "members"}, "labels must be"),
    ],
)
def test_options_of_labels_that_do_not_go_together_are_refused(options, sentence):
    with pytest.raises(OptionError, match=re.escape(sentence)):
        PublishOptions(**options)


@pytest.mark.parametrize(
    ("options", "labels", "min_raters"),
    [
        ({}, "model", None),
        ({"labels": "raters"}, "raters", 2),
        ({"labels": "raters", "min_raters": 4}, "raters", 4),
        ({"paper": True}, "raters", 1),
        ({"mode": "pure"}, "raters", 2),
        ({"mode": "pure", "paper": True}, "raters", 1),
    ],
)
def test_a_release_says_whose_ratings_its_labels_hold_and_what_that_leaks(options, labels, min_raters):
    facts = some_release(some_ratings(), **options).facts
    assert (facts.labels, facts.min_raters) == (labels, min_raters)
    assert set(MODES[facts.mode].leaks[labels]) <= set(not_promised(facts))


def test_a_cap_on_links_is_for_pure_releases_without_diversity():
    with pytest.raises(OptionError, match="padded row has every item"):
        PublishOptions(max_link=0.5)
    with pytest.raises(OptionError, match="exclude each other"):
        PublishOptions(mode="pure", max_link=0.5, diversity="1,2")


@pytest.mark.parametrize(("high", "coded"), [(255.0, True), (256.0, False)])
def test_labels_are_numbered_in_a_byte_only_where_every_value_of_the_grid_has_a_number(high, coded):
    ratings = Ratings.from_arrays([0, 1], [0, 1], [0.0, high])
    options = HomogeniseOptions(mode="padded", grid=1.0)
    profiles = homogenise(ratings, some_padding(ratings), Grouping(np.zeros(2, np.int32), 2), options)
    assert isinstance(profiles, FullProfiles)
    assert profiles.coded == coded


def test_rows_longer_than_a_tile_are_filled_to_the_last_item():
    n_items = 2 * 1024 + 3
    users = np.repeat([0, 1, 2, 3], [n_items, 3, n_items, 1])
    items = [*range(n_items), 1023, 1024, 2048, *range(n_items), n_items - 1]
    values = np.random.default_rng(0).integers(1, 6, len(items)).astype(np.float64)
    ratings, grouping = Ratings.from_arrays(users, items, values), Grouping(np.array([0, 0, 1, 1], np.int32), 2)
    padding = some_padding(ratings)
    found = table(homogenise(ratings, padding, grouping, of_raters("padded", 1)))
    assert found == pytest.approx(naive(ratings, padding, grouping, "padded", 1), abs=1e-4)


def test_counting_some_groups_gives_their_cells_and_none_of_the_others():
    ratings, grouping = some_ratings(40, 12), some_grouping(40, 4)
    whole, some = tally(ratings, None, grouping), tally(ratings, None, grouping, every=3)
    for g in range(grouping.n_groups):
        mine, all_of_it = slice(*some.indptr[g : g + 2]), slice(*whole.indptr[g : g + 2])
        if g % 3:
            assert mine.start == mine.stop
        else:
            assert np.array_equal(some.items[mine], whole.items[all_of_it])
            assert np.array_equal(some.raters[mine], whole.raters[all_of_it])
