"""An attack of another package, installed: an audit runs it, shows it, and never skips a broken one."""

import json
import sys

import pytest

from recloak._attacks import registry
from recloak._attacks.attack import Attack
from recloak._cli.main import run
from tests.cli.releases import write_release, write_source
from tests.plugins.wheels import MODULE, PROJECT, install

FEW = ["--targets", "60", "--varied-at", "4", "--seed", "3"]
TAKEN = "from recloak._attacks.registry import own_attacks\nATTACK = [own_attacks()[0]]"
PERFECT = ("chances.sum()", "len(targets)")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    source = write_source(folder)
    return source, write_release(source, folder / "out")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a changed copy of the package where this process finds it, under a name of its own."""

    module = f"{MODULE}_{abs(hash(tmp_path))}"

    def put(*changes):
        install(tmp_path / "site", *changes, module=module)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.delitem(sys.modules, module, raising=False)

    # Few attacks of ours, for each audit would run them all again.
    few = registry.own_attacks()[:1]
    monkeypatch.setattr(registry, "own_attacks", lambda: few)
    return put


def audited(release, capsys, *more):
    code = run(["audit", str(release[0]), str(release[1]), *FEW, *more])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_an_installed_attack_is_run_judged_and_shown_everywhere(release, installed, capsys, tmp_path):
    installed()
    code, shown, told = audited(release, capsys, "-o", str(tmp_path / "page.html"), "--gate", "told-group<0.5")
    assert (code, told) == (0, "")
    assert "told-group" in shown
    assert "gate told-group<0.5: pass," in shown
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for words in ("A member of the group that somebody told", "told the group", "was told the target&#39;s group"):
        assert words in page
    found = json.loads(audited(release, capsys, "--json")[1])
    theirs = found["attacks"][-1]
    assert (found["promise"], theirs["name"], theirs["criterion"]) == ("pass", "told-group", "singling-out")
    assert theirs["verdict"].startswith("bounded by")


def test_a_perfect_attack_fails_the_audit(release, installed, capsys, tmp_path):
    installed(PERFECT)
    code, shown, _ = audited(release, capsys, "-o", str(tmp_path / "page.html"))
    assert code == 1
    assert "Breached" in shown
    assert "A member of the group that somebody told" in " ".join(shown.split())
    assert "Breached" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.loads(audited(release, capsys, "--json")[1])["promise"] == "fail"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('kind="identifies"', 'kind="of tomorrow"'), "cannot judge an attack of the kind 'of tomorrow'"),
        (('title="A member of the group that somebody told"', 'title=""'), "must have a title"),
        (('    kind="identifies",\n', ""), "could not be loaded: TypeError"),
        (("    return given", "    raise TypeError('oh')\n    return given"), "TypeError; the log says more"),
        (("    return given", "    import sys; sys.exit(0)\n    return given"), "SystemExit; the log says more"),
        (("from recloak import Attack", "from recloak import Atack as Attack"), "could not be loaded: ImportError"),
        (("ATTACK = Attack(", "THEIRS = Attack("), "could not be loaded: AttributeError"),
        (("ATTACK = Attack(", "ATTACK = str; THEIRS = Attack("), "could not be loaded: TypeError"),
        (('name="told-group"', 'name="told-groups"'), "is named told-group and its attack told-groups"),
        (("    run=run,", '    run=run, direction="higher is safer",'), "direction must be one of lower is safer"),
        (('name="told-group"', 'name="structure"'), "is named told-group and its attack structure"),
        (("ATTACK = Attack(", f"{TAKEN}\nTHEIRS = Attack("), "already an attack named structure"),
    ],
)
def test_a_broken_attack_is_told_and_never_a_pass(release, installed, capsys, tmp_path, change, reason):
    installed(change)
    code, printed, told = audited(release, capsys, "--json", "-o", str(tmp_path / "page.html"))
    found = json.loads(printed)
    assert (code, found["verdict"]) == (1, "not measured")
    broken = found["attacks"][-1]
    assert (broken["verdict"], broken["release"]) == ("not measured", None)
    assert reason in broken["reason"]
    assert told.startswith("recloak: warning: the attack ")
    assert len(told.splitlines()) == 1
    assert reason.partition("'")[0] in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_flag_shows_the_traceback_of_an_attack(release, installed, capsys, monkeypatch):
    installed(("    return given", "    raise TypeError('oh')\n    return given"))
    line = ["audit", str(release[0]), str(release[1]), *FEW, "--json"]
    assert run(line) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert run(["--debug", *line]) == 1
    told = capsys.readouterr()
    assert "Traceback" in told.err
    assert MODULE in told.err
    json.loads(told.out)
    monkeypatch.setenv("RECLOAK_DEBUG", "1")
    run(line)
    assert "Traceback" in capsys.readouterr().err


def test_what_is_installed_comes_after_ours_and_is_gone_when_it_is_removed(installed, monkeypatch):
    installed()
    assert [one.name for one in registry.attacks()] == ["structure", "told-group"]
    monkeypatch.setattr(registry, "entry_points", lambda **_: ())
    assert [one.name for one in registry.attacks()] == ["structure"]


def test_the_documentation_shows_the_example_package_and_it_makes_an_attack():
    shown = (PROJECT.parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    for file in (f"{MODULE}.py", "pyproject.toml"):
        assert (PROJECT / file).read_text(encoding="utf-8") in shown, file
    names: dict[str, object] = {}
    exec((PROJECT / f"{MODULE}.py").read_text(encoding="utf-8"), names)
    assert isinstance(names["ATTACK"], Attack)
