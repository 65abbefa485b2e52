"""Sec. 3 and 3.3: what the package builds for texts where a reading states nothing."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.hosts import GmlpText
from imlp_audit.models.reading import (
    Family,
    OutputLayer,
    PaperReading,
    Presence,
    SpatialMatrix,
    TextReading,
    axes_of,
    make_reading,
)
from imlp_audit.models.recipe import Recipe

from ._text_networks import TextKind

# BERT's words, texts and output (arXiv 1810.04805, Sec. 3 and 4, and its released code), and gMLP's D_C and unit.
_SAID = TextReading(
    vocabulary=30522,
    sequence_length=512,
    ffn_width=3072,
    spatial_matrix=SpatialMatrix.FULL,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.MASKED_LM,
    pooler=Presence.YES,
)


@claim(st.tuples(st.integers(1, 3), st.sampled_from((None, 2)), st.booleans()), share=0.06)
def gmlp_of_texts_by_default(case: tuple[int, int | None, bool], _: Arithmetic) -> Trial:
    """Where nothing else is said, gMLP for texts reads and gives what BERT does: 30,522 words, texts of 512 tokens, a
    layer and a norm before the tied matrix and its bias, and a pooler. Its blocks have D_C = 3072, the split
    unit with a norm, and a full W of S x S.

    Read as: with classes it is a classifier, and without any it scores words; also after a recipe's own D_C and number
    of layers are removed. A recipe gives the 36 blocks and C = 512. BERT's numbers are those of its paper (arXiv
    1810.04805, Sec. 3) and of its released code.

    Place: Sec. 3.3, first paragraph, and Sec. 3.1, Eq. of s(Z)
    Printed: Все входы и выходы сети аналогичны BERT [3]; Каждая gMLP модель имеет 36 блоков, C = 512 и D_C = 3072
    Bound: none: sizes are integers
    """
    # Hold the parameters of the package's network, and the texts that it reads, against the sizes.
    width, classes, taken_back = case
    defaults = make_reading(Family.TEXT, {name: axis.default for name, axis in axes_of(Family.TEXT).items()})
    assert isinstance(defaults, TextReading)
    recipe = Recipe.of(gmlp_text={"layers": 2, "width": width}, classes=classes)
    reading = recipe.part_of(PaperReading(text=defaults))
    other = GmlpText(layers=1, width=width).with_layers(2)
    network = (other if taken_back else recipe.host).build(BuildRequest(recipe.image, recipe.classes, reading))
    (texts,) = network.example_inputs(2)  # type: ignore[operator]
    host = GmlpText(layers=2, width=width, hidden=_SAID.ffn_width, gate=Gate.SPLIT, spatial_matrix=SpatialMatrix.FULL)
    printed: dict[str, object] = dict(TextKind(host, _SAID, classes).shapes())
    found: dict[str, object] = {name: tuple(weight.shape) for name, weight in network.named_parameters()}
    gates = {str(block.sgu.gate) for block in network.modules() if isinstance(block, GmlpBlock)}
    gates |= {str(GmlpBlock(width, 2, 2).sgu.gate), str(SpatialGatingUnit(2, 2).gate)}
    found, printed = {**found, "texts": tuple(texts.shape)}, {**printed, "texts": (2, _SAID.sequence_length)}
    wrong = {name: found.get(name) for name in found.keys() | printed.keys() if found.get(name) != printed.get(name)}
    return Trial(not wrong and gates == {Gate.SPLIT.value}, {"C": width, "classes": classes, "units": gates, **wrong})
