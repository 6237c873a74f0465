"""A certificate says what was proved and attacked, and fails when it was forged, moved or changed."""

import copy as copies
import json
import re
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.cli.releases import write_release, write_source

import recloak
from recloak._cli.main import run

pytest.importorskip("cryptography")


def settled(audit: dict[str, Any]) -> dict[str, Any]:
    """Return an audit that could tell everything, as one of more people could: nothing open, singling out bounded."""
    for one in audit["attacks"]:
        if one["undecided"] or (one["criterion"] == "singling-out" and one["release"]):
            one["release"] |= dict.fromkeys(("low", "rate", "high"), one["baseline"])
            one |= {"verdict": f"bounded by {one['baseline']:.4f}", "undecided": False, "reason": "", "also": {}}
    audit["criteria"]["singling-out"]["verdict"] = "bounded"
    return audit


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    source = write_source(folder)
    write_release(source, folder / "released")
    write_release(source, folder / "other", seed=2)
    for name in ("owner", "stranger"):
        recloak.create_key(folder / f"{name}.key")
    found = recloak.audit(source, folder / "released", targets=60)
    (folder / "audit.json").write_text(json.dumps(settled(found.to_json())))
    recloak.verify(
        folder / "released", certificate=folder / "page.html", audit=found, review="12 months", owner="Ann <Ltd>",
        key=folder / "owner.key",
    )  # fmt: skip
    return folder


@pytest.fixture
def copy(world, tmp_path):
    shutil.copytree(world, tmp_path / "copy")
    return tmp_path / "copy"


def checked(folder: Path, release: str = "released", signer: str = "owner.key.pub") -> recloak.Verdict:
    return recloak.verify(folder / release, signature=folder / "page.html.sig", signer=folder / signer)


def test_a_certificate_says_what_was_proved_attacked_and_left_out(world):
    page, manifest = (world / "page.html").read_text(), json.loads((world / "released" / "manifest.json").read_text())
    for sentence in (*manifest["promised"], *manifest["not_promised"]):
        assert sentence.replace("'", "&#39;") in page
    for about in manifest["files"].values():
        assert about["sha256"] in page
    for word in ("Singling out", "Linkability", "Inference", "breached", "Review by", "Ann &lt;Ltd&gt;"):
        assert word in page
    assert "<script" not in page
    assert "http://" not in page.replace("http-equiv", "")


def test_without_an_audit_attacks_are_not_measured(world, tmp_path):
    recloak.verify(world / "released", certificate=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("not measured") >= 4
    assert "bounded" not in page
    assert "This page is not signed" in page


def test_the_audit_of_another_release_is_refused(world, tmp_path):
    with pytest.raises(recloak.InputError, match="the audit is of another release"):
        recloak.verify(world / "other", certificate=tmp_path / "page.html", audit=world / "audit.json")
    assert not (tmp_path / "page.html").exists()


def test_a_release_that_fails_gets_no_certificate(copy):
    with (copy / "released" / "README.md").open("a") as card:
        card.write(" ")
    assert not recloak.verify(copy / "released", certificate=copy / "new.html").passed
    assert not (copy / "new.html").exists()


def test_a_certificate_does_not_go_into_the_release(copy):
    with pytest.raises(recloak.InputError, match="must lie outside the release"):
        recloak.verify(copy / "released", certificate=copy / "released" / "page.html")


def test_a_signature_is_checked_against_the_owners_key(world):
    verdict = checked(world)
    assert verdict.passed
    assert verdict.signed_by == recloak.verify(
        world / "released", signature=world / "page.html.sig", signer=str(verdict.signed_by)
    ).signed_by  # fmt: skip


def test_without_the_owners_key_nothing_is_checked(world):
    with pytest.raises(recloak.OptionError, match=r"signature=\.\.\. needs signer=\.\.\."):
        recloak.verify(world / "released", signature=world / "page.html.sig")


def changed_page(folder):
    page = folder / "page.html"
    page.write_text(page.read_text().replace("breached", "bounded"))


def changed_review(folder):
    signature = folder / "page.html.sig"
    fields = json.loads(signature.read_text())
    signature.write_text(json.dumps({**fields, "review": "2099-01-01"}))


def cut_signature(folder):
    signature = folder / "page.html.sig"
    signature.write_text(signature.read_text()[:-20])


def signed_by_a_stranger(folder):
    recloak.verify(folder / "released", certificate=folder / "page.html", key=folder / "stranger.key")


def strangers_key_under_an_old_signature(folder):
    signature, ours = folder / "page.html.sig", json.loads((folder / "page.html.sig").read_text())
    signed_by_a_stranger(folder)
    theirs = json.loads(signature.read_text())
    signature.write_text(json.dumps({**theirs, "public_key": ours["public_key"]}))


def changed_release(folder):
    with (folder / "released" / "README.md").open("a") as card:
        card.write(" ")


def no_page(folder):
    (folder / "page.html").unlink()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (changed_page, "the certificate was changed after it was signed"),
        (changed_review, "the signature does not fit what is signed"),
        (cut_signature, "the signature file is not one of recloak"),
        (signed_by_a_stranger, "signed by another key than the owner's"),
        (strangers_key_under_an_old_signature, "the signature does not fit what is signed"),
        (changed_release, "README.md"),
        (no_page, "there is no certificate beside the signature"),
    ],
)
def test_what_was_forged_or_changed_fails(copy, change, sentence):
    change(copy)
    verdict = checked(copy)
    assert not verdict.passed
    assert verdict.signed_by is None
    assert any(sentence in problem for problem in verdict.problems)


