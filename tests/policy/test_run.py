"""A run goes from a source to a certificate, goes on where it was stopped, and stops where a gate fails."""

import dataclasses
import json
import shutil
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.releases import write_source
from tests.report.test_audit_page import named

import recloak
from recloak._attacks.registry import attacks
from recloak._cli.main import run as command_line
from recloak._core.folder_lock import locked_folder
from recloak._library import run_steps
from recloak._policy.run_record import hash_of_ratings, step_seed

ACCEPT = [one.name for one in attacks() if one.kind != "identifies" and "ratings" in one.values]


def policy(folder: Path, gates: tuple[str, ...] = (), accept: list[str] = ACCEPT, name: str = "own") -> Path:
    path = folder / f"{name}.toml"
    lines = ['review = "12 months"', "[publish]", "k = 4", "[audit]", "targets = 60", "known = [2]", "varied_at = 2"]
    path.write_text("\n".join([*lines, f"gates = {json.dumps(gates)}", f"accept = {json.dumps(accept)}"]) + "\n")
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    source = write_source(folder)
    assert command_line(["run", str(policy(folder)), str(source), "-o", str(folder / "out"), "--seed", "1"]) == 0
    return folder, source


def test_a_run_leaves_a_release_a_certificate_and_private_reports(whole):
    out = whole[0] / "out"
    assert {file.name for file in out.iterdir()} == {
        "README.txt", "certificate.html", "release", "release-private", "reports-private"
    }  # fmt: skip
    assert recloak.verify(out / "release").passed
    assert set(content(out / "release")) == {"README.md", "manifest.json", "members.parquet", "profiles.parquet"}
    for private in ("release-private", "reports-private"):
        assert stat.S_IMODE((out / private).stat().st_mode) == 0o700
    page = (out / "certificate.html").read_text()
    assert "Review by" in page
    assert "People attacked: 60." in page  # everybody
    assert "the seed that drew them follows from the release" in page
    assert "ratings" not in page.lower() or "ratings <b>" not in page  # the source is not named


def test_what_may_be_handed_out_says_nothing_of_the_seed(whole):
    out = whole[0] / "out"
    seeds = [str(step_seed(1, step)) for step in run_steps.STEPS]
    public = (out / "certificate.html").read_bytes() + b"".join(content(out / "release").values())
    assert not any(seed.encode() in public for seed in seeds)


def test_a_run_that_was_stopped_goes_on_and_gives_the_same_release(whole, tmp_path, monkeypatch):
    folder, source = whole

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(run_steps.STEPS, "audit", stop)
        with pytest.raises(KeyboardInterrupt):
            recloak.run(policy(folder), source, tmp_path / "out", seed=1)
    assert (tmp_path / "out" / "candidate" / "manifest.json").exists()
    assert not (tmp_path / "out" / "release").exists()
    with monkeypatch.context() as patch:
        patch.setitem(run_steps.STEPS, "publish", stop)  # it is done: not done again
        assert recloak.run(policy(folder), source, tmp_path / "out", seed=1).passed
    assert content(tmp_path / "out" / "release") == content(folder / "out" / "release")


def test_a_gate_that_fails_stops_the_run_without_a_release(whole, tmp_path, capsys):
    arguments = ["run", str(policy(tmp_path, ("scoreboard@2<0.0001",))), str(whole[1]), "-o", str(tmp_path / "out")]
    for _ in range(2):  # started again, it does not pass either
        assert command_line(arguments) == 1
        assert "fail: stopped at audit: gate scoreboard@2<0.0001 failed" in capsys.readouterr().out
    assert not (tmp_path / "out" / "release").exists()
    assert not (tmp_path / "out" / "certificate.html").exists()
    assert (tmp_path / "out" / "reports-private" / "audit.html").exists()


def test_a_breach_that_is_not_accepted_stops_the_run(whole, tmp_path):
    found = recloak.run(policy(tmp_path, accept=[]), whole[1], tmp_path / "out", seed=1)
    assert found.stopped_at == "audit"
    assert "breached and not accepted" in found.reason
    assert found.release is None


def test_a_release_changed_between_runs_is_not_certified(whole, tmp_path, monkeypatch):
    folder, source = whole

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(run_steps.STEPS, "evaluate", stop)
        with pytest.raises(KeyboardInterrupt):
            recloak.run(policy(folder), source, tmp_path / "out", seed=1)
    with (tmp_path / "out" / "candidate" / "README.md").open("a") as card:
        card.write(" ")
    found = recloak.run(policy(folder), source, tmp_path / "out", seed=1)
    assert found.stopped_at == "certificate"
    assert not (tmp_path / "out" / "certificate.html").exists()
    assert not (tmp_path / "out" / "release").exists()


def finished_run(whole, tmp_path) -> tuple[list[str], Path]:
    """Return the command of a signed run that passed, and its folder."""
    out, key = tmp_path / "out", tmp_path / "owner.key"
    shutil.copytree(whole[0] / "out", out)
    recloak.create_key(key)
    command = ["run", str(policy(whole[0])), str(whole[1]), "-o", str(out), "--seed", "1", "--key", str(key)]
    assert command_line(command) == 0
    assert (out / "certificate.html.sig").exists()
    return command, out


