"""The closed formula of a model of language with a row's numbers put in, added up to the number that was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.explain import text_formula
from imlp_audit.explain.layout import INDENT, Lines, counted, table, words
from imlp_audit.explain.terms import Term, total
from imlp_audit.measure.conventions import Convention, ParameterConvention
from imlp_audit.models.reading import TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable

_NOUNS = {
    "V": "words",
    "C": "channels",
    "D_C": "hidden",
    "n": "tokens",
    "L": "layers",
    "P": "positions",
    "K": "classes",
    "d": "in the attention",
}
_HEADS = ("output layer", "classifier head")


@dataclass(frozen=True)
class TextSum:
    """A model as a sum of equal layers and what is around them, with the numbers that the symbols stand for."""

    around: Sequence[Term]
    layer: Sequence[Term]
    values: Mapping[str, int]

    @property
    def one_layer(self) -> int:
        """What one layer has."""
        return total(self.layer).at(self.values)

    @property
    def whole(self) -> int:
        """What the model has by the formula."""
        return total(self.around).at(self.values) + self.values["L"] * self.one_layer


def text_sum(recipe: Recipe, reading: TextReading, counting: ParameterConvention | Convention) -> TextSum:
    """Return a model's parameters, or with a convention of work its multiply-accumulates, as such a sum."""
    if not isinstance(counting, ParameterConvention):
        form = text_formula.multiply_accumulates(recipe, reading)
        return TextSum(form.around, form.layer, form.values)
    form = text_formula.parameters(recipe, reading)
    headless = counting is ParameterConvention.NO_HEAD
    return TextSum([t for t in form.around if not (headless and t.part in _HEADS)], form.layer, form.values)


def told(found: TextSum, noun: str) -> Lines:
    """Write the formula and the numbers part by part; the last line is the sum."""
    layer, layers = str(total(found.layer)), found.values["L"]
    rows = [
        *_rows(found, found.around),
        *((INDENT + part, formula, number) for part, formula, number in _rows(found, found.layer)),
        ("one layer", layer, readable(found.one_layer)),
        (counted(layers, "layer"), f"L ({layer})", readable(layers * found.one_layer)),
        ("sum", "", readable(found.whole)),
    ]
    numbers = ", ".join(f"{name} = {readable(number)} {_NOUNS[name]}" for name, number in found.values.items())
    return [f"The {noun} in closed form", *words(numbers), *table(rows, left=2)]


def _rows(found: TextSum, terms: Sequence[Term]) -> list[tuple[str, str, str]]:
    return [(term.part, str(term.formula), readable(term.formula.at(found.values))) for term in terms]
