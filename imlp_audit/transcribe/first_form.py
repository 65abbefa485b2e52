"""ResNets whose printed FLOPs are those of their first form, which libraries have changed since."""

from __future__ import annotations

import re

from imlp_audit.models.names.known import USUAL_SIZE, has_bottlenecks
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.image_sizes import Named
from imlp_audit.transcribe.recipes import write_recipe
from imlp_audit.transcribe.rows import RowNumbers
from imlp_audit.transcribe.units import NOUNS

# By the number of layers, on images of 224: the GMACs that papers print for the first form, and what a ResNet of that
# form has exactly, in multiply-accumulates and as fvcore counts. With strides in the 3x3 convolutions these models have
# more than 4.0, 7.7 and 11.4.
_FIRST = {
    "50": (3.7, 4.0, (3_857_973_248, 3_879_247_872)),
    "101": (7.4, 7.7, (7_570_194_432, 7_601_704_960)),
    "152": (11.2, 11.4, (11_282_415_616, 11_326_570_496)),
}
_LAYERS = re.compile(r"(?:legacy_|se)*resnex?t(\d+).*")


def printed_flops(numbers: RowNumbers, columns: TableColumns) -> Printed | None:
    """Return the FLOPs that a row prints first; None without any, or for images of another size than 224."""
    for at, guess in columns.numbers:
        text = numbers.printed.get(columns.slugs[at])
        if guess.measure is Measure.FLOPS and text is not None:
            usual = columns.sizes[columns.slugs[at]] in (None, USUAL_SIZE)
            return parse_printed(text, NumberForm(guess.unit, nouns=NOUNS)) if usual else None
    return None


def in_first_form(model: Named, side: int | None, flops: Printed | None) -> tuple[str, tuple[str, ...]] | None:
    """Return why a ResNet may be meant as it was published first, and both forms; None where no FLOPs say so."""
    layers = _LAYERS.fullmatch(model[1])
    least, most, counts = _FIRST.get(layers[1] if layers else "", (0, 0, ()))
    if not has_bottlenecks(*model) or flops is None or side not in (None, USUAL_SIZE):
        return None
    if not least * 10**9 <= flops.value * flops.scale < most * 10**9:
        return None
    recipe = write_recipe(model, side)
    same = model[1] in _PLAIN and any(one in flops.interval(rule) for one in counts for rule in _RULES)
    strides = f"with strides in its 1x1 convolutions (stride_in_1x1); {model[0]} has them in the 3x3 ones"
    near = "the printed FLOPs are less than this model has, and may be those of its first form"
    reason = f"the printed FLOPs are those of its first form, {strides}" if same else f"{near}, {strides}"
    return reason, (f"{recipe[:-1]}, stride_in_1x1: true}}", recipe)


_PLAIN = frozenset({"resnet50", "resnet101", "resnet152"})
_RULES = (Rounding.HALF_UP, Rounding.TRUNCATION)
