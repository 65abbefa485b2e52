"""The smallest changes of a row that would explain its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, WeightKey
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import SolvedChange, SolvedRow
from imlp_audit.solve.answer import Solution, find_explained
from imlp_audit.solve.compose import Composer, compose
from imlp_audit.solve.row_changes import find_row_changes
from imlp_audit.solve.search import solve
from imlp_audit.solve.selection import _LEFT_OUT
from imlp_audit.spec.library import Selection, load
from imlp_audit.spec.paper import rows_of
from tests.explain.counted import macs, whole
from tests.explain.papers import AXES, IMLP, RELEASED, paper, row

SWIN = "{timm: swin_tiny_patch4_window7_224, mlp: {imlp: {ratio: 2, kernel: 3}}}"
DEIT_BLOCKS: Mapping[str, object] = {"timm": "deit_tiny_patch16_224", "mlp": {"imlp": {"ratio": 2, "kernel": 3}}}


KINDS = list(get_type_hints(Reading).values())


def size(recipe: Mapping[str, object], **axes: str) -> str:
    """Print to the last unit how many M parameters a model has that is built whole, under `released` but for axes."""
    reading = Reading(
        **{name: kind(value) for (name, value), kind in zip((AXES | RELEASED | axes).items(), KINDS, strict=True)}
    )
    count = whole(Recipe.model_validate(recipe), reading)[ParameterConvention.ALL]
    return f"{count / 10**6:.6f}"


def change(axis: str, was: str, becomes: str) -> SolvedChange:
    return SolvedChange(axis=axis, was=was, becomes=becomes)


def ways(papers: Selection) -> dict[str, tuple[tuple[SolvedChange, ...], ...]]:
    """What the rows would have to change under the reading `released`, counted in multiply-accumulates."""
    composed = compose(list(rows_of(papers.papers[0])))
    problem, macs = composed.problem, FLOPS_CONVENTIONS["macs"].weights
    solution = Solution(
        readings={group: at for group, at in problem.named.get("released", {}).items() if group in problem.spaces},
        parameter_convention="all",
        parameter_rounding=Rounding.HALF_UP,
        flops_rounding=Rounding.HALF_UP,
        weights=tuple(macs.get(WeightKey(Operation(name)), 0) for name in problem.classes),
    )
    solution = replace(solution, explained=find_explained(problem, solution))
    found: Sequence[SolvedRow] = list(find_row_changes(problem, solution, composed.recipes, composed.composer))
    return {one.id.rpartition("/")[2]: one.ways for one in found}


def replaced(**changes: object) -> Mapping[str, object]:
    return {**DEIT_BLOCKS, "mlp": {"imlp": {"ratio": 2, "kernel": 3}} | changes}


def printed() -> Mapping[str, tuple[str, tuple[tuple[SolvedChange, ...], ...]]]:
    """What rows of one recipe print, and the only least ways to change them that give it."""
    kernel, token = change("kernel", "3", "7"), change("class_token", "removed", "kept")
    return {
        "as_told": (size(DEIT_BLOCKS), ()),
        "kernel": (size(replaced(imlp={"ratio": 2, "kernel": 5})), ((change("kernel", "3", "5"),),)),
        "ratio": (size(replaced(imlp={"ratio": 3, "kernel": 3})), ((change("ratio", "2", "3"),),)),
        "sites": (size(replaced(sites=["blocks.[0-6].mlp"])), ((change("sites", "all", "7 of 12"),),)),
        "token": (size(DEIT_BLOCKS, class_token="kept"), ((token,),)),
        "two": (size(replaced(imlp={"ratio": 2, "kernel": 7}), class_token="kept"), ((kernel, token),)),
        "none": ("99.99", ()),
    }


@pytest.mark.slow
def test_each_row_has_its_own_least_changes(tmp_path: Path) -> None:
    wanted = printed()
    papers = paper(tmp_path, *(row(name, name, IMLP, f"params: {text}") for name, (text, _) in wanted.items()))
    assert ways(papers) == {name: ways for name, (_, ways) in wanted.items() if name != "as_told"}


@pytest.mark.slow
def test_a_row_may_have_replaced_only_some_stages(tmp_path: Path) -> None:
    block = {"imlp": {"ratio": 2, "kernel": 3}, "sites": ["layers.0.*", "layers.2.*"]}
    recipe: Mapping[str, object] = {"timm": "swin_tiny_patch4_window7_224", "mlp": block}
    papers = paper(tmp_path, row("one", "one", SWIN, f"params: {size(recipe)}"))
    assert (change("sites", "all", "layers.0.* and layers.2.*"),) in ways(papers)["one"]


def test_the_size_of_the_images_is_found_from_flops(tmp_path: Path) -> None:
    """ResNet-18 at 288 x 288, counted whole; its parameters say nothing about its images."""
    count = macs(whole(Recipe.model_validate({"timm": "resnet18", "image": 288}), None))
    papers = paper(tmp_path, row("one", "one", "{timm: resnet18}", f"params: 11.69, flops: {count / 1e9:.9f}"))
    assert ways(papers) == {"one": ((change("image", "224", "288"),),)}


def test_the_form_of_a_resnet_is_found_from_flops(tmp_path: Path) -> None:
    """ResNet-50 with strides in its 1x1 convolutions: 3,857,973,248; one of 18 layers has none such."""
    papers = paper(
        tmp_path,
        row("one", "one", "{timm: resnet50, image: 224}", "flops: 3.857973248"),
        row("two", "two", "{timm: resnet18}", "flops: 1.857973248"),
    )
    assert ways(papers) == {"one": ((change("stride_in_1x1", "false", "true"),),), "two": ()}


def test_the_deployed_form_of_a_resnet_is_found_from_its_parameters(tmp_path: Path) -> None:
    """ResNet-50 with its 26,560 channels of norms folded; a ViT has no norm to fold."""
    papers = paper(
        tmp_path,
        row("one", "one", "{timm: resnet50, image: 224}", "params: 25.530472, flops: 4.089184256"),
        row("two", "two", "{timm: resnet50, image: 224}", "params: 25.530472, flops: 3.857973248"),
        row("three", "three", "{timm: deit_tiny_patch16_224}", "params: 5.70"),
    )
    form, strides = change("form", "training", "deployed"), change("stride_in_1x1", "false", "true")
    assert ways(papers) == {"one": ((form,),), "two": ((form, strides),), "three": ()}


def test_no_size_of_images_explains_less_work_than_any_has(tmp_path: Path) -> None:
    assert ways(paper(tmp_path, row("two", "two", "{timm: resnet18}", "flops: 0.01"))) == {"two": ()}


@pytest.mark.parametrize(
    ("host", "side"),
    [
        ({"timm": "tf_efficientnet_b4"}, 380),  # its published size, which the recipe does not say
        ({"timm": "resnet18", "image": 288}, 288),
        ({"timm": "resnet18", "image": [224, 320]}, None),
        ({"resmlp": {"layers": 2, "width": 24}}, 224),
        ({"bert": {"layers": 2, "width": 64, "heads": 1}}, None),
    ],
)
def test_the_side_is_that_of_the_model(host: dict[str, object], side: int | None) -> None:
    assert Composer({}).side(Recipe.model_validate(host)) == side


@pytest.mark.slow
def test_table_2s_spatial_row_alone_keeps_its_class_token() -> None:
    """Of Tables 1 (without LVT) and 2 of the IMLP paper, the one number that the best solutions do not give."""
    every = rows_of(load(["imlp"]).papers[0])
    composed = compose([r for r in every if r.table.value.table in ("1", "2") and "lvt" not in r.id])
    problem = replace(composed.problem, allowed={str(one): (0,) for one in _LEFT_OUT})
    answer = solve(problem)
    assert (answer.score, answer.of) == (53, 54)
    assert [one.cell for one in answer.contradicted] == ["imlp/2/spatial/flops"]
    (own,) = find_row_changes(problem, answer.first, composed.recipes, composed.composer)
    assert own == SolvedRow(id="imlp/2/spatial", ways=((change("class_token", "removed", "kept"),),))
