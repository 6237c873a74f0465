"""Publishing, verifying, auditing and evaluating by the public functions, in memory and in folders."""

from typing import Any

import polars as pl
import pytest

import recloak
from recloak._releases.release import FolderRelease
from tests.releases.helpers import some_ratings

FEW: dict[str, Any] = {"targets": 40, "known": (2,), "varied_at": 2, "seed": 1}


@pytest.fixture(scope="module")
def ratings():
    return some_ratings(40, 12)


def test_without_a_folder_nothing_is_written(ratings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = recloak.publish(ratings, k=3, seed=1)
    assert (release.folder, list(tmp_path.iterdir())) == (None, [])
    assert recloak.verify(release, k=3).passed


def test_written_at_once_or_later_the_bytes_are_the_same(ratings, tmp_path):
    options: dict[str, Any] = {"k": 3, "mode": "pure", "seed": 1}
    at_once = recloak.publish(ratings, tmp_path / "one", layout="long", format="csv", **options)
    later = recloak.publish(ratings, **options).write(tmp_path / "two", layout="long", format="csv")
    assert (at_once.folder, at_once.private) == (tmp_path / "one", tmp_path / "one-private")
    for file in later.iterdir():
        assert file.read_bytes() == (tmp_path / "one" / file.name).read_bytes()


def test_options_of_writing_need_a_folder(ratings):
    choices: tuple[dict[str, Any], ...] = ({"private": "x"}, {"layout": "long"}, {"format": "csv"})
    for option in choices:
        with pytest.raises(recloak.OptionError, match="need out"):
            recloak.publish(ratings, **option)


def test_a_folder_and_a_release_get_the_same_verdict_audit_and_evaluation(ratings, tmp_path):
    held = pl.Series(range(len(ratings))) % 9 == 4
    table = ratings.to_polars()
    source, probe = recloak.read(table.filter(~held)), table.filter(held)
    release = recloak.publish(source, k=4, mode="pure", max_link=0.9, seed=1)
    folder = release.write(tmp_path / "out")
    for one in (release, folder, str(folder)):
        assert recloak.verify(one, original=source) == recloak.verify(folder, original=source)
    audits = [recloak.audit(source, one, probe=probe, **FEW).to_json() for one in (release, folder)]
    assert [one.pop("manifest_sha256") is None for one in audits] == [True, False]  # only a folder has its bytes
    assert audits[0] == audits[1]
    useful = recloak.evaluate(source, folder, probe=probe, seed=1)
    assert audits[0]["evaluation"] == useful.to_json()


def test_a_verdict_without_the_source_says_what_was_not_checked(ratings):
    release = recloak.publish(ratings, k=4, mode="pure", diversity=recloak.Diversity(1, 2), seed=1)
    verdict = recloak.verify(release)
    assert verdict.passed
    assert verdict.unchecked == ("diversity 1,2",)
    assert "not checked: diversity 1,2" in repr(verdict)
    assert "unchecked" not in verdict.to_mapping()
    assert recloak.verify(release, original=ratings).unchecked == ()


def test_a_changed_folder_is_refused_by_the_audit(ratings, tmp_path):
    folder = recloak.publish(ratings, tmp_path / "out", k=4, seed=1).folder
    assert folder is not None
    (folder / "README.md").write_text("another card")
    assert not recloak.verify(folder).passed
    with pytest.raises(recloak.RefusedError, match="does not pass recloak verify"):
        recloak.audit(ratings, folder, **FEW)


def test_pages_are_written_by_one_call(ratings, tmp_path):
    release = recloak.publish(ratings, k=4, seed=1)
    found = {
        "inspect": recloak.inspect(ratings, targets=9, seed=1),
        "audit": recloak.audit(ratings, release, gates=["scoreboard<1"], **FEW),
        "frontier": recloak.frontier(ratings, k=[3], mode=["padded"], targets=9, known=2, seed=1),
    }
    for name, value in found.items():
        value.write_page(tmp_path / f"{name}.html")
        text = (tmp_path / f"{name}.html").read_text()
        assert text == value.to_html()
        assert "ratings in memory" in text
        assert "SHA-256" not in text
    found["inspect"].write_page(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


def test_a_release_that_lies_in_a_folder_only_says_so(ratings, tmp_path):
    written = recloak.publish(ratings, tmp_path / "out", k=4, seed=1)
    assert written.folder is not None
    assert written.private is not None
    release = FolderRelease(written.facts, written.folder, written.private)
    assert repr(release).startswith("<FolderRelease: 40 users in")
    assert recloak.verify(release).passed
    assert recloak.audit(ratings, release, **FEW).promise == "pass"
    with pytest.raises(recloak.InputError, match=f"lie in {written.folder}: read them there"):
        release.to_polars()


def test_a_frontier_goes_on_where_it_was_and_warns_when_it_cannot(ratings, tmp_path):
    source = tmp_path / "ratings.csv"
    ratings.to_polars().write_csv(source)
    options: dict[str, Any] = {"mode": ["padded"], "known": 2, "seed": 1, "keep": tmp_path / "points.json"}
    first = recloak.frontier(source, k=[3], targets=9, **options)
    assert recloak.frontier(source, k=[3, 4], targets=9, **options).points[0] == first.points[0]
    with pytest.warns(UserWarning, match="all are measured again"):
        recloak.frontier(source, k=[3], targets=8, **options)
    with pytest.raises(recloak.OptionError, match=r"keep=\.\.\. needs a source of one file"):
        recloak.frontier(ratings, k=[3], **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "give either probe=... with a release, or holdout=..."),
        ({"holdout": 2.0}, "holdout must lie between 0 and 1"),
        ({"probe": "x.csv"}, "probe=... needs the release"),
        ({"release": "x", "probe": "x.csv", "k": 9}, "k=... is for the release that holdout=... makes"),
        ({"holdout": 0.1, "engine": "cloud"}, "engine must be one of local, spark"),
        ({"holdout": 0.1, "master": "local"}, "are for engine='spark'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(ratings, options, sentence):
    with pytest.raises(recloak.OptionError) as told:
        recloak.evaluate(ratings, **options)
    assert sentence in str(told.value)
