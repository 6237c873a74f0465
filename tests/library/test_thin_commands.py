"""The command line goes through the front door: it parses, calls one public function, and renders."""

import ast
from pathlib import Path

import pytest

import recloak

COMMANDS = Path(recloak.__file__).parent / "_cli" / "commands"
NAMES = ["audit", "demo", "evaluate", "frontier", "inspect", "publish", "run", "synth", "verify"]


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return plain | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("name", NAMES)
def test_a_command_imports_options_and_rendering_only(name):
    for module in imports(COMMANDS / f"{name}.py"):
        if module.startswith("recloak."):
            room, *rest = module.split(".")[1:]
            plain = module in (
                "recloak._core.errors",
                "recloak._core.terminal_text",
                "recloak._releases.model.modes",
            )
            allowed = plain or room in ("_cli", "_report") or rest[-1:] == ["options"]
            assert allowed, f"{name} imports {module}"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "demo"])
def test_a_command_calls_the_public_function_of_its_name_once(name):
    calls = [
        node.func for node in ast.walk(ast.parse((COMMANDS / f"{name}.py").read_text())) if isinstance(node, ast.Call)
    ]
    public = [call.attr for call in calls if isinstance(call, ast.Attribute) and ast.unparse(call.value) == "recloak"]
    assert public == [name]
