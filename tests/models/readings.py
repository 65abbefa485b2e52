"""The two named readings of the IMLP paper, and any other."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import strategies as st

from imlp_audit.models.reading import (
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Presence,
    Reading,
)

RELEASED = Reading(
    agelu_parameters=AGeLUParameters.PER_CHANNEL,
    fc1_bias=Presence.YES,
    fc2_bias=Presence.YES,
    concat_norm=ConcatNorm.LAYER,
    output_norm=OutputNorm.LAYER,
    depthwise_bias=Presence.YES,
    depthwise_norm=DepthwiseNorm.BATCH,
    depthwise_activation=DepthwiseActivation.GELU,
    depthwise_skip=Presence.YES,
    class_token=ClassToken.REMOVED,
)
AS_WRITTEN = Reading(
    agelu_parameters=AGeLUParameters.PER_CHANNEL,
    fc1_bias=Presence.YES,
    fc2_bias=Presence.YES,
    concat_norm=ConcatNorm.NONE,
    output_norm=OutputNorm.NONE,
    depthwise_bias=Presence.YES,
    depthwise_norm=DepthwiseNorm.BATCH,
    depthwise_activation=DepthwiseActivation.GELU,
    depthwise_skip=Presence.NO,
    class_token=ClassToken.KEPT,
)

readings = st.builds(
    Reading,
    agelu_parameters=st.sampled_from(AGeLUParameters),
    fc1_bias=st.sampled_from(Presence),
    fc2_bias=st.sampled_from(Presence),
    concat_norm=st.sampled_from(ConcatNorm),
    output_norm=st.sampled_from(OutputNorm),
    depthwise_bias=st.sampled_from(Presence),
    depthwise_norm=st.sampled_from(DepthwiseNorm),
    depthwise_activation=st.sampled_from(DepthwiseActivation),
    depthwise_skip=st.sampled_from(Presence),
    class_token=st.sampled_from(ClassToken),
)

AXES = tuple(field.name for field in fields(Reading))
