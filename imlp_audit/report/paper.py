"""The report of an audit: every check of every paper, and an index of the papers."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.records.result import AuditResult, PaperHead
from imlp_audit.report import document as doc
from imlp_audit.report.findings import finding_sections, number_findings
from imlp_audit.report.first_screen import overview, say_verdict
from imlp_audit.report.hypotheses import paper_hypothesis, solved_document
from imlp_audit.report.sections import evidence, other_checks, printed_tables
from imlp_audit.report.verdicts import summarize

VERDICTS = (
    "`reproduced`: follows from the model as read by default. `reproduced_under`: follows under another reading, "
    "convention or rounding rule that the spec declares; it is named. `differs`: does not follow. "
    "`inconsistent`: the paper contradicts itself. `unverifiable`: something is missing, which is named. "
    "`not completed`: a model could not be built or counted, or a claim could not be run; the JSON calls it `error`. "
    "A failing check is known if a finding in `findings.yaml` describes its cause and nothing about it changed: then "
    "it does not fail the run. "
    "The gap is measured minus printed, in units of the last printed digit."
)


def report_document(result: AuditResult) -> doc.Document:
    """Return the whole report: every check of every paper."""
    return tuple(block for paper in result.papers for block in _report(result.of(paper), paper))


def _report(result: AuditResult, paper: PaperHead) -> Iterator[doc.Block]:
    findings = number_findings(result)
    covering = {name: one for one in findings for name in one.finding.checks}
    yield doc.Heading(f"Audit of “{paper.title}”", 1, f"paper/{paper.id}")
    yield doc.Paragraph(doc.strong(say_verdict(result)))
    yield from overview(result, every=True)
    yield from printed_tables(result, paper, covering)
    yield from finding_sections(result, findings)
    yield from evidence(result)
    yield from other_checks(result, covering)
    yield from _what_the_model_was(result, paper)
    yield from _provenance(result, paper)


def _what_the_model_was(result: AuditResult, paper: PaperHead) -> Iterator[doc.Block]:
    hypothesis, solved = result.hypotheses.get(paper.id), result.solved.get(paper.id)
    if hypothesis is None and solved is None:
        return
    yield doc.Heading("What the numbers say the model was")
    if hypothesis is not None:
        yield from paper_hypothesis(hypothesis)
    if solved is not None:
        _, *answer = solved_document(solved)
        yield from answer


def _provenance(result: AuditResult, paper: PaperHead) -> Iterator[doc.Block]:
    yield doc.Heading("Provenance")
    found_at = (" Found at ", doc.Span(paper.url, link=paper.url), ".") if paper.url else ()
    yield doc.Paragraph((f"Authors: {paper.authors}. Version: {paper.version}.", *found_at))
    yield doc.Paragraph(doc.parse_code(VERDICTS))
    yield from _readings(paper)


def _readings(paper: PaperHead) -> Iterator[doc.Block]:
    yield doc.Heading("How the paper is read", 3)
    yield doc.Paragraph(
        doc.parse_code(
            "The first of each list is the default. A number that only another one gives is `reproduced_under` it."
        )
    )
    own = ((f"rounding of {measure}", rules) for measure, rules in paper.rounding_of.items())
    lists = (("rounding", paper.rounding), *own, ("parameters", paper.parameters), ("FLOPs", paper.flops))
    yield doc.List(tuple((f"{name}: ", *doc.join(map(doc.code, values))) for name, values in lists))
    for reading in paper.readings:
        rows = ((doc.code(axis.axis), doc.code(axis.value), axis.because) for axis in reading.axes)
        yield doc.Fold(
            ("Reading ", doc.code(reading.name)), (doc.Table(("question", "answer", "because"), tuple(rows)),)
        )


def index_document(result: AuditResult) -> doc.Document:
    """Return the index of the papers of a result."""
    blocks: list[doc.Block] = [doc.Heading("Audited papers", 1), doc.Paragraph(f"All of them: {summarize(result)}.")]
    for paper in result.papers:
        own, page = result.of(paper), f"{paper.id}.html"
        blocks.append(doc.Heading(doc.Span(paper.title, link=page), 2, f"paper/{paper.id}"))
        blocks.append(doc.Paragraph(f"{say_verdict(own)} {summarize(own)}."))
        links = (doc.Span("page", link=page), ", ", doc.Span("markdown", link=f"{paper.id}.md"))
        blocks.append(doc.Paragraph(("Every finding and every check: ", *links, ".")))
    return tuple(blocks)
