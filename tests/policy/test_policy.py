"""A policy is checked whole when it is read, and says file, key and rule where it is wrong."""

from datetime import date
from pathlib import Path

import pytest
from tests.cli.releases import write_source

import recloak
from recloak._policy.options import PRESETS
from recloak._policy.review import Review


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_read_and_says_what_it_is_for(name):
    policy = recloak.Policy.read(name)
    assert policy.name == name
    assert policy.about.endswith(".")
    assert policy.audit.gates
    assert policy.review.after


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kk = 3", "policy.toml: key kk: there is no such key; there are: about, review, publish, audit, evaluate"),
        ("[publish]\nkk = 3", "policy.toml: key publish.kk: there is no such key; did you mean 'k'?"),
        ("[audit]\ngate = []", "policy.toml: key audit.gate: there is no such key; did you mean 'gates'?"),
        ("[publish]\nk = 1", "policy.toml: section [publish]: k must be at least 2, got 1"),
        ("[publish]\nk = true", "policy.toml: section [publish]: k must be of type int, got True"),
        ('review = "soon"', "key review: must be a date such as 2027-11-01, or a time such as '12 months', got 'soon'"),
        ('[audit]\ngates = ["nobody<0.1"]', "key audit.gates: there is no attack 'nobody'"),
        ('[audit]\ngates = ["x"]', "a gate reads NAME@KNOWN<SHARE"),
        ("[audit]\ngates = [3]", "section [audit]: gates must be a list of texts, got [3]"),
        ('[audit]\naccept = ["scoreboard"]', "key audit.accept: scoreboard names people"),
        ('[publish]\nmode = "pure"\nlayout = "factors"', "key publish.layout: factors does not go with the rest"),
        ("publish = 3", "policy.toml: key publish: must be a section, written [publish], got 3"),
        ("k =", "policy.toml: is not TOML"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_rule(tmp_path, text, sentence):
    with pytest.raises(recloak.SourceError) as caught:
        recloak.Policy.read(written(tmp_path, text))
    assert sentence in str(caught.value)


def test_neither_a_file_nor_a_preset(tmp_path):
    with pytest.raises(recloak.SourceError, match="the presets are research, contest, open-data, strict"):
        recloak.Policy.read(tmp_path / "lax")


def test_the_hash_is_of_what_is_asked_for_and_not_of_words(tmp_path):
    first = recloak.Policy.read(written(tmp_path, "[publish]\nk = 7"))
    same = recloak.Policy.read(written(tmp_path, 'about = "Ours."\n[publish]\nmode = "padded"\nk = 7'))
    other = recloak.Policy.read(written(tmp_path, "[publish]\nk = 8"))
    assert first.sha256 == same.sha256 != other.sha256


@pytest.mark.parametrize(
    ("given", "day", "due"),
    [
        ("12 months", date(2026, 11, 17), date(2027, 11, 17)),
        ("1 month", date(2027, 1, 31), date(2027, 2, 28)),
        ("30 days", date(2026, 12, 15), date(2027, 1, 14)),
        ("1 year", date(2028, 2, 29), date(2029, 2, 28)),
        (date(2030, 1, 1), date(2026, 1, 1), date(2030, 1, 1)),
        ("2030-01-01", date(2026, 1, 1), date(2030, 1, 1)),
        (None, date(2026, 1, 1), None),
    ],
)
def test_a_review_is_on_a_date_or_after_a_time(given, day, due):
    assert Review.parse(given).date_from(day) == due


def test_publish_takes_its_options_from_a_policy(tmp_path):
    source, policy = write_source(tmp_path), written(tmp_path, '[publish]\nk = 6\nmode = "pure"\nformat = "csv"')
    release = recloak.publish(source, tmp_path / "released", policy=policy, seed=1)
    assert (release.facts.k, release.facts.mode) == (6, "pure")
    assert (tmp_path / "released" / "profiles.csv").exists()


def test_an_option_beside_a_policy_is_refused(tmp_path):
    with pytest.raises(recloak.OptionError, match=r"k=\.\.\. is set by policy=\.\.\."):
        recloak.publish(write_source(tmp_path), policy=written(tmp_path, "[publish]\nk = 3"), k=7)


def test_a_flag_beside_a_policy_is_refused_even_with_its_default(tmp_path, capsys):
    from recloak._cli.main import run

    source, policy = write_source(tmp_path), written(tmp_path, "[publish]\nk = 3")
    assert run(["publish", str(source), "-o", str(tmp_path / "out"), "--policy", str(policy), "--k", "5"]) == 2
    assert "--k is set by --policy" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_statistics_are_part_of_a_policy_and_of_its_hash(tmp_path):
    plain = recloak.Policy.read(written(tmp_path, "[publish]\nk = 3"))
    counted = recloak.Policy.read(written(tmp_path, "[publish]\nk = 3\nstatistics = 1.0"))
    assert counted.counting.statistics == 1.0
    assert plain.sha256 != counted.sha256
    with pytest.raises(recloak.OptionError, match=r"statistics=\.\.\. is set by policy"):
        recloak.publish(write_source(tmp_path), policy=plain, statistics=1.0)
