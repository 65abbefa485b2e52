from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from timm.models.mlp_mixer import SpatialGatingBlock
from torch import nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import GmlpText
from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.readings import OutputLayer, Presence, SpatialMatrix, TextReading
from tests.models.wholes import assert_learns, assert_round_trips, macs, parameters, randomised, run


def build_gmlp_text(host: Host, reading: TextReading, classes: int | None) -> Any:  # noqa: ANN401  # each class has parts of its own
    return host.build(BuildRequest(None, classes, reading))


READING = TextReading(
    vocabulary=11,
    sequence_length=5,
    ffn_width=8,
    spatial_matrix=SpatialMatrix.FULL,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.TIED,
    pooler=Presence.NO,
)
SMALL = GmlpText(layers=2, width=6)

readings = st.builds(
    TextReading,
    vocabulary=st.integers(1, 20),
    sequence_length=st.integers(1, 6),
    ffn_width=st.integers(1, 4).map(lambda half: 2 * half),
    spatial_matrix=st.sampled_from(SpatialMatrix),
    gate_norm=st.sampled_from(Presence),
    output_layer=st.sampled_from(OutputLayer),
    pooler=st.sampled_from(Presence),
)
hosts = st.builds(
    lambda layers, width, half, gate, matrix, attention: GmlpText(
        layers=layers, width=width, hidden=half and 2 * half, gate=gate, spatial_matrix=matrix, attention=attention
    ),
    st.integers(1, 3),
    st.integers(1, 6),
    st.none() | st.integers(1, 4),
    st.sampled_from(Gate),
    st.none() | st.sampled_from(SpatialMatrix),
    st.none() | st.integers(1, 4),
)


def parameters_by_formula(m: GmlpText, r: TextReading, classes: int | None = None) -> int:
    c, s, v, d = m.width, r.sequence_length, r.vocabulary, m.attention
    hidden = m.hidden or r.ffn_width
    inner = m.gate.width(hidden)
    w = {SpatialMatrix.FULL: s * s, SpatialMatrix.TOEPLITZ: 2 * s - 1}[m.spatial_matrix or r.spatial_matrix]
    block = 2 * c + (c + 1) * hidden + bool(r.gate_norm) * 2 * inner + w + s + (inner + 1) * c
    if d is not None:
        block += (c + 1) * 3 * d + (d + 1) * inner
    head = {
        OutputLayer.NONE: 0,
        OutputLayer.TIED: 0,
        OutputLayer.TIED_BIAS: v,
        OutputLayer.MASKED_LM: (c + 1) * c + 2 * c + v,
        OutputLayer.UNTIED: (c + 1) * v,
    }[r.output_layer]
    if classes is not None:
        head = (c + 1) * classes
    return v * c + m.layers * block + 2 * c + bool(r.pooler) * (c + 1) * c + head


def macs_by_formula(m: GmlpText, r: TextReading, classes: int | None = None) -> int:
    """Of one text; looking up an embedding multiplies nothing."""
    c, s, v, d = m.width, r.sequence_length, r.vocabulary, m.attention
    hidden = m.hidden or r.ffn_width
    inner = m.gate.width(hidden)
    block = s * c * hidden + s * s * inner + s * inner * c
    if d is not None:
        block += s * c * 3 * d + 2 * s * s * d + s * d * inner
    words = {OutputLayer.NONE: 0, OutputLayer.MASKED_LM: s * c * c + s * c * v}.get(r.output_layer, s * c * v)
    return m.layers * block + bool(r.pooler) * c * c + (words if classes is None else c * classes)


@pytest.mark.slow
@given(host=hosts, reading=readings, classes=st.none() | st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_any_model_follows_the_closed_formulas(host: GmlpText, reading: TextReading, classes: int | None) -> None:
    build = partial(build_gmlp_text, host, reading, classes)
    assert parameters(build) == parameters_by_formula(host, reading, classes)
    assert macs(build) == macs_by_formula(host, reading, classes)


@given(host=hosts, reading=readings, classes=st.none() | st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_any_model_runs_and_round_trips(host: GmlpText, reading: TextReading, classes: int | None) -> None:
    build = partial(build_gmlp_text, host, reading, classes)
    ids = torch.randint(reading.vocabulary, (2, reading.sequence_length))
    assert_round_trips(build, ids)
    shapes = [tuple(output.shape) for output in run(build().eval(), (ids,))]
    if classes is None:
        scored = host.width if reading.output_layer is OutputLayer.NONE else reading.vocabulary
        assert shapes == [(2, reading.sequence_length, scored)] + [(2, host.width)] * bool(reading.pooler)
    else:
        assert shapes == [(2, classes)]


@pytest.mark.daily(16)
@pytest.mark.parametrize("attention", [None, 3])
@pytest.mark.parametrize("pooler", Presence)
@pytest.mark.parametrize("output_layer", OutputLayer)
@pytest.mark.parametrize("matrix", SpatialMatrix)
@pytest.mark.parametrize("classes", [None, 3])
def test_a_gradient_reaches_every_parameter(
    classes: int | None, matrix: SpatialMatrix, output_layer: OutputLayer, pooler: Presence, attention: int | None
) -> None:
    torch.manual_seed(0)
    reading = replace(READING, spatial_matrix=matrix, output_layer=output_layer, pooler=pooler)
    model = build_gmlp_text(SMALL.model_copy(update={"attention": attention}), reading, classes)
    assert_learns(model, torch.randint(READING.vocabulary, (2, READING.sequence_length)))


IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def test_the_states_are_those_of_timms_blocks() -> None:
    """With the split gate and a full matrix; timm has no embedding of tokens."""
    model = randomised(build_gmlp_text(SMALL, READING, None))
    theirs = nn.Sequential(
        *(SpatialGatingBlock(6, 5, mlp_ratio=8 / 6, norm_layer=nn.LayerNorm) for _ in range(SMALL.layers))
    ).double()
    names = {"u.": "mlp_channels.fc1.", "v.": "mlp_channels.fc2.", "sgu.": "mlp_channels.gate."}
    weights = dict(model.blocks.state_dict())
    for ours, timms in names.items():
        weights = {re.sub(rf"^(\d\.){re.escape(ours)}", rf"\1{timms}", name): w for name, w in weights.items()}
    theirs.load_state_dict(weights, strict=True)
    torch.testing.assert_close(model.states(IDS)[0], model.norm(theirs(model.embedding.weight[IDS])))


def test_what_the_head_is() -> None:
    """A tied matrix is the embedding's, so it stays when the head is left out; its bias goes."""
    biased = replace(READING, output_layer=OutputLayer.TIED_BIAS)
    sizes = [
        parameters(partial(build_gmlp_text, SMALL, reading, classes), ParameterConvention.NO_HEAD)
        for reading, classes in ((READING, None), (biased, None), (READING, 3))
    ]
    assert sizes == [parameters_by_formula(SMALL, READING)] * 3


def test_a_readings_odd_width_is_not_split() -> None:
    with pytest.raises(BuildError, match="ffn_width: a split gate needs an even number of channels, not 7"):
        build_gmlp_text(SMALL, replace(READING, ffn_width=7), None)
    with pytest.raises(ValidationError, match="hidden: a split gate needs an even number of channels, not 9"):
        GmlpText(layers=1, width=6, hidden=9)
    assert run(build_gmlp_text(GmlpText(layers=1, width=6, gate=Gate.SUM), replace(READING, ffn_width=7), 2), (IDS,))
