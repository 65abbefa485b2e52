"""Sec. 5.1: what a recipe says of a host's MLPs, and the baseline that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pydantic import ValidationError
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Activation, Part
from imlp_audit.models.imlp import Imlp, imlp_for
from imlp_audit.models.reading import PRINTED, Family, PaperReading
from imlp_audit.models.recipe import Recipe

from ._replaced import HostMlp

_HOST = {"timm": "deit_tiny_patch16_224"}
Written = Mapping[str, object]


@dataclass(frozen=True)
class Kernels:
    """The part of an IMLP, two sides of its kernel, and whether AGeLU is GeLU."""

    part: Part
    kernels: tuple[int, int]
    plain: bool

    def recipe(self, kernel: int) -> Recipe:
        """Return the recipe of the host with such blocks."""
        block = {"part": self.part, "kernel": kernel, "plain": self.plain and self.part is not Part.SPATIAL}
        return Recipe.of(**_HOST, image=(32, 48), classes=7, mlp={"imlp": block, "sites": ("*.mlp",)})

    @property
    def convolves(self) -> bool:
        """Whether there is a depthwise convolution."""
        return self.part is not Part.CHANNEL


_USUAL = 3  # what stands for every n where there is no convolution
_SIDES = st.sampled_from((1, 3, 5, 7))


@claim(st.builds(Kernels, st.sampled_from(Part), st.tuples(_SIDES, _SIDES), st.booleans()), share=0.4)
def replaced_kernel_of_the_convolution(case: Kernels, arithmetic: Arithmetic) -> Trial:
    """The kernel size n is that of the depthwise convolution: blocks that have one differ with n, and without one all n
    give the same block.

    Read as: a recipe without what changes nothing builds the same block, to the bit; two recipes that differ in n build
    one block where there is no convolution, and two where there is one.

    Place: Sec. 5.1, Implementation details
    Printed: the second is the kernel size n of the depthwise convolution operation
    Bound: none: equal blocks give equal numbers
    """
    # Hold what is built of a recipe against what is built of its essence, and what is built of two against each other.
    one, other = (case.recipe(kernel) for kernel in case.kernels)
    shown: dict[str, object] = {"part": str(case.part), "n": case.kernels, "essences": []}
    for recipe in (one, other):
        essence = recipe.essence()
        alike = {**_said(recipe), "mlp": None} == {**_said(essence), "mlp": None}
        usual = case.convolves or (essence.imlp is not None and essence.imlp.kernel == _USUAL)
        if not (alike and usual) or not torch.equal(_output(recipe, arithmetic), _output(essence, arithmetic)):
            return Trial(False, {**shown, "recipe": str(recipe), "essence": str(essence)})
    expected = not case.convolves or case.kernels[0] == case.kernels[1]
    same = _said(one.essence()) == _said(other.essence())
    built = torch.equal(_output(one, arithmetic), _output(other, arithmetic))
    return Trial(same == built == expected, {**shown, "same": same, "built the same": built})


def _said(recipe: Recipe) -> dict[str, object]:
    return {name: getattr(recipe, name) for name in Recipe.model_fields}


def _output(recipe: Recipe, arithmetic: Arithmetic) -> Tensor:
    """Return what the recipe's block makes of a grid of 3 x 2 tokens, and how many weights it has."""
    assert recipe.imlp is not None
    host = HostMlp(2, 8, 2, (True, True), (0.0, 0.0), conv=False)
    block = imlp_for(host, recipe.imlp, PRINTED, recipe.activation, grid=(3, 2), prefix_tokens=0)
    return torch.cat((_filled(block, arithmetic)(arithmetic.tensor(_TOKENS)).flatten(), _size(block, arithmetic)))


_TOKENS = (tuple((token - 2.0, 0.5 * token) for token in range(6)),)


def _filled(block: Imlp, arithmetic: Arithmetic) -> Imlp:
    """Give a block weights that grow from entry to entry."""
    arithmetic.place(block)
    for name, parameter in block.named_parameters():
        entries = arithmetic.tensor([(1 + entry) / 8 for entry in range(parameter.numel())])
        arithmetic.put(block, name, entries.reshape(parameter.shape).tolist())
    return block


def _size(block: Imlp, arithmetic: Arithmetic) -> Tensor:
    return arithmetic.tensor([float(sum(parameter.numel() for parameter in block.parameters()))])


