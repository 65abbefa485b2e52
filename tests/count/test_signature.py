from __future__ import annotations

import pytest
import torch

from imlp_audit.count.dispatch import signature, template_of

X = torch.empty(2, 3, 4, device="meta")


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


def test_a_template_makes_tensors_like_its_own() -> None:
    transposed = X.to(torch.float16).transpose(0, 2)
    template = template_of(transposed)
    assert template is not None
    assert signature(template.fresh()) == signature(transposed)
    assert template.fresh() is not template.fresh()


def test_only_a_single_tensor_on_meta_has_a_template() -> None:
    assert template_of((X, X)) is None
    assert template_of(torch.zeros(1)) is None
    assert template_of(1) is None
