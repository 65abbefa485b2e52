"""Where measurements are kept."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "IMLP_AUDIT_CACHE"


def cache_folder() -> Path | None:
    """Return the folder that the environment names, or the user's own; None where there is neither."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "imlp-audit"
    except RuntimeError:  # a user without a home
        return None
