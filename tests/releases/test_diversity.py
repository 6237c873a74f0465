from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError
from recloak._ratings.model import Ratings
from recloak._releases import diversity as diversities
from recloak._releases.diversity import diversify
from recloak._releases.grid import make_grid
from recloak._releases.homogenise import group_means, homogenise
from recloak._releases.model.release_format import Diversity
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import HomogeniseOptions
from recloak._releases.verifier import verify
from tests.releases.helpers import some_grouping, some_padding, some_ratings, some_release


def item_sets(profiles):
    cells = profiles.rows(np.arange(len(profiles.counts)))
    return [set(part.tolist()) for part in np.split(cells.items, cells.indptr[1:-1])]


def diversified(ratings: Ratings, grouping: Grouping, padding: Padding, wanted: Diversity, mode: str = "pure"):
    profiles = homogenise(ratings, padding, grouping, HomogeniseOptions(mode=mode))
    grid = make_grid(ratings.scale, mode)
    return profiles, *diversify(profiles, ratings, grouping, group_means(padding, grouping), grid, wanted, rng=0)


def holds(ratings: Ratings, sets: list[set[int]], wanted: Diversity) -> bool:
    """The definition: every b items of some user, in the item sets of at least l groups."""
    for user in range(ratings.n_users):
        items = ratings.items[ratings.row(user)].tolist()
        for chosen in combinations(items, len(items) if wanted.b is None else wanted.b):
            if sum(set(chosen) <= group for group in sets) < wanted.l:
                return False
    return True


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from([1, 2, 3, None]), st.integers(2, 3))
def test_every_set_rated_together_stands_in_l_groups_afterwards(seed, b, l):  # noqa: E741
    ratings = some_ratings(9, 7, seed=seed, density=0.3)
    grouping, padding = some_grouping(9, 2, seed), some_padding(ratings, seed=seed)
    before, after, n_fake = diversified(ratings, grouping, padding, Diversity(b, l))
    assert holds(ratings, item_sets(after), Diversity(b, l))
    assert int(after.counts.sum()) == int(before.counts.sum()) + n_fake
    assert all(old <= new for old, new in zip(item_sets(before), item_sets(after), strict=True))


def test_what_is_diverse_already_gets_nothing():
    ratings = Ratings.from_arrays(np.repeat(np.arange(6), 2), np.tile([0, 1], 6), np.arange(12) % 5 + 1.0)
    for b in (1, 2, None):
        assert diversified(ratings, some_grouping(6, 2), some_padding(ratings), Diversity(b, 3))[2] == 0


def test_padded_groups_have_every_item_already():
    ratings = some_ratings()
    assert diversified(ratings, some_grouping(12, 3), some_padding(ratings), Diversity(2, 4), "padded")[2] == 0


def test_the_nearest_group_is_chosen_not_a_random_one():
    # Groups 0 and 1 think alike, 2 and 3 the opposite; only group 0 has item 4.
    users = np.repeat(np.arange(8), 1)
    ratings = Ratings.from_arrays([*users, 0], [0, 0, 1, 1, 2, 2, 3, 3, 4], [1.0, 2, 3, 4, 5, 1, 2, 3, 4])
    taste = np.array([1, 1, 0.9, 0.9, -1, -1, -0.9, -0.9], np.float32)[:, None]
    padding = Padding(
        3.0, np.zeros(8, np.float32), np.zeros(5, np.float32), taste, np.ones((5, 1), np.float32), ratings.scale
    )
    grouping = Grouping(np.repeat(np.arange(4, dtype=np.int32), 2), 2)
    _, after, n_fake = diversified(ratings, grouping, padding, Diversity(1, 2))
    sets = item_sets(after)
    assert 4 in sets[1]
    assert 4 not in sets[2] | sets[3]
    assert sets[0] == {0, 4, 1}
    assert n_fake == 5


def test_bundles_of_near_groups_share_one_item_set():
    ratings = some_ratings(12, 8, density=0.2)
    _, after, _ = diversified(ratings, some_grouping(12, 2), some_padding(ratings), Diversity(None, 3))
    sets = item_sets(after)
    assert all(sum(other == mine for other in sets) >= 3 for mine in sets)


def test_fake_labels_lie_on_the_grid():
    ratings = some_ratings(12, 8, density=0.2)
    _, after, _ = diversified(ratings, some_grouping(12, 2), some_padding(ratings), Diversity(1, 5))
    labels = after.rows(np.arange(6)).labels
    assert set(labels.tolist()) <= set(make_grid(ratings.scale, "pure").values.tolist())


def test_too_few_groups_are_refused():
    ratings = some_ratings()
    with pytest.raises(InputError, match="needs at least 9 groups, got 4"):
        diversified(ratings, some_grouping(12, 3), some_padding(ratings), Diversity(1, 9))


def test_too_many_sets_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(diversities, "_MOST_SETS", 3.0)
    ratings = Ratings.from_arrays([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1.0, 2, 3, 4, 5])
    with pytest.raises(OptionError, match=r"means 4\.0e\+00 sets .* ask for all,2"):
        diversified(ratings, Grouping(np.array([0, 1], np.int32), 1), some_padding(ratings), Diversity(2, 2))


@pytest.mark.parametrize("diversity", ["1,3", "2,2", "all,2"])
@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_a_diverse_release_is_verified_against_its_source(tmp_path, diversity, mode):
    ratings = some_ratings(12, 8, density=0.3)
    folder = some_release(ratings, mode=mode, diversity=diversity).write(tmp_path / "out")
    assert verify(folder, original=ratings, diversity=diversity).passed
    assert verify(folder, original=ratings).passed


@pytest.mark.parametrize("text", ["", "1", "a,b", "1,1", "0,2", "-1,2", "all", "all,x", "1,2,3"])
def test_a_diversity_that_cannot_be_read_is_refused(text):
    with pytest.raises(OptionError, match="diversity must be"):
        Diversity.parse(text)


@pytest.mark.parametrize("text", ["1,2", "3,10", "all,4"])
def test_a_diversity_reads_back_as_written(text):
    assert str(Diversity.parse(text)) == text
