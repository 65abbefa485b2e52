"""Models that papers bring along in their folders, held against other implementations and closed formulas."""

from __future__ import annotations

import math

import pytest
import torch
from timm.models.cait import Cait
from timm.models.pvt_v2 import Attention, MlpWithDepthwiseConv
from torch import Tensor, nn
from torchvision.models.detection import maskrcnn_resnet50_fpn

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.count.measuring import is_outside
from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Part
from imlp_audit.models.build import Builder
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.code import bundled_folder
from imlp_audit.spec.load import load
from specs.imlp.models import ConvolutionalSelfAttention, DepthwiseMlp, RecursiveAtrousSelfAttention
from specs.resmlp.models import CaitChain, CrossAttention, TranslationModel
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, RELEASED
from tests.models.resmlp_helpers import counts, loaded, randomised, renamed

LVT_MLPS = [
    (64, 256, 56, False),
    (64, 512, 28, True),
    (160, 640, 14, True),
    (256, 1024, 7, True),
    (256, 1024, 1, False),
]
"""Width, hidden width, side of the grid, and whether the MLP convolves; there are two of each."""


POOLFORMER = [(64, 56**2)] * 2 + [(128, 28**2)] * 2 + [(320, 14**2)] * 6 + [(512, 7**2)] * 2
"""The width of each MLP of PoolFormer-S12, and how many places of the grid it sees."""


def lvt(recursions: int = 1, **mlp: object) -> Recipe:
    folder = bundled_folder() / "imlp"
    host = PythonModule(
        file="models.py", name="LiteVisionTransformer", arguments={"recursions": recursions}, input=(3, 224, 224),
        beside=folder, folder=folder,
    )  # fmt: skip
    return Recipe.of(host=host, **({"mlp": mlp} if mlp else {}))


def measured(recipe: Recipe, reading: Reading | None = None) -> tuple[int, int]:
    """Parameters and multiply-accumulates."""
    [(_, facts)] = measure_models({ModelKey(recipe, reading): Need(work=True)}, lambda _: None)
    assert isinstance(facts, ModelFacts), facts
    assert facts.ledger is not None
    assert not facts.ledger.unknown
    return facts.parameters["all"], total(facts.ledger, FLOPS_CONVENTIONS["macs"])  # type: ignore[index]


def test_every_model_of_a_papers_own_is_built_as_the_packages_own_are() -> None:
    papers = load(["imlp", "iffn_poster", "resmlp"]).papers
    recipes = [row.row.model for paper in papers for row in paper.rows if row.row.model is not None]
    own = [recipe for recipe in recipes if recipe.codes]
    assert len(own) > 30
    assert all(recipe.code is not None and recipe.code.folder for recipe in own)
    assert not any(is_outside(ModelKey(recipe, None)) for recipe in own)


def test_lvts_published_size() -> None:
    """imlp, Table 1, prints 5.52 M for all four; the recursions share their weights."""
    first, second, third = (measured(lvt(recursions)) for recursions in (1, 2, 3))
    assert first[0] == second[0] == third[0] == 5_521_844
    assert second[1] - first[1] == third[1] - second[1]


