"""A caption may say what counts as one FLOP; the spec then has its convention alone."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.counters import find_counting
from imlp_audit.transcribe.write import DraftPaper, write_spec
from tests.transcribe.test_draft import table


@pytest.mark.parametrize(
    ("sentence", "convention"),
    [
        ("One multiply-accumulate is two operations", "torch"),
        ("A multiply-add counts as two FLOPs", "torch"),
        ("We count each MAC as 2 FLOPs", "torch"),
        ("FLOPs = 2 × MACs", "torch"),
        ("FLOPs = 2x MACs", "torch"),
        ("FLOPs are twice the number of multiply-adds", "torch"),
        ("We count two FLOPs per multiply-add", "torch"),
        ("Each multiply-add is counted as one FLOP", "macs"),
        ("FLOPs (multiply-adds) at 224x224", "macs"),
        ("FLOPs denote the number of multiply-adds", "macs"),
        ("FLOPs refers to MACs", "macs"),
        ("FLOPs are not multiply-adds", None),
        ("Some count a MAC as two FLOPs", None),
        ("FLOPs and MACs", None),
        ("FLOPs are measured at 224x224", None),
        ("Two models with 2 GFLOPs per image", None),
        ("FLOPs (multiply-adds). One MAC is two FLOPs", None),
        ("One MAC is two FLOPs while others count one FLOP per MAC", None),
    ],
)
def test_a_caption_declares_a_convention_where_it_is_clear(sentence: str, convention: str | None) -> None:
    found = find_counting(f"Results on ImageNet. {sentence}.")
    assert (found[0] if found else None) == convention


@pytest.mark.parametrize(
    ("heading", "caption", "line"),
    [
        (
            "FLOPs (G)",
            "One multiply-accumulate is two operations.",
            "  flops: [torch]  # the caption says 'One multiply",
        ),
        ("FLOPs (G)", "FLOPs (multiply-adds).", "  flops: [macs]  # the caption says 'FLOPs (multiply-adds)'"),
        ("FLOPs (G)", "Results.", "  flops: [fvcore, macs]  # the source does not say"),
        ("MACs (G)", "One MAC is two FLOPs.", "  flops: [macs]  # by the heading"),
        ("Params (M)", "One MAC is two FLOPs.", None),
    ],
)
def test_a_spec_has_the_convention_that_the_source_declares(heading: str, caption: str, line: str | None) -> None:
    text = write_spec(table(f"Model | {heading}", "ResNet-50 | 8.2", caption=caption), DraftPaper("a", "A", "B", "v1"))
    lines = [one for one in text.splitlines() if one.startswith("  flops: [")]
    assert len(lines) == (line is not None)
    assert line is None or lines[0].startswith(line)
