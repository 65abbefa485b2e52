"""A kind of claim that somebody forgot to list is found here; mypy finds every match that forgets one."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.spec.claim_entries import QuantityEntry, QuantityKind
from imlp_audit.spec.claims import ALL_DIGITS
from imlp_audit.spec.load import load, select_checks
from imlp_audit.spec.plan import ClaimPlan

EVERY_CLAIM = Path(__file__).parents[1] / "examples" / "good" / "every_claim"


def test_every_kind_of_quantity_is_a_key() -> None:
    assert set(QuantityEntry.model_fields) == {*QuantityKind, "against", "between"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"value": "params"}, "the printed number"),
        ({"step": "params"}, "step: the number minus that of the row before"),
        ({"change": "params"}, "change: from the row's baseline, in percent"),
        ({"change": "params", "against": "p/1/a"}, "change: from p/1/a, in percent"),
        ({"difference": "params"}, "difference: the number minus that of the row's baseline"),
        ({"ratio": "params", "against": "p/1/a"}, "ratio: the number divided by that of p/1/a"),
        (
            {"position": "params", "between": ["p/1/a", "p/1/b"]},
            "position: how far it is, in percent, on the way from p/1/a to p/1/b",
        ),
        ({"mlp_share": "params"}, "share: the part of the model's measured number that is in its MLPs, in percent"),
    ],
)
def test_a_quantity_is_explained_in_words(entry: dict[str, object], words: str) -> None:
    assert QuantityEntry.model_validate(entry).describe() == words


def test_each_form_of_a_claim_says_what_decides_it_and_lists_its_cells() -> None:
    images = "whether the printed FLOPs follow from images of {} pixels a side, or only from another size"
    top1, params = [[f"claims/1/{row}/{column}" for row in "abc"] for column in ("top1", "params")]
    expected = {
        "conditions": (f"{ALL_DIGITS}; it has to hold for at least 50% of the rows", {*top1, *params}),
        "share": (ALL_DIGITS, {params[0]}),
        "order": (ALL_DIGITS, {*params}),
        "steps": (ALL_DIGITS, {*top1}),
        "reference": ("whether the cells stand in the table that the text points to", {top1[0], top1[2]}),
        "compared": (ALL_DIGITS, {*params, *top1[1:]}),
        "nearer": (ALL_DIGITS, {*params}),
        "average": (ALL_DIGITS, {*top1[:2]}),
        "input": (images.format(224), {"claims/1/a/flops"}),
        "tried": (images.format(384), {"claims/1/a/flops"}),
    }
    plans = [plan for plan in select_checks(load([str(EVERY_CLAIM)])) if isinstance(plan, ClaimPlan)]
    found = {plan.claim.value.id: plan.meanings.strict for plan in plans}
    assert {
        name: (statement.judged_by, {cell.id for cell in statement.cells}) for name, statement in found.items()
    } == expected
