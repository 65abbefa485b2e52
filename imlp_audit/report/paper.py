"""The report of an audit: whole, to attach to a paper, and short, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Check, CheckKind, ClaimCheck, EquationCheck, Verdict
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Document,
    Fold,
    Heading,
    Item,
    List,
    Paragraph,
    Span,
    Table,
    code,
    join,
    parse_code,
    strong,
)
from imlp_audit.report.findings import NumberedFinding, by_check, finding_sections, number_findings
from imlp_audit.report.first_screen import overview, say_verdict
from imlp_audit.report.hypotheses import paper_hypothesis, solved_document
from imlp_audit.report.markdown import ReportPart, Role, shorten_report
from imlp_audit.report.page import safe_anchor
from imlp_audit.report.sections import HEADINGS, claims, equations, evidence, others
from imlp_audit.report.tables import printed_tables
from imlp_audit.report.verdicts import name_places_of, summarize

_NUMBERS = (CheckKind.CELL, CheckKind.DELTA)


def open_checks(result: AuditResult) -> Iterator[Block]:
    """Yield the unverifiable checks, grouped by what is missing, the largest group first."""
    missing = [check for check in result.checks if check.verdict is Verdict.UNVERIFIABLE]
    unverifiable = [check for check in missing if not check.evidence]  # runs have a section of their own
    if not unverifiable:
        return
    yield Heading("What could not be checked")
    groups: dict[str, list[Check]] = {}
    for check in unverifiable:
        groups.setdefault(check.reason, []).append(check)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    items = []
    for reason, checks in ordered:
        noun = "number" if all(check.kind in _NUMBERS for check in checks) else "check"
        items.append(f"{reason}: {count_of(len(checks), noun)} ({list_some([check.id for check in checks])})")
    yield List(tuple(items))


VERDICTS = (
    "`reproduced`: follows from the model as read by default. `reproduced_under`: follows under another reading, "
    "convention or rounding rule that the spec declares; it is named. `differs`: does not follow. "
    "`inconsistent`: the paper contradicts itself. `unverifiable`: something is missing, which is named. "
    "`not completed`: a model could not be built or counted, or a claim could not be run; the JSON calls it `error`. "
    "A failing check is known if a finding in `findings.yaml` describes its cause and nothing about it changed: then "
    "it does not fail the run. "
    "The gap is measured minus printed, in units of the last printed digit."
)


def report_document(result: AuditResult) -> Document:
    """Return the whole report: every check of every paper."""
    return tuple(block for part in _parts(result) for block in part.blocks)


def short_report(result: AuditResult, details: Document = ()) -> Document:
    """Return the report in the same order, with long parts cut so that it can be a comment; `details` follow it."""
    return shorten_report((*_parts(result), ReportPart(Role.REST, details)))


def _parts(result: AuditResult) -> Iterator[ReportPart]:
    for paper in result.papers:
        own = result.of(paper)
        findings = number_findings(own)
        covering = by_check(findings)
        title = Heading(f"Audit of “{paper.title}”", 1, f"paper/{paper.id}")
        first = (title, Paragraph(strong(say_verdict(own))), *overview(own))
        yield ReportPart(Role.SCREEN, first)
        yield ReportPart(Role.REST, tuple(printed_tables(own, paper, covering)))
        yield ReportPart(Role.FINDINGS, tuple(finding_sections(own, findings)))
        yield ReportPart(Role.REST, tuple(_details(own, paper, covering)))


def _details(result: AuditResult, paper: PaperHead, covering: Mapping[str, NumberedFinding]) -> Iterator[Block]:
    yield from evidence(result)
    yield from claims(result.of_kind(ClaimCheck), covering)
    yield from equations(result.of_kind(EquationCheck), covering)
    for kind in HEADINGS:
        yield from others(kind, [check for check in result.checks if check.kind is kind], covering)
    yield from _what_the_model_was(result, paper)
    yield from open_checks(result)
    yield from _provenance(result, paper)


def _what_the_model_was(result: AuditResult, paper: PaperHead) -> Iterator[Block]:
    hypothesis, solved = result.hypotheses.get(paper.id), result.solved.get(paper.id)
    if hypothesis is None and solved is None:
        return
    yield Heading("What the numbers say the model was")
    if hypothesis is not None:
        yield from paper_hypothesis(hypothesis)
    if solved is not None:
        _, *answer = solved_document(solved)
        yield from answer


def _provenance(result: AuditResult, paper: PaperHead) -> Iterator[Block]:
    yield Heading("Provenance")
    found_at = (" Found at ", Span(paper.url, link=paper.url), ".") if paper.url else ()
    yield Paragraph((f"Authors: {paper.authors}. Version: {paper.version}.", *found_at))
    yield Paragraph(parse_code(VERDICTS))
    yield from _readings(paper)


def _readings(paper: PaperHead) -> Iterator[Block]:
    yield Heading("How the paper is read", 3)
    yield Paragraph(
        parse_code(
            "The first of each list is the default. A number that only another one gives is `reproduced_under` it."
        )
    )
    own = ((f"rounding of {measure}", rules) for measure, rules in paper.rounding_of.items())
    lists = (("rounding", paper.rounding), *own, ("parameters", paper.parameters), ("FLOPs", paper.flops))
    yield List(tuple((f"{name}: ", *join(map(code, values))) for name, values in lists))
    for reading in paper.readings:
        rows = ((code(axis.axis), code(axis.value), axis.because) for axis in reading.axes)
        yield Fold(("Reading ", code(reading.name)), (Table(("question", "answer", "because"), tuple(rows)),))


_WORST = 2  # findings of a paper


def index_document(result: AuditResult) -> Document:
    """Return the index of the papers of a result."""
    papers = (block for paper in result.papers for block in _paper(result.of(paper), paper))
    return (Heading("Audited papers", 1), Paragraph(f"All of them: {summarize(result)}."), *papers)


def _paper(own: AuditResult, paper: PaperHead) -> Iterator[Block]:
    page = f"{paper.id}.html"
    findings = number_findings(own)
    yield Heading(Span(paper.title, link=page), 2, f"paper/{paper.id}")
    yield Paragraph(f"{say_verdict(own)} {summarize(own)}.")
    worst = [_finding(own, one, page) for one in findings[:_WORST]]
    rest = len(findings) - len(worst)
    more = f"{count_of(rest, 'more finding')} and every check" if rest else "Every check"
    if worst:
        yield List(tuple(worst))
    yield Paragraph((f"{more}: ", Span("page", link=page), ", ", Span("markdown", link=f"{paper.id}.md"), "."))


def _finding(own: AuditResult, one: NumberedFinding, page: str) -> Item:
    name = replace(one.link, link=f"{page}#{safe_anchor(one.anchor)}")
    place = name_places_of(one.finding, own.checks_of(one.finding))
    return Item((name, f" {one.finding.title} [{place}]"))
