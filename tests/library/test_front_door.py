"""What ``import recloak`` gives: the public names, nothing else, at next to no cost."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import recloak

SOURCE = Path(recloak.__file__).parent
COST = "import time; start = time.process_time(); import recloak; print(time.process_time() - start)"
USED = """
import recloak
for name in recloak.__all__:
    getattr(recloak, name)
assert recloak.__version__
shown = [name for name in vars(recloak) if not name.startswith("_")]
assert sorted(shown) == recloak.__all__, set(shown) ^ set(recloak.__all__)
assert [name for name in dir(recloak) if not name.startswith("_")] == recloak.__all__
"""


def public_values():
    return [(name, getattr(recloak, name)) for name in recloak.__all__]


def test_only_the_public_names_are_seen():
    assert [name for name in dir(recloak) if not name.startswith("_")] == recloak.__all__
    assert 30 <= len(recloak.__all__) <= 60


def test_nothing_else_is_seen_after_everything_was_used():
    subprocess.run([sys.executable, "-c", USED], check=True)


def test_importing_costs_next_to_nothing():
    done = subprocess.run([sys.executable, "-c", COST], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 0.2


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'demo'"):
        recloak.demo  # type: ignore[attr-defined]  # noqa: B018


def namespaces() -> set[str]:
    return {name for name, home in recloak._HOMES.items() if home == "recloak"}  # type: ignore[attr-defined]


def test_type_checkers_see_the_names_that_programs_see():
    tree = ast.parse((SOURCE / "__init__.pyi").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    static = {str(alias.asname): node.module for node in imports for alias in node.names}
    assert static == recloak._HOMES  # type: ignore[attr-defined]
    assert sorted(static) == recloak.__all__


def test_a_name_lives_where_it_is_said_to_live():
    for name, home in recloak._HOMES.items():  # type: ignore[attr-defined]
        if name not in namespaces() and not isinstance(getattr(recloak, name), dict):
            assert inspect.unwrap(getattr(recloak, name)).__module__ == home, name


def test_every_module_is_private_or_a_namespace():
    public = {module.name for module in pkgutil.iter_modules(recloak.__path__) if not module.name.startswith("_")}
    assert public == namespaces()


def test_every_public_name_says_what_it_is_for():
    for name, value in public_values():
        assert inspect.getdoc(value), name
        if inspect.isfunction(value) and name != "progress":
            for part in ("Parameters", "Returns", "Raises", "Examples"):
                assert f"{part}\n---" in str(inspect.getdoc(value)), (name, part)


def test_every_parameter_of_a_public_function_is_typed_and_explained():
    for name, value in public_values():
        if not inspect.isfunction(value) or name == "progress":
            continue
        documented = str(inspect.getdoc(value)).split("Returns\n")[0]
        words = {word for line in documented.splitlines() for word in line.replace(",", " ").split()}
        for parameter in inspect.signature(value).parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)
            assert parameter.kind is not inspect.Parameter.VAR_KEYWORD, (name, parameter)
            assert parameter.name in words, (name, parameter.name)


def test_errors_form_one_tree():
    for name, value in public_values():
        if name.endswith("Error"):
            assert issubclass(value, recloak.RecloakError)


def test_the_package_can_be_imported_with_a_star():
    names: dict[str, object] = {}
    exec("from recloak import *", names)
    assert set(recloak.__all__) <= set(names)
