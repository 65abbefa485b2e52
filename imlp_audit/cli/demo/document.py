"""What the demo shows: each planted error as it was caught, how to mend it, and what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from imlp_audit.cli.demo.planted import PLANTED, PlantedError, templates
from imlp_audit.records.check import FAILS, Check, NumberCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Code,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    code,
    join,
    parse_code,
)

_OWN = (
    "Copy `paper.yaml` to `mypaper.yaml` in another folder, change `paper: demo`, put your table in place of this "
    "one, and name a model for each row. `lint` finds mistakes in the file, `verify` those in the paper, "
    "and `report` writes a page about it."
)


def caught_document(result: AuditResult, folder: Path) -> Document:
    """Return what the audit says of each planted error, and how to mend it."""
    checks = {check.id: check for check in result.checks}
    caught = sum(one.check in checks and checks[one.check].verdict in FAILS for one in PLANTED)
    blocks: list[Block] = [
        Heading("A paper of one page, with three errors in it", 1),
        Paragraph(
            parse_code(
                "`paper.tex` is the paper, `paper.yaml` has its numbers and `equations/sec2.py` its equation. "
                f"The audit caught {caught} of {len(PLANTED)} errors."
            )
        ),
    ]
    texts = dict(templates())
    for number, one in enumerate(PLANTED, 1):
        lines = _lines(one, checks[one.check], texts[one.file], folder)
        blocks += [Heading(f"{number}. {one.title}", 3), List(tuple(lines))]
    return tuple(blocks)


def _lines(one: PlantedError, check: Check, text: str, folder: Path) -> Iterator[Item]:
    unit = (check.unit if isinstance(check, NumberCheck) else None) or ""
    unit = f" {unit}" if unit and not (check.printed or "").endswith(unit) else ""
    yield Item(f"{check.printed or ''}{unit}", label="printed")
    style = Style.BAD if check.verdict in FAILS else Style.GOOD
    yield Item((Span(check.verdict.value, style), f": {check.reason}"), label="caught")
    yield Item(one.why, label="so")
    changes = (
        (f"line {edit.line_in(text)}: change ", code(edit.wrong), " to ", code(edit.right)) for edit in one.edits
    )
    yield Item((code(one.file), " ", *join(changes, "; ")), label="mend")
    yield Item(code(explain_command(one, folder)), label="ask")


def explain_command(one: PlantedError, folder: Path) -> str:
    """Return the command that explains a planted error."""
    trust = ["--trust-code"] if one.file.endswith(".py") else []
    return shlex.join(["imlp-audit", "explain", one.check, str(folder), *trust])


def mend_document(folder: Path) -> Document:
    """Return how to see one error mended; the equation is Python, which runs only if it is trusted."""
    command = shlex.join(["imlp-audit", "verify", str(folder), "--trust-code"])
    return Heading("Mend one of them, and run the audit again", 3), Code(command, "sh")


def state_document(result: AuditResult) -> Document:
    """Return which planted errors are mended by now, and what else fails."""
    verdicts = {check.id: check for check in result.checks}
    items: list[Inline] = []
    for one in PLANTED:
        check = verdicts.get(one.check)
        if check is None:
            items.append((Span("gone", Style.BAD), ": ", code(one.check), " is no longer in the paper"))
        elif check.verdict in FAILS or check.verdict is Verdict.ERROR:
            items.append((Span("still wrong", Style.BAD), ": ", code(one.check), f": {check.reason}"))
        else:
            items.append((Span("mended", Style.GOOD), ": ", code(one.check), f": {check.reason}"))
    known = {one.check for one in PLANTED}
    others = [check for check in result.checks if check.verdict in (*FAILS, Verdict.ERROR) and check.id not in known]
    items += [(Span("new", Style.BAD), ": ", code(check.id), f": {check.reason}") for check in others]
    return (List(tuple(items)),)


def failing(result: AuditResult) -> list[str]:
    """Return the ids of checks that fail or could not be completed."""
    return [check.id for check in result.checks if check.verdict in (*FAILS, Verdict.ERROR)]


def next_document() -> Document:
    """Return what to try on a paper of one's own."""
    commands = ("lint mypaper.yaml", "verify mypaper.yaml", "report mypaper.yaml --dir report")
    lines = "\n".join(f"imlp-audit {command}" for command in commands)
    return Heading("Your own paper", 3), Paragraph(parse_code(_OWN)), Code(lines, "sh")
