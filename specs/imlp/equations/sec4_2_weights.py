"""Sec. 4.2, Theorem 1: the branches that the package makes of a module's weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import blocks_in, branches

from ._states import OURS, RELEASED, Stored, Weights, stored, weights

_PATHS = st.sampled_from(("", "blocks.1.mlp", "1"))


@claim(st.tuples(weights(), stored(), _PATHS), share=0.6)
def theorem1_branches_of_weights(case: tuple[Weights, Stored, str], _: Arithmetic) -> Trial:
    """The package takes both branches of Theorem 1 from a module's stored weights to the last bit of float64: those of
    the module that is asked for, by our names or the released code's, of any floating-point type, as a layer or a 1x1
    convolution, with or without b^0, and with one alpha, beta, gamma and theta for all channels or one for each.

    Place: Sec. 4.2, Theorem 1; Eq. 3
    Corrected: f(x) = sum_{i=1}^{2} W^1i diag(beta_i) GeLU(diag(alpha_i) W^0 x + diag(alpha_i) b^0 + gamma_i), up to a
        constant, W^1 = [W^11 W^12]
    Bound: none: each product and sum of two numbers is rounded once, here and there
    """
    # Multiply the stored numbers out, one by one.
    own, how, path = case
    prefix = f"{path}." if path else ""
    state = own.state(how, prefix)
    others = {f"{path}0.{name}": tensor.detach() + 1 for name, tensor in own.state(how).items()} if path else {}
    found = branches({**others, **state}, path)
    values = {name: state[prefix + how.names[name]].flatten(1) for name in ("fc1.weight", "fc2.weight")}
    w0, w1 = (values[name].tolist() for name in ("fc1.weight", "fc2.weight"))
    hidden = len(w0)
    b0 = state[prefix + how.names["fc1.bias"]].tolist() if how.biased else [0.0] * hidden
    true = True
    for i, ours in enumerate(found):
        alpha, beta, gamma = (
            (numbers := state[prefix + how.names[f"act.agelu{i + 1}.{name}"]].tolist()) * (hidden // len(numbers))
            for name in ("alpha", "beta", "gamma")
        )
        inner = [[a * w for w in row] for a, row in zip(alpha, w0, strict=True)]
        shift = [a * b + c for a, b, c in zip(alpha, b0, gamma, strict=True)]
        outer = [[w * b for w, b in zip(row[i * hidden : (i + 1) * hidden], beta, strict=True)] for row in w1]
        true = true and [ours.inner.tolist(), ours.shift.tolist(), ours.outer.tolist()] == [inner, shift, outer]
    return Trial(true, {**vars(own), "stored": how, "path": path, "found": found})


@dataclass(frozen=True)
class Order:
    """Numbers of blocks in the order of a state dict, which of them have released names, and what stands before."""

    numbers: tuple[int, ...]
    released: tuple[bool, ...]
    prefix: str


_COUNT = 13
_ORDERS = st.builds(
    Order,
    st.permutations(range(_COUNT)).map(tuple),
    st.tuples(*[st.booleans()] * _COUNT),
    st.sampled_from(("blocks.", "layers.0.blocks.", "")),
)


@claim(_ORDERS, share=0.3)
def theorem1_modules_in_order(case: Order, _: Arithmetic) -> Trial:
    """The package finds every AMLP module of a model once and in the order of its state dict, so that block 10 comes
    after block 2 in a model that has them so; a state dict that is that of one module has the path "", and one without
    any has none.

    Place: Sec. 4.2, Theorem 1
    Corrected: the f of Theorem 1 are the modules whose tensors are stored, in that order
    Bound: none: names have no rounding
    """
    # List the modules of a state dict that holds others beside them.
    nothing, state, paths = torch.zeros(1), dict[str, Tensor](), []
    for number, released in zip(case.numbers, case.released, strict=True):
        path = f"{case.prefix}{number}.mlp"
        paths.append(path)
        state[f"{case.prefix}{number}.norm.weight"] = nothing
        state |= dict.fromkeys((f"{path}.{name}" for name in (RELEASED if released else OURS).values()), nothing)
        state[f"{case.prefix}{number}.contact.agelu1.alpha"] = nothing
    alone = [blocks_in(dict.fromkeys(names.values(), nothing)) for names in (OURS, RELEASED)]
    found = blocks_in(state)
    without = blocks_in({name: nothing for name in state if ".agelu1.alpha" not in name and "act1" not in name})
    true = found == paths and alone == [[""], [""]] and without == []
    return Trial(true, {**vars(case), "found": found, "of one module": alone, "of none": without})
