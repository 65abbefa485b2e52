"""A gMLP block has three fully connected layers, and mixes channels, tokens and channels in turn.

Read as: it has three weight matrices; U mixes channels only, W tokens only, V channels only.

Place: Sec. 3.1, first paragraph
Printed: В отличие от Mixer рассматриваемая архитектура имеет в каждом своём уровне 3 полносвязных слоя. Причём
    смешивания по каналам и токенам идут не чётко друг за другом, а попеременно.
Bound: none: a number of layers, and derivatives that are exactly zero or are not
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Block, blocks
from imlp_audit.equations.mixer_gmlp_coursework._mixing import ONLY_CHANNELS, ONLY_TOKENS, mixes
from imlp_audit.equations.strategies import positive
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Block, arithmetic: Arithmetic) -> Trial:
    """Run the layers of the package's block one after the other."""
    block = case.module(arithmetic, Gate.PRODUCT)
    matrices = [name for name, weight in block.named_parameters() if weight.ndim == 2]
    table = arithmetic.tensor(case.x)
    kinds = [mixes(layer, table) for layer in (block.u, block.sgu.proj, block.v)]
    holds = len(matrices) == 3 and kinds == [ONLY_CHANNELS, ONLY_TOKENS, ONLY_CHANNELS]
    return Trial(holds, {**case.shown(), "weight matrices": matrices, "what they mix": [str(kind) for kind in kinds]})


# S = C = D_C = 2, so that one table goes into every layer
CLAIM = Claim(blocks(Gate.PRODUCT, (2,), positive(), positive(), widths=(2,), hidden=(2,)), judge)
