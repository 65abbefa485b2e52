"""What an audit answers of reproducibility checklists: evidence on an item where it has any, and no opinions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, PASSES, Check, CheckKind, Verdict
from imlp_audit.records.evidence import Accuracy, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.checklists import CHECKLISTS, Checklist, Topic
from imlp_audit.report.document import Block, Heading, Inline, List, Paragraph, Span, Table, join, strong
from imlp_audit.report.linked import paper_of, section_anchor
from imlp_audit.report.numbered import NumberedFinding

Findings: TypeAlias = Mapping[str, NumberedFinding]  # by the ids of their checks
_NAMED = 6  # findings that an answer names


def checklist_answers(result: AuditResult, findings: Findings) -> Iterator[Block]:
    """Yield a table of the items that the audit has evidence on, and the names of the others."""
    found = [(one, entry, _answer(entry.topic, result, findings)) for one in CHECKLISTS for entry in one.entries]
    rows = [
        ((strong(entry.name), " (", Span(one.name, link=one.url), ")"), entry.question, answer)
        for one, entry, answer in found
        if answer
    ]
    if not rows:
        return
    yield Heading("Items of reproducibility checklists that this audit answers")
    yield Table(("item", "asks", "what this audit found"), tuple(rows))
    yield Paragraph("Not something that this audit can say:")
    open_ = [(one, [entry.name for of, entry, answer in found if of is one and not answer]) for one in CHECKLISTS]
    yield List(tuple(_unanswered(one, names) for one, names in open_ if names))


def _unanswered(checklist: Checklist, names: Sequence[str]) -> Inline:
    return (Span(checklist.name, link=checklist.url), f": {'; '.join(names)}")


def _answer(topic: Topic | None, result: AuditResult, findings: Findings) -> Inline | None:
    match topic:
        case None:
            return None
        case Topic.CLAIMS:
            answer = _count(result, CheckKind.CLAIM, "claim about the numbers", "claims about the numbers", findings)
            return (*answer, " Which of them are main claims it cannot say.") if answer else None
        case Topic.THEORY:
            answer = _count(result, CheckKind.EQUATION, "statement", "statements about functions", findings)
            return (*answer, " Whether proofs are complete it cannot say.") if answer else None
        case Topic.NUMBERS:
            return _numbers(result, findings)
        case Topic.TIMES:
            return _times(result)
        case Topic.CHECKPOINTS:
            return _checkpoints(result)
        case Topic.REPRODUCED:
            return _reproduced(result)
        case Topic.REPLICATED:
            return _replicated(result)
        case _:
            assert_never(topic)


def _count(
    result: AuditResult, kind: CheckKind, one: str, several: str, findings: Findings
) -> tuple[str | Span, ...] | None:
    """Count the checks of a kind by how they ended, with the findings that cover what fails."""
    checks = [check for check in result.checks if check.kind is kind]
    if not checks:
        return None
    said = len({check.id.partition(".")[0] for check in checks})  # a claim is also checked on the measured values
    counted = f"{said} {one if said == 1 else several}"
    passing, failing = _number_of(checks, PASSES), [check for check in checks if check.verdict in FAILS]
    undecided = len(checks) - passing - len(failing)
    parts = [f"{passing} {'holds' if passing == 1 else 'hold'}"]
    parts += [f"{len(failing)} {'does' if len(failing) == 1 else 'do'} not"] if failing else []
    covering = _name_findings(failing, findings)
    text = f"{f', in {len(checks)} checks' if len(checks) > said else ''}: {', '.join(parts)}"
    left = f", {undecided} undecided" if undecided else ""
    return (Span(counted, link=f"#{section_anchor(kind, paper_of(checks[0]))}"), text, *covering, f"{left}.")


def _name_findings(failing: Sequence[Check], findings: Findings) -> tuple[str | Span, ...]:
    found = {one.name: one for check in failing if (one := findings.get(check.id))}
    links = [found[name].link for name in sorted(found, key=lambda name: (len(name), name))]
    more = f" and {len(links) - _NAMED} more" if len(links) > _NAMED else ""
    return (" (", *join(links[:_NAMED]), f"{more})") if links else ()


def _number_of(checks: Sequence[Check], verdicts: Sequence[Verdict]) -> int:
    return sum(check.verdict in verdicts for check in checks)


def _counted(result: AuditResult) -> list[Check]:
    """Return the printed numbers that were counted on a model, and decided."""
    return [
        check
        for check in result.checks
        if check.kind is CheckKind.CELL
        and check.measured is not None
        and not check.evidence
        and check.verdict in (*PASSES, *FAILS)
    ]


def _numbers(result: AuditResult, findings: Findings) -> Inline | None:
    cells = [check for check in result.checks if check.kind is CheckKind.CELL]
    counted = _counted(result)
    if not counted:
        return None
    under = _number_of(counted, (Verdict.REPRODUCED_UNDER,))
    failing = [check for check in counted if check.verdict in FAILS]
    return (
        "Of ",
        Span(count_of(len(counted), "number"), link=f"#{section_anchor(CheckKind.CELL, paper_of(cells[0]))}"),
        f" that can be counted on a model, {_number_of(counted, (Verdict.REPRODUCED,))} follow from the text as it is, "
        f"{under} only under another reading, convention or rounding, {len(failing)} not",
        *_name_findings(failing, findings),
        f". {count_of(len(cells) - len(counted), 'other number')} in the tables: weights, data or hardware are "
        "missing, or the count leaves them open."
        if len(cells) > len(counted)
        else ".",
    )


def _times(result: AuditResult) -> Inline | None:
    runs = [run for check in result.checks for run in check.evidence if isinstance(run, Throughput)]
    if not runs:
        return None
    machines = "; ".join(dict.fromkeys(run.hardware for run in runs))
    return f"{count_of(len(runs), 'printed throughput')} measured on {machines}. Of training it can say nothing."


def _evaluated(result: AuditResult) -> list[tuple[Check, Accuracy]]:
    return [(check, run) for check in result.checks for run in check.evidence if isinstance(run, Accuracy)]


def _checkpoints(result: AuditResult) -> Inline | None:
    files = {run.checkpoint for _, run in _evaluated(result)}
    if not files:
        return None
    return f"{count_of(len(files), 'checkpoint')} evaluated. Where weights can be had, and by whom, it cannot say."


def _reproduced(result: AuditResult) -> Inline | None:
    checks = {check.id: check for check, _ in _evaluated(result)}
    if not checks:
        return None
    agree = _number_of(list(checks.values()), PASSES)
    return f"{count_of(len(checks), 'printed score')} measured with given weights: {agree} agree."


def _replicated(result: AuditResult) -> Inline | None:
    counted = _counted(result)
    if not counted:
        return None
    passing = _number_of(counted, PASSES)
    return (
        f"{passing} of {count_of(len(counted), 'counted number')} (parameters, FLOPs and other properties of models) "
        "follow from models built anew. No model was trained anew: of scores it can say nothing."
    )
