"""`imlp-audit accept` and `acknowledge`: they write what numbers identified, or what findings cover."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Annotated

import typer

from imlp_audit.checks.acknowledge import renew_lock
from imlp_audit.checks.candidate_counts import says
from imlp_audit.cli.loading import check_spec, load_own, open_store
from imlp_audit.cli.options import NoCache, NoProgress, Specs, TrustCode, helpers
from imlp_audit.cli.output import ExitCode, emit, emit_document, exit_code
from imlp_audit.cli.progress import show_progress
from imlp_audit.files import MAX_SPEC_BYTES, read_bytes, read_text
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.base import to_json
from imlp_audit.records.check import CellCheck, Identified, Verdict
from imlp_audit.records.finding import RenewedLock
from imlp_audit.records.result import AuditResult, GroupScore
from imlp_audit.report.atomic_files import check_writable, write_whole
from imlp_audit.report.listings import acknowledged_document
from imlp_audit.spec.columns import Column
from imlp_audit.spec.edit import with_counters, with_model, with_unit
from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import Paper

_SHOWN = 5  # numbers that keep their rows from being accepted


def accept(
    specs: Specs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")] = False,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Write the models and counters that printed numbers identify into the specs, as given."""
    selection = load_own(specs, "accept", trust_code=trust_code, writing=not dry_run)
    result = _audit(selection, trust_code=trust_code, shown=not no_progress, no_cache=no_cache)
    changed = [
        (path, shown_as, before, after)
        for paper in selection.papers
        for path, shown_as in paper.files
        if (after := _accepted(paper, shown_as, before := read_text(path, MAX_SPEC_BYTES), result)) != before
    ]
    for path, shown_as, before, after in changed:
        check_spec(after, path.name)
        check_writable(path)
        lines = unified_diff(before.splitlines(), after.splitlines(), shown_as, shown_as, lineterm="", n=1)
        emit("\n".join(lines) + "\n")
    for path, _, _, after in () if dry_run else changed:
        write_whole(path, after)
    for paper in selection.papers:
        _say_left([f"{one.id} {one.printed}: {one.reason}" for one in _doubted(paper, result)])
        _say_left([f"{row}: {model}, which its label does not say" for row, model in _unsaid(paper, result).items()])
        several = _several(paper, result)
        _say_left([f"{row}: is it {one.model}? {one.printed}: {one.reason}" for row, one in several.items()])
    if not changed:
        sys.stderr.write("nothing to accept: no row with `candidates` was identified beyond doubt\n")
    return ExitCode.INCOMPLETE if exit_code(result) is ExitCode.INCOMPLETE else ExitCode.CLEAN


def acknowledge(
    specs: Specs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")] = False,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
    no_cache: NoCache = False,
) -> int:
    """Acknowledge the failing checks that findings cover: write `findings.lock`."""
    selection = load_own(specs, "acknowledge", trust_code=trust_code, writing=not dry_run)
    result = _audit(selection, trust_code=trust_code, shown=not no_progress, no_cache=no_cache, any_lock=True)
    papers = tuple(_write_lock(paper, result, write=not dry_run) for paper in selection.papers)
    emit_document(acknowledged_document(papers, written=not dry_run))
    return ExitCode.INCOMPLETE if exit_code(result) is ExitCode.INCOMPLETE else ExitCode.CLEAN


def _audit(
    selection: Selection, *, trust_code: bool, shown: bool, no_cache: bool, any_lock: bool = False
) -> AuditResult:
    store = open_store(no_cache=no_cache)
    options = Options(jobs=helpers(), trust_code=trust_code, any_lock=any_lock, store=store)
    with show_progress(shown=shown) as announce:
        return audit(selection, options, announce)


def _accepted(paper: Paper, shown_as: str, text: str, result: AuditResult) -> str:
    """Return the text of one of a paper's files with what was identified."""
    models = _models(paper, result)
    for row in paper.rows:
        if row.source().file == shown_as and row.id in models:
            text = with_model(text, (*row.table.path, "rows", row.index), models[row.id])
    text = _with_units(paper, shown_as, text, result)
    about, known = paper.about, result.hypotheses.get(paper.id)
    if about.source().file == shown_as and not about.value.flops and known is not None:
        columns = {
            f"{one.value.table}/{name}": column for one in paper.tables for name, column in one.value.columns.items()
        }
        flops = [one.group for one in known.columns if columns[one.group.name].measure == "flops"]
        sure = dict.fromkeys(str(one.winner) for one in flops if _is_sure(one, columns[one.name]))
        # the paper's counters are those of all its columns: none is written where another column would lose a number
        kept = all(max(one.scores[name] for name in sure) == max(one.scores.values()) for one in flops if sure)
        if sure and kept and not any(_measure_of(columns, one) == "flops" for one in _doubted(paper, result)):
            text = with_counters(text, tuple(sure))
    return text