def test_a_release_that_fails_later_is_taken_back_with_its_certificate(whole, tmp_path, capsys):
    command, out = finished_run(whole, tmp_path)
    shutil.copy(out / "release-private" / "mapping.parquet", out / "release")
    for said in ("removed certificate.html and certificate.html.sig; renamed release/ to candidate/", "was changed"):
        capsys.readouterr()
        assert command_line(command) == 1
        assert said in capsys.readouterr().out
        assert {file.name for file in out.iterdir()} == {
            "README.txt", "candidate", "candidate-private", "reports-private"
        }  # fmt: skip
    (out / "candidate" / "mapping.parquet").unlink()
    assert command_line(command) == 0  # mended, it passes
    assert content(out / "release") == content(whole[0] / "out" / "release")


@pytest.mark.parametrize("harm", ["candidate", "manifest"])
def test_a_release_that_cannot_be_taken_back_is_named(whole, tmp_path, capsys, harm):
    command, out = finished_run(whole, tmp_path)
    if harm == "candidate":
        (out / "candidate").mkdir()
    else:
        (out / "release" / "manifest.json").unlink()
    capsys.readouterr()
    assert command_line(command) == 1
    said = capsys.readouterr().out
    assert "the folder release/ is still there and must not be handed out" in said
    assert not list(out.glob("certificate*"))


def test_a_gate_that_fails_later_takes_the_release_back(whole, tmp_path, monkeypatch):
    command, out = finished_run(whole, tmp_path)
    (out / "reports-private" / "audit.json").unlink()  # so it is audited again
    monkeypatch.setattr(run_steps, "_why_not", lambda *_: "too many are named")
    monkeypatch.setattr(recloak.Audit, "acceptable", False)
    assert command_line(command) == 1
    assert not (out / "release").exists()
    assert not list(out.glob("certificate*"))


def test_a_step_that_raises_takes_the_release_back(whole, tmp_path, monkeypatch):
    _, out = finished_run(whole, tmp_path)

    def broken(*_, **__):
        raise OSError("the disk is gone")

    monkeypatch.setattr(recloak, "verify", broken)
    with pytest.raises(OSError, match="disk"):
        recloak.run(policy(whole[0]), whole[1], out, seed=1)
    assert not (out / "release").exists()
    assert not list(out.glob("certificate*"))


def test_two_runs_in_one_folder_are_kept_apart(whole, tmp_path):
    _, out = finished_run(whole, tmp_path)
    with locked_folder(out), pytest.raises(recloak.InputError, match="another run is at work in this folder"):
        recloak.run(policy(whole[0]), whole[1], out, seed=1)
    assert (out / "release").exists()
    assert recloak.run(policy(whole[0]), whole[1], out, seed=1).passed  # the lock ended with its holder


def test_too_few_people_are_refused_before_anything_is_written(tmp_path):
    few = recloak.synth(users=3, items=5, ratings=7, seed=1)
    with pytest.raises(recloak.InputError, match="at least k = 10 users"):
        recloak.run("open-data", few, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_audit_says_what_the_policy_accepts(whole, tmp_path):
    found = recloak.run(policy(tmp_path), whole[1], tmp_path / "out", seed=1)
    summary = found.steps["audit"]["summary"]
    assert ("accepted by the policy: " in summary) == summary.startswith("breached")


@pytest.mark.parametrize("what", ["policy", "source", "seed"])
def test_the_folder_of_another_run_is_refused(whole, tmp_path, what):
    folder, source = whole
    other = policy(tmp_path, ("scoreboard@2<0.9",)) if what == "policy" else policy(folder)
    if what == "source":
        source = write_source(tmp_path, n_users=50)
    with pytest.raises(recloak.InputError, match=f"holds a run with another {what}"):
        recloak.run(other, source, folder / "out", seed=2 if what == "seed" else 1)


def test_a_folder_that_is_not_empty_is_left_alone(whole, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(recloak.InputError, match="not empty"):
        recloak.run(policy(tmp_path), whole[1], tmp_path / "out")


def test_attacks_that_could_not_be_measured_stop_a_run_unless_the_policy_says_otherwise():
    silent = dataclasses.replace(named(), verdict="not measured")
    found = recloak.Audit((silent,), (), 1)
    assert "nothing is known" in run_steps._why_not(found, accepts_silence=False)
    assert run_steps._why_not(found, accepts_silence=True) == ""
    broken = recloak.Audit((dataclasses.replace(silent, failed=True),), (), 1)
    assert "nothing is known" in run_steps._why_not(broken, accepts_silence=True)


def test_the_hash_of_a_source_tells_every_part_of_it():
    rows = {"user": [1, 1, 2], "item": [1, 2, 2], "rating": [3.0, 4.0, 5.0], "time": [10**9, 10**9 + 1, 10**9 + 2]}
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"user": [1, 1, 3]},
        {"item": [1, 3, 2]},
        {"rating": [4.0, 3.0, 5.0]},
        {"time": [10**9] * 3},
    )
    hashes = [hash_of_ratings(recloak.read(pl.DataFrame({**rows, **change}))) for change in changes]
    assert len(set(hashes)) == len(changes)
    assert hash_of_ratings(recloak.read(pl.DataFrame(rows))) == hashes[0]
