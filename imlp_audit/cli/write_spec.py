"""Writing into a paper's folder: what a search found, the lock of its findings, and drafts of findings."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, assert_never

from imlp_audit.checks.acknowledge import renew_lock
from imlp_audit.errors import SpecError, UsageError
from imlp_audit.files import MAX_SPEC_BYTES, read_bytes
from imlp_audit.numbers.words import list_some
from imlp_audit.records.document import to_json
from imlp_audit.records.finding import Finding, RenewedLock
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import Answered, AxisState, Solved, SolvedAxis, SolvedFirst
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.edit import (
    draft_ids,
    read_text,
    with_convention,
    with_drafts,
    with_fit,
    with_reading,
    with_rounding,
)
from imlp_audit.spec.fields import FORMS, SLUG
from imlp_audit.spec.findings import covered_checks
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.reader import read_spec
from imlp_audit.spec.schema import About, ConventionFit
from imlp_audit.spec.targets import display_path, spec_files, split_target


def check_name(name: str, targets: Sequence[str] | None) -> None:
    """Raise UsageError for a name that a spec cannot hold, or for a file: before the search, which takes long."""
    if not targets and split_target(name)[0] is not None:
        refuse_target(name)
    if re.fullmatch(SLUG, name) is None:
        raise UsageError(f"--write: {name!r} is not {FORMS[SLUG]}")


def refuse_target(name: str) -> NoReturn:
    """Raise UsageError for what to search, where it was given as the name of the solution."""
    raise UsageError(f"--write takes a name for the solution: write `imlp-audit solve {name} --write found`")


def check_room(paper: Paper, name: str) -> None:
    """Raise UsageError for a spec that nothing can be added to: before the search too."""
    path = _file_of(paper)
    check_writable(path)
    with_rounding(read_text(path), "flops", (name,), display_path(path))


def write_found(paper: Paper, name: str, solved: Solved) -> None:
    """Add the first solution's reading, its rounding rules, and its counter where FLOPs were solved, to a paper's file.

    A reading that the spec has a name for is not written again. Raises UsageError where there is nothing to add.
    """
    path = _file_of(paper)
    shown_as, text = display_path(path), read_text(path)
    first, added = solved.last.first, []
    axes = {axis: value for values in first.reading.values() for axis, value in values.items()}
    if axes and first.apart:
        text = with_reading(text, name, _reasons(axes, solved.last), shown_as)
        added.append(f"the reading {name!r}")
    if first.weights and solved.last.named_counter is None:
        _refuse_luck(solved.last)
        text = with_convention(text, name, first.weights, _evidence(solved.last), shown_as)
        text = with_fit(text, name, _fit(solved.last), shown_as)
        added.append(f"the convention {name!r} (list it in `flops` to judge by it)")
    for measure, rules in _roundings(paper.about.value, first).items():
        text = with_rounding(text, measure, rules, shown_as)
        added.append(f"rounding {rules[-1]} of {measure}")
    if not added:
        counter = solved.last.named_counter
        counted = "counts no FLOPs" if counter is None else f"its counter has a name: declare `flops: [{counter}]`"
        raise UsageError(f"nothing to write: the first solution is the reading {first.nearest!r}, and {counted}")
    check_spec(text, path.name)
    write_whole(path, text)
    sys.stderr.write(f"{shown_as}: added {' and '.join(added)}\n")


def _roundings(about: About, first: SolvedFirst) -> dict[str, tuple[str, ...]]:
    """Return the rounding rules of measures for which the search found one that the spec's choice leaves out.

    The paper has one rule for all its numbers, so two that differ are written even where it declares both.
    """
    found = {Measure.PARAMETERS: first.parameter_rounding, Measure.FLOPS: first.flops_rounding}
    rules = {measure: rule for measure, rule in found.items() if rule is not None}
    missing = [measure for measure, rule in rules.items() if rule not in _declared(about, measure)]
    if not missing and len(set(rules.values())) > 1 and not about.rounding_of:
        missing = [Measure.PARAMETERS]
    return {one.value: tuple(dict.fromkeys((*_declared(about, one), rules[one]))) for one in missing}


def _declared(about: About, measure: Measure) -> tuple[str, ...]:
    """Return the rounding rules that a spec declares for a measure."""
    own = next((rules for name, rules in about.rounding_of.items() if name is measure), about.rounding)
    return tuple(map(str, own))


def _refuse_luck(answer: Answered) -> None:
    """Raise UsageError for a counter that explains no more than luck does."""
    most = max((most for _, most in answer.null), default=0)
    if answer.score <= most:
        raise UsageError(
            f"--write: nothing was written. The counter explains {answer.score} of {answer.of} numbers, and the same "
            f"search explains up to {most} of as many with shifted digits, so it may be luck; search more numbers at "
            "once, or declare a counter that a source names"
        )


def _file_of(paper: Paper) -> Path:
    """Return the file that holds the paper's `about`."""
    files = spec_files(paper.findings_file.path.parent)
    found = next((file for file in files if display_path(file) == paper.about.file.shown_as), None)
    if found is None:
        raise UsageError(
            f"{paper.about.file.shown_as} was not found again; run where `imlp-audit lint` shows that path"
        )
    return found


