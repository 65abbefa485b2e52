"""The parameters and multiply-accumulates of models of language in closed form.

V words, C channels, D_C hidden channels, texts of n tokens, L layers; P positions of BERT, K classes, and d channels of
aMLP's tiny attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.errors import BuildError
from imlp_audit.explain.polynomial import Polynomial, symbol
from imlp_audit.explain.terms import Term, present, where
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.gmlp import Gate, GmlpText
from imlp_audit.models.reading import OutputLayer, SpatialMatrix, TextReading
from imlp_audit.models.recipe import Recipe

V, C, D, N, P, K, ATTENTION = (symbol(name) for name in ("V", "C", "D_C", "n", "P", "K", "d"))


@dataclass(frozen=True)
class TextForm:
    """A model's formula: what one layer has, what is around the layers, and the numbers that its symbols stand for."""

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
            raise BuildError(f"{recipe.name} is no model of language")
    around = present(*front, Term("pooler", where(reading.pooler, C * C + C)), _output(recipe, reading))
    return TextForm(layer, around, _values(recipe, reading))


def multiply_accumulates(recipe: Recipe, reading: TextReading) -> TextForm:
    """Return the formula of a model's work on one text."""
    match recipe.host:
        case GmlpText() as host:
            layer = _gmlp_layer_work(host)
        case Bert():
            layer = _BERT_LAYER_WORK
        case _:
            raise BuildError(f"{recipe.name} is no model of language")
    around = present(Term("pooler", where(reading.pooler, C * C)), _output_work(recipe, reading))
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
    gated = _gated(host)
    toeplitz = (host.spatial_matrix or reading.spatial_matrix) is SpatialMatrix.TOEPLITZ
    matrix = 2 * N + Polynomial.of(-1) if toeplitz else N * N
    tiny = C * 3 * ATTENTION + 3 * ATTENTION + ATTENTION * gated + gated
    return present(
        Term("norm", 2 * C),
        Term("FC1, from C to D_C", C * D + D),
        Term("gate: norm", where(reading.gate_norm, 2 * gated)),
        Term("gate: mixing of the tokens", matrix + N),
        Term("attention", where(host.attention, tiny)),
        Term("FC2, back to C", gated * C + C),
    )


def _gmlp_layer_work(host: GmlpText) -> tuple[Term, ...]:
    """Return the work; a Toeplitz matrix is written out and multiplied with like any other."""
    gated = _gated(host)
    tiny = 3 * N * C * ATTENTION + 2 * N * N * ATTENTION + N * ATTENTION * gated
    return present(
        Term("FC1, from C to D_C", N * C * D),
        Term("gate: mixing of the tokens", N * N * gated),
        Term("attention", where(host.attention, tiny)),
        Term("FC2, back to C", N * gated * C),
    )


def _gated(host: GmlpText) -> Polynomial:
    """Return the channels that go into the gate's matrix and leave the gate."""
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
    scores = where(reading.output_layer is not OutputLayer.NONE, N * C * V)
    return Term("output layer", scores + where(reading.output_layer is OutputLayer.MASKED_LM, N * C * C))


def _values(recipe: Recipe, reading: TextReading) -> Mapping[str, int]:
    """Return the numbers of a model, those of symbols that its formula lacks left out."""
    host = recipe.host
    assert isinstance(host, GmlpText | Bert)
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
