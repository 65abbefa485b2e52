"""Sec. 4.2, Theorem 1: the stored weights that the package refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import branches
from imlp_audit.errors import CheckpointError

from ._states import OURS, RELEASED, Stored, Weights, stored, weights

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
