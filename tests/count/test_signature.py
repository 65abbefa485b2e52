from __future__ import annotations

import pytest
import torch
from torch._ops import OpOverload

from imlp_audit.count.ledger import made_by, signature

ATEN = torch.ops.aten
X, Y = torch.empty(2, 3, 4, device="meta"), torch.empty(4, device="meta")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (X, torch.empty(2, 4, 3, device="meta")),
        (X, torch.empty(2, 4, 3, device="meta").transpose(1, 2)),
        (X, X.to(torch.float16)),
        (X, torch.empty(2, 3, 4)),
        ((X, 1), (X, 1.0)),
        ((X, 1), (X, True)),
        ([X, X], [X]),
        ({"dim": 1}, {"dim": 2}),
        ({"dim": 1}, {"alpha": 1}),
    ],
)
def test_what_can_change_a_result_changes_the_signature(one: object, other: object) -> None:
    assert signature(one) != signature(other)
    assert hash(signature(one)) != hash(signature(None))


def test_data_and_identity_do_not_change_the_signature() -> None:
    assert signature([X, None, {"dim": 1}]) == signature([torch.empty_like(X), None, {"dim": 1}])


@pytest.mark.parametrize(
    ("func", "given", "same"),
    [
        (ATEN.silu_.default, X, True),
        (ATEN.mul_.Tensor, X, True),
        (ATEN.dropout.default, X, True),
        (ATEN.t_.default, X, False),
        (ATEN.transpose_.default, X, False),
        (ATEN.resize_.default, X, False),
        (ATEN.set_.source_Tensor, X, False),
        (ATEN.add_.Tensor, torch.zeros(2), False),
    ],
)
def test_what_returns_its_first_argument_need_not_run(func: OpOverload, given: torch.Tensor, same: bool) -> None:
    """Where it changes neither the sizes nor the strides of that, nor numbers that a model may read."""
    assert (made_by(func, (given, 1), given) == "first argument") is same
