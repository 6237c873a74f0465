"""recloak audit: exit codes, JSON, the page, gates, and what it refuses."""

import dataclasses
import json
from typing import Any

import pytest
from tests.cli.releases import write_release, write_source

from recloak._attacks import registry
from recloak._cli.main import run
from recloak._library.opened_releases import publish_again
from recloak._ratings.readers import read
from recloak._releases.options import PadOptions
from recloak._releases.publishing import publish

FEW = ["--targets", "60", "--varied-at", "4", "--seed", "3"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    source = write_source(folder)
    return source, write_release(source, folder / "out"), write_release(source, folder / "two", seed=9)


@pytest.fixture(scope="module")
def audited(made, tmp_path_factory):
    """Return what one whole run prints and writes."""
    source, release, second = made
    page = tmp_path_factory.mktemp("page") / "audit.html"
    more = ["--second", str(second), "--gate", "scoreboard@4<1", "-o", str(page), "--json"]
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("click.echo", lambda text="", **_: printed.append(str(text)))
        code = run(["audit", str(source), str(release), *FEW, *more])
    return code, json.loads(printed[0]), page.read_text(encoding="utf-8")


def test_a_release_within_its_promise_passes(audited):
    code, found, _ = audited
    assert found["promise"] == "pass"
    assert (code, found["not_accepted"]) == (
        0 if found["acceptable"] else 1,
        [] if code == 0 else found["not_accepted"],
    )
    assert found["gates"] == [{"gate": "scoreboard@4<1", "passed": True, "reason": found["gates"][0]["reason"]}]
    named = {attack["name"]: attack for attack in found["attacks"]}
    assert named["intersection"]["release"] is not None
    assert named["scoreboard"]["release"]["rate"] <= 0.25 + 1e-9


def test_the_page_holds_verdict_and_hashes_and_no_paths(audited, made):
    page = audited[2]
    assert "ratings &lt;b&gt;.csv" in page
    assert "Bounded" in page
    assert "SHA-256 of the source" in page
    assert str(made[0].parent) not in page
    assert len(page) < 2_000_000


def test_a_closed_gate_exits_with_1(made, capsys):
    assert run(["audit", str(made[0]), str(made[1]), *FEW, "--gate", "scoreboard@4<0.01"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Gate failed" in shown
    assert "gate scoreboard@4<0.01: fail" in shown


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--gate", "scoreboard"], "a gate reads NAME@KNOWN<SHARE"),
        (["--gate", "scoreboard@5<0.1"], "names an attack that is not run"),
        (["--accept", "nothing"], "names an attack that is not run"),
        (["--accept", "scoreboard"], "is what the release promises"),
        (["--targets", "0"], "targets must be at least 1"),
        (["--second", "nowhere"], "there is no such folder"),
        (["--private", "nowhere"], "not the private folder of a release"),
        (["--again", "--second", "{release}"], "leave --second out"),
        (["-o", "nowhere/audit.html"], "there is no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(made, more, sentence, capsys):
    assert run(["audit", str(made[0]), str(made[1]), *(word.format(release=made[1]) for word in more)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert len(printed.err.strip().splitlines()) == 1


def test_a_tampered_release_is_refused_in_one_sentence(made, tmp_path, capsys):
    release = write_release(made[0], tmp_path / "out")
    card = release / "README.md"
    card.write_text(card.read_text() + "and more\n")
    page = tmp_path / "audit.html"
    assert run(["audit", str(made[0]), str(release), "-o", str(page)]) == 1
    assert "does not pass recloak verify" in capsys.readouterr().err
    assert not page.exists()


def test_another_source_is_noticed(made, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("user,item,rating\n1,1,3\n999,2,4\n")
    assert run(["audit", str(other), str(made[1])]) == 2
    assert "another source" in capsys.readouterr().err


def test_a_second_release_can_be_made_on_the_way(made, capsys):
    assert run(["audit", str(made[0]), str(made[1]), *FEW, "--again", "--json"]) in (0, 1)
    attacks = json.loads(capsys.readouterr().out)["attacks"]
    assert next(one for one in attacks if one["name"] == "intersection")["release"] is not None


def test_the_second_release_is_made_as_the_first_was(made, tmp_path, monkeypatch):
    asked: dict[str, Any] = {}
    ratings = read(made[0])
    first = publish(ratings, k=3, mode="pure", pad_options=PadOptions(predictor="bias"), rng=1)
    first.write(tmp_path / "out")
    monkeypatch.setattr(
        "recloak._evaluation.holdout.publish_temporarily", lambda _, options, **more: asked.update(k=options.k, **more)
    )
    publish_again(json.loads((tmp_path / "out-private" / "account.json").read_text()), ratings)
    assert (asked["k"], asked["pad_options"].predictor) == (3, "bias")


def test_the_owner_can_cap_how_sure_a_link_may_be(made, capsys):
    arguments = ["audit", str(made[0]), str(made[1]), *FEW, "--link-cap", "0.2", "--json"]
    assert run([*arguments, "--gate", "link-cap<0.001"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["gates"][0]["passed"] is False
    capped = next(one for one in answer["attacks"] if one["name"] == "link-cap")
    assert capped["unit"] == "cells in which more than 20 % of the group rated the item"
    assert capped["details"]["release"]["max_share"] > 0.2
    run([*arguments, "--gate", "link-cap<0.999"])
    assert json.loads(capsys.readouterr().out)["gates"][0]["passed"] is True


def test_a_breach_exits_with_1_unless_the_owner_accepts_it_by_name(made, capsys, monkeypatch):
    told = next(one for one in registry.own_attacks() if one.name == "link-cap")
    leaks = dataclasses.replace(told, run=lambda given: given.found(right=90, tried=100, baseline=0.1))
    named = [one for one in registry.own_attacks() if one.name == "scoreboard"]
    monkeypatch.setattr(registry, "own_attacks", lambda: [*named, leaks])
    line = ["audit", str(made[0]), str(made[1]), *FEW, "--json"]
    assert run(line) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["promise"], found["verdict"], found["not_accepted"]) == ("pass", "breached", ["link-cap"])
    assert run(line[:-1]) == 1
    assert "breached and not accepted: link-cap" in " ".join(capsys.readouterr().out.split())
    assert run([*line, "--accept", "link-cap"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["accepted"], found["not_accepted"]) == ("breached", ["link-cap"], [])
    assert run([*line, "--accept", "link-cap", "--gate", "link-cap<0.5"]) == 1


def test_without_a_second_release_the_intersection_is_not_measured_and_no_gate_on_it_passes(made, capsys):
    assert run(["audit", str(made[0]), str(made[1]), *FEW, "--gate", "intersection<1", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert next(one for one in answer["attacks"] if one["name"] == "intersection")["verdict"] == "not measured"
    assert "only one release" in answer["gates"][0]["reason"]


def test_other_releases_are_given_by_name(made, capsys, tmp_path):
    other = tmp_path / "other"
    assert run(["publish", str(made[0]), "-o", str(other), "--k", "3", "--seed", "5"]) == 0
    capsys.readouterr()
    run(["audit", str(made[0]), str(made[1]), *FEW, "--again", str(other), "--json"])
    attacks = json.loads(capsys.readouterr().out)["attacks"]
    assert next(one for one in attacks if one["name"] == "intersection")["release"] is not None


def test_ratings_that_were_not_published_are_refused(made, capsys, tmp_path):
    lines = made[0].read_text().splitlines()
    names = sorted({line.split(",")[0] for line in lines[1:]})
    turned = dict(zip(names, [*names[1:], names[0]], strict=True))  # the same people, each with another one's ratings
    other = tmp_path / "other.csv"
    rows = [",".join([turned[line.split(",")[0]], *line.split(",")[1:]]) for line in lines[1:]]
    other.write_text("\n".join([lines[0], *rows]) + "\n")
    hidden = str(made[1].with_name("out-private"))
    assert run(["audit", str(other), str(made[1]), "--private", hidden, *FEW]) == 2
    assert "not the ratings that were published" in capsys.readouterr().err
