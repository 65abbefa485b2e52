from __future__ import annotations

import pytest

from imlp_audit.count.call import Call, TensorShape, each, join
from imlp_audit.count.formulas import FORMULAS, formula_of, no_work
from imlp_audit.count.fvcore import FVCORE_RULES


def test_registering_an_operation_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="registered twice: aten::view"):
        join(each("view", no_work), each("cat view", no_work))
    with pytest.raises(ValueError, match="registered twice: aten::view"):
        each("view view", no_work)


def test_in_place_operations_have_their_twins_formula() -> None:
    assert formula_of("aten::relu_") is formula_of("aten::relu")
    assert formula_of("aten::no_such_thing") is None


def test_fvcores_rules_are_for_operations_with_a_formula() -> None:
    assert FVCORE_RULES.keys() <= FORMULAS.keys()


def test_a_formula_that_mistakes_an_argument_fails() -> None:
    call = Call("aten::cat", {"tensors": (TensorShape((2, 3)),), "dim": 0}, (TensorShape((2, 3)),))
    assert call.shapes("tensors") == ((2, 3),)
    with pytest.raises(TypeError, match="aten::cat: dim is not a tensor"):
        call.shape("dim")
    with pytest.raises(TypeError, match="aten::cat: dim is not a list of tensors"):
        call.shapes("dim")
