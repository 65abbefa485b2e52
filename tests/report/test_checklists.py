"""What an audit answers of checklists: only what it has evidence on, with the numbers that the checks give."""

from __future__ import annotations

import pytest

from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.checklist_answers import checklist_answers
from imlp_audit.report.checklists import CHECKLISTS, Topic
from imlp_audit.report.document import List, Table, plain_text, spans
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.numbered import by_check, number_findings

from .results import check, full, head
from .runs import cell, throughput

NAMES = [entry.name for one in CHECKLISTS for entry in one.entries]


def answers(*checks: object) -> dict[str, str]:
    """The answered items by their names."""
    made = AuditResult.model_validate({"papers": (head(),), "versions": {}, "checks": checks})
    blocks = tuple(checklist_answers(made, by_check(number_findings(made))))
    tables = [block for block in blocks if isinstance(block, Table)]
    found = {spans(row[0])[0].text: plain_text(row[2]) for table in tables for row in table.rows}
    lists = [block for block in blocks if isinstance(block, List)]
    open_ = [name for block in lists for item in block.items for name in _names(plain_text(item))]  # type: ignore[arg-type]
    if blocks:
        assert sorted([*found, *open_]) == sorted(NAMES)  # each item is answered or named as open, never both
    return found


def _names(text: str) -> list[str]:
    return text.partition(": ")[2].split("; ")


def test_the_lists_are_whole_and_say_where_their_words_are() -> None:
    assert [len(one.entries) for one in CHECKLISTS] == [7, 5, 4]
    assert len(set(NAMES)) == len(NAMES)
    assert all(one.url.startswith("https://") for one in CHECKLISTS)
    topics = [entry.topic for one in CHECKLISTS for entry in one.entries if entry.topic]
    assert sorted(topics) == sorted(Topic)


def test_without_evidence_nothing_is_answered() -> None:
    assert answers() == {}
    assert answers(check("marks/1/a", CheckKind.MARK, Verdict.REPRODUCED)) == {}
    missing = check("1/a/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, printed="72.2")
    assert answers(missing) == {}


def test_claims_and_statements_are_counted_with_the_findings_of_those_that_fail() -> None:
    verdicts = (Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.INCONSISTENT, Verdict.UNVERIFIABLE, Verdict.ERROR)
    for kind, item in ((CheckKind.CLAIM, "Claims"), (CheckKind.EQUATION, "Theory assumptions and proofs")):
        found = answers(*(check(f"{kind}s/{one}", kind, one) for one in verdicts))
        assert list(found) == [item]
        assert ": 1 holds, 2 do not (F1), 2 undecided." in found[item]
    assert found[item].endswith("Whether proofs are complete it cannot say.")


def test_a_claim_that_is_also_checked_on_measured_values_is_one_claim() -> None:
    found = answers(
        check("claims/a", CheckKind.CLAIM, Verdict.REPRODUCED),
        check("claims/a.measured", CheckKind.CLAIM, Verdict.DIFFERS),
        check("claims/b", CheckKind.CLAIM, Verdict.REPRODUCED),
    )
    assert found["Claims"].startswith("2 claims about the numbers, in 3 checks: 2 hold, 1 does not (F1).")


def test_numbers_that_need_another_reading_are_not_said_to_follow_from_the_text() -> None:
    verdicts = [Verdict.REPRODUCED] * 2 + [Verdict.REPRODUCED_UNDER] * 3 + [Verdict.DIFFERS]
    counted = [check(f"1/r{at}/params", CheckKind.CELL, one, measured="5") for at, one in enumerate(verdicts)]
    found = answers(*counted, check("1/a/top1", CheckKind.CELL, Verdict.UNVERIFIABLE))
    assert found["Experimental result reproducibility"] == (
        "Of 6 numbers that can be counted on a model, 2 follow from the text as it is, 3 only under another reading, "
        "convention or rounding, 1 not (F1). 1 other number in the tables: weights, data or hardware are missing, or "
        "the count leaves them open."
    )
    assert found["Results Replicated"].startswith("5 of 6 counted numbers")
    assert list(found) == ["Experimental result reproducibility", "Results Replicated"]


@pytest.mark.parametrize(("verdict", "agree"), [(Verdict.REPRODUCED_UNDER, 1), (Verdict.DIFFERS, 0)])
def test_an_evaluation_is_evidence_of_weights_and_of_a_reproduced_result(verdict: Verdict, agree: int) -> None:
    found = answers(cell(verdict=verdict))
    assert list(found) == ["Pretrained models", "Results Reproduced"]
    assert found["Pretrained models"].startswith("1 checkpoint evaluated.")
    assert found["Results Reproduced"] == f"1 printed score measured with given weights: {agree} agree."


def test_a_measured_time_is_evidence_of_hardware_and_not_of_training() -> None:
    found = answers(cell(evidence=(throughput("an old computer"),)))
    assert list(found) == ["Experiments compute resources"]
    assert found["Experiments compute resources"].startswith("1 printed throughput measured on an old computer.")


def test_the_section_names_each_list_and_its_source() -> None:
    made = full()
    text = render_markdown(tuple(checklist_answers(made, by_check(number_findings(made)))))
    assert text.startswith("## Items of reproducibility checklists that this audit answers\n")
    for one in CHECKLISTS:
        assert text.count(one.name) >= 1
