"""The parameters and multiply-accumulates of language models in closed form.

V words, C channels, D_C hidden channels, n tokens, L layers; P positions (BERT), K classes, and d channels of aMLP's
tiny attention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.errors import BuildError
from imlp_audit.explain.polynomial import Polynomial, Term, include_if, keep_present, symbol, total
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.gmlp import Gate, GmlpText
from imlp_audit.models.reading import OutputLayer, SpatialMatrix, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.explanation import FormulaTerm, Noun, TextFormula

V, C, D, N, P, K, ATTENTION = (symbol(name) for name in ("V", "C", "D_C", "n", "P", "K", "d"))

_HEADS = ("output layer", "classifier head")


@dataclass(frozen=True)
class TextForm:
    """A model's formula: one layer, what is around the layers, and the values of its symbols."""

    layer: tuple[Term, ...]
    around: tuple[Term, ...]
    values: Mapping[str, int]


def parameters(recipe: Recipe, reading: TextReading) -> TextForm:
    """Return the formula of a model's parameters."""
    match recipe.host:
        case GmlpText() as host:
            layer = _gmlp_layer(host, reading)
            front: tuple[Term, ...] = (Term("token embedding", V * C), Term("last norm", 2 * C))
        case Bert():
            layer = _BERT_LAYER
            front = (
                Term("token embedding", V * C),
                Term("positions", P * C),
                Term("segment embedding", 2 * C),
                Term("norm of the embedding", 2 * C),
            )
        case _:
            raise BuildError(f"{recipe.name} is not a language model")
    around = keep_present(*front, Term("pooler", include_if(reading.pooler, C * C + C)), _output(recipe, reading))
    return TextForm(layer, around, _values(recipe, reading))


def multiply_accumulates(recipe: Recipe, reading: TextReading) -> TextForm:
    """Return the formula of a model's work on one text."""
    match recipe.host:
        case GmlpText() as host:
            layer = _gmlp_layer_work(host)
        case Bert():
            layer = _BERT_LAYER_WORK
        case _:
            raise BuildError(f"{recipe.name} is not a language model")
    around = keep_present(Term("pooler", include_if(reading.pooler, C * C)), _output_work(recipe, reading))
    return TextForm(layer, around, _values(recipe, reading))


_BERT_LAYER = (
    Term("attention", 4 * (C * C + C)),
    Term("FC1", C * D + D),
    Term("FC2", D * C + C),
    Term("two norms", 4 * C),
)
_BERT_LAYER_WORK = (
    Term("attention", 4 * N * C * C + 2 * N * N * C),
    Term("FC1", N * C * D),
    Term("FC2", N * D * C),
)


def _gmlp_layer(host: GmlpText, reading: TextReading) -> tuple[Term, ...]:
    gated = _gate_channels(host)
    toeplitz = (host.spatial_matrix or reading.spatial_matrix) is SpatialMatrix.TOEPLITZ
    matrix = 2 * N + Polynomial.of(-1) if toeplitz else N * N
    tiny = C * 3 * ATTENTION + 3 * ATTENTION + ATTENTION * gated + gated
    return keep_present(
        Term("norm", 2 * C),
        Term("FC1, from C to D_C", C * D + D),
        Term("gate: norm", include_if(reading.gate_norm, 2 * gated)),
        Term("gate: mixing of the tokens", matrix + N),
        Term("attention", include_if(host.attention, tiny)),
        Term("FC2, back to C", gated * C + C),
    )


def _gmlp_layer_work(host: GmlpText) -> tuple[Term, ...]:
    """Return the work; a Toeplitz matrix is expanded and multiplied like any other."""
    gated = _gate_channels(host)
    tiny = 3 * N * C * ATTENTION + 2 * N * N * ATTENTION + N * ATTENTION * gated
    return keep_present(
        Term("FC1, from C to D_C", N * C * D),
        Term("gate: mixing of the tokens", N * N * gated),
        Term("attention", include_if(host.attention, tiny)),
        Term("FC2, back to C", N * gated * C),
    )


def _gate_channels(host: GmlpText) -> Polynomial:
    """Return the number of channels that enter the gate's matrix and leave the gate."""
    return D * Fraction(1, 2) if host.gate is Gate.SPLIT else D


def _output(recipe: Recipe, reading: TextReading) -> Term:
    if recipe.classes is not None:
        return Term("classifier head", C * K + K)
    sizes = {
        OutputLayer.NONE: Polynomial({}),
        OutputLayer.TIED: Polynomial({}),
        OutputLayer.TIED_BIAS: V,
        OutputLayer.MASKED_LM: C * C + 3 * C + V,
        OutputLayer.UNTIED: C * V + V,
    }
    return Term("output layer", sizes[reading.output_layer])


def _output_work(recipe: Recipe, reading: TextReading) -> Term:
    if recipe.classes is not None:
        return Term("classifier head", C * K)
    scores = include_if(reading.output_layer is not OutputLayer.NONE, N * C * V)
    return Term("output layer", scores + include_if(reading.output_layer is OutputLayer.MASKED_LM, N * C * C))


def _values(recipe: Recipe, reading: TextReading) -> Mapping[str, int]:
    """Return the values of the symbols that a model's formula can have."""
    host = recipe.host
    if not isinstance(host, GmlpText | Bert):
        raise BuildError(f"{recipe.name} is not a language model")
    own = {"d": host.attention} if isinstance(host, GmlpText) else {"P": host.positions}
    numbers = {
        "V": reading.vocabulary,
        "C": host.width,
        "D_C": host.hidden or reading.ffn_width,
        "n": reading.sequence_length,
        "L": host.layers,
        "K": recipe.classes,
        **own,
    }
    return {name: number for name, number in numbers.items() if number is not None}


@dataclass(frozen=True)
class TextSum:
    """A model as a sum of equal layers and what is around them, with the values of the symbols."""

    around: Sequence[Term]
    layer: Sequence[Term]
    values: Mapping[str, int]

    @property
    def one_layer(self) -> int:
        """The number of one layer."""
        return total(self.layer).at(self.values)

    @property
    def whole(self) -> int:
        """The number of the model by the formula."""
        return total(self.around).at(self.values) + self.values["L"] * self.one_layer


def text_sum(recipe: Recipe, reading: TextReading, counting: ParameterConvention | Convention) -> TextSum:
    """Return a model's parameters, or with a convention of work its multiply-accumulates, as such a sum."""
    if not isinstance(counting, ParameterConvention):
        form = multiply_accumulates(recipe, reading)
        return TextSum(form.around, form.layer, form.values)
    form = parameters(recipe, reading)
    headless = counting is ParameterConvention.NO_HEAD
    return TextSum([t for t in form.around if not (headless and t.part in _HEADS)], form.layer, form.values)


def text_formula(found: TextSum, noun: Noun, measured: int) -> TextFormula:
    """Return the formula and the numbers part by part, and the measured number."""
    return TextFormula(
        noun=noun,
        values=dict(found.values),
        around=_with_amounts(found, found.around),
        layer=_with_amounts(found, found.layer),
        one_layer=FormulaTerm(part="one layer", formula=str(total(found.layer)), amount=found.one_layer),
        layers=found.values["L"],
        total=found.whole,
        measured=measured,
    )


def _with_amounts(found: TextSum, terms: Sequence[Term]) -> tuple[FormulaTerm, ...]:
    return tuple(
        FormulaTerm(part=term.part, formula=str(term.formula), amount=term.formula.at(found.values)) for term in terms
    )
