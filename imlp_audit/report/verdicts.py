"""How verdicts are written: their names, and the styles that carry their colours."""

from __future__ import annotations

from imlp_audit.records.check import Verdict
from imlp_audit.report.document import Span, Style

STYLES = {
    Verdict.REPRODUCED: Style.GOOD,
    Verdict.REPRODUCED_UNDER: Style.DEPARTING,
    Verdict.DIFFERS: Style.BAD,
    Verdict.INCONSISTENT: Style.BAD,
    Verdict.UNVERIFIABLE: Style.FAINT,
    Verdict.WAIVED: Style.KNOWN,
    Verdict.ERROR: Style.BROKEN,
}


def verdict_span(verdict: Verdict, text: str | None = None) -> Span:
    """Return a verdict's name, or another text, in its colour."""
    return Span(verdict.value if text is None else text, STYLES[verdict])
