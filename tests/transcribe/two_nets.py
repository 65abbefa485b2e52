"""A small paper, its specs and its text; tests change the text and look at what becomes of each number."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from imlp_audit.records.listing import CoverageReport, NumberState
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import Paper
from imlp_audit.transcribe.cover import cover
from imlp_audit.transcribe.sources import read_document

SPEC = """
paper: two
about: {title: Two models, authors: An author, version: v1}
tables:
  - table: "1"
    title: Sizes
    source: {section: "1"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
      top1: {measure: score, unit: "%", heading: Top-1 (%), needs: weights}
    rows:
      - {id: small, label: Net-S12, printed: {params: 5.72, top1: 72.2}}
      - {id: other, label: "n = 3", baseline: small, printed: {params: 5.00, top1: 72.6}, delta: {params: -12.6%}}
  - table: "2"
    title: More
    source: {section: "2"}
    columns: {params: {measure: parameters, unit: M, heading: Parameters (M)}}
    rows:
      - {id: small, label: Net-S12, printed: {params: 5.72}}
      - {id: large, label: Net-L24, printed: {params: 22.05}}
claims:
  - id: fewer
    text: the parameters fall by 12.6% on 4 machines
    source: {section: "1"}
    rows: [two/1/other]
    conditions: [{change: params, equals: -12.6%}]
coverage:
  equations: 1
  tables: 2
  figures: 0
  entries:
    - {item: Table 1, checks: [two/1/*]}
    - {item: Table 2, checks: [two/2/*]}
    - {item: Equation 1, out_of_scope: a definition}
  numbers:
    - {near: ["with a batch of 32 and a rate of 0.1"], numbers: ["32"], out_of_scope: a setting of training}
    - {near: [on all 5.72 million], checks: [two/1/small/params]}
"""
TEXT = """A PAPER ON NET-S12

1 SIZES

As Fig. 3 shows, the parameters fall by
12.6% on 4 machines, with a batch of 32 and a rate of 0.1 [2] (Lee et al., 2019). Elsewhere 5.72 and 12.6% stand.

$$x_1 = 7y, \\quad (1)$$

Table 1: Sizes at 224 pixels.

Model\tParameters (M)\tTop-1 (%)
Net-S12\t5.72\t72.2
n = 3\t5.00 (-12.6%)\t72.6

Table 2: More.

Model\tParameters (M)
Net-S12\t5.72
Net-L24\t22.05

REFERENCES

[2] B. Lee. On 5.72 nets. 2019.

A APPENDIX

They count on all 5.72 million.
"""


def cover_text(folder: Path, text: str = TEXT, *, spec: str = SPEC, name: str = "paper.txt") -> CoverageReport:
    """Return what becomes of the numbers of a text, against a spec."""
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "two.yaml").write_text(spec, encoding="utf-8")
    selection = load([str(folder / "two.yaml")])
    return cover(read_document(folder / name), selection.papers[0], selection.known)


def by_state(report: CoverageReport, state: NumberState) -> list[tuple[int, str]]:
    """Return the numbers in a state, each with its line."""
    return [(number.line, number.text) for number in report.numbers if number.state is state]


def by_check(report: CoverageReport) -> dict[str, list[tuple[int, str]]]:
    """Return the numbers that each check reads, each with its line."""
    read: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number in report.numbers:
        for check in number.checks:
            read[check.removeprefix("two/")].append((number.line, number.text))
    return dict(read)


def missing(report: CoverageReport) -> list[str]:
    """Return what of the specs is not in the document."""
    return [f"{one.what}: {one.reason}" for one in report.unplaced]


@cache
def read_two() -> Paper:
    """Return the paper of the specs above."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "two.yaml").write_text(SPEC, encoding="utf-8")
        (paper,) = load([f"{folder}/two.yaml"]).papers
    return paper
