"""What testing a statement gave is recorded as a check, word for word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from imlp_audit.checks.run import check_equation
from imlp_audit.claims.catalogue import BrokenClaim, ClaimCode, ClaimText
from imlp_audit.claims.settings import AnyOutcome, NotRun, Outcome
from imlp_audit.records.check import EquationCheck, Source, Verdict
from imlp_audit.spec.plan import EquationPlan

SOURCE = Source(file="p/equations/sec1.py", line=7)
CLAIM = ClaimText(
    paper="p",
    name="one",
    statement="In words.",
    place="Eq. 1",
    form="y = x",
    literal=True,
    nearest="two",
    tolerance="none",
    needs=None,
    file="p/equations/sec1.py",
    line=7,
    long=False,
    code=ClaimCode(Path("p"), "p", "sec1", "one"),
)
NEAREST = replace(CLAIM, name="two", form="y = 2 x")
BROKEN = BrokenClaim("p", "one", "p/equations/sec1.py", 9, "it has no docstring")


def made(outcome: AnyOutcome, **changed: object) -> EquationCheck:
    claim = replace(CLAIM, **changed)  # type: ignore[arg-type]
    return check_equation(EquationPlan(claim.id, SOURCE, claim, NEAREST), {claim.id: outcome})


@pytest.mark.parametrize(
    ("outcome", "verdict", "reason"),
    [
        (Outcome(1), Verdict.REPRODUCED, "holds on 1 example"),
        (Outcome(0), Verdict.REPRODUCED, "holds on 0 examples"),
        (Outcome(100), Verdict.REPRODUCED, "holds on 100 examples"),
        (Outcome(3, ("x = 1", "y = 2")), Verdict.DIFFERS, "false for x = 1; y = 2"),
        (Outcome(3, ("x = 1",), problem="too slow"), Verdict.ERROR, "too slow"),
        (NotRun("not trusted"), Verdict.UNVERIFIABLE, "not trusted"),
    ],
)
def test_an_outcome_decides_the_verdict(outcome: AnyOutcome, verdict: Verdict, reason: str) -> None:
    check = made(outcome)
    assert (check.id, check.verdict, check.reason, check.source) == ("p/equations/one", verdict, reason, SOURCE)
    hints = ("what holds is p/equations/two: y = 2 x",) if verdict is Verdict.DIFFERS else ()
    assert (check.statement, check.tolerance, check.hint_texts) == ("In words.", "none", hints)


def test_what_was_tried_is_on_record() -> None:
    check = made(Outcome(3, ("x = 1",)))
    assert (check.examples, check.counterexample) == (3, ("x = 1",))
    assert made(NotRun("why")).examples is None


@pytest.mark.parametrize(("literal", "printed", "corrected"), [(True, "y = x", None), (False, None, "y = x")])
def test_a_form_is_printed_or_corrected(literal: bool, printed: str | None, corrected: str | None) -> None:
    check = made(Outcome(1), literal=literal)
    assert (check.printed, check.corrected) == (printed, corrected)


@pytest.mark.parametrize("nearest", [None, BROKEN])
def test_what_cannot_be_read_holds_in_no_ones_place(nearest: BrokenClaim | None) -> None:
    plan = EquationPlan(CLAIM.id, SOURCE, CLAIM, nearest)
    assert check_equation(plan, {CLAIM.id: Outcome(1, ("x = 1",))}).hint_texts == ()


def test_a_statement_that_cannot_be_read_is_an_error() -> None:
    check = check_equation(EquationPlan(BROKEN.id, SOURCE, BROKEN), {})
    assert (check.verdict, check.reason) == (Verdict.ERROR, "p/equations/sec1.py:9: it has no docstring")
