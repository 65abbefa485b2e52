"""Evidence of runs: read back as written, and refused where it cannot be what a run wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imlp_audit.errors import UsageError
from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import Accuracy, CellCheck, Source, Throughput, Verdict
from imlp_audit.records.result import AuditResult

numbers = st.decimals(-100, 100, places=4).map(str)
texts = st.text(max_size=8)
named = st.dictionaries(texts, texts, max_size=3)
digests = st.sampled_from(["0" * 64, "0123456789abcdef" * 4])
few = st.integers(0, 9)


@st.composite
def accuracies(draw: st.DrawFn) -> Accuracy:
    bits = draw(st.lists(st.booleans(), max_size=20))
    unreadable, unlabelled = draw(few), draw(few)
    return Accuracy(
        metric=draw(texts),
        correct=sum(bits),
        images=len(bits),
        available=len(bits) + unreadable + unlabelled + draw(few),
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=draw(numbers),
        high=draw(numbers),
        checkpoint=draw(digests),
        data=draw(digests),
        settings=draw(named),
    )


throughputs = st.builds(
    Throughput, batch=few, pairs=few, baseline=numbers, variant=numbers, ratio=numbers, low=numbers, high=numbers,
    hardware=texts, stated=texts, settings=named,
)  # fmt: skip


def result(*evidence: Accuracy | Throughput) -> AuditResult:
    source = Source(file="p.yaml", line=1)
    check = CellCheck(id="p/1/a/b", verdict=Verdict.DIFFERS, reason="", source=source, evidence=evidence)
    return AuditResult(papers=(), versions={}, checks=(check,))


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(accuracies(), throughputs), max_size=3))
def test_evidence_is_read_back_as_written(evidence: list[Accuracy | Throughput]) -> None:
    written = result(*evidence)
    text = to_json(written)
    assert from_json(AuditResult, text, "a.json") == written
    assert to_json(from_json(AuditResult, text, "a.json")) == text


def test_a_check_without_evidence_is_written_and_read_as_it_was() -> None:
    assert "evidence" not in json.loads(to_json(result()))["checks"][0]
    assert from_json(AuditResult, to_json(result()), "a.json").checks[0].evidence == ()


ACCURACY = {
    "kind": "accuracy",
    "metric": "top1",
    "correct": 2,
    "images": 5,
    "available": 8,
    "unreadable": 1,
    "unlabelled": 2,
    "low": "11.7621",
    "high": "76.9276",
    "checkpoint": "0" * 64,
    "data": "f" * 64,
    "settings": {"crop": "0.9"},
}
THROUGHPUT = {
    "kind": "throughput",
    "batch": 32,
    "pairs": 10,
    "baseline": "63.6",
    "variant": "69.9",
    "ratio": "1.1",
    "low": "1.09",
    "high": "1.11",
    "hardware": "a CPU",
    "stated": "another CPU",
    "settings": {},
}


def read(evidence: object) -> AuditResult:
    document = json.loads(to_json(result()))
    document["checks"][0]["evidence"] = evidence
    return from_json(AuditResult, json.dumps(document), "a.json")


@pytest.mark.parametrize("evidence", [ACCURACY, THROUGHPUT], ids=lambda one: str(one["kind"]))
def test_what_a_run_writes_is_read(evidence: dict[str, Any]) -> None:
    assert len(read([evidence]).checks[0].evidence) == 1


def test_what_older_results_lack_has_a_default() -> None:
    older = {name: value for name, value in ACCURACY.items() if name != "unlabelled"}
    (found,) = read([older]).checks[0].evidence
    assert isinstance(found, Accuracy)
    assert found.unlabelled == 0


@pytest.mark.parametrize(
    ("evidence", "changes"),
    [
        (ACCURACY, {"correct": 6}),
        (ACCURACY, {"correct": -1}),
        (ACCURACY, {"images": 1}),
        (ACCURACY, {"images": 9}),
        (ACCURACY, {"images": 10**30}),
        (ACCURACY, {"available": 7}),
        (ACCURACY, {"unreadable": -1}),
        (ACCURACY, {"unlabelled": 3}),
        (ACCURACY, {"low": "nan"}),
        (ACCURACY, {"low": 11.8}),
        (ACCURACY, {"high": "1e9"}),
        (ACCURACY, {"high": "9" * 130}),
        (ACCURACY, {"checkpoint": "abc"}),
        (ACCURACY, {"checkpoint": "0" * 64 + "\n"}),
        (ACCURACY, {"data": "../../etc"}),
        (ACCURACY, {"settings": {"crop": 0.9}}),
        (ACCURACY, {"settings": None}),
        (ACCURACY, {"kind": "claim"}),
        (ACCURACY, {"kind": "paired"}),
        (ACCURACY, {"proof": "yes"}),
        (THROUGHPUT, {"ratio": "fast"}),
        (THROUGHPUT, {"batch": -1}),
        (THROUGHPUT, {"spent": [{"modules": "all"}]}),
    ],
)  # fmt: skip
def test_what_no_run_writes_is_refused(evidence: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^a\.json: checks\.0\.evidence\.0"):
        read([{**evidence, **changes}])


@pytest.mark.parametrize("evidence", [None, {}, "none", [None], [[]], [{}], [{"kind": "accuracy"}]])
def test_a_file_that_is_not_evidence_is_refused(evidence: object) -> None:
    with pytest.raises(UsageError, match=r"^a\.json: checks\.0\.evidence"):
        read(evidence)