def test_a_certificate_moved_to_another_release_fails(world):
    assert checked(world, "other").problems == (
        "the certificate is of another release, or the release was changed after it was signed",
    )


def test_a_review_that_is_overdue_is_told(world, monkeypatch, caplog):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(4_000_000_000))
    assert checked(world).passed
    assert "should have been reviewed by" in caplog.text


def test_a_private_key_is_for_its_owner_alone(world, tmp_path):
    key = tmp_path / "my.key"
    recloak.create_key(key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(recloak.InputError, match="a key is never overwritten"):
        recloak.create_key(key)
    key.chmod(0o644)
    with pytest.raises(recloak.InputError, match="chmod 600"):
        recloak.verify(world / "released", certificate=tmp_path / "page.html", key=key)
    assert not (tmp_path / "page.html").exists()


def test_a_public_key_does_not_sign(world, tmp_path):
    (world / "owner.key.pub").chmod(0o600)
    with pytest.raises(recloak.InputError, match="holds no Ed25519 private key"):
        recloak.verify(world / "released", certificate=tmp_path / "page.html", key=world / "owner.key.pub")


def test_a_pdf_has_one_page_and_the_same_bytes_again(world, tmp_path, monkeypatch):
    pytest.importorskip("reportlab")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    for name in ("one.pdf", "two.pdf"):
        recloak.verify(world / "released", certificate=tmp_path / name, audit=world / "audit.json", owner="Zoë")
    content = (tmp_path / "one.pdf").read_bytes()
    assert content == (tmp_path / "two.pdf").read_bytes()
    assert content.count(b"/Type /Page\n") == 1
    with pytest.raises(recloak.InputError, match="has no letter 'Ł'"):
        recloak.verify(world / "released", certificate=tmp_path / "three.pdf", owner="Łódź")


def test_the_command_line_certifies_and_checks(copy, capsys):
    release, page = str(copy / "released"), str(copy / "new.html")
    signed = [
        "verify",
        release,
        "--certificate",
        page,
        "--key",
        str(copy / "owner.key"),
        "--audit",
        str(copy / "audit.json"),
    ]
    assert run(signed) == 0
    check = ["verify", release, "--signature", f"{page}.sig", "--signer", str(copy / "owner.key.pub")]
    assert run(check) == 0
    assert "signed by the owner's key" in capsys.readouterr().out
    Path(page).write_text("<p>All is well.</p>")
    assert run(check) == 1
    assert run(["verify", release, "--certificate", str(copy / "new.txt")]) == 2
    assert run(["key", "create", str(copy / "third.key")]) == 0
    assert run(["key", "show", str(copy / "third.key.pub")]) == 0


def test_a_signed_certificate_is_not_written_over_by_somebody_who_means_to_check_it(copy):
    before = (copy / "page.html").read_bytes()
    with pytest.raises(recloak.OptionError, match="is signed and would be written over"):
        recloak.verify(copy / "released", certificate=copy / "page.html")
    assert (copy / "page.html").read_bytes() == before
    assert (copy / "page.html.sig").exists()


def audit_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "audit.json").read_text())


