"""The closed formula of a model's number, with the row's numbers put in."""

from __future__ import annotations

from imlp_audit.explain import block_sum, text_sum
from imlp_audit.explain.body import Body
from imlp_audit.explain.layout import Lines
from imlp_audit.measure.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention
from imlp_audit.models.reading import AnyReading, Reading, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable


def formula(
    recipe: Recipe, reading: AnyReading | None, body: Body, convention: ParameterConvention | Convention
) -> Lines:
    """Return the formula of a model's parameters, or where a convention counts work, of its multiply-accumulates.

    Nothing for a model about whose parts nothing is open, nor for buffers.
    """
    if convention is ParameterConvention.WITH_BUFFERS:
        return []
    counting = convention if isinstance(convention, ParameterConvention) else FLOPS_CONVENTIONS["macs"]
    noun = "parameters" if isinstance(counting, ParameterConvention) else "multiply-accumulates"
    if isinstance(reading, Reading) and recipe.imlp is not None:
        blocks = block_sum.block_sum(recipe, reading, body, counting)
        lines, whole = block_sum.told(blocks, noun), blocks.whole
    elif isinstance(reading, TextReading):
        text = text_sum.text_sum(recipe, reading, counting)
        lines, whole = text_sum.told(text, noun), text.whole
    else:
        return []
    measured = body.total(counting)
    lines[-1] += "  as measured" if whole == measured else f"  but {readable(measured)} is measured"
    return lines
