"""Leaves a mark when it is imported, and when something in it is called. No test imports it but one."""

from __future__ import annotations

import os
from pathlib import Path


def run(*_: object) -> None:
    """Leave the mark."""
    Path(os.environ["TRAP_MARK"]).mkdir(exist_ok=True)


class Kind:
    """Leaves the mark when it is made."""

    def __new__(cls, *_: object) -> Kind:
        run()
        return super().__new__(cls)


run()
