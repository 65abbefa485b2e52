"""Where in the paper something stands: the place that a reader looks up, before the line of the spec."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.records.check import Check
from imlp_audit.records.finding import Finding, Quote
from imlp_audit.report.fitting import shorten

_LONGEST = 72  # characters of a place in a line


def name_place(check: Check) -> str:
    """Return a check's place in the paper; that in the specs where a result has no other."""
    return check.place or f"{check.source.file}:{check.source.line}"


def name_places(checks: Sequence[Check]) -> str:
    """Return the first place of several checks, and how many more there are; a change stands where its cell does."""
    stems = dict.fromkeys(name_place(check).removesuffix(", change") for check in checks)
    own = {name_place(check) for check in checks}
    places = [shorten(stem if stem in own else f"{stem}, change", _LONGEST) for stem in stems]
    first, *others = places
    return f"{first}; and {len(others)} more" if others else first


def name_places_of(finding: Finding, checks: Sequence[Check]) -> str:
    """Return where a finding's checks stand; what it quotes where it has none."""
    if checks:
        return name_places(checks)
    first, *others = [shorten(one.source, _LONGEST) for one in finding.evidence if isinstance(one, Quote)]
    return f"{first}; and {len(others)} more" if others else first


def place_in_specs(check: Check) -> str:
    """Return a check's place in the specs as file:line."""
    return f"{check.source.file}:{check.source.line}"
