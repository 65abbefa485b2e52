from __future__ import annotations

import random

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention
from imlp_audit.explain.block_formula import block_sum
from imlp_audit.explain.body import Body
from imlp_audit.explain.dissect import dissect
from imlp_audit.explain.text_formula import text_sum
from imlp_audit.explain.total_document import describe_block_formula
from imlp_audit.explain.totals import find_formula
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part, Replacement
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import Reading, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.explanation import BlockFormula
from imlp_audit.report.document import Heading, Paragraph, plain_text
from imlp_audit.solve.space import readings_of
from tests.explain.counted import MACS, macs, sample, whole
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, RELEASED

HOSTS: tuple[dict[str, object], ...] = (
    {"timm": "deit_tiny_patch16_224"},
    {"timm": "swin_tiny_patch4_window7_224"},
    {"timm": "poolformer_s12"},
    {"lvt": {"recursions": 1}},
    {"timm": "deit_tiny_patch16_224", "image": 112},
)
TEXTS: tuple[dict[str, object], ...] = (
    {"gmlp_text": {"layers": 3, "width": 64}},
    {"gmlp_text": {"layers": 2, "width": 64, "gate": "product", "hidden": 96}},
    {"gmlp_text": {"layers": 2, "width": 32, "gate": "split", "attention": 16, "spatial_matrix": "toeplitz"}},
    {"gmlp_text": {"layers": 2, "width": 32, "gate": "sum"}, "classes": 3},
    {"bert": {"layers": 2, "width": 96, "heads": 4, "hidden": 80}},
    {"bert": {"layers": 1, "width": 64, "heads": 2, "positions": 600}, "classes": 2},
)


def replaced(host: dict[str, object], seed: str) -> Recipe:
    """Replace a host's MLPs by blocks of any kind, all of them or some."""
    chance = random.Random(seed)
    part = chance.choice(list(Part))
    block = ImlpRecipe(
        ratio=chance.choice([0.5, 1, 1.7, 2, 3]),
        kernel=chance.choice([1, 3, 5, 7]),
        part=part,
        plain=part is not Part.SPATIAL and chance.random() < 0.3,
    )
    fields = host | {"mlp": Replacement(imlp=block), "activation": chance.choice(list(Activation))}
    return Recipe.model_validate(fields)


@pytest.mark.parametrize(
    ("host", "readings"),
    [(HOSTS[-1], 2), *(pytest.param(host, 6, marks=pytest.mark.slow) for host in HOSTS)],
    ids=str,
)
def test_the_block_formula_gives_the_measured_numbers(host: dict[str, object], readings: int) -> None:
    builder = Builder()
    for index, reading in enumerate(sample(readings_of("imlp"), readings, str(host))):
        recipe = replaced(host, f"{host} {index}")
        assert isinstance(reading, Reading)
        counts, body = whole(recipe, reading, builder), dissect(recipe, reading)
        for convention in (ParameterConvention.ALL, ParameterConvention.NO_HEAD):
            assert block_sum(recipe, reading, body, convention).whole == counts[convention], (recipe, reading)
        assert block_sum(recipe, reading, body, MACS).whole == macs(counts), (recipe, reading)


@pytest.mark.daily(2)
@pytest.mark.parametrize("host", TEXTS, ids=str)
def test_the_text_formula_gives_the_measured_numbers(host: dict[str, object]) -> None:
    recipe = Recipe.model_validate(host)
    for reading in sample(readings_of("text"), 6, str(host)):
        assert isinstance(reading, TextReading)
        counts = whole(recipe, reading)
        for convention in (ParameterConvention.ALL, ParameterConvention.NO_HEAD):
            assert text_sum(recipe, reading, convention).whole == counts[convention], reading
        assert text_sum(recipe, reading, MACS).whole == macs(counts), reading