_CHANGES: tuple[Written, ...] = (
    {},
    {"agelu": True},
    {"activation": "relu"},
    {"activation": "prelu", "agelu": True},
    {"mlp": {"imlp": {"ratio": 2}}},
    {"mlp": {"imlp": {"part": "channel"}, "sites": ("blocks.*",)}, "activation": "softplus"},
    {"mlp": {"sums": {}}},
)
_REST: tuple[Written, ...] = ({}, {"image": (32, 48)}, {"image": (16, 16), "classes": 3}, {"classes": 10})


@claim(st.tuples(st.sampled_from(_CHANGES), st.sampled_from(_REST)), share=0.5)
def replaced_baseline(case: tuple[Written, Written], _: Arithmetic) -> Trial:
    """A baseline is the same method with its own MLPs: without an IMLP, a sum of functions, another activation or
    AGeLU, and with nothing else changed.

    Read as: the recipe of a row's baseline is what it is without these three; a recipe has changed MLPs where it has
    one of them, and depends on what the text leaves open about the IMLP where it has an IMLP.

    Place: Sec. 5.1, Experimental results
    Printed: We replace all the MLP modules in each baseline method with the proposed IMLP module
    Bound: none: settings are compared
    """
    # Hold the recipe without its changes against the one that never had any.
    change, rest = case
    recipe, baseline = Recipe.of(**_HOST, **rest, **change), Recipe.of(**_HOST, **rest)
    own, block = recipe.with_own_mlps(), recipe.imlp
    reads_imlp = "imlp" in dict(change.get("mlp", ()))  # type: ignore[call-overload]
    reading = PaperReading(imlp=PRINTED)
    found = {
        "own MLPs": _said(own) == _said(baseline),
        "changes": (recipe.changes_mlps, own.changes_mlps) == (bool(change), False),
        "as written": _said(recipe) == _said(baseline.with_change(change)),
        "IMLP": (block is not None) == reads_imlp and recipe.part_of(reading) == (PRINTED if reads_imlp else None),
        "family": recipe.family == (Family.IMLP if reads_imlp else None),
        "activation": recipe.activation == (Activation(str(change["activation"])) if "activation" in change else None),
    }
    return Trial(all(found.values()), {"recipe": str(recipe), "baseline": str(own), **found})


_TEXT = {"gmlp_text": {"layers": 1, "width": 2}}
_IMLP: Written = {"imlp": {}}
_SUMS: Written = {"sums": {}}
_TOGETHER: tuple[tuple[Written, bool], ...] = (
    ({**_HOST, "activation": "relu", "agelu": True}, True),
    ({**_HOST, "activation": "relu", "mlp": _IMLP}, True),
    ({**_HOST, "agelu": True, "mlp": _IMLP}, False),
    ({**_HOST, "agelu": True, "mlp": _SUMS}, False),
    ({**_HOST, "activation": "gelu", "mlp": _SUMS}, False),
    ({**_HOST, "mlp": {**_IMLP, "sites": ()}}, False),
    ({**_TEXT, "classes": 2}, True),
    ({**_TEXT, "mlp": _IMLP}, False),
    ({**_TEXT, "activation": "relu"}, False),
    ({**_TEXT, "agelu": True}, False),
    ({**_TEXT, "image": 32}, False),
    ({"vanilla_block": {"width": 2}, "image": 32}, True),
    ({"vanilla_block": {"width": 2}, "classes": 2}, False),
)


@claim(st.sampled_from(_TOGETHER), share=0.5)
def replaced_where_there_are_mlps(case: tuple[Written, bool], _: Arithmetic) -> Trial:
    """Only an MLP can be replaced, and only an MLP that stays can get AGeLU; a recipe that says otherwise is refused.

    Read as: an IMLP may have another base activation, a sum of functions has its own; a host without MLPs has neither,
    and no host has an input or classes that it does not read or give.

    Place: Sec. 5.2 on Table 3, and Sec. 5.1, Experimental results
    Printed: the second line changes GeLU in MLP modules to AGeLU
    Bound: none: a recipe is read or it is not
    """
    # Hold whether a recipe is read against whether it can be built.
    written, readable = case
    try:
        recipe = Recipe.of(**written)
    except ValidationError:
        return Trial(not readable, {"written": written, "refused": True})
    return Trial(readable, {"written": written, "read as": str(recipe)})
