"""A badge: a small picture for a README that says how many checks hold and how many findings there are.

It is about the paper, so it counts acknowledged findings too: acknowledging a finding mends nothing in the paper.
"""

from __future__ import annotations

from html import escape

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import PASSES, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import one_line
from imlp_audit.report.findings import worst_first

_LABEL = "paper audit"
_GREEN, _ORANGE, _RED, _GREY = "#3b7a1a", "#a85a00", "#b5342b", "#5f6368"  # white text on them has a contrast over 4.5
_WIDTHS = {"i": 3.0, "l": 3.0, "j": 3.4, "f": 3.9, "t": 4.3, "r": 4.7, " ": 3.9, ",": 4.0, "m": 10.7, "w": 9.0}
_WIDTH = 6.9  # of other letters and digits in Verdana at 11 px; the text is fitted into what they add up to
_PADDING = 6


def render_badge(result: AuditResult) -> str:
    """Return a result as an SVG that needs nothing else."""
    text, colour = _state(result)
    papers = ", ".join(paper.id for paper in result.papers)
    meaning = escape(one_line(f"{_LABEL}: {text} ({papers})"))
    left, right = (_width(part) + 2 * _PADDING for part in (_LABEL, text))
    return _SVG.format(
        meaning=meaning,
        width=left + right,
        left=left,
        colour=colour,
        texts="\n".join((*_shadowed(_LABEL, 0, left), *_shadowed(text, left, right))),
    )


def _state(result: AuditResult) -> tuple[str, str]:
    """Return what the badge says, and its colour."""
    checks, findings = result.checks, worst_first(result)
    if any(check.verdict is Verdict.ERROR for check in checks):
        return "not completed", _GREY
    holding = sum(check.verdict in PASSES for check in checks)
    found = count_of(len(findings), "finding") if findings else "no findings"
    text = f"{readable(holding)} of {readable(len(checks))} checks hold, {found}"
    if not findings:
        return text, _GREEN if holding else _GREY
    return text, _ORANGE if all(finding.acknowledged for finding in findings) else _RED


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(char, _WIDTH) for char in text))


def _shadowed(text: str, start: int, width: int) -> tuple[str, str]:
    """Return a text in the middle of its field, and its shadow."""
    fitted = f'x="{start + width / 2:g}" textLength="{width - 2 * _PADDING}"'
    words = escape(text)
    return (
        f'<text {fitted} y="15" fill="#010101" fill-opacity=".3">{words}</text>',
        f'<text {fitted} y="14">{words}</text>',
    )


_SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{meaning}">
<title>{meaning}</title>
<rect width="{width}" height="20" rx="3" fill="{colour}"/>
<path d="M3 0H{left}V20H3Q0 20 0 17V3Q0 0 3 0" fill="#444"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
{texts}
</g>
</svg>
"""
