"""A source may name the program that counted its FLOPs: the spec has its convention, or leaves the numbers open."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.counters import find_counter
from imlp_audit.transcribe.write import DraftPaper, write_spec
from tests.transcribe.test_draft import table


@pytest.mark.parametrize(
    ("sentence", "tool", "convention", "certain"),
    [
        ("The numbers of MACs are counted by fvcore [12] library", "fvcore", "fvcore", True),
        ("We use fvcore to compute FLOPs", "fvcore", "fvcore", True),
        ("FLOPs are measured with detectron2's flop counter", "fvcore", "fvcore", True),
        ("FLOPs are computed by mmengine", "fvcore", "fvcore", True),
        ("FLOPs are counted with FlopCounterMode", "FlopCounterMode", "torch", True),
        ("Numbers with † are counted by fvcore", "fvcore", "fvcore", False),
        ("FLOPs of the others are counted by fvcore", "fvcore", "fvcore", False),
        ("FLOPs are counted by fvcore. One MAC is two FLOPs", "fvcore", None, True),
        ("FLOPs are counted by fvcore or thop", "thop", None, False),
        ("FLOPs are counted with ptflops", "ptflops", None, True),
        ("FLOPs are measured using the get_flops script of mmdetection", "mmcv", None, True),
        ("FLOPs are computed using mmdetection", "mmcv", None, True),
        ("Trained with mmdetection. FLOPs are at 224x224", None, None, False),
        ("Object detection with Detectron2", None, None, False),
        ("FLOPs are measured at 224x224", None, None, False),
    ],
)
def test_a_caption_may_name_the_counter(sentence: str, tool: str | None, convention: str | None, certain: bool) -> None:
    found = find_counter(f"Results. {sentence}.", ["FLOPs (G)"], [])
    assert (found and (found.tool, found.convention, found.certain)) == (tool and (tool, convention, certain))


def test_a_counter_of_two_operations_does_not_fit_a_heading_of_one() -> None:
    (fits, not_so) = (find_counter("By FlopCounterMode", [one], []) for one in ("FLOPs", "MACs"))
    assert fits is not None
    assert not_so is not None
    assert (fits.convention, not_so.convention) == ("torch", None)


@pytest.mark.parametrize(
    ("heading", "caption", "line", "checked"),
    [
        ("MACs (G)", "MACs are counted by fvcore.", "  flops: [fvcore]  # the source says 'MACs are", True),
        ("FLOPs (G)", "FLOPs are counted by fvcore.", "  flops: [fvcore]  # the source says 'FLOPs are", True),
        ("MACs (G)", "MACs are counted.", "  flops: [macs]  # by the heading", True),
        ("MACs (G)", "MACs with † are counted by fvcore.", "  flops: [fvcore, macs]  # the source says", True),
        ("FLOPs (fvcore)", "Results.", "  flops: [fvcore]  # the source says 'FLOPs (fvcore)'", True),
        ("FLOPs (thop)", "Results.", "  flops: [fvcore, macs]  # the source says 'FLOPs (thop)'", False),
        ("MACs (G)", "MACs are counted with ptflops.", "  flops: [fvcore, macs]  # the source says 'MACs", False),
        ("Params (M)", "Counted by ptflops.", None, True),
    ],
)
def test_a_spec_has_the_counter_that_the_source_names(
    heading: str, caption: str, line: str | None, checked: bool
) -> None:
    draft = table(f"Model | {heading}", "ResNet-50 | 4.1", caption=f"At 224x224. {caption}")
    text = write_spec(draft, DraftPaper("a", "A", "B", "v1"))
    lines = [one for one in text.splitlines() if one.startswith("  flops: [")]
    assert len(lines) == (line is not None)
    assert line is None or lines[0].startswith(line)
    assert ("needs: a convention for what" in text) is not checked
