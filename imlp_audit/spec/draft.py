"""Drafts of findings: entries without a title, added to a file of findings; the rest stays as it is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from imlp_audit.errors import UsageError
from imlp_audit.records.finding import Finding


def draft_ids(findings: Sequence[Finding], taken: Collection[str]) -> dict[str, Finding]:
    """Return findings by new ids: their own, numbered where it is taken."""
    drafts: dict[str, Finding] = {}
    for finding in findings:
        name, number = finding.id, 2
        while name in taken or name in drafts:
            name, number = f"{finding.id}-{number}", number + 1
        drafts[name] = finding
    return drafts


def with_drafts(text: str | None, paper: str, drafts: dict[str, Finding], shown_as: str) -> str:
    """Return the text of a file of findings with more entries; without `text`, that of a new file.

    Raises UsageError where the file's findings are not a block that entries can be added to.
    """
    if text is None:
        return "\n".join([f"paper: {paper}", "findings:", *_entries(drafts, "  "), ""])
    lines = text.rstrip("\n").split("\n")
    start = next((at for at, line in enumerate(lines) if line.split(" #")[0].rstrip() == "findings:"), None)
    if start is None:
        if any(line.startswith("findings:") for line in lines):
            raise UsageError(f"{shown_as} has no `findings:` in a block of lines of its own to add drafts to")
        return "\n".join([*lines, "findings:", *_entries(drafts, "  "), ""])
    end = next((at for at in range(start + 1, len(lines)) if _is_key(lines[at])), len(lines))
    first = next((line for line in lines[start:end] if line.lstrip().startswith("- ")), "  - ")
    indent = first[: len(first) - len(first.lstrip())]
    while not lines[end - 1].strip():
        end -= 1
    return "\n".join([*lines[:end], *_entries(drafts, indent), *lines[end:], ""])


def _is_key(line: str) -> bool:
    return bool(line.strip()) and line[0] not in " -#\r"


def _entries(drafts: dict[str, Finding], indent: str) -> Iterator[str]:
    for name, finding in drafts.items():
        yield f"{indent}- id: {name}"
        yield f'{indent}  title: ""'
        yield f"{indent}  kind: {finding.kind.value}"
        yield f"{indent}  why: {json.dumps(finding.why, ensure_ascii=False)}"
        yield f"{indent}  checks:"
        yield from (f"{indent}    - {check}" for check in finding.checks)
