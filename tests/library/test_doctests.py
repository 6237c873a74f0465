"""The examples in the docstrings of the public names run as they stand."""

import doctest
import inspect

import pytest

import recloak

MUST_HAVE = {"Audit", "Evaluation", "Frontier", "Inspection", "Ratings", "Release", "Source", "Verdict"}


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=False)
    found = []
    for name in recloak.__all__:
        value = getattr(recloak, name)
        if not inspect.ismodule(value):
            found += [test for test in finder.find(inspect.unwrap(value), name, globs={}) if test.examples]
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert not told, "".join(told)


def test_every_function_and_every_main_value_has_an_example():
    functions = {name for name in recloak.__all__ if inspect.isfunction(getattr(recloak, name))}
    assert functions | MUST_HAVE <= {example.name for example in examples()}
