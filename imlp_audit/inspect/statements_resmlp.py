"""ResMLP's sentences about its learned weights, held against those of a checkpoint.

The paper shows ResMLP-S24; parts of its depth are taken in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil

from imlp_audit.inspect.sentences_resmlp import (
    AXES,
    LOCAL,
    LONG,
    LONGER,
    NO_ZEROS,
    SHIFTED,
    SPARSE,
    SPARSER,
    SPIKE,
)
from imlp_audit.inspect.statements import Sentence, above_half, most, number
from imlp_audit.records.inspection import CrossPatchLayer, Pattern, Sparsity, Statement

Layers = Sequence[CrossPatchLayer]
Found = tuple[bool, str, Sequence[float | None]]
"""Whether a sentence holds, why, and what was measured in each layer."""

_FEWEST = 4
_OF_RATES = (SPARSER, SPARSE, NO_ZEROS)


def statements(layers: Layers, *, whole: bool) -> Iterator[Statement]:
    """Judge every sentence. `whole` says that all layers could be looked at."""
    for sentence, judge in _JUDGES.items():
        reason = _why_not(sentence, layers, whole=whole)
        if reason is not None:
            yield sentence.unverifiable(reason)
        else:
            holds, told, values = judge(layers)
            yield sentence.found(holds, told + _stand_in(layers), [layer.name for layer in layers], values)


def _why_not(sentence: Sentence, layers: Layers, *, whole: bool) -> str | None:
    """Say why a sentence cannot be judged; None where it can."""
    if not whole:
        return "some layers could not be looked at; the notes say which and why"
    if len(layers) < _FEWEST:
        return f"{len(layers)} layers have no first and last ones; {_FEWEST} do"
    if sentence in _OF_RATES:
        return None
    without = next((layer for layer in layers if layer.pattern is None), None)
    if without is not None:
        return f"{without.name}: {without.why_no_pattern}"
    if sentence in (LOCAL, SPIKE) and any(one.radius is None for one in _patterns(layers)):
        return "the grid is too small to tell local from global"
    return None


def _local(layers: Layers) -> Found:
    patterns = _patterns(layers)
    return _early([one.local for one in patterns], patterns[0].local_by_chance)


def _shifted(layers: Layers) -> Found:
    patterns = _patterns(layers)
    return _early([one.shifted for one in patterns], patterns[0].shifted_by_chance)


def _early(shares: Sequence[float | None], chance: float | None) -> Found:
    early = shares[: _quarter(shares)]
    holds = [above_half(share) for share in early]
    told = f"{sum(holds)} of the first {len(early)} layers: {', '.join(map(number, early))}; {number(chance)} by chance"
    return most(holds), told, shares


def _axes(layers: Layers) -> Found:
    factors = [one.axes for one in _patterns(layers)]
    holds = [factor is not None and factor >= 2 for factor in factors]
    return 4 * sum(holds) >= len(holds), f"{sum(holds)} of {len(holds)} layers{_which(holds)}", factors


def _spike(layers: Layers) -> Found:
    patterns = _patterns(layers)
    holds = [above_half(one.spiked) and not above_half(one.local) for one in patterns]
    last = ceil(len(layers) * 7 / 24)
    before, after = holds[:-last], holds[-last:]
    told = f"{sum(after)} of the last {last} layers and {sum(before)} of the {len(before)} before{_which(holds)}"
    return all(after) and 2 * sum(before) < len(before), told, [one.spiked for one in patterns]


def _sparser(layers: Layers) -> Found:
    rates = [min(_rates(one.across)) for one in layers]
    holds = [rate > max(_rates(one.channels)) for rate, one in zip(rates, layers, strict=True)]
    return most(holds), f"{sum(holds)} of {len(layers)} layers; on average {_means(layers)}", rates


def _sparse(layers: Layers) -> Found:
    excess = [min(one.rate - one.normal for one in layer.sparsity) for layer in layers]
    holds = [value > 0 for value in excess]
    normal = ", ".join(f"{one.matrix} {one.normal:.1%}" for one in layers[0].sparsity)
    told = f"{sum(holds)} of {len(layers)} layers; on average {_means(layers)}; normal numbers {normal}"
    return most(holds), told, excess


def _no_zeros(layers: Layers) -> Found:
    zeros = [sum(one.zeros for one in layer.sparsity) for layer in layers]
    numbers = sum(one.of for layer in layers for one in layer.sparsity)
    return not any(zeros), f"{sum(zeros)} of {numbers} numbers are 0", [float(count) for count in zeros]


def _long(layers: Layers) -> Found:
    furthest = [one.far for one in _patterns(layers)]
    rate, far = min(_rates(layers[1].across)), furthest[1]
    told = f"{number(far)} of the maximum in layer 2, where {rate:.1%} of the weights are below 5 % of it"
    return above_half(rate) and far is not None and 20 * far >= 1, told, furthest


def _longer(layers: Layers) -> Found:
    reaches = [one.reach for one in _patterns(layers)]
    known = [reach or 0.0 for reach in reaches]  # a patch that takes from itself alone reaches nowhere
    part = _quarter(layers)
    first, last = sum(known[:part]) / part, sum(known[-part:]) / part
    told = f"{first:.2f} patches on average over the first {part} layers, {last:.2f} over the last {part}"
    return last - first >= 1, told, reaches


_JUDGES: dict[Sentence, Callable[[Layers], Found]] = {
    LOCAL: _local,
    SHIFTED: _shifted,
    AXES: _axes,
    SPIKE: _spike,
    SPARSER: _sparser,
    SPARSE: _sparse,
    NO_ZEROS: _no_zeros,
    LONG: _long,
    LONGER: _longer,
}


def _patterns(layers: Layers) -> list[Pattern]:
    return [layer.pattern for layer in layers if layer.pattern is not None]


def _quarter(layers: Sequence[object]) -> int:
    return ceil(len(layers) / 4)


def _rates(matrices: Sequence[Sparsity]) -> list[float]:
    return [one.rate for one in matrices]


def _means(layers: Layers) -> str:
    """Tell each matrix's rate, on average over the layers."""
    by_letter: dict[str, list[float]] = {}
    for layer in layers:
        for one in layer.sparsity:
            by_letter.setdefault(one.matrix, []).append(one.rate)
    return ", ".join(f"{letter} {sum(rates) / len(rates):.1%}" for letter, rates in by_letter.items())


def _which(holds: Sequence[bool]) -> str:
    which = ", ".join(str(at) for at, one in enumerate(holds, start=1) if one)
    return f" (layers {which})" if which else ""


def _stand_in(layers: Layers) -> str:
    """Say that A is not what the sentence is about where an MLP mixes the patches."""
    return " (of W1 and W2, or the derivative of their MLP, in A's place)" if layers[0].mlp else ""
