"""Signatures: every keyword and default is that of an options value, and none changes unseen.

``python -m tests.library.test_signatures`` renews the snapshot where a change is meant.
"""

import dataclasses
import inspect
import sys
from pathlib import Path

import pytest

import recloak
from recloak._attacks.options import AuditOptions
from recloak._evaluation.options import EvaluateOptions, FidelityOptions, FrontierOptions
from recloak._library.sources import Source
from recloak._ratings.options import ExposureOptions, ReadOptions
from recloak._ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions
from recloak._releases.options import PadOptions, PublishOptions, StatisticsOptions, WriteOptions

SNAPSHOT = Path(__file__).with_name("public_names.txt")
OPTIONS = {
    recloak.read: (ReadOptions,),
    Source: (ReadOptions,),
    recloak.inspect: (ExposureOptions,),
    recloak.synth: (SynthOptions, FileOptions, MentionOptions),
    recloak.publish: (PublishOptions, PadOptions, WriteOptions, StatisticsOptions),
    recloak.audit: (AuditOptions,),
    recloak.evaluate: (EvaluateOptions, PublishOptions),
    recloak.fidelity: (FidelityOptions, PublishOptions),
    recloak.frontier: (FrontierOptions,),
}
OWN = {  # keywords that belong to no options value
    recloak.inspect: {"source"},
    recloak.synth: {"out"},
    recloak.publish: {"source", "out", "padder", "private", "policy"},
    recloak.audit: {
        "source",
        "release",
        "private",
        "second",
        "second_private",
        "again",
        "gates",
        "accept",
        "sybils",
        "fidelity",
        "probe",
        "more",
        "held_out",
        "later",
        "mentions",
        "attribute",
        "sensitive",
        "frontier",
    },
    recloak.evaluate: {"source", "release", "probe", "holdout", "private"},
    recloak.fidelity: {"source", "release", "probe", "holdout", "private"},
    recloak.frontier: {"source", "k", "mode", "epsilon", "keep"},
    recloak.read: {"source"},
    Source: {"paths"},
}
EVERYWHERE = {"engine", "master", "conf", "seed", "rng"}


@pytest.mark.parametrize("function", OPTIONS, ids=lambda function: function.__name__)
def test_a_signature_has_the_fields_and_defaults_of_its_options(function):
    parameters = inspect.signature(function).parameters
    fields = {field.name: field.default for kind in OPTIONS[function] for field in dataclasses.fields(kind)}
    assert set(parameters) - OWN[function] - EVERYWHERE == set(fields)
    for name, default in fields.items():
        assert parameters[name].default == default, name
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY, name


@pytest.mark.parametrize("function", [*OPTIONS][2:], ids=lambda function: function.__name__)
def test_chance_comes_in_as_seed_or_rng(function):
    parameters = inspect.signature(function).parameters
    assert parameters["seed"].default is None
    assert parameters["rng"].default is None
    assert "seed, rng\n" in str(inspect.getdoc(function))


def snapshot() -> str:
    """Return every public name with its signature, and every public method and field of the values."""
    lines = []
    for name in recloak.__all__:
        value = getattr(recloak, name)
        if inspect.isclass(value):
            lines += [f"class {name}", *_members(value)]
        elif isinstance(value, dict):
            lines.append(f"{name}: {', '.join(value)}")
        elif inspect.ismodule(value):
            lines += [f"module {name}", *(f"    {one}" for one in value.__all__)]
        else:
            lines.append(f"def {name}{inspect.signature(value)}")
    return "\n".join(lines) + "\n"


def _members(kind: type) -> list[str]:
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    methods = {name for name in dir(kind) if not name.startswith("_") and not hasattr(Exception, name)}
    return [f"    {name}{_signature(getattr(kind, name, None))}" for name in sorted(fields | methods)]


def _signature(member: object) -> str:
    return str(inspect.signature(member)) if inspect.isroutine(member) else ""


def test_public_names_and_signatures_are_those_of_the_snapshot():
    assert snapshot() == SNAPSHOT.read_text(), f"if this is meant: {sys.executable} -m tests.library.test_signatures"


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot())
