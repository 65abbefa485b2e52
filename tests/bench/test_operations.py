"""The table of operations."""

from __future__ import annotations

from imlp_audit.bench.operations import operations_document
from imlp_audit.records.check import CellCheck, Source, Verdict
from imlp_audit.records.evidence import Spent, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Heading, Paragraph, Table


def spent(name: str, macs: tuple[int, int], seconds: tuple[str, str]) -> Spent:
    return Spent(
        modules=name,
        baseline_macs=macs[0],
        variant_macs=macs[1],
        baseline_seconds=seconds[0],
        variant_seconds=seconds[1],
    )


def result(*kinds: Spent, compiled: str = "no") -> AuditResult:
    evidence = Throughput(
        batch=32, pairs=10, baseline="100", variant="80", ratio="0.8", low="0.5", high="1.25", hardware="here",
        stated="there", settings={"against": "p/1/a", "compiled": compiled}, spent=kinds,
    )  # fmt: skip
    check = CellCheck(
        id="p/1/b/cpu", verdict=Verdict.UNVERIFIABLE, reason="", source=Source(file="f", line=1),
        evidence=(evidence,),
    )  # fmt: skip
    return AuditResult(papers=(), versions={}, checks=(check,))


KINDS = (
    spent("Linear", (1_000_000, 750_000), ("0.0081", "0.0061")),
    spent("AGeLU", (0, 0), ("0", "0.004")),
    spent("Conv2d (depthwise)", (0, 10_000), ("0", "0.00005")),  # little time, and more than 1 % of the work
    spent("Dropout", (0, 0), ("0.00001", "0.00001")),
    spent("Identity", (0, 0), ("0.00001", "0.00002")),
)


def test_a_comparison_in_numbers() -> None:
    heading, paragraph, table, savings = operations_document(result(*KINDS))
    assert heading == Heading("p/1/b/cpu and p/1/a", 2)
    assert paragraph == Paragraph("For one image of a batch of 32:")
    assert isinstance(table, Table)
    assert table.rows == (
        ("Linear", "1.00", "8.100", "0.12", "0.75", "6.100", "0.12"),
        ("AGeLU", "", "", "", "", "4.000", ""),
        ("Conv2d (depthwise)", "", "", "", "0.01", "0.050", "0.20"),
        ("others", "", "0.020", "", "", "0.030", ""),
        ("all", "1.00", "8.120", "0.12", "0.76", "10.180", "0.07"),
    )
    assert savings == Paragraph(
        "The variant takes 24.00 % less work and 25.00 % more time (95 % interval: 20.00 % less to 100.00 % more, "
        "which shows neither)."
    )


def test_a_compiled_model_is_timed_without_being_compiled() -> None:
    _, paragraph, *_ = operations_document(result(*KINDS, compiled="yes"))
    assert paragraph == Paragraph("For one image of a batch of 32, timed module by module and therefore not compiled:")


def test_without_work_only_time_is_saved() -> None:
    *_, savings = operations_document(result(spent("ReLU", (0, 0), ("0.1", "0.2"))))
    assert savings == Paragraph(
        "The variant takes 25.00 % more time (95 % interval: 20.00 % less to 100.00 % more, which shows neither)."
    )


def test_evidence_of_other_kinds_has_no_table() -> None:
    assert operations_document(result()) == ()