def _reasons(axes: Mapping[str, str], answer: Answered) -> dict[str, tuple[str, str]]:
    """Return each axis' value with what the numbers say about it."""
    states = {axis.axis: axis for axis in answer.axes}
    reasons = {}
    for name, value in axes.items():
        why = _say_how_decided(states[name], answer)
        reasons[name] = (value, f"found by solve: {why}; {answer.score} of {answer.of} numbers explained")
    return reasons


def _say_how_decided(axis: SolvedAxis, answer: Answered) -> str:
    """Say what the numbers decide about an axis, and by which of them."""
    match answer.state_of(axis):
        case AxisState.PINNED:
            return f"pinned by {list_some(axis.rests_on)}"
        case AxisState.AGREED:
            return f"the best solutions agree, by {list_some(axis.rests_on)}"
        case AxisState.NARROWED:
            return f"the best solutions have {' or '.join(axis.values)}"
        case AxisState.FREE:
            return "free: every value is among the best solutions"
        case state:
            assert_never(state)


def _fit(answer: Answered) -> ConventionFit:
    """Return what the counter was fitted on, and the cells that the best solutions disagree about."""
    most = max((most for _, most in answer.null), default=0)
    undecided = tuple(cell for cell in answer.disputed if cell in answer.flops)
    return ConventionFit(cells=answer.flops, undecided=undecided, explained=answer.score, of=answer.of, by_chance=most)


def _evidence(answer: Answered) -> str:
    null = f", tables with shifted digits at most {max(most for _, most in answer.null)}" if answer.null else ""
    agreed = "one that the best solutions agree on" if answer.counter == "agreed" else answer.counter
    return f"Found by solve: {answer.score} of {answer.of} numbers explained{null}; the counter is {agreed}."


def check_spec(text: str, name: str) -> None:
    """Read the new text before it takes the old one's place. Raises SpecError."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        copy.write_text(text, encoding="utf-8", newline="")
        _, problems = read_spec(copy, name)
    if problems:
        raise SpecError(problems)


def write_lock(paper: Paper, result: AuditResult, *, draft: bool, write: bool) -> RenewedLock:
    """Write a paper's lock if it changed, and with `draft` findings to be titled.

    Return what was written; without `write`, what would be.
    """
    file = paper.findings_file
    lock, report = renew_lock(paper, result, file.lock_shown_as)
    if draft:
        drafts = draft_ids(_without_drafts(paper, report.unexplained), [entry.value.id for entry in paper.findings])
        report = report.model_copy(update={"drafts": tuple(drafts)})
        if write and drafts:
            _write_drafts(paper, drafts)
    if write and (lock.checks or lock.evidence or file.lock_path.exists()):
        check_writable(file.lock_path)
        _write(file.lock_path, to_json(lock), file.lock_shown_as)
    return report


def _without_drafts(paper: Paper, unexplained: tuple[Finding, ...]) -> list[Finding]:
    """Return the failing checks that no entry covers, not even a draft."""
    left = []
    for finding in unexplained:
        drafted = covered_checks(paper, finding.checks)
        checks = tuple(name for name in finding.checks if name not in drafted)
        left += [finding.model_copy(update={"checks": checks})] if checks else []
    return left


def _write_drafts(paper: Paper, drafts: dict[str, Finding]) -> None:
    file = paper.findings_file
    check_writable(file.path)
    before = read_text(file.path) if file.path.exists() else None
    text = with_drafts(before, paper.id, drafts, file.shown_as)
    check_spec(text, file.path.name)
    _write(file.path, text, file.shown_as)


def _write(path: Path, text: str, shown_as: str) -> None:
    if path.exists() and read_bytes(path, MAX_SPEC_BYTES) == text.encode():
        return
    write_whole(path, text)
    sys.stderr.write(f"wrote {shown_as}\n")
