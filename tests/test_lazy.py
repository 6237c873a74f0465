"""Packages that import their names on use."""

import importlib
import subprocess
import sys

import pytest

LAZY = ["recloak.ratings", "recloak.ratings.synthetic", "recloak.mentions", "recloak.publish.model"]


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_found_and_listed(package):
    module = importlib.import_module(package)
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) == set(module.homes) <= set(dir(module))


def test_a_name_that_is_nowhere_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"recloak\.mentions.*'nobody'"):
        _ = importlib.import_module("recloak.mentions").nobody


def test_a_function_keeps_its_name_although_its_module_has_the_same():
    order = "import recloak.mentions.identify\nfrom recloak.mentions import identify\nassert callable(identify)"
    subprocess.run([sys.executable, "-c", order], check=True)
