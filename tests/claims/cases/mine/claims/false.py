"""Claims that are false, each with its counterexample; "..." stands for anything."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.claims import (
    choice,
    claim,
    jacobian,
    modules,
    size,
    strictly_below,
    tensors,
)

C, h, mode = size("C"), size("h", 1, 2), choice("mode", "a", "b")


@dataclass(frozen=True)
class Pair:
    a: Tensor
    b: Tensor


@claim(x=tensors(C), place="Eq. 1", printed="y = x")
def at_ones(x):
    """C = ...; x = [...-1]; left[...] = 1; right[...] = -1"""
    return x.abs(), x


@claim(n=C, m=mode, place="Eq. 1", printed="y = x")
def rarely(n, m):
    """C = 3; mode = b; n = 3; m = b; holds = False"""
    return (n, m) != (3, "b")


@claim(p=st.builds(Pair, tensors(1), tensors(1)), f=modules(nn.Linear, 1, 1), place="Eq. 1", printed="y = x")
def shown_by_fields(p, f):
    """p.a = [...]; p.b = [...]; f.weight = [[...]]; f.bias = [...]; left[1] = ...; right[1] = ..."""
    return f(p.a), p.b


@claim(x=tensors(), examples=[{"x": torch.tensor(7.5)}], place="Eq. 1", printed="y = x")
def known(x):
    """x = 7.5; left = 7.5; right = 7"""
    return x, x.floor()


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def no_slack(x):
    """x = 0; left = 0; right = 0"""
    return strictly_below(x, x)


@claim(place="Eq. 1", printed="y = x")
def integers_are_exact():
    """left = 1000000000000000; right = 1000000000000001"""
    return 10**15, 10**15 + 1


@claim(x=tensors(), place="Eq. 1", printed="y = x")
def says_which_part(x):
    """x = 0; part = 2; left = 1; right = 0"""
    return [(x, x), (x + 1, x)]


@claim(place="Eq. 1", printed="y = x")
def flatly_false():
    """holds = False"""
    return False


@claim(x=tensors(30, 30), place="Eq. 1", printed="y = x")
def a_large_one(x):
    """x = [..., ...] of shape [30, 30]; left[1, 1] = ...; right[1, 1] = ..."""
    return x, 2 * x + 1


@claim(x=tensors(3), place="Eq. 1", printed="y = x")
def of_sums(x):
    """x = [0, 0, 0]; left[1] = 1; right[1] = 0"""
    return jacobian(lambda x: x.sum(), x), torch.zeros(3)


@claim(
    f=modules(nn.BatchNorm1d, 2, training=choice("training", False, True)),
    x=tensors(3, 2),
    place="Eq. 1",
    printed="y = x",
)
def only_in_training(f, x):
    """training = True; f.weight = [...]; ...; f.running_var = [...]; ...; x = ...; holds = False"""
    before = f.num_batches_tracked.clone()
    f(x)
    return bool(f.num_batches_tracked == before)
