from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import Bert
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.readings import OutputLayer, Presence, SpatialMatrix, TextReading
from imlp_audit.models.settings import example_inputs


def build_bert(host: Host, reading: TextReading, classes: int | None) -> Any:  # noqa: ANN401  # each class has parts of its own
    return host.build(BuildRequest(None, classes, reading))


RELEASED = TextReading(
    vocabulary=30522,
    sequence_length=128,
    ffn_width=3072,
    spatial_matrix=SpatialMatrix.FULL,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.MASKED_LM,
    pooler=Presence.NO,
)
"""The vocabulary and the pre-training head of the released models (arXiv 1810.04805)."""

TINY = Bert(layers=2, width=24, heads=4, hidden=48, positions=16)
SHORT = replace(RELEASED, vocabulary=50, sequence_length=7)
OUTPUTS = [(output, pooler) for output, pooler in product(OutputLayer, Presence)]


def _ids(batch: int = 3) -> Tensor:
    return torch.randint(50, (batch, 7))


def encoder_parameters(host: Bert, vocabulary: int) -> int:
    """Embeddings of words, positions and two segments; in a layer four matrices of attention and two of the FFN."""
    c, d = host.width, host.hidden
    embeddings = (vocabulary + host.positions + 2) * c + 2 * c
    return embeddings + host.layers * (4 * (c * c + c) + c * d + d + d * c + c + 2 * 2 * c)


def output_parameters(kind: OutputLayer, c: int, vocabulary: int) -> int:
    match kind:
        case OutputLayer.NONE | OutputLayer.TIED:
            return 0
        case OutputLayer.TIED_BIAS:
            return vocabulary
        case OutputLayer.MASKED_LM:
            return c * c + c + 2 * c + vocabulary
        case OutputLayer.UNTIED:
            return c * vocabulary + vocabulary


def macs(host: Bert, reading: TextReading) -> int:
    """Two products of attention beside the matrices; the scores of the vocabulary, the pooler's one token."""
    c, n = host.width, reading.sequence_length
    encoder = host.layers * n * (4 * c * c + 2 * n * c + 2 * c * host.hidden)
    scores = 0 if reading.output_layer is OutputLayer.NONE else n * c * reading.vocabulary
    transform = n * c * c if reading.output_layer is OutputLayer.MASKED_LM else 0
    return encoder + scores + transform + (c * c if reading.pooler else 0)


@pytest.mark.daily(6)
@pytest.mark.parametrize(("output", "pooler"), OUTPUTS)
@pytest.mark.parametrize("host", [Bert(layers=6), TINY], ids=["published", "tiny"])
def test_parameters_and_macs_follow_the_closed_formulas(host: Bert, output: OutputLayer, pooler: Presence) -> None:
    reading = replace(SHORT if host is TINY else RELEASED, output_layer=output, pooler=pooler)
    with torch.device("meta"):
        model = build_bert(host, reading, None)
        inputs = example_inputs(model, 2)
    c, vocabulary = host.width, reading.vocabulary
    rest = encoder_parameters(host, vocabulary) + (c * c + c if pooler else 0)
    assert count_parameters(model) == rest + output_parameters(output, c, vocabulary)
    assert count_parameters(model, ParameterConvention.NO_HEAD) == rest
    ledger = measure(model, *inputs)
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == 2 * macs(host, reading)
    assert not ledger.unknown
    assert Operation.FVCORE_EXCESS not in {operation for _, operation in ledger.work}  # it sees attention's products


@pytest.mark.daily(6)
@pytest.mark.parametrize(("output", "pooler"), OUTPUTS)
@pytest.mark.parametrize("classes", [None, 5])
def test_computes_with_real_weights(output: OutputLayer, pooler: Presence, classes: int | None) -> None:
    """Gradient reaches every parameter, and the state goes back in."""
    torch.manual_seed(3)
    reading = replace(SHORT, output_layer=output, pooler=pooler)
    model = build_bert(TINY, reading, classes).eval()
    outputs = model(_ids())
    found = outputs if isinstance(outputs, tuple) else (outputs,)
    if classes:
        assert [tuple(x.shape) for x in found] == [(3, classes)]
    else:
        states = (3, 7, 24 if output is OutputLayer.NONE else 50)
        assert [tuple(x.shape) for x in found] == [states, (3, 24)][: 1 + bool(pooler)]
    assert all(torch.isfinite(x).all() for x in found)
    torch.autograd.backward([x.square().sum() for x in found])
    assert [name for name, p in model.named_parameters() if p.grad is None] == []
    build_bert(TINY, reading, classes).load_state_dict(model.state_dict(), strict=True)


def test_longer_texts_than_positions_are_refused() -> None:
    with pytest.raises(BuildError, match="sequence_length: 17 tokens, but only 16 positions"):
        build_bert(TINY, replace(SHORT, sequence_length=17), None)
