"""Rules between the rows of a table, and what else stands there without a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imlp_audit.transcribe.latex.arguments import read_braced, skip_optional

_NAME = re.compile(
    r"\s*\\([A-Za-z]*(?:rule|hline)|cline|cdashline|hdashline|addlinespace|noalign|rowcolor|arrayrulecolor"
    r"|morecmidrules|rowfont)(?![A-Za-z@])\*?"
)
_ARGUMENTS = {
    "Xhline": 1, "hhline": 1, "cmidrule": 1, "cline": 1, "cdashline": 1, "noalign": 1, "rowcolor": 1,
    "arrayrulecolor": 1, "rowfont": 1, "specialrule": 3, "rule": 2, "hrule": 0,
}  # fmt: skip
_PARTIAL = frozenset({"cmidrule", "cline", "cdashline", "rule"})
_TRIMMED = re.compile(r"\s*\([lr\d.{}a-z]*\)")
_LENGTH = re.compile(r"\s*[\d.]+\s*(?:pt|em|ex|mm|cm|in|bp|sp)\s*")


@dataclass(frozen=True)
class RuleMacro:
    """Where a rule's macro ends, and whether the rule goes through all columns."""

    end: int
    full: bool


def read_rule(tex: str, at: int) -> RuleMacro | None:
    """Return the rule, colour or distance at a place; None where something else stands there.

    A rule of the author's own may have a thickness as its argument; other braces after it are the first cell.
    """
    found = _NAME.match(tex, at)
    if found is None:
        return None
    name, end = found[1], skip_optional(tex, found.end())
    trimmed = _TRIMMED.match(tex, end) if name in _PARTIAL else None
    end = trimmed.end() if trimmed is not None else end
    wanted = _ARGUMENTS.get(name)
    while (argument := read_braced(tex, end)) is not None:
        if wanted == 0 or (wanted is None and _LENGTH.fullmatch(argument.text) is None):
            break
        wanted, end = (None if wanted is None else wanted - 1), argument.end
    full = name.endswith(("rule", "hline")) and name not in _PARTIAL
    return RuleMacro(skip_optional(tex, end) if name == "rowcolor" else end, full)
