"""Readings of a paper: from axes with reasons to one record for each family of models."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from imlp_audit.models.readings import (
    Family,
    OutputLayer,
    PaperReading,
    Presence,
    Reading,
    ResMlpForm,
    ResMlpReading,
    SpatialMatrix,
    TextReading,
    axes_of,
)
from imlp_audit.spec.schema import NOT_STATED, NamedReading
from tests.models.readings import AS_WRITTEN, RELEASED, readings

TEXT = TextReading(
    vocabulary=30000,
    sequence_length=128,
    ffn_width=3072,
    spatial_matrix=SpatialMatrix.TOEPLITZ,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.MASKED_LM,
    pooler=Presence.NO,
)

texts = st.builds(
    TextReading,
    vocabulary=st.integers(1, 10**6),
    sequence_length=st.integers(1, 10**6),
    ffn_width=st.integers(1, 10**6),
    spatial_matrix=st.sampled_from(SpatialMatrix),
    gate_norm=st.sampled_from(Presence),
    output_layer=st.sampled_from(OutputLayer),
    pooler=st.sampled_from(Presence),
)
papers = st.builds(
    PaperReading,
    imlp=st.none() | readings,
    resmlp=st.none() | st.builds(ResMlpReading, st.sampled_from(ResMlpForm), st.sampled_from(Presence)),
    text=st.none() | texts,
)


def written(reading: PaperReading) -> dict[str, dict[str, str]]:
    """A reading as a spec writes it: each axis as text, with a reason."""
    families = [family for family in (reading.imlp, reading.resmlp, reading.text) if family is not None]
    return {
        axis: {"value": str(value), "because": f"of {axis}"}
        for family in families
        for axis, value in asdict(family).items()
    }


@given(papers)
def test_a_reading_is_what_its_axes_say(reading: PaperReading) -> None:
    axes = written(reading)
    if not axes:
        with pytest.raises(ValidationError, match="a reading must state something"):
            NamedReading.model_validate(axes)
        return
    named = NamedReading.model_validate(axes)
    assert named.reading() == reading
    assert {axis: choice.because for axis, choice in named.choices.items()} == {axis: f"of {axis}" for axis in axes}


@given(papers.filter(lambda reading: len(written(reading)) > 1), st.data())
def test_an_axis_that_is_not_stated_has_its_default(reading: PaperReading, data: st.DataObject) -> None:
    axes = written(reading)
    lost = data.draw(st.sampled_from(sorted(axes)))
    named = NamedReading.model_validate({axis: choice for axis, choice in axes.items() if axis != lost})
    family = next(family for family in Family if lost in axes_of(family))
    assert lost not in named.stated
    if len(axes_of(family)) == 1:
        assert named.reading() == replace(reading, **{family: None})  # type: ignore[arg-type]
    else:
        assert getattr(named.reading().of(family), lost) == axes_of(family)[lost].default
        assert written(named.reading()).keys() == axes.keys()
        assert named.choices[lost].because == NOT_STATED


@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED])
def test_the_families_of_a_reading_are_apart(reading: Reading) -> None:
    block, text = PaperReading(imlp=reading), PaperReading(text=TEXT)
    both = NamedReading.model_validate(written(block) | written(text)).reading()
    assert both == PaperReading(imlp=reading, text=TEXT)
    assert both.resmlp is None


def test_axes_are_listed_in_one_order_however_they_are_written() -> None:
    axes = written(PaperReading(RELEASED, ResMlpReading(ResMlpForm.EQUATIONS, Presence.YES), TEXT))
    backwards = dict(reversed(list(axes.items())))
    names = [name for name in NamedReading.model_fields if name != "blocks"]
    assert list(NamedReading.model_validate(backwards).choices) == names


def test_a_family_without_a_stated_axis_is_not_answered() -> None:
    named = NamedReading.model_validate(written(PaperReading(text=TEXT)))
    assert (named.reading().imlp, named.reading().resmlp) == (None, None)
    assert tuple(named.choices) == tuple(axes_of(Family.TEXT))
