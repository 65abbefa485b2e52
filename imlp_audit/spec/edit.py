"""Text edits of a paper's YAML: what a command adds to it; the rest stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from imlp_audit import files
from imlp_audit.errors import UsageError
from imlp_audit.records.finding import Finding


def with_model(text: str, lines: tuple[int, int | None], recipe: str, shown_as: str) -> str:
    """Return a spec's text in which a row, from its first line up to another, has a model in place of candidates.

    Raises UsageError where its candidates are not a list in brackets.
    """
    every = text.splitlines(keepends=True)
    start, end = lines[0] - 1, len(every) if lines[1] is None else lines[1] - 1
    row, changed = re.subn(
        r"\bcandidates:[ ]*\[[^\]]*\]", lambda _: f"model: {{{recipe}}}", "".join(every[start:end]), count=1
    )
    if not changed:
        raise UsageError(f"{shown_as}:{lines[0]}: `candidates:` is no list in brackets; write it as [{{...}}, {{...}}]")
    row = re.sub(r"^[ ]*named: true[ ]*\r?\n|\bnamed: true, *|, *named: true\b", "", row, count=1, flags=re.MULTILINE)
    return "".join([*every[:start], row, *every[end:]])


def with_counters(text: str, counters: Sequence[str], shown_as: str) -> str:
    """Return a spec's text with the counters of its FLOPs, the default first. Raises UsageError."""
    lines = text.split("\n")
    about = _place(lines, "about:", 0, len(lines))
    written = f"flops: [{', '.join(counters)}]"
    if about is not None:
        return _with(lines, _end(lines, about), [f"  {written}"])
    if "\nabout: {" in text:
        return text.replace("\nabout: {", f"\nabout: {{{written}, ", 1)
    raise UsageError(f"{shown_as} has no `about:` to add {written!r} to; {_BLOCK}")


_BLOCK = "write each of its keys on a line below it, without braces"


def _with(lines: list[str], at: int, added: list[str]) -> str:
    """Return the text with lines added at a place, ended as the first line is."""
    end = "\r" if lines[0].endswith("\r") else ""
    return "\n".join([*lines[:at], *(line + end for line in added), *lines[at:]])


def _place(lines: list[str], wanted: str, start: int, end: int) -> int | None:
    """Return the line that holds a key and nothing else."""
    return next((i for i in range(start, end) if lines[i].split(" #")[0].rstrip() == wanted), None)


def _end(lines: list[str], start: int) -> int:
    """Return the line after a block: the last that is indented further, without the comments and gaps behind it."""
    end = start + 1
    for number, line in enumerate(lines[end:], end + 1):
        if line.strip() and not line.lstrip().startswith("#"):
            if _indent(line) <= _indent(lines[start]):
                break
            end = number
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_text(path: Path) -> str:
    """Return a spec's text as it is, line ends included."""
    return files.read_text(path, files.MAX_SPEC_BYTES)


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
