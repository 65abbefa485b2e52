"""Sec. 4.2, Theorem 1: the branches that the package makes of a module's weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import blocks_in, branches
from imlp_audit.errors import CheckpointError

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


Damage = Callable[[dict[str, Tensor], str], str]


def _spoil(change: Callable[[Tensor], Tensor]) -> Damage:
    """Change a tensor; the message must name it."""

    def damage(state: dict[str, Tensor], name: str) -> str:
        state[name] = change(state[name].detach())
        return name

    return damage


def _lose(state: dict[str, Tensor], name: str) -> str:
    del state[name]
    return name


def _with(value: float) -> Damage:
    return _spoil(lambda tensor: torch.full_like(tensor, value, dtype=torch.float64))


def _quantize(tensor: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch is about to drop this type
        return torch.quantize_per_tensor(tensor.float(), 0.1, 0, torch.qint8)


_ANY = (
    _lose, _with(float("nan")), _with(float("-inf")), _with(-1.01e60), _with(1.01e60),
    _spoil(lambda tensor: tensor.to(torch.complex64)),
    _spoil(lambda tensor: tensor.to("meta")),
    _spoil(Tensor.to_sparse),
    _spoil(_quantize),
    _spoil(lambda tensor: torch.zeros(7)),
)  # fmt: skip
_OF_MATRICES = (
    _spoil(lambda tensor: tensor.flatten()),
    _spoil(lambda tensor: tensor[..., None].expand(*tensor.shape, 2)),
    _spoil(lambda tensor: tensor[:, :0]),
)
_NEEDED = tuple(name for name in OURS if not name.endswith(".bias"))
_MATRICES = ("fc1.weight", "fc2.weight")


@dataclass(frozen=True)
class Damaged:
    """A module's state, a damage to one of its tensors, and the tensor."""

    weights: Weights
    stored: Stored
    damage: Damage
    name: str


_DAMAGED = st.one_of(
    st.builds(Damaged, weights(), stored(), st.sampled_from(_ANY), st.sampled_from(_NEEDED)),
    st.builds(Damaged, weights(), stored(), st.sampled_from(_OF_MATRICES), st.sampled_from(_MATRICES)),
)


@claim(_DAMAGED, share=0.6)
def theorem1_damaged_weights(case: Damaged, _: Arithmetic) -> Trial:
    """The package refuses a module of which a tensor is missing, has another shape, is no plain array of real numbers,
    or has numbers that are not finite or above 10^60 in magnitude, and names the tensor; also one with two tensors for
    one name, or with a W^1 that is not of twice the hidden units. Weights of 10^60 are taken.

    Place: Sec. 4.2, Theorem 1
    Corrected: W^0 in R^{n x n_0}, W^1 = [W^11 W^12] in R^{m x 2n}, both finite
    Bound: none: what is refused has no numbers
    """
    # Damage one tensor, and look for its name in the refusal.
    state = case.weights.state(case.stored, "mlp.")
    name = case.damage(state, "mlp." + case.stored.names[case.name])
    largest = {own: torch.full_like(tensor, 1e60, dtype=torch.float64) for own, tensor in _whole(case).items()}
    taken = bool((branches(largest, "mlp")[0].inner == 1e60 * 1e60).all())
    messages = [_refusal(state), _refusal(_with_two(case)), _refusal(_with_more(case))]
    named = name in messages[0] or f"mlp.{case.name} is missing" in messages[0]
    refused = named and "two names" in messages[1] and "fc2" in messages[2].replace("conv2", "fc2")
    return Trial(taken and refused, {"damaged": name, "refusals": messages, "10^60 is taken": taken})


def _whole(case: Damaged) -> dict[str, Tensor]:
    return case.weights.state(case.stored, "mlp.")


def _with_two(case: Damaged) -> dict[str, Tensor]:
    """Return a state with both names of a tensor."""
    both = (f"mlp.{names[case.name]}" for names in (OURS, RELEASED))
    return {**_whole(case), **dict.fromkeys(both, torch.ones(1))}


def _with_more(case: Damaged) -> dict[str, Tensor]:
    """Return a state whose W^1 has one input more."""
    name = f"mlp.{case.stored.names['fc2.weight']}"
    more = torch.zeros(len(case.weights.w1), len(case.weights.w1[0]) + 1)
    return {**_whole(case), name: more}


def _refusal(state: dict[str, Tensor]) -> str:
    try:
        branches(state, "mlp")
    except CheckpointError as error:
        return str(error)
    return ""
