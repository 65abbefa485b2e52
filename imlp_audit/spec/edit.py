"""Text edits of a paper's YAML: what a command adds to it; the rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imlp_audit.errors import UsageError


def with_model(text: str, lines: tuple[int, int | None], recipe: str, shown_as: str) -> str:
    """Return a spec's text in which a row, from its first line up to another, has a model in place of candidates.

    Raises UsageError where its candidates are not a list in brackets.
    """
    every = text.splitlines(keepends=True)
    start, end = lines[0] - 1, len(every) if lines[1] is None else lines[1] - 1
    row = "".join(every[start:end])
    given = _CANDIDATES.search(row)
    if given is None:
        raise UsageError(f"{shown_as}:{lines[0]}: `candidates:` is no list in brackets; write it as [{{...}}, {{...}}]")
    row = f"{row[: given.start()]}model: {{{recipe}}}{row[_closed(row, given.end()) :]}"
    row = re.sub(r"^[ ]*named: true[ ]*\r?\n|\bnamed: true, *|, *named: true\b", "", row, count=1, flags=re.MULTILINE)
    return "".join([*every[:start], row, *every[end:]])


_CANDIDATES = re.compile(r"\bcandidates:[ ]*\[")
_BRACKETS = re.compile(r"""[][]|"(?:[^"\\]|\\.)*"|'[^']*'""")


def _closed(text: str, start: int) -> int:
    """Return where the list ends whose bracket opens before a place; brackets in quotes are text."""
    depth = 1
    for found in _BRACKETS.finditer(text, start):
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return len(text)


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
