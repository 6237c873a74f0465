"""An attack is one value: it cannot be built without its words, and everything about it is read from it."""

import re
from pathlib import Path

import pytest
from tests.attacks.attack_values import OWN, made_attack

import recloak._attacks
from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.gate import parse_gate
from recloak._attacks.registry import own_attacks
from recloak._core.errors import OptionError

ORDINARY = ("label", "residual", "attribute", "sensitive", "sybils")  # words that mean something else elsewhere
ROOT = Path(__file__).parents[2]
WORDS = ("title", "short", "attacker", "unit", "baseline", "direction", "kind")


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("value", ["", "  ", None])
def test_an_attack_without_words_cannot_be_built(words, value):
    with pytest.raises(OptionError, match=f"must have a {words}"):
        made_attack(**{words: value})


@pytest.mark.parametrize(
    "field", ["name", "kind", "title", "short", "attacker", "unit", "baseline", "criterion", "run"]
)
def test_an_attack_that_leaves_a_fact_out_cannot_be_built(field):
    given = {name: getattr(OWN["link"], name) for name in Attack.__slots__ if name != field}
    with pytest.raises(TypeError, match=field):
        Attack(**given)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "Two Words", "lower-case letters"),
        ("criterion", "luck", "criterion must be one of singling-out"),
        ("needs", ("luck",), "needs must be one of release"),
        ("varied", "daily", "varied must be one of once"),
        ("run", "now", "a function to run"),
        ("direction", "higher is safer", "direction must be one of lower is safer"),
    ],
)
def test_what_does_not_exist_is_refused(field, value, sentence):
    with pytest.raises(OptionError, match=sentence):
        made_attack(**{field: value})


def test_plain_words_become_the_kinds_that_are_judged():
    made = made_attack(kind="identifies", varied="known")
    assert made.kind is Kind.IDENTIFIES
    assert made.varied is Varied.KNOWN
    assert repr(made) == "<Attack made-up: identifies>"
    assert not isinstance(made_attack(kind="of tomorrow").kind, Kind)


def test_every_attack_is_found_in_its_own_file():
    folder = Path(next(iter(recloak._attacks.__path__)))
    texts = [path.read_text() for path in folder.glob("*.py")]
    built = [text for text in texts if re.search(r"^ATTACKS? = ", text, re.MULTILINE)]
    assert sorted(name for text in built for name in re.findall(r'^ +name="([a-z-]+)"', text, re.MULTILINE)) == sorted(
        OWN
    )


def test_one_file_adds_an_attack_of_ours(tmp_path, monkeypatch):
    (tmp_path / "one_file_more.py").write_text(
        "from tests.attacks.attack_values import made_attack\n\nATTACK = made_attack()\n"
    )
    monkeypatch.setattr(recloak._attacks, "__path__", [*recloak._attacks.__path__, str(tmp_path)])
    assert {one.name for one in own_attacks.__wrapped__()} == {*OWN, "made-up"}


def test_no_other_file_knows_an_attack_by_its_name():
    for path in (ROOT / "src" / "recloak").rglob("*.py"):
        if path.parent.name not in ("_attacks", "related"):
            names = {name for name in OWN if name not in ORDINARY and f'"{name}"' in path.read_text()}
            assert not names, path


def test_a_gate_can_name_every_attack():
    assert all(parse_gate(f"{name}<0.5").name == name for name in OWN)


def test_the_table_of_attacks_in_the_documentation_is_that_of_the_values():
    rows = [f"| {one.name} | {one.kind} | {one.criterion} | {one.actor} | {one.attacker} |" for one in own_attacks()]
    table = re.findall(
        r"^\| [a-z-]+ \| [a-z-]+ \| [a-z-]+ \| [a-z]+ \| .*$", (ROOT / "docs" / "audit.md").read_text(), re.MULTILINE
    )
    assert table[1:] == rows
