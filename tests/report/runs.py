"""Checks that rest on runs, made by hand: their evidence says what it is told, the numbers are constants."""

from __future__ import annotations

from imlp_audit.records.check import Accuracy, Check, CheckKind, Throughput, Verdict
from imlp_audit.records.result import AuditResult

from .results import BENIGN, check, result


def accuracy(text: str = BENIGN) -> Accuracy:
    return Accuracy(
        metric="top1", correct=2, images=5, available=8, unreadable=1, unlabelled=2, low="11.76", high="76.93",
        checkpoint="0123456789abcdef" * 4, data="f" * 64, settings={"crop": text, text: "bicubic"},
    )  # fmt: skip


def throughput(text: str = BENIGN) -> Throughput:
    return Throughput(
        batch=32, pairs=10, baseline="63.6", variant="69.9", ratio="1.099", low="1.09", high="1.11", hardware=text,
        stated=text, settings={"threads": "2"},
    )  # fmt: skip


def cell(
    text: str = BENIGN, name: str = "1/r1/top1", verdict: Verdict = Verdict.REPRODUCED_UNDER, **more: object
) -> Check:
    """The check of an evaluation, of the one number that is open in `results.result`."""
    plain: dict[str, object] = {"printed": "72.2", "unit": "%", "measured": "40", "gap": "-322"}
    plain |= {"evidence": (accuracy(text),), "under": ("sampling",) if verdict is Verdict.REPRODUCED_UNDER else ()}
    return check(name, CheckKind.CELL, verdict, text, **{**plain, **more})


def run(*checks: Check) -> AuditResult:
    """The JSON of a run, as far as a report reads it."""
    return AuditResult(papers=(), versions={}, checks=checks)


def audited(text: str = BENIGN) -> AuditResult:
    """An audit with one more number that is open, in the row that the first one is held against."""
    whole = result(text)
    other = check("1/r2/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, text, printed="72.1", unit="%")
    return whole.model_copy(update={"checks": (*whole.checks, other)})