def _with_units(paper: Paper, shown_as: str, text: str, result: AuditResult) -> str:
    """Return the text of a file with the units that were found from the numbers of its columns."""
    heads = next(one for one in result.papers if one.id == paper.id).tables
    for table, head in zip(paper.tables, heads, strict=True):
        for column in head.columns if table.file.shown_as == shown_as else ():
            if column.unit != table.value.columns[column.id].unit:
                text = with_unit(text, (*table.path, "columns", column.id), column.unit)
    return text


def _doubted(paper: Paper, result: AuditResult) -> list[CellCheck]:
    """Return the numbers that do not follow from what is proposed and that only a given model or counter would accuse.

    A lead of a row whose label names its model alone is none: it is shown as an error to ask about.
    """
    rows = {row.id: row.row for row in paper.rows}
    return [
        one
        for one in result.of_kind(CellCheck)
        if one.verdict is Verdict.UNVERIFIABLE and one.measured is not None and one.id.rpartition("/")[0] in rows
        if not (one.lead and rows[one.id.rpartition("/")[0]].named)
    ]


def _measure_of(columns: Mapping[str, Column], check: CellCheck) -> str:
    _, table, _, column = check.id.split("/")
    return columns[f"{table}/{column}"].measure


def _models(paper: Paper, result: AuditResult) -> dict[str, str]:
    """Return the models that rows are identified to be of, by the rows' ids, if their labels say so too."""
    left = {one.id.rpartition("/")[0] for one in _doubted(paper, result)}
    left |= _unsaid(paper, result).keys() | _several(paper, result).keys()
    return {row: model for row, model in _identified(paper, result).items() if row not in left}


def _identified(paper: Paper, result: AuditResult) -> dict[str, str]:
    proposed = {row.id for row in paper.rows if row.row.candidates}
    cells = [(one.id.rpartition("/")[0], one) for one in result.of_kind(CellCheck)]
    known = [(row, one) for row, one in cells if row in proposed and one.identified not in (None, Identified.NO)]
    return {row: one.model for row, one in known if one.model is not None}


def _several(paper: Paper, result: AuditResult) -> dict[str, CellCheck]:
    """Return a number of each row that is of one of several models, by the rows' ids: it names the others."""
    cells = [one for one in result.of_kind(CellCheck) if one.identified is Identified.ONE_OF]
    rows = {row.id for row in paper.rows}
    return {row: one for one in reversed(cells) if (row := one.id.rpartition("/")[0]) in rows}


def _unsaid(paper: Paper, result: AuditResult) -> dict[str, str]:
    """Return the models of the rows whose labels do not begin with the name of any candidate."""
    said = {row.id for row in paper.rows if any(says(row, one) for one in row.row.candidates)}
    return {row: model for row, model in _identified(paper, result).items() if row not in said}


def _is_sure(group: GroupScore, column: Column) -> bool:
    """Return whether a column's counter is clear, or named by its heading and right for more than half its numbers."""
    winner = str(group.winner)
    is_named = re.search(rf"\b{re.escape(winner)}\b", column.heading, re.IGNORECASE) is not None
    return group.choice == "clear" or (is_named and 2 * group.scores[winner] > group.votes)


def _say_left(left: Sequence[str]) -> None:
    for one in left[:_SHOWN]:
        sys.stderr.write(f"left as proposed: {one}\n")
    if len(left) > _SHOWN:
        sys.stderr.write(f"and {len(left) - _SHOWN} more; write `model:` where you know it\n")


def _write_lock(paper: Paper, result: AuditResult, *, write: bool) -> RenewedLock:
    """Write a paper's lock if it changed. Return what was written; without `write`, what would be."""
    file = paper.findings_file
    lock, report = renew_lock(paper, result, file.lock_shown_as)
    path, text = file.lock_path, to_json(lock)
    if write and (lock.checks or lock.evidence or path.exists()):
        check_writable(path)
        if not path.exists() or read_bytes(path, MAX_SPEC_BYTES) != text.encode():
            write_whole(path, text)
            sys.stderr.write(f"wrote {file.lock_shown_as}\n")
    return report
