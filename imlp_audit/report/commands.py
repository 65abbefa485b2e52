"""The command that explains a check, with what it needs to find the check's paper."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from imlp_audit.records.check import AnyCheck, EquationCheck

_BUNDLED = "specs/"  # how the sources of bundled papers begin; these are found by the id alone


def explain_command(check: AnyCheck) -> str:
    """Return the command, as one would type it where the audit ran."""
    return shlex.join(["imlp-audit", "explain", check.id, *_target(check.source.file)])


def replay_command(check: EquationCheck) -> str:
    """Return the command that tests an equation on the example that a check shows, and on no other."""
    target = _target(check.source.file)
    return shlex.join(["imlp-audit", "properties", *target, check.id, f"--replay={check.replay}"])


def _target(file: str) -> list[str]:
    """Return the spec that holds a check: its file, or the folder of a paper's Python and the word to trust it."""
    path = PurePosixPath(file)
    if file.startswith(_BUNDLED) or not file:
        return []
    if path.suffix != ".py":
        return [file]
    folder = path.parent.parent if path.parent.name == "equations" else path.parent
    return [str(folder), "--trust-code"]
