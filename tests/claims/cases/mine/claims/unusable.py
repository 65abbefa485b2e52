"""Claims that cannot be judged, each with the reason, after its place; "..." stands for anything."""

from hypothesis import assume
from hypothesis import strategies as st
from torch import nn

from imlp_audit.claims import (
    below,
    choice,
    claim,
    modules,
    size,
    tensors,
)

C, h, mode = size("C"), size("h", 1, 2), choice("mode", "a", "b")


@claim(x=tensors(2), place="Eq. 1", printed="y = x")
def raises(x):
    """IndexError: index 7 is out of bounds for dimension 0 with size 2 (for x = [0, 0])"""
    return x[7]


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def leaves(x):
    """SystemExit: 3 (for x = 0)"""
    raise SystemExit(3 if x is not None else 0)


@claim(x=tensors(2), place="Eq. 1", printed="y = x")
def shapes(x):
    """ValueError: its sides have different shapes, [2] and [1] (for x = [0, 0])"""
    return x, x[:1]


@claim(x=tensors(1), place="Eq. 1", printed="y = x")
def scalar_and_vector(x):
    """ValueError: its sides have different shapes, [1] and [] (for x = [0])"""
    return x, 0.0


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def nothing(x):
    """TypeError: it returns NoneType, not two sides, a bool, below(...) or a list of these (for x = 0)"""
    x.abs()


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def a_word(x):
    """TypeError: it returns str, not two sides, a bool, below(...) or a list of these (for x = 0)"""
    return str(bool((x == x).all())).lower()


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def three_sides(x):
    """TypeError: it returns tuple, not two sides, a bool, below(...) or a list of these (for x = 0)"""
    return x, x, x


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def words_as_sides(x):
    """TypeError: its left side is str, not a tensor or a number (for x = 0)"""
    return str(x), "a"


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def single_precision(x):
    """TypeError: its right side is of float32, not of float64 (for x = 0)"""
    return x, x.float()


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def complex_numbers(x):
    """TypeError: its left side is of complex128, not of float64 (for x = 0)"""
    return x + 1j, x


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def not_a_number(x):
    """ValueError: its left side is not finite (nan) (for x = 0)"""
    return x / x, x / x


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def infinity(x):
    """ValueError: its right side is not finite (inf) (for x = 0)"""
    return below(0, 1 / x)


@claim(x=tensors(0), place="Eq. 1", printed="y = x")
def no_elements(x):
    """ValueError: its sides have no element (shape [0]), so nothing is compared (for x = [])"""
    return x, x


@claim(place="Eq. 1", printed="y = x")
def no_parts():
    """ValueError: it returns an empty list, which compares nothing"""
    return []


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def changes_a_tensor(x):
    """ValueError: it changes its argument x (for x = 0)"""
    return x.add_(1), x


@claim(f=modules(nn.Linear, 1, 1), place="Eq. 1", printed="y = x")
def changes_a_module(f):
    """ValueError: it changes its argument f.bias (for f.weight = [[0]]; f.bias = [0])"""
    nn.init.ones_(f.bias)
    return 1, 1


@claim(x=st.tuples(st.just(1), tensors(1)).map(list), place="Eq. 1", printed="y = x")
def changes_a_list(x):
    """ValueError: it changes its argument x[2] (for x[1] = 1; x[2] = [0])"""
    x[1].zero_().add_(5)
    return 1, 1


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def draws_nothing(x):
    """its strategies make no example"""
    assume((x != x).any())


@claim(x=tensors().map(lambda x: x / (1 // 0)), place="Eq. 1", printed="y = x")
def draws_wrongly(x):
    """ZeroDivisionError: integer division or modulo by zero"""
    return x, x


@claim(x=5, place="Eq. 1", printed="y = x")
def no_strategy(x):
    """InvalidArgument: Expected a SearchStrategy but got ...=5 (type=int)"""
    return x, x


@claim(x=tensors(), y=tensors(), examples=[{"x": 1}], place="Eq. 1", printed="y = x")
def an_example_lacks_an_argument(x, y):
    """TypeError: ... missing 1 required positional argument: 'y' (for x = 1)"""
    return x, y
