"""Real data sets are read with the counts their makers give."""

import pytest

from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import read


@pytest.mark.data
@pytest.mark.parametrize(
    ("source", "n_rows", "n_repeated", "n_users", "n_items", "scale"),
    [
        ("ml-latest-small/ratings.csv", 100_836, 0, 610, 9_724, (0.5, 5, 0.5)),
        ("ml-latest-small", 100_836, 0, 610, 9_724, (0.5, 5, 0.5)),
        ("movietweetings-2013/ratings.dat", 141_695, 0, 21_081, 12_611, (0, 10, 1)),
        ("goodbooks/ratings.csv.gz", 981_756, 2_278, 53_424, 10_000, (1, 5, 1)),
        ("ml/ml-1m.inter", 1_000_209, 0, 6_040, 3_706, (1, 5, 1)),
        # Titles stand for items here, and 18 of the 1,682 films share a title with another.
        ("ml/ml-100k.inter", 100_000, 307, 943, 1_664, (1, 5, 1)),
    ],
)
def test_real_data_have_the_counts_of_their_makers(data, source, n_rows, n_repeated, n_users, n_items, scale):
    ratings = read(data / source)
    assert (ratings.intake.n_rows, ratings.intake.n_repeated) == (n_rows, n_repeated)
    assert (ratings.n_users, ratings.n_items) == (n_users, n_items)
    assert (ratings.scale.low, ratings.scale.high, ratings.scale.step) == scale
    assert ratings.n_ratings == n_rows - n_repeated


@pytest.mark.data
def test_leading_zeros_of_imdb_ids_are_kept(data):
    ratings = read(data / "movietweetings-2013", options=ReadOptions(scale="0,10"))
    assert ratings.item_ids.number("0054890") >= 0
    assert all(len(one) == 7 for one in ratings.item_ids.ids)
    assert not ratings.user_ids.is_text
