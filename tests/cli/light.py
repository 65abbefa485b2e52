"""An environment with what pip installs for the package without extras: nothing else can be imported."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from .running import Outcome, spawn

ROOT = Path(__file__).parents[2]
_PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = _PYPROJECT["project"], _PYPROJECT["tool"]


def make_light(folder: Path) -> Path:
    """Fill a folder with links to the base dependencies of pyproject.toml, to theirs in turn, and to the package."""
    folder.mkdir()
    (folder / "imlp_audit").symlink_to(ROOT / "imlp_audit")
    for name in base_distributions():
        files = distribution(name).files or []
        for part in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (folder / part).symlink_to(Path(str(distribution(name).locate_file(part))))
    return folder


def base_distributions() -> set[str]:
    """Return the names of everything that pip installs for the base dependencies."""
    known: set[str] = set()
    waiting = list(PROJECT["dependencies"])
    while waiting:
        wanted = Requirement(waiting.pop())
        if wanted.name not in known and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            known.add(wanted.name)
            waiting += distribution(wanted.name).requires or []
    return known


def run_light(light: Path, *arguments: str, cwd: Path) -> Outcome:
    """Run the command line with Python's own library and that folder alone."""
    return spawn(*arguments, cwd=cwd, command=(sys.executable, "-S", "-m", "imlp_audit"), PYTHONPATH=str(light))
