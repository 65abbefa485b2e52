"""What the hints of several failing checks have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from imlp_audit.records.check import Check

_FITS = " would fit"
_RELATIVE = re.compile(r"(as printed )?with `model: ")


def choose_hints(asked: Check, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the first hint of a check, and before it what as many as possible of the finding's checks are hinted."""
    ways = Counter(way for check in checks for way in {_way(hint) for hint in check.hints} if way is not None)
    way, count = max(ways.items(), key=lambda one: one[1], default=("", 0))
    own = [hint for hint in asked.hints[:1] if count < 2 or _RELATIVE.match(hint) or _way(hint) != way]
    common = [f"{count} of these {len(checks)} {way}"] if count > 1 else []
    return tuple(f"hint: {hint}" for hint in (*common, *own))


def _way(hint: str) -> str | None:
    """Return what a hint says without the numbers and the model of its row."""
    if _RELATIVE.match(hint):
        return "are as printed, or nearly, with another form or size of their model; `--all` names it for each"
    _, fits, rest = hint.partition(_FITS)
    return f"{fits.strip()}{rest}" if fits else None