def page_of(folder: Path, out: Path, audit: dict[str, Any] | None = None, release: str = "released", **more) -> str:
    recloak.verify(folder / release, certificate=out / "new.html", audit=audit, **more)
    return (out / "new.html").read_text()


def section(page: str, heading: str) -> str:
    return page.partition(f"<h2>{heading}</h2>")[2].partition("<h2>")[0]


def called_bounded(audit):
    """Whitewash what stands at the top of an audit."""
    for one in audit["criteria"].values():
        one["verdict"] = "bounded"
    audit |= {"verdict": "bounded", "promise": "pass", "not_accepted": [], "acceptable": True}


def one_criterion(audit):
    audit["criteria"]["inference"]["verdict"] = "bounded"


def verdict_alone(audit):
    audit["verdict"] = "bounded"


def no_attacks(audit):
    called_bounded(audit)
    audit["attacks"] = []


def attacks_renamed(audit):
    called_bounded(audit)
    for one in audit["attacks"]:
        one["verdict"] = "bounded" if one["verdict"] == "breached" else one["verdict"]


def silence_called_bounded(audit):
    called_bounded(audit)
    audit["attacks"] = [{**one, "release": None, "also": {}, "verdict": "not measured"} for one in audit["attacks"]]


def gate_failed(audit):
    audit["attacks"] = [one for one in audit["attacks"] if one["verdict"] != "breached"]
    called_bounded(audit)
    audit["criteria"]["linkability"]["verdict"] = audit["criteria"]["inference"]["verdict"] = "not measured"
    audit["gates"] = [{"gate": "scoreboard@2<0.01", "passed": False, "reason": ""}]
    audit["verdict"] = "not measured"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (called_bounded, "by its attacks, linkability is breached"),
        (one_criterion, "by its attacks, inference is breached"),
        (verdict_alone, "the verdict of the audit contradicts its attacks"),
        (no_attacks, "holds no attacks"),
        (attacks_renamed, "exceeds its bound and is not called breached"),
        (silence_called_bounded, "by its attacks, singling out is not measured"),
        (gate_failed, "the verdict of the audit contradicts its attacks and gates"),
    ],
)
def test_an_audit_that_was_edited_is_refused(world, tmp_path, edit, sentence):
    audit = audit_of(world)
    edit(audit)
    with pytest.raises(recloak.InputError, match=sentence):
        page_of(world, tmp_path, audit)
    assert not (tmp_path / "new.html").exists()


def wide_called_bounded(audit):
    one = next(one for one in audit["attacks"] if one["name"] == "scoreboard")
    one["release"]["high"] = one["bound"] + 0.1


def moved(audit):
    next(one for one in audit["attacks"] if one["name"] == "scoreboard")["criterion"] = "linkability"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [(wide_called_bounded, "scoreboard may exceed its bound and is called bounded"), (moved, "is not the JSON of")],
)
def test_an_audit_that_bounds_by_the_middle_of_an_interval_or_moves_an_attack_is_refused(
    world, tmp_path, edit, sentence
):
    test_an_audit_that_was_edited_is_refused(world, tmp_path, edit, sentence)


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        (lambda one: one["name"] == "singling-out", "lacks singling-out."),
        (lambda one: one["name"] == "likelihood", "lacks likelihood (1 known), likelihood (2 known), "),
        (lambda one: (one["name"], one["known"]) == ("nearest", 16), "lacks nearest (16 known)."),
        (lambda one: one["setting"] == "popular items", "lacks scoreboard (popular items)."),
    ],
)  # fmt: skip
def test_a_run_that_was_taken_out_of_an_audit_is_missed(world, tmp_path, left_out, told):
    audit = audit_of(world)
    assert verdict_on(page_of(world, tmp_path, audit), "Singling out")[0] == "bounded"
    audit["attacks"] = [one for one in audit["attacks"] if not left_out(one)]
    verdict, why = verdict_on(page_of(world, tmp_path, audit), "Singling out")
    assert verdict == "not measured"
    assert told in why


def test_an_attack_that_could_not_tell_leaves_its_criterion_open(world, tmp_path):
    audit = audit_of(world)
    one = next(one for one in audit["attacks"] if one["name"] == "singling-out")
    one |= {"verdict": "not measured", "release": {**one["release"], "high": 0.9}}  # with or without "undecided"
    with pytest.raises(recloak.InputError, match="by its attacks, singling out is not measured"):
        page_of(world, tmp_path, audit)


