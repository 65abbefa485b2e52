from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.formulas import contractions

CASES: dict[str, list[tuple[int, ...]]] = {
    "ij,jk->ik": [(2, 3), (3, 5)],
    "ij,jk": [(2, 3), (3, 5)],
    "b h i d, b h j d -> b h i j": [(2, 3, 5, 7), (2, 3, 11, 7)],
    "...ij,...jk->...ik": [(2, 3, 5, 7), (2, 3, 7, 11)],
    "...ij,jk->...ik": [(2, 3, 5, 7), (7, 11)],
    "ij,...jk->...ik": [(5, 7), (2, 3, 7, 11)],
    "...i,...i": [(2, 3, 7), (3, 7)],
    "bij,bjk->bik": [(1, 5, 7), (4, 7, 3)],
}


@pytest.mark.parametrize("equation", CASES)
def test_products_are_those_that_torch_counts(equation: str) -> None:
    shapes = CASES[equation]
    with FlopCounterMode(display=False) as counter:
        torch.einsum(equation, *[torch.zeros(shape) for shape in shapes])
    [step] = contractions(equation, shapes)
    assert step.sums
    assert 2 * step.size == counter.get_total_flops()


def test_two_matrices() -> None:
    [step] = contractions("ij,jk->ik", [(2, 3), (3, 5)])
    assert step.size == 2 * 3 * 5


def test_outer_product_sums_nothing() -> None:
    [step] = contractions("i,j->ij", [(2,), (3,)])
    assert (step.size, step.sums) == (6, False)


def test_label_of_one_operand_is_summed_before_the_product() -> None:
    [step] = contractions("ijx,jk->ik", [(2, 3, 100), (3, 5)])
    assert step.size == 2 * 3 * 5


def test_three_operands_go_from_left_to_right() -> None:
    steps = list(contractions("ij,jk,kl->il", [(2, 3), (3, 5), (5, 7)]))
    assert [step.size for step in steps] == [2 * 3 * 5, 2 * 5 * 7]


def test_one_operand_makes_no_contraction() -> None:
    assert list(contractions("ij->ji", [(2, 3)])) == []
