"""The two named readings of the IMLP paper, and any other."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import strategies as st

from imlp_audit.models.readings import (
    PRINTED,
    ClassToken,
    ConcatNorm,
    Family,
    OutputNorm,
    Presence,
    Reading,
    axes_of,
)

AS_WRITTEN = replace(PRINTED, depthwise_bias=Presence.YES)
RELEASED = replace(
    AS_WRITTEN,
    concat_norm=ConcatNorm.LAYER,
    output_norm=OutputNorm.LAYER,
    depthwise_skip=Presence.YES,
    class_token=ClassToken.REMOVED,
)

readings = st.builds(Reading, **{name: st.sampled_from(axis.values) for name, axis in axes_of(Family.IMLP).items()})

AXES = tuple(field.name for field in fields(Reading))
