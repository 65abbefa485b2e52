"""A kind of claim that somebody forgot to list is found here; mypy finds every match that forgets one."""

from __future__ import annotations

from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.quantities import QuantityEntry, QuantityKind

COMMON = {"id", "text", "source", "meaning", "rows", "holds_for", "charitable", "covers", "left_out"}


def test_every_key_that_states_something_is_a_form() -> None:
    source = {"section": "1"}
    claim = ClaimEntry.model_validate(
        {"id": "a", "text": "t", "source": source, "reference": {"table": "1", "holds": ["p/1/a/params"]}}
    )
    assert set(ClaimEntry.model_fields) - COMMON == set(claim.forms)
    assert claim.form is claim.reference


def test_every_kind_of_quantity_is_a_key() -> None:
    assert set(QuantityEntry.model_fields) == {*QuantityKind, "against", "between"}
