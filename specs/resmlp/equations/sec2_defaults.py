"""Sec. 2 and Appendix A: what the package builds where a recipe or a reading states nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.reading import Family, PaperReading, ResMlpForm, ResMlpReading, axes_of, make_reading
from imlp_audit.models.recipe import Recipe

from ..models import CaitChain, CaitStage, TalkingHeads
from ._network import Network
from ._network_stages import check

_PATCH = 16


@dataclass(frozen=True)
class Unstated(Network):
    """A network of a recipe that gives its sizes, and of the rest only what is given here; patches of 16 x 16 pixels.

    `written` is the form that the recipe names; without one it is the reading's.
    """

    written: ResMlpForm | None = None

    def fresh(self) -> nn.Module:
        """Return the package's network, under the reading that takes the default on each axis."""
        given = {"form": self.written, "communication": self.communication, "pooling": self.pooling}
        usual = (None, Communication.LINEAR, Pooling.AVERAGE)
        named = {name: value for (name, value), default in zip(given.items(), usual, strict=True) if value != default}
        host = {"layers": self.layers, "width": self.width, **named}
        recipe = Recipe.of(resmlp=host, image=self.size, classes=self.classes)
        defaults = make_reading(Family.RESMLP, {name: axis.default for name, axis in axes_of(Family.RESMLP).items()})
        assert isinstance(defaults, ResMlpReading)
        reading = recipe.part_of(PaperReading(resmlp=defaults))
        return recipe.host.build(BuildRequest(recipe.image, recipe.classes, reading))


def _unstated(written: ResMlpForm | None) -> Unstated:
    return Unstated(form=written or ResMlpForm.EQUATIONS, written=written, grid=(1, 2), patch=_PATCH, layers=1)


@claim(
    st.builds(
        replace, st.sampled_from((None, *ResMlpForm)).map(_unstated),
        communication=st.sampled_from((Communication.LINEAR, Communication.NONE)),
        pooling=st.sampled_from(Pooling), seed=st.integers(0, 99),
    ),
    share=0.1,
)  # fmt: skip
def network_by_default(net: Unstated, arithmetic: Arithmetic) -> Trial:
    """Where nothing else is said, a ResMLP has the layers of Eq. 2 and 3, on patches of 16 x 16 pixels, with Aff, GELU,
    a linear layer across patches and average pooling; a recipe may name Algorithm 1. Where nothing exchanges
    information between patches, no Aff of that sublayer is left.

    Place: Sec. 2, The overall ResMLP architecture, and Eq. 2 and 3; Table 3, Patch communication
    Printed: Our model, denoted by ResMLP, takes a grid of N x N non-overlapping patches as input, where the patch size
        is typically equal to 16 x 16
    Bound: of each layer, that of Eq. 2 and then of Eq. 3; gamma of the sums at both ends
    """
    # Hold each stage of the package's network against its formula.
    return check(net, arithmetic)


@claim(st.sampled_from(CaitStage), share=0.04)
def appendix_chain_by_default(stage: CaitStage, _: Arithmetic) -> Trial:
    """The chain starts with CaiT-S24: 24 layers of width 384, with 8 heads and two layers for the class token, on
    patches of 16 x 16 pixels of images of 224 x 224; each stage keeps these sizes.

    Read as: heads, class layers and patches are those of CaiT (arXiv 2103.17239, Table 1); ImageNet has 1000 classes.

    Place: Appendix A, second paragraph
    Printed: This network consists of 24-layer with a working dimension of 384. All our experiments below were carried
        out with images in resolution 224x224
    Bound: none: sizes are integers
    """
    # Hold the sizes of the package's network against those of CaiT-S24.
    with torch.device("meta"):
        network = CaitChain(stage=stage)
    blocks, pooling, stem = (network.get_submodule(name) for name in ("blocks", "pool.layers", "stem.proj"))
    assert isinstance(blocks, nn.Sequential)
    assert isinstance(pooling, nn.Sequential)
    heads = {module.heads for module in network.modules() if isinstance(module, TalkingHeads)}
    found = {
        "layers": len(blocks),
        "class layers": len(pooling) - 1,  # the last is a norm
        "stem": tuple(stem.get_parameter("weight").shape),
        "positions": tuple(network.get_parameter("positions").shape),
        "heads": heads,
        "labels": network.get_submodule("head").get_parameter("weight").shape[0],
    }
    printed = {
        "layers": 24,
        "class layers": 2,
        "stem": (384, 3, 16, 16),
        "positions": (14 * 14, 384),
        "heads": {8} if stage is CaitStage.ATTENTION else set(),
        "labels": 1000,
    }
    return Trial(found == printed, {"stage": str(stage), **found})