def test_a_certificate_repeats_how_targets_were_drawn(world, tmp_path):
    audit = audit_of(world)
    follows = page_of(world, tmp_path, audit).replace("\N{NO-BREAK SPACE}", " ")
    assert "At most 60 targets for each attack; the seed that drew them follows from the release." in follows
    chosen = page_of(world, tmp_path, {**audit, "seed": 7, "seed_from": "manifest"})
    assert "the seed that drew them is 7, which the publisher chose." in chosen
    unknown = page_of(world, tmp_path, {name: one for name, one in audit.items() if name != "targets"})
    assert "How many targets were drawn, and by which seed, is not known." in unknown


def test_what_the_owner_accepts_is_still_a_breach(world, tmp_path):
    audit = audit_of(world)
    audit |= {"accepted": [one["name"] for one in audit["attacks"]], "not_accepted": []}
    page = page_of(world, tmp_path, audit)
    assert 'class="headline alert"' in page
    assert "Attacks: breached, which the owner accepts as listed below." in page


def test_a_breach_left_out_of_the_list_is_listed(world, tmp_path):
    page = page_of(world, tmp_path, {**audit_of(world), "not_accepted": []})
    assert "breached, and not accepted by the owner" in page
    assert "Breached and not accepted: " in page


def verdict_on(page: str, criterion: str) -> tuple[str, str]:
    row = re.search(rf'{criterion}</th><td class="verdict">(.*?)</td><td>(.*?)</td>', page)
    assert row is not None
    return row[1], row[2]


@pytest.mark.parametrize(("n", "told"), [(1, "1 person was"), (59, "59 people were")])
def test_few_people_bound_nothing(world, tmp_path, n, told):
    audit = audit_of(world)
    page = page_of(world, tmp_path, audit)
    assert verdict_on(page, "Singling out")[0] == "bounded"
    assert "People attacked: 60." in verdict_on(page, "Singling out")[1]
    few = copies.deepcopy(audit)
    next(one for one in few["attacks"] if one["name"] == "scoreboard")["release"]["n"] = n
    verdict, why = verdict_on(page_of(world, tmp_path, few), "Singling out")
    assert verdict == "not measured"
    assert f"Only {told} attacked; at least 100, or everybody, are needed." in why


def test_an_audit_of_one_target_is_not_green(world, tmp_path):
    found = recloak.audit(next(world.glob("*.csv")), world / "released", targets=1)
    page = page_of(world, tmp_path, found.to_json())
    assert verdict_on(page, "Singling out")[0] == "not measured"
    assert ">bounded<" not in page
    assert 'class="headline good"' not in page


def test_drawn_rows_are_a_claim_and_their_number_is_proved(world, tmp_path):
    source = next(world.glob("*.csv"))
    recloak.publish(source, tmp_path / "drawn", k=4, mode="sampled", seed=1)
    recloak.verify(tmp_path / "drawn", certificate=tmp_path / "new.html")
    page = (tmp_path / "new.html").read_text()
    manifest = json.loads((tmp_path / "drawn" / "manifest.json").read_text())
    proof, claim = section(page, "What was proved"), section(page, "Claimed by the publisher, not checked here")
    assert "Proved: every one of the " in page
    assert "groups has at least 4 rows." in proof
    for word in ("was drawn", "No row is a person", "fresh random names", "the verifier cannot see it"):
        assert any(word in one for one in manifest["promised"])
        assert word in claim
        assert word not in proof + page.partition("<h2>")[0]


def test_random_names_are_a_claim_on_shared_rows_too(world, tmp_path):
    page = page_of(world, tmp_path)
    proof, claim = section(page, "What was proved"), section(page, "Claimed by the publisher, not checked here")
    assert "k-anonymity" in proof
    assert "lies on the grid" in proof
    assert "Every group has a rating for every item" in proof
    assert "fresh random names" in claim
    assert "fresh random names" not in proof


def test_only_sentences_known_to_be_checked_are_proved(world):
    from recloak._certificate.promises import claimed, proved

    manifest = json.loads((world / "released" / "manifest.json").read_text())
    verdict = recloak.verify(world / "released")
    words = "The tables of statistics together are differentially private (the verifier cannot see it)."
    more = {**manifest, "promised": [*manifest["promised"], words]}
    assert words in claimed(more, verdict)
    assert words not in proved(more, verdict)
