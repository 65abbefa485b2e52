"""What in a label is a citation, and what may be a part of the model's name."""

from __future__ import annotations

import time

import pytest

from imlp_audit.transcribe.labels import without_citations
from tests.transcribe.drafting import named


@pytest.mark.parametrize(
    "citation",
    [
        " [24, 58]", "[3–5]", " (He et al., 2016)", " [Liu et al. 2021]", " (Touvron et al. 2021)",
        " (He et al., 2016a; Liu, 2021)", " (He et al., 2016a,b)", " (Liu et al., 2021, 2022)", " (Tan & Le, 2019)",
        " [Tan and Le 2019]", " (van der Maaten, 2008)", " (Müller-Eberstein et al., 2021; O’Neil, 1999)",
        " (He, Zhang, Ren, and Sun 2016)", " (see Liu, 2021)", " (CVPR 2022)", " (ICCV'21)", "[[51]]",
    ],
)  # fmt: skip
def test_a_citation_is_no_part_of_the_name(citation: str) -> None:
    assert without_citations(f"ResNet-50{citation}") == "ResNet-50"
    assert without_citations(f"ResNet-50{citation}†") == "ResNet-50†"
    assert named(f"ResNet-50{citation}") == [True]


@pytest.mark.parametrize(
    "rest",
    [
        " (2016)", " [2016a]", " (300)", " (ours)", " (ours, 2021)", " (Ours 2021)", " (Distilled, 2021)",
        " (with SE, 2020)", " (w/ SE 2020)", " (x2020)", " (Liu, 1821)", " (384, Liu 2021)", " (He et al.)",
        " (SE-2016)", " (SE, 2016a)", " (SE, 2016; Liu, 2021)", " X (2016)",
    ],
)  # fmt: skip
def test_what_is_no_citation_stays_in_the_label(rest: str) -> None:
    assert without_citations(f"ResNet-50{rest}") == f"ResNet-50{rest}"


@pytest.mark.parametrize(
    "text", ["(" + "Ab " * 100, "(" + "A, " * 100 + "2016", "(Ab 2016, " * 40, "(De " * 90, " A and" * 50]
)
def test_a_long_label_is_read_at_once(text: str) -> None:
    started = time.perf_counter()
    without_citations(text[:300])
    assert time.perf_counter() - started < 0.2
