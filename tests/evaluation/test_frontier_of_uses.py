"""The frontier of purchases and plays: rankings are the measure of usefulness, and nothing is said of ratings."""

import json

import pytest
from tests.releases.test_events import two_tastes

import recloak
from recloak._evaluation.frontier import FrontierPoint
from recloak._report.formats import k_equals
from recloak._report.frontier_page import recommended


@pytest.fixture(scope="module", params=[False, True], ids=["presence", "counts"])
def found(request):
    source = two_tastes(80, 40, counts=request.param)
    return recloak.frontier(source, k=[4], mode=["pure", "padded", "sampled"], targets=20, known=3, seed=1)


def test_every_release_is_ranked_beside_the_original_and_popularity(found):
    assert found.popularity is not None
    for point in (found.original, *found.points):
        assert point.ranking is not None
        assert 0 < point.ranking.ndcg <= 1
        assert point.trained.rmse is None
    assert found.to_json()["baselines"] == {"popularity": found.popularity.to_json()}
    assert "privacy_baselines" in found.to_json()["not_applicable"]
    assert found.privacy_baselines == ()


def test_what_makes_no_sense_for_a_kind_is_not_applicable_and_not_unmeasured(found):
    pure = found.points[0].measures
    takes_numbers = found.values == "counts"
    assert pure["residual"].is_applicable == takes_numbers
    assert pure["insider"].is_applicable == takes_numbers
    assert pure["insider-items"].value is not None
    assert pure["membership"].value is not None
    told = found.to_html()
    risks = told.split("What else is told?")[1].split("</table>")[0]
    assert "not applicable" in risks  # to padded rows of counts too, which show no counts
    assert "errors of ratings, and ratings with noise as a baseline, are not applicable" in told


def test_the_recommended_release_ranks_better_than_popularity(found):
    best = recommended(found)
    assert best is not None
    assert best.ranking is not None
    assert best.ranking.ndcg > found.popularity.ndcg
    assert f"ranks better than popularity is {best.mode} with {k_equals(best.k)}" in found.to_html()


def test_points_come_back_from_a_file(found):
    for point in found.points:
        assert FrontierPoint.from_json(json.loads(json.dumps(point.to_json()))) == point


def test_quick_leaderboards_stand_beside_every_release(found):
    for point in found.points:
        assert set(point.boards) == {"A ndcg", "B ndcg"}
        known = [one for one in point.boards.values() if one is not None]
        assert len(known) == 2 or point.mode == "padded"  # whose propensities may all be too small to count as uses
        assert all(len(one.entries) == 5 and one.tau_noise is not None for one in known)
    assert "Who wins on the release wins on the original?" in found.to_html()


def test_leaderboards_are_those_of_fidelity_and_can_be_left_out():
    ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    with_boards, without = (
        recloak.frontier(ratings, k=[3, 4], mode=["pure"], targets=9, known=2, epsilon=(), no_fidelity=no, seed=1)
        for no in (False, True)
    )
    assert all(set(one.boards) == {"A rmse", "A ndcg", "B rmse", "B ndcg"} for one in with_boards.points)
    assert [one.boards for one in without.points] == [{}, {}]
    boards = [board.entries for one in with_boards.points if (board := one.boards["A rmse"]) is not None]
    assert [one.original for one in boards[0]] == [one.original for one in boards[1]]  # trained once for both releases
    assert [one.release for one in boards[0]] != [one.release for one in boards[1]]
