"""Packages that add to recloak by entry points, installed for the tests as any package is."""

import shutil
import tomllib
from pathlib import Path
from typing import Any


def install(name: str, target: Path) -> Path:
    """Install a package of this folder: its module, and the metadata that an installer makes of its pyproject.toml."""
    folder = Path(__file__).parent / name
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return lay_down(target, project, {name: (folder / f"{name}.py").read_text()})


def lay_down(target: Path, project: dict[str, Any], modules: dict[str, str]) -> Path:
    """Write modules and metadata into a folder, which then only has to be on the path."""
    metadata = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    for module, code in modules.items():
        (target / f"{module}.py").write_text(code)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{entry} = {value}" for entry, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return target


def zipped(target: Path) -> Path:
    """Pack an installed package, as Spark hands it to its workers."""
    return Path(shutil.make_archive(str(target), "zip", target))
