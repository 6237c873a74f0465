"""The names, signatures and examples of `recloak.related` and `recloak.mentions`, and the commands that call them."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import recloak
import recloak.contest
import recloak.mentions
import recloak.related
from recloak._attacks.options import ObserverOptions, PassiveOptions
from recloak._contest.options import ContestOptions
from recloak._evaluation.list_advice import DELTAS, HORIZONS
from recloak._mentions.options import IdentifyOptions
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._releases.options import PublishOptions
from tests.library.namespaces import require_names
from tests.library.small_world import small_ratings, write_world

MODULES = (recloak.related, recloak.mentions, recloak.contest)
PAGE = Path(__file__).parents[2] / "docs" / "library-namespaces.md"


@pytest.fixture(autouse=True)
def world(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    write_world(small_ratings())


@pytest.mark.parametrize("module", MODULES)
def test_names_and_signatures_change_on_purpose_only(module):
    require_names(module, f"public_{module.__name__.split('.')[1]}.txt")


@pytest.mark.parametrize("module", MODULES)
def test_only_public_names_are_visible(module):
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("module", MODULES)
def test_importing_a_namespace_costs_nothing(module):
    heavy = "{'numpy', 'polars', 'numba', 'sqlalchemy'}"
    code = f"import sys, {module.__name__}; sys.exit(bool({heavy} & {{*sys.modules}}))"
    subprocess.run([sys.executable, "-c", code], check=True)


def examples():
    names = [(module, name) for module in MODULES for name in module.__all__]
    find = doctest.DocTestFinder(recurse=False).find
    found = [one for module, name in names for one in find(getattr(module, name), f"{module.__name__}.{name}")]
    return [pytest.param(one, id=one.name) for one in found if one.examples]


def public_functions():
    return [getattr(module, name) for module in MODULES for name in module.__all__ if name.islower()]


def test_every_function_has_an_example_and_documents_its_parameters():
    named = {example.id for example in examples()}
    for function in public_functions():
        namespace = next(name for name in ("contest", "mention", "related") if name in function.__module__)
        namespace = {"mention": "mentions"}.get(namespace, namespace)
        assert f"recloak.{namespace}.{function.__name__}" in named
        told = inspect.getdoc(function) or ""
        assert all(heading in told for heading in ("Returns\n", "Raises\n", "Examples\n"))
        listed = re.findall(r"^([a-z_, ]+)$", told.partition("Parameters\n")[2].partition("Returns\n")[0], re.MULTILINE)
        assert [name for line in listed for name in line.split(", ")] == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("example", examples())
def test_an_example_runs(example):
    told: list[str] = []
    failed, _ = doctest.DocTestRunner().run(example, out=told.append)
    assert not failed, "".join(told)


def test_the_page_runs():
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(code) >= 2
    for block in code:
        exec(compile(block, PAGE.name, "exec"), {})


OPTIONS = [
    (recloak.related.build, (SimilarityOptions,), {"top": 5}),
    (recloak.related.publish, (SimilarityOptions, BoundOptions, MethodOptions), {}),
    (recloak.related.simulate, (ProtocolOptions, SimilarityOptions, BoundOptions, MethodOptions), {}),
    (recloak.related.attack, (ObserverOptions, PassiveOptions), {"window": 4}),
    (recloak.related.advise, (ProtocolOptions, MethodOptions, SimilarityOptions),
     {"gap": 10.0, "deltas": DELTAS, "horizons": HORIZONS, "min_support": BoundOptions().min_support}),
    (recloak.mentions.identify, (IdentifyOptions,), {}),
    (recloak.mentions.defend, (IdentifyOptions,), {}),
    (recloak.contest.prepare, (ContestOptions, PublishOptions), {}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kinds", "more"), OPTIONS, ids=lambda value: getattr(value, "__name__", None))
def test_keywords_have_the_defaults_of_the_options(function, kinds, more):
    given = inspect.signature(function).parameters
    wanted = {field.name: field.default for kind in kinds for field in fields(kind)} | more
    left_out = {"method", "literal"} if function is recloak.related.advise else set()
    assert {name: given[name].default for name in wanted if name not in left_out} == {
        name: default for name, default in wanted.items() if name not in left_out
    }


@pytest.mark.parametrize("name", ["floor", "heavy", "flat"])
def test_the_advisor_scores_with_the_same_defaults(name):
    assert inspect.signature(recloak.mentions.prepare_advisor).parameters[name].default == getattr(
        IdentifyOptions(), name
    )


COMMANDS = Path(recloak.__file__).parent / "_cli"
THIN = [
    *sorted((COMMANDS / "related").glob("[a-z]*.py")),
    *sorted((COMMANDS / "contest").glob("[a-z]*.py")),
    COMMANDS / "commands" / "mentions.py",
]


@pytest.mark.parametrize("path", THIN, ids=lambda path: path.stem)
def test_a_command_calls_the_namespace_and_no_room(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    rooms = {name for name in imported if name.startswith("recloak._") and not name.endswith("options")}
    assert {name.split(".")[1] for name in rooms} <= {"_cli", "_report", "_core"}
    assert {"recloak", "recloak.related", "recloak.mentions"} & imported
