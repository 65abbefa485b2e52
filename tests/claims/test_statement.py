"""What a claim returns: sides that agree, sides that differ, and what is neither. And what its strategies draw."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.claims import NUMBERS, POSITIVE, Claim, below, choice, claim_about, modules, strictly_below, tensors
from imlp_audit.claims.language import find_difference

REAL = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 1.0 + 1e-10, 1.0 + 1e-11, 1e6 * (1 + 1e-10), -1.0])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=2) | st.binary(max_size=2)
    | st.sampled_from([torch.zeros(2), torch.ones((), dtype=torch.bool), torch.zeros(2).half(), torch.empty(0), torch,
                       np.zeros(2), np.True_, object(), 10**30, Tensor, below(1, 2), below("a", 2)])  # type: ignore[arg-type]
    , lambda one: st.lists(one, max_size=3) | st.tuples(one, one) | st.tuples(one) | st.dictionaries(st.text(), one),
    max_leaves=4,
)  # fmt: skip


def claim(tolerance: float = 1e-10) -> Claim:
    return Claim(lambda: True, {}, tolerance=tolerance)


def agree(left: object, right: object, tolerance: float = 1e-10) -> bool:
    return find_difference(claim(tolerance), (left, right)) is None


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    """As where claims are tested."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@given(REAL, REAL, st.sampled_from([1e-10, 1e-3]))
def test_two_numbers_are_equal_up_to_the_tolerance(left: float, right: float, tolerance: float) -> None:
    slack = tolerance * max(1, abs(left), abs(right))
    vectors = torch.tensor([right, left]), torch.tensor([right, right])
    if abs(abs(left - right) - slack) > 1e-12 * slack:
        expected = abs(left - right) <= slack
        assert agree(left, right, tolerance) is agree(*vectors, tolerance) is expected
        bound = find_difference(claim(tolerance), below(left, right)) is None
        assert bound is (left - right <= slack)
    assert (find_difference(claim(), strictly_below(left, right)) is None) is (left < right)


@given(st.integers(-(2**62), 2**62), st.integers(-2, 2))
def test_integers_are_compared_exactly(number: int, more: int) -> None:
    assert agree(number, torch.tensor(number + more)) is (more == 0)
    assert (find_difference(claim(), below(number + more, number)) is None) is (more <= 0)


@given(JUNK)
def test_whatever_a_claim_returns_is_true_false_or_refused(returned: object) -> None:
    try:
        found = find_difference(claim(), returned)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return
    assert found is None or found


def test_sides_that_differ_by_little_are_shown_with_all_digits() -> None:
    assert find_difference(claim(), (1.0, 1.0 + 2**-30)) == {"left": "1", "right": "1.0000000009313226"}
    assert find_difference(claim(), (torch.eye(2), 2 * torch.eye(2))) == {"left[1, 1]": "1", "right[1, 1]": "2"}


@given(tensors(2, st.integers(0, 3)), tensors(values=POSITIVE), tensors(30, 30))
def test_tensors_have_their_shape_and_are_of_the_numbers_given(x: Tensor, scalar: Tensor, large: Tensor) -> None:
    assert (x.dtype, x.shape[0], scalar.shape, large.shape) == (torch.float64, 2, (), (30, 30))
    assert {*x.flatten().tolist(), *large.flatten().tolist()} <= {*NUMBERS}
    assert scalar.item() in POSITIVE
    assert len({*large.flatten().tolist()}) == len(NUMBERS)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("places", torch.arange(3))
        self.register_buffer("mask", torch.ones(2), persistent=False)


@given(modules(Tied), modules(Tied, training=st.just(True)))
def test_modules_have_drawn_parameters_and_statistics_and_keep_the_rest(module: Tied, other: Tied) -> None:
    assert (module.training, other.training) == (False, True)
    assert module.second.weight is module.first.weight
    assert {*torch.cat([value.flatten() for value in module.parameters()]).tolist()} <= {*NUMBERS}
    assert module.norm.running_var is not None
    assert module.norm.running_var.min() > 0
    assert (module.places.tolist(), module.mask.tolist()) == ([0, 1, 2], [1, 1])  # type: ignore[operator]
    assert all(value.dtype == torch.float64 for value in module.parameters())


def test_a_choice_needs_values_and_outside_of_an_audit_it_is_the_first() -> None:
    with pytest.raises(ValueError, match="choice 'layout' has no values"):
        choice("layout")

    @given(choice("layout", 3, 4))
    def is_first(value: int) -> None:
        assert value == 3

    is_first()


def test_symbols_are_drawn_as_the_section_says_unless_a_claim_says_otherwise() -> None:
    about = claim_about(x=st.just(1), y=st.just(2), z=st.just(3))

    @about(y=st.just(4), w=st.just(5), place="Eq. 1", printed="", share=0.5)
    def found(w: int, y: int, x: int) -> bool:
        return (w, y, x) == (5, 4, 1)

    assert ([*found.strategies], found.share) == (["w", "y", "x"], 0.5)

    @given(st.fixed_dictionaries(dict(found.strategies)))
    def check(drawn: dict[str, int]) -> None:
        assert found(**drawn)

    check()


@pytest.mark.parametrize(("largest", "equal"), [(1.0, False), (20.0, True)])
def test_what_large_numbers_leave_where_they_cancel_is_rounding(largest: float, equal: bool) -> None:
    left, right = torch.tensor([[largest, 0.0]]).double(), torch.tensor([[largest, 1e-9]]).double()
    assert (find_difference(claim(), (left, right)) is None) is equal
