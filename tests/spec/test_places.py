"""Where in a paper a check's text stands: what a reader would look for with the paper in hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from imlp_audit.spec.load import load
from imlp_audit.spec.plan import Plan, name_section, place_of, plan
from tests.checks.papers import Spec, write


@cache
def plans() -> dict[str, Plan]:
    selection = load(["imlp", "resmlp"])
    return {one.id: one for paper in selection.papers for one in plan(paper, selection.known)}


@pytest.mark.parametrize(
    ("check", "place"),  # as the papers have them: the labels "+ IMLP" alone stand below their baselines'
    [
        ("imlp/1/deit_ti_imlp/flops", "Table 1, DeiT-Ti + IMLP, FLOPs (G)"),
        ("imlp/1/deit_ti_imlp/flops.delta.measured", "Table 1, DeiT-Ti + IMLP, FLOPs (G), change"),
        ("imlp/1/lvt_r1_imlp/params", "Table 1, LVT-R1 + IMLP*, Parameters (M)"),
        ("imlp/marks/1/lvt_r1_imlp", "Table 1, LVT-R1 + IMLP*, footnote mark"),
        ("imlp/columns/8", "Table 8, headings"),
        ("imlp/claims/no_accuracy_compromised", "Abstract"),
        ("imlp/claims/coco_reduction", "Appendix A.2"),
        ("imlp/equations/definition1_agelu", "Sec. 4.2, Definition 1, Eq. 7"),
        ("resmlp/repeats/2/vit_b16/params", "Table 2, ViT-B/16, Params"),
        ("resmlp/d3/l12_average/params", "Table D.3, ResMLP, 12 layers, average, Params (×10^6)"),
    ],
)
def test_a_place_is_what_a_reader_looks_for(check: str, place: str) -> None:
    assert place_of(plans()[check]) == place


def test_rows_of_one_label_are_told_apart_by_their_size_or_else_by_their_ids(tmp_path: Path) -> None:
    """A table with ResNet-50 on images of 224 and 288, with two rows of one size, and with a label of its own."""

    def row(name: str, label: str, more: str) -> str:
        return f"{{id: {name}, label: {label}, model: {{timm: m{more}}}, printed: {{params: 1}}}}"

    sizes = [row("a", "R50", ", image: 224"), row("b", "R50", ", image: 288"), row("c", "R50", "")]
    same = [row("d", "R18", ", image: 224"), row("e", "R18", ", image: 224"), row("f", "R34", "")]
    selection = write(tmp_path, Spec((*sizes, *same), more_rows=(row("g", "R34", ""),)))
    places = [place_of(one) for one in plan(*selection.papers, selection.known) if one.id.endswith("/params")]
    apart = ["R50 (image 224)", "R50 (image 288)", "R50 (row c)", "R18 (row d)", "R18 (row e)", "R34"]
    assert places == [*(f"Table 1, {one}, Parameters (M)" for one in apart), "Table 2, R34, Parameters (M)"]


@pytest.mark.parametrize(("rows", "by_size"), [(20, True), (21, False)])
def test_of_more_than_20_rows_of_one_label_the_ids_tell_more(tmp_path: Path, rows: int, by_size: bool) -> None:
    every = tuple(
        f"{{id: r{n}, label: R50, model: {{timm: m, image: {32 * n}}}, printed: {{params: 1}}}}"
        for n in range(1, rows + 1)
    )
    selection = write(tmp_path, Spec(every))
    places = [place_of(one) for one in plan(*selection.papers, selection.known) if one.id.endswith("/params")]
    names = [f"image {32 * n}" if by_size else f"row r{n}" for n in range(1, rows + 1)]
    assert places == [f"Table 1, R50 ({name}), Parameters (M)" for name in names]


def test_every_check_has_a_place() -> None:
    assert [name for name, one in plans().items() if not place_of(one)] == []


@pytest.mark.parametrize(
    ("section", "name"),
    [("5.1", "Sec. 5.1"), ("A", "Appendix A"), ("A.2", "Appendix A.2"), ("Abstract", "Abstract"), ("ABC", "ABC")],
)
def test_a_section_is_called_as_papers_call_it(section: str, name: str) -> None:
    assert name_section(section) == name
