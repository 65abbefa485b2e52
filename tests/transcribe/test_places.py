"""What is counted as a quantity (and no number of a heading, year or name), and where numbered parts end."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.places import find_parts, read_numbers
from imlp_audit.transcribe.sources import DocumentLine


def quantities(text: str, *, pages: bool = False) -> list[str]:
    """Return the numbers of a text that are quantities; with `pages`, a form feed ends a page."""
    lines = [
        DocumentLine(at, line, page if pages else None)
        for page, part in enumerate(text.split("\f"), start=1)
        for at, line in enumerate(part.split("\n"), start=1)
    ]
    return [found.text for _, found, apart in read_numbers(lines) if apart is None]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a batch of 2048, for 1990 steps (2048)", ["2048", "1990", "2048"]),
        ("(Lee et al., 2019; Kim & Yu, 2021), He et al. (2019) and Park and Kim (2022)", []),
        ("Table 3 - 72.6% and Figure 4 – 5.1, Table 2: 7 rows", ["72.6%", "5.1", "7"]),
        ("Tables 2, 3 and 4, Sec. 4.1-4.3, Eqs. (1) and (2), Appendix A.2 and A.3", []),
        ("Table 2, 3 of them", ["3"]),
        ("ImageNet-1k, ViT-B/16, ResNet50, BiT-R152x4 and top-1 in 3D", []),
        ("Acc/72.6, a 12-layer model, 16x16 patches, 1.28M images, 4C", ["72.6", "12", "16", "16", "1.28", "4"]),
        ("$x_1 + y_{i=2} + 72.2_{\\pm 3} + 5.1_{0.3} + z^{7}$", ["72.2", "3", "5.1", "0.3", "7"]),
        ("https://a.org/12 and arXiv:2105.03404v2", []),
        ("(1) One\n(2) Two of 9\n(12) layers", ["9", "12"]),
        ("it reaches\n72. Then we use\n3. of them", ["72", "3"]),
        ("shown in [2], of [3, 9] and in [0, 1]\n[2] B. Lee. Nets.\n[3] C. Kim.", ["3", "9", "0", "1"]),
    ],
)
def test_what_is_a_quantity_in_a_line(text: str, left: list[str]) -> None:
    assert quantities(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\n3 Related work on ResNet50\n\nText", []),
        ("## 3.1 related work", []),
        ("We train on\n50 thousand images of\nthe set", ["50"]),
        ("\n50 thousand images\n\n", ["50"]),
        ("These\n12 Layers are used for the whole of it", ["12"]),
        ("1 Introduction\nText\n2 METHOD\n2.1 A more powerful function\nText on\n4.1 Mega of 7", ["4.1", "7"]),
        ("1 METHOD\nText\n5.1 A more powerful function\nText", ["5.1"]),
    ],
)
def test_a_line_that_begins_with_a_number_is_a_heading_only_if_it_looks_like_one(text: str, left: list[str]) -> None:
    assert quantities(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("References\n[1] A. Lee. Nets 2019.\nA Details\nWe use 9", ["9"]),
        ("REFERENCES\nA. Lee. Nets, pp. 1-9, 2019.\nTable 4: More\nNet\t5.72", ["5.72"]),
        ("Contents\n1 Introduction . . . 3\n2 Method . . . 5\n\nWe use 9\n", ["9"]),
    ],
)
def test_the_bibliography_and_the_contents_end(text: str, left: list[str]) -> None:
    assert quantities(text) == left


def test_page_numbers_are_those_that_count_the_pages() -> None:
    assert quantities("We use\n11\fand 7\n12\f13\nof 9", pages=True) == ["7", "9"]
    assert quantities("1\nWe use\n72\fand so on", pages=True) == ["72"]


LONG = [f"line {number} of a page whose lines all follow" for number in range(40)]


def span_of(part: str, lines: list[str]) -> tuple[int, int]:
    """Return the first and the last line of a part, from 0."""
    text = "\n".join(lines)
    ((start, end),) = find_parts(text)[part]
    return text.count("\n", 0, start), text.count("\n", 0, end)


def test_a_theorem_does_not_run_on_to_the_end_of_a_document_without_empty_lines() -> None:
    lines = ["Theorem 1 (Lee) Let n be", "at least 2. Then", "it is 3.", *LONG]
    assert span_of("Theorem 1", lines) == (0, 2)
    assert span_of("Algorithm 2", ["Algorithm 2: Steps", *LONG]) == (0, 0)


def test_an_empty_line_ends_a_theorem() -> None:
    lines = ["Theorem 1 Let n be 2.", "Then it is 3.", "", "Theorem 1 has 4."]
    assert span_of("Theorem 1", lines) == (0, 1)
    assert span_of("Theorem 1", [*lines[:2], "", "Theorem 1. It has 4."]) == (0, 1)