def test_the_formula_is_that_of_the_paper_s_dimensions() -> None:
    recipe = Recipe.model_validate({"timm": "deit_base_patch16_224", "mlp": {"imlp": {"kernel": 5}}})
    found = block_sum(recipe, RELEASED, dissect(recipe, RELEASED), ParameterConvention.ALL)
    assert str(found.block) == "n² C' + 3/2 C C' + 3 C + 19/2 C'"
    assert found.sizes == {(768, 3072, 5): 12}
    assert found.one((768, 3072, 5)) == formulas.imlp(768, 1536, 5, Part.CHANNEL_AND_SPATIAL, RELEASED)
    assert found.rest == formulas.deit(768, class_token=False) - 12 * formulas.mlp(768)


def test_sizes_that_the_formula_does_not_tell_apart_are_one() -> None:
    recipe = Recipe.model_validate({"lvt": {"recursions": 1}, "mlp": {"imlp": {}}})
    body = dissect(recipe, AS_WRITTEN)
    by_parameters = block_sum(recipe, AS_WRITTEN, body, ParameterConvention.ALL)
    assert by_parameters.sizes == {(64, 256, 3): 4, (160, 640, 3): 2, (256, 1024, 3): 4}
    by_work = block_sum(recipe, AS_WRITTEN, body, MACS)
    grids = {56 * 56: (64, 2), 28 * 28: (64, 2), 14 * 14: (160, 2), 7 * 7: (256, 2), 1: (256, 2)}
    assert by_work.sizes == {(c, 4 * c, 3, grid): number for grid, (c, number) in grids.items()}


def block_text(recipe: Recipe, reading: Reading, body: Body, convention: ParameterConvention | Convention) -> list[str]:
    """Return the headings and paragraphs about a block's formula."""
    (section,) = find_formula(recipe, reading, body, convention)
    assert isinstance(section, BlockFormula)
    return [plain_text(b.text) for b in describe_block_formula(section) if isinstance(b, Heading | Paragraph)]


@pytest.fixture(scope="module")
def deit() -> Recipe:
    return Recipe.model_validate({"timm": "deit_tiny_patch16_224", "mlp": {"imlp": {}}})


@pytest.fixture(scope="module")
def released(deit: Recipe) -> Body:
    return dissect(deit, RELEASED)


def test_the_text_names_the_dimensions_and_compares_the_sum(deit: Recipe, released: Body) -> None:
    assert block_text(deit, RELEASED, released, ParameterConvention.ALL) == [
        "The parameters of one IMLP block",
        "With C channels, C' channels before FC2, an n x n kernel:",
        "The sum equals the measured parameters.",
    ]
    work = block_text(deit, AS_WRITTEN, dissect(deit, AS_WRITTEN), FLOPS_CONVENTIONS["fvcore"])
    assert work[1].endswith("an n x n kernel, N + 1 tokens:")
    assert work[2] == "The sum equals the measured multiply-accumulates."


def test_no_kernel_is_named_without_a_convolution() -> None:
    recipe = Recipe.model_validate({"timm": "deit_tiny_patch16_224", "mlp": {"imlp": {"part": "channel"}}})
    text = block_text(recipe, RELEASED, dissect(recipe, RELEASED), ParameterConvention.ALL)
    assert text[1] == "With C channels, C' channels before FC2:"


def test_a_sum_that_differs_from_the_measurement_is_reported(deit: Recipe, released: Body) -> None:
    text = block_text(deit, AS_WRITTEN, released, ParameterConvention.ALL)  # a reading other than the one built
    assert text[-1] == "The sum differs from the measured parameters, 4 998 184."


def test_models_without_open_axes_and_buffers_have_no_formula(deit: Recipe, released: Body) -> None:
    recipe = Recipe.of(timm="deit_tiny_patch16_224")
    assert list(find_formula(recipe, None, dissect(recipe, None), ParameterConvention.ALL)) == []
    assert list(find_formula(deit, RELEASED, released, ParameterConvention.WITH_BUFFERS)) == []