@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
@pytest.mark.parametrize(("sites", "chosen"), [(["*"], range(5)), (["backbone.[123].*"], range(1, 4))], ids=str)
def test_imlp_in_place_of_lvts_mlps(sites: list[str], chosen: range, reading: Reading) -> None:
    """The whole MLP goes, its depthwise convolution too; the others stay as they are. Table 1 prints 4.98 M."""
    parameters, work = measured(lvt())
    for channels, hidden, side, convolves in (LVT_MLPS[i] for i in chosen):
        block = formulas.imlp(channels, 2 * channels, 5, Part.CHANNEL_AND_SPATIAL, reading)
        parameters += 2 * (block - formulas.mlp(channels, hidden // channels) - 10 * hidden * convolves)
        work += 2 * side**2 * (6 * channels**2 + 25 * 4 * channels - (2 * channels + 9 * convolves) * hidden)
    assert measured(lvt(imlp={"kernel": 5}, sites=sites), reading) == (parameters, work)


def test_kernel_larger_than_a_grid_of_lvts_stages() -> None:
    """At 224 the last grid is 7 x 7; the class token has no grid, and any kernel is as good."""
    key = ModelKey(lvt(imlp={"kernel": 9}, sites=["backbone.*"]), RELEASED)
    [(_, failure)] = measure_models({key: Need(work=True)}, lambda _: None)
    assert "kernel: 9 is larger than the grid of 7 x 7" in str(failure)
    elsewhere = lvt(imlp={}, sites=["backbone.4.*"])
    with pytest.raises(BuildError, match="the host has no MLP at "), Builder().variant(elsewhere, RELEASED):
        pass


@pytest.mark.parametrize("agelu", [False, True])
@pytest.mark.parametrize(
    ("host", "mlps"), [("deit_tiny_patch16_224", [(192, 197)] * 12), ("poolformer_s12", POOLFORMER)]
)
def test_sums_in_place_of_the_mlps(host: str, mlps: list[tuple[int, int]], agelu: bool) -> None:
    """Table 4: 4C GeLUs have no parameters, 4C AGeLUs of C channels 16 C^2; neither has a product."""
    folder = bundled_folder() / "imlp"
    given = {"name": "SumOfFunctions", "arguments": {"agelu": agelu}}
    block = {"file": "sums.py", "beside": folder, "folder": folder, **given}
    parameters, work = measured(Recipe.of(timm=host))
    parameters += sum(16 * width**2 * agelu - formulas.mlp(width) for width, _ in mlps)
    work -= sum(8 * width**2 * tokens for width, tokens in mlps)
    assert measured(Recipe.of(timm=host, mlp={"python": block})) == (parameters, work)


def slowly(csa: ConvolutionalSelfAttention, x: Tensor) -> Tensor:
    """CSA by loops: A_ij W_j x_j summed into pixel i of each window, for one image (H, W, channels)."""
    height, width, channels = x.shape
    matrices = csa.weight.weight.reshape(9, channels, channels)
    head_of = torch.arange(channels) // (channels // csa.heads)
    out = torch.zeros_like(x)
    for row in range(0, height, 2):
        for column in range(0, width, 2):
            centre = x[row : row + 2, column : column + 2].mean(dim=(0, 1))
            scores = csa.attn(centre).reshape(csa.heads, 9, 9) / math.sqrt(channels // csa.heads)
            attention = scores.softmax(dim=-1)[head_of]
            pixels = [(row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            inside = [k for k, (r, c) in enumerate(pixels) if 0 <= r < height and 0 <= c < width]
            for i in inside:
                out[pixels[i]] += sum(attention[:, i, j] * (matrices[j] @ x[pixels[j]]) for j in inside)
    y: Tensor = csa.proj(out)
    return y


@pytest.mark.parametrize("size", [(2, 2), (4, 6), (3, 5)])
def test_csa_by_loops(size: tuple[int, int]) -> None:
    torch.manual_seed(0)
    csa, x = randomised(ConvolutionalSelfAttention(6, 2)), torch.randn(*size, 6, dtype=torch.float64)
    torch.testing.assert_close(csa(x[None])[0], slowly(csa, x))


@pytest.mark.parametrize(("reduction", "size"), [(1, (3, 5)), (2, (5, 7)), (4, (8, 4))])
def test_rasa_without_its_atrous_queries_is_pvts_attention(reduction: int, size: tuple[int, int]) -> None:
    torch.manual_seed(0)
    ours = randomised(RecursiveAtrousSelfAttention(8, 2, reduction=reduction, recursions=1))
    theirs = Attention(8, 2, sr_ratio=reduction, linear_attn=False, qkv_bias=False).double().eval()
    theirs.load_state_dict({name: value for name, value in ours.state_dict().items() if not name.startswith("ds.")})
    ours.register_module("ds", nn.Identity())
    x = torch.randn(2, *size, 8, dtype=torch.float64)
    torch.testing.assert_close(ours(x).flatten(1, 2), theirs(x.flatten(1, 2), size))


def test_recursions_apply_the_same_weights_to_their_sum_with_what_they_read() -> None:
    torch.manual_seed(0)
    rasa = randomised(RecursiveAtrousSelfAttention(8, 2, reduction=2, recursions=3))
    x = torch.randn(2, 4, 6, 8, dtype=torch.float64)
    first = nn.functional.silu(rasa.attend(x))
    second = nn.functional.silu(rasa.attend(first + x))
    torch.testing.assert_close(rasa(x), nn.functional.silu(rasa.attend(second + first + x)))


def test_depthwise_mlp_is_pvts() -> None:
    torch.manual_seed(0)
    ours, theirs = randomised(DepthwiseMlp(4, 8)), MlpWithDepthwiseConv(4, 8).double()
    state = {name.replace("depconv", "dwconv"): value for name, value in ours.state_dict().items()}
    theirs.load_state_dict({name: v.reshape(theirs.state_dict()[name].shape) for name, v in state.items()})
    x = torch.randn(2, 5, 6, 4, dtype=torch.float64)
    torch.testing.assert_close(ours(x.permute(0, 3, 1, 2)).flatten(2).mT, theirs(x.flatten(1, 2), (5, 6)))


def test_detectors_are_as_large_as_published() -> None:
    """In M: imlp Tables 6 and 7; and torchvision's own heads of Mask R-CNN."""
    paper = load(["imlp/6", "imlp/7"]).papers[0]
    rows = [row for row in paper.rows if row.table.value.table in ("6", "7")]
    recipes = [row.row.model for row in rows if row.row.model is not None]
    found = [measured(recipe, RELEASED if recipe.mlp is not None else None)[0] for recipe in recipes]
    assert [round(count / 1e6) for count in found] == [48, 44, 60, 56]
    with torch.device("meta"):
        resnet = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=81)
    with Builder().variant(recipes[0], None) as variant:
        shapes = {name: p.shape for name, p in variant.model.named_parameters() if "backbone" not in name}
    heads = {name: p.shape for name, p in resnet.named_parameters() if "backbone" not in name}
    assert {name.removeprefix("detector."): shape for name, shape in shapes.items()} == heads


SIZE, CLASSES, WIDTH, LAYERS = (12, 16), 5, 6, 3
TIMM_NAMES = {
    r"^patch_embed\.": "stem.",
    r"^pos_embed$": "positions",
    r"^cls_token$": "pool.token",
    r"^norm\.": "pool.layers.2.",
    r"^blocks_token_only\.(\d+)\.attn\.": r"pool.layers.\1.aggregate.",
    r"^blocks_token_only\.": "pool.layers.",
    r"^blocks\.(\d+)\.attn\.": r"blocks.\1.across_patches.",
    r"^(blocks\.\d+\.)mlp\.": r"\1across_channels.",
    r"\.norm([12])\.": r".pre\1.",
    r"\.gamma_([12])$": r".post\1.alpha",
    r"\.fc1\.": ".b.",
    r"\.fc2\.": ".c.",
}


def test_the_chain_starts_as_timms_cait() -> None:
    torch.manual_seed(0)
    theirs = randomised(
        Cait(img_size=SIZE, patch_size=4, num_classes=CLASSES, embed_dim=WIDTH, depth=LAYERS, num_heads=2)
    )
    ours = CaitChain("attention", LAYERS, WIDTH, 2, 4, size=SIZE, classes=CLASSES)
    images = torch.randn(2, 3, *SIZE, dtype=torch.float64)
    found = loaded(ours, renamed(theirs, TIMM_NAMES))(images)
    torch.testing.assert_close(found, theirs(images), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("expansion", [0.25, 4])
def test_the_chains_later_sizes(expansion: float) -> None:
    """Of n patches and width d, an MLP over the patches has 2 n h + n + h weights, and the linear layer n n + n."""
    with torch.device("meta"):
        mlp = CaitChain("class_mlp", expansion=expansion, pooling="average")
        linear = CaitChain("linear", pooling="average")
    n, hidden = 196, int(expansion * 196)
    difference = 24 * (2 * n * hidden + n + hidden - n * n - n)
    assert counts(mlp)["parameters"] - counts(linear)["parameters"] == difference


@pytest.mark.parametrize(
    ("fields", "told"),
    [({"stage": "linear", "expansion": 2}, "no MLP over the patches"), ({"stage": "x"}, "'x' is not a valid")],
)
def test_impossible_stages(fields: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        CaitChain(**fields)  # type: ignore[arg-type]


@pytest.fixture
def translation() -> TranslationModel:
    torch.manual_seed(0)
    return randomised(TranslationModel(2, 8, 16, 2, 7, 11))


@pytest.mark.parametrize("layers", [6, 12])
def test_translations_parameters(layers: int) -> None:
    """The embedding is shared; A, B, C and attention's projections have biases; Aff has 2 d, LayerScale d."""
    d, h, t, words = 512, 2048, 1024, 32768
    a, mlp, attention = t * t + t, 2 * d * h + h + d, 4 * (d * d + d)
    encoder, decoder = a + mlp + 2 * 3 * d, a + attention + mlp + 3 * 3 * d
    with torch.device("meta"):
        model = TranslationModel(layers)
    assert sum(p.numel() for p in model.parameters()) == words * d + layers * (encoder + decoder) + 2 * 2 * d


def test_no_target_token_sees_a_later_one(translation: TranslationModel) -> None:
    source, target = torch.randint(3, 11, (1, 5)), torch.randint(3, 11, (1, 7))
    changed = target.clone()
    changed[0, 4:] = 3 + (target[0, 4:] - 2) % 8
    first, second = translation(source, target), translation(source, changed)
    torch.testing.assert_close(first[:, :4], second[:, :4])
    assert not torch.allclose(first[:, 4:], second[:, 4:])


def test_translation_does_not_depend_on_padding(translation: TranslationModel) -> None:
    source, target = torch.randint(3, 11, (2, 4)), torch.randint(3, 11, (2, 4))
    padding = torch.ones(2, 3, dtype=torch.long)
    padded = translation(torch.cat([source, padding], 1), torch.cat([target, padding], 1))
    torch.testing.assert_close(translation(source, target), padded[:, :4])


def test_cross_attention_is_torchs() -> None:
    torch.manual_seed(0)
    ours, theirs = randomised(CrossAttention(8, 2)), nn.MultiheadAttention(8, 2, batch_first=True).double()
    parts = (ours.query, ours.key, ours.value)
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([part.weight for part in parts]),
            "in_proj_bias": torch.cat([part.bias for part in parts]),
            "out_proj.weight": ours.proj.weight,
            "out_proj.bias": ours.proj.bias,
        }
    )
    y, states = torch.randn(2, 3, 8, dtype=torch.float64), torch.randn(2, 5, 8, dtype=torch.float64)
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[:, 3:] = True
    expected = theirs(y, states, states, key_padding_mask=padding)[0]
    torch.testing.assert_close(ours(y, states, padding), expected)


def test_sequence_longer_than_a_is_refused(translation: TranslationModel) -> None:
    with pytest.raises(ValueError, match="a sequence of 8 tokens is longer than A"):
        translation(torch.zeros(1, 8, dtype=torch.long), torch.zeros(1, 1, dtype=torch.long))
