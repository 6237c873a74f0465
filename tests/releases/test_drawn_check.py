"""Drawn rows against the source: copies of people are found, and rows that were drawn pass."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import recloak
from recloak._cli.main import run
from recloak._releases.verifier import verify
from recloak._releases.verifier.drawn_check import check_drawn, own_names, presence_of, rare_items

RATINGS = recloak.synth(users=300, items=120, ratings=6000, seed=3)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return recloak.publish(RATINGS, tmp_path_factory.mktemp("drawn") / "out", mode="sampled", k=5, seed=1)


def checked(rows, groups, users, holders=5):
    return check_drawn(rows, groups, RATINGS, users, holders, np.random.default_rng(1))


@pytest.fixture(scope="module")
def people():
    return presence_of(RATINGS)


GROUPS = np.arange(300) // 5
NAMES = np.arange(300)


def test_drawn_rows_pass_and_it_is_said_what_was_compared(published):
    verdict = recloak.verify(published.folder, original=RATINGS, private=published.private)
    assert verdict.passed
    assert len(verdict.measured) == 4
    assert "not tested" in verdict.measured[-1]
    assert verdict.to_json()["measured"] == verdict.measured
    assert "measured" not in recloak.verify(published.folder).to_json()


def test_without_the_source_it_is_said_that_nothing_was_compared(published, capsys):
    assert recloak.verify(published.folder).unchecked == ("that no drawn row is nearer to a person than by chance",)
    assert run(["verify", str(published.folder)]) == 0
    assert "not checked without --original" in capsys.readouterr().out


def test_copies_under_their_own_names_are_found(people):
    found = checked(people, GROUPS, NAMES)
    assert found.own_names > 20
    assert "the member of the same name" in found.problems()[0]


def test_copies_that_changed_places_within_their_groups_are_found(people):
    shuffled = np.concatenate([np.random.default_rng(g).permutation(5) + 5 * g for g in range(60)])
    found = checked(people[shuffled], GROUPS, NAMES)
    assert abs(found.own_names) < 5
    assert found.near > 0.8  # the others have a namesake with the same items
    assert "nearer to a person than any other person is" in " ".join(found.problems())


def test_copies_with_a_twentieth_of_their_items_exchanged_are_found(people):
    draw, rows = np.random.default_rng(2), people.toarray()
    for row in rows:
        out = draw.permutation(np.flatnonzero(row))[: int(row.sum()) // 20]
        row[draw.permutation(np.flatnonzero(row == 0))[: len(out)]] = 1
        row[out] = 0
    shuffled = np.concatenate([draw.permutation(5) + 5 * g for g in range(60)])
    assert checked(scipy.sparse.csr_array(rows[shuffled]), GROUPS, NAMES).near_above > 5


def test_strangers_are_not_taken_for_copies():
    draw, popular = np.random.default_rng(4), RATINGS.popularity / RATINGS.n_users
    rows = scipy.sparse.csr_array((draw.random((300, 120)) < popular).astype(float))
    assert checked(rows, GROUPS, NAMES).problems() == []


def test_own_names_is_the_excess_over_random_assignments(people):
    draw = np.random.default_rng(5)
    shuffled = [np.concatenate([draw.permutation(5) + 5 * g for g in range(60)]) for _ in range(60)]
    found = [own_names(people[one], people, GROUPS) for one in shuffled]
    assert np.mean(found) == pytest.approx(0, abs=0.6)
    assert np.std(found) == pytest.approx(1, abs=0.35)


def test_rare_items_in_the_groups_of_their_raters_are_found(people):
    few = np.flatnonzero((RATINGS.popularity > 0) & (RATINGS.popularity < 60))
    rows = people.tolil()
    elsewhere = np.random.default_rng(6).permutation(300)
    apart = people.toarray()
    apart[:, few] = apart[elsewhere][:, few]
    assert rare_items(rows.tocsr(), people, GROUPS, holders=60) > 5
    assert rare_items(scipy.sparse.csr_array(apart), people, GROUPS, holders=60) < 5


def test_a_mapping_with_other_groups_is_refused(published):
    mapping = pl.read_parquet(published.private / "mapping.parquet")
    other = mapping.with_columns(group=pl.col("group").reverse())
    for given, passed in ((mapping, True), (other, False)):
        assert verify(published.folder, original=RATINGS, mapping=given).passed == passed
