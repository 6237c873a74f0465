"""Install the example package for real, or a changed copy of it, without a network: a wheel by hand, then pip."""

import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parent / "recloak_example_attack"
MODULE = "recloak_example_attack"


def install(target: Path, *changes: tuple[str, str], module: str = MODULE) -> None:
    """Install the package into a folder as pip does, its source changed and its module renamed as asked for."""
    wheel = _wheel(target, changes, module)
    if importlib.util.find_spec("pip") is None:  # an environment without pip: what pip would do
        zipfile.ZipFile(wheel).extractall(target)
        return
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, capture_output=True)


def _wheel(target: Path, changes: tuple[tuple[str, str], ...], module: str) -> Path:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    source = (PROJECT / f"{MODULE}.py").read_text()
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    info = f"{module}-{project['version']}.dist-info"
    points = project["entry-points"]["recloak.attacks"].items()
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: {project['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[recloak.attacks]\n"
        + "".join(f"{name} = {value.replace(MODULE, module)}\n" for name, value in points),
    }
    path = target.parent / f"{module}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))
    return path
