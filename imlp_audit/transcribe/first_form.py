"""ResNets whose printed FLOPs are those of their first form, which libraries have changed since."""

from __future__ import annotations

import re
from fractions import Fraction

from imlp_audit.models.names.known import USUAL_SIZE, has_bottlenecks
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.image_sizes import Named
from imlp_audit.transcribe.recipes import write_recipe
from imlp_audit.transcribe.rows import RowNumbers
from imlp_audit.transcribe.units import NOUNS

# In GMACs on images of 224, by the number of layers: what papers print for the first form. With strides in the 3x3
# convolutions these models have more than 4.0, 7.7 and 11.4.
_FIRST = {"50": (3.7, 4.0), "101": (7.4, 7.7), "152": (11.2, 11.4)}
_LAYERS = re.compile(r"(?:legacy_|se)*resnex?t(\d+).*")


def printed_flops(numbers: RowNumbers, columns: TableColumns) -> Fraction | None:
    """Return the FLOPs that a row prints first, in G; None without any, or for images of another size than 224."""
    for at, guess in columns.numbers:
        text = numbers.printed.get(columns.slugs[at])
        if guess.measure is Measure.FLOPS and text is not None:
            printed = parse_printed(text, NumberForm(guess.unit, nouns=NOUNS))
            return (
                printed.value * printed.scale / 10**9
                if columns.sizes[columns.slugs[at]] in (None, USUAL_SIZE)
                else None
            )
    return None


def in_first_form(model: Named, side: int | None, flops: Fraction | None) -> tuple[str, tuple[str, ...]] | None:
    """Return why a ResNet may be meant as it was published first, and both forms; None where no FLOPs say so."""
    layers = _LAYERS.fullmatch(model[1])
    least, most = _FIRST.get(layers[1] if layers else "", (0, 0))
    if not has_bottlenecks(*model) or flops is None or side not in (None, USUAL_SIZE) or not least <= flops < most:
        return None
    recipe = write_recipe(model, side)
    reason = (
        "the printed FLOPs are those of its first form, with strides in its 1x1 convolutions (stride_in_1x1); "
        f"{model[0]} has them in the 3x3 ones"
    )
    return reason, (f"{recipe[:-1]}, stride_in_1x1: true}}", recipe)
