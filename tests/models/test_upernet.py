from __future__ import annotations

import pytest
import torch
from imlp_audit.models.hosts.dense import UperNet
from imlp_audit.models.nets.upernet import SwinUperNet, build_upernet
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import SwinConfig, UperNetConfig, UperNetForSemanticSegmentation

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.count.record import Ledger
from imlp_audit.models.blocks import ImlpRecipe, Part, Replacement
from imlp_audit.models.build import Builder
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from tests.models import formulas
from tests.models.mmcv_counter import mmcv_count, products
from tests.models.readings import AS_WRITTEN, RELEASED
from tests.models.swin_formulas import SWINS, Swin, grid

NAME = "swin_tiny_patch4_window7_224"
ADE20K = UperNet(backbone=NAME)
PUBLISHED, SMALL = (512, 2048), (32, 64)
HEADS = ("decode_head", "auxiliary_head")
STAGES = ["stage1", "stage2", "stage3", "stage4"]


@pytest.fixture(scope="module")
def segmenter() -> SwinUperNet:
    torch.manual_seed(0)
    return build_upernet(ADE20K, SMALL).eval()


@pytest.fixture(scope="module")
def images() -> Tensor:
    return torch.randn(2, 3, *SMALL)


def _theirs(size: tuple[int, int]) -> UperNetForSemanticSegmentation:
    swin = SwinConfig(
        image_size=size, embed_dim=96, depths=[2, 2, 6, 2], num_heads=[3, 6, 12, 24], window_size=7, out_features=STAGES
    )
    config = UperNetConfig(backbone_config=swin, num_labels=150, auxiliary_in_channels=384)
    return UperNetForSemanticSegmentation(config)


def _ledger(model: nn.Module) -> Ledger:
    with torch.device("meta"):
        return measure(model, *example_inputs(model))


def heads_parameters(swin: Swin, classes: int = 150) -> int:
    """Every convolution but a head's last one is without bias and has a batch norm after it."""
    pyramid = sum(c * 512 + 2 * 512 + 512 * 512 * 9 + 2 * 512 for c in swin.widths[:3])
    last = swin.widths[3]
    pooling = 4 * (last * 512 + 2 * 512) + (last + 4 * 512) * 512 * 9 + 2 * 512
    fusion = 4 * 512 * 512 * 9 + 2 * 512 + (512 + 1) * classes
    auxiliary = swin.widths[2] * 256 * 9 + 2 * 256 + (256 + 1) * classes
    return pyramid + pooling + fusion + auxiliary


def decode_macs(swin: Swin, size: tuple[int, int], classes: int = 150) -> int:
    """Maps of the four stages, pooled to squares of 1, 2, 3 and 6 a side on the last, all brought to the first."""
    areas = [h * w for h, w in (grid(*size, stage) for stage in range(4))]
    pyramid = sum(a * (c * 512 + 512 * 512 * 9) for a, c in zip(areas[:3], swin.widths[:3], strict=True))
    last = swin.widths[3]
    pooling = (1 + 4 + 9 + 36) * last * 512 + areas[3] * (last + 4 * 512) * 512 * 9
    return pyramid + pooling + areas[0] * (4 * 512 * 512 * 9 + 512 * classes)


def auxiliary_macs(swin: Swin, size: tuple[int, int], classes: int = 150) -> int:
    h, w = grid(*size, 2)
    return h * w * (swin.widths[2] * 256 * 9 + 256 * classes)


@pytest.mark.daily(1)
@pytest.mark.parametrize("name", SWINS)
def test_parameters_and_macs_follow_the_closed_formulas(name: str) -> None:
    with torch.device("meta"):
        model = build_upernet(UperNet(backbone=name), PUBLISHED)
    swin, ledger = SWINS[name], _ledger(model)
    assert count_parameters(model) == swin.parameters() + heads_parameters(swin)
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == swin.macs(*PUBLISHED) + decode_macs(swin, PUBLISHED)
    assert not ledger.unknown


@pytest.mark.slow
@pytest.mark.parametrize("size", [PUBLISHED, (512, 512)], ids=str)
def test_counts_are_transformers(size: tuple[int, int]) -> None:
    """Theirs runs the auxiliary head in evaluation too, and keeps a norm of the last stage that nothing reads."""
    with torch.device("meta"):
        ours, theirs = build_upernet(ADE20K, size), _theirs(size)
        ledger = measure(theirs, torch.zeros(1, 3, *size))
    unread = sum(p.numel() for name, p in theirs.named_parameters() if name.startswith("backbone.swin.layernorm."))
    assert count_parameters(ours) == sum(p.numel() for p in theirs.parameters()) - unread
    macs = total(_ledger(ours), FLOPS_CONVENTIONS["macs"])
    assert macs + auxiliary_macs(SWINS[NAME], size) == total(ledger, FLOPS_CONVENTIONS["macs"])


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("name", "parameters", "flops"),
    [
        ("swin_tiny_patch4_window7_224", 60, 945),
        ("swin_small_patch4_window7_224", 81, 1038),
        ("swin_base_patch4_window7_224", 121, 1188),
    ],
)
def test_baselines_are_the_published_ones_with_attentions_products(name: str, parameters: int, flops: int) -> None:
    """In M and G: imlp Table 7, and Swin's repository for segmentation."""
    with Builder().variant(Recipe.of(upernet=UperNet(backbone=name)), None) as variant:
        ledger = _ledger(variant.model)
        assert round(count_parameters(variant.model) / 1e6) == parameters
        assert round((mmcv_count(variant.model, ledger, HEADS) + products(ledger)) / 1e9) == flops


def test_mmcvs_own_count() -> None:
    """236.08 G and 59.94 M at 512 x 512, from the official code (issue 16 of Swin's repository for segmentation)."""
    with torch.device("meta"):
        model = build_upernet(ADE20K, (512, 512))
    assert round(mmcv_count(model, _ledger(model), HEADS) / 1e9, 2) == 236.08
    assert round(count_parameters(model) / 1e6, 2) == 59.94


def test_variant_is_the_published_one_without_attentions_products() -> None:
    """56M and 928G (imlp Table 7): 17G less than a baseline that was counted with them."""
    with Builder().variant(Recipe.of(upernet=ADE20K, mlp=Replacement(imlp=ImlpRecipe())), AS_WRITTEN) as variant:
        ledger = _ledger(variant.model)
        assert round(count_parameters(variant.model) / 1e6) == 56
        assert round(mmcv_count(variant.model, ledger, HEADS) / 1e9) == 928
        assert round((mmcv_count(variant.model, ledger, HEADS) + products(ledger)) / 1e9) == 932


@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
def test_blocks_take_the_place_of_the_backbones_mlps(reading: Reading) -> None:
    with Builder().variant(Recipe.of(upernet=ADE20K, mlp=Replacement(imlp=ImlpRecipe())), reading) as variant:
        blocks = [variant.model.get_submodule(path) for path in variant.mlps]
        widths = [96] * 2 + [192] * 2 + [384] * 6 + [768] * 2
        more = sum(formulas.imlp(c, 2 * c, 3, Part.CHANNEL_AND_SPATIAL, reading) - formulas.mlp(c) for c in widths)
        assert count_parameters(variant.model) == SWINS[NAME].parameters() + heads_parameters(SWINS[NAME]) + more
        grids = [block.grid for block in blocks if isinstance(block, Imlp)]
        assert grids == [(128, 512)] * 2 + [(64, 256)] * 2 + [(32, 128)] * 6 + [(16, 64)] * 2


@pytest.mark.slow
def test_variant_computes_with_real_weights() -> None:
    """The blocks' grids are those of the image: 24 x 32 and down to 3 x 4."""
    torch.manual_seed(0)
    size = (96, 128)
    recipe = Recipe.of(upernet=ADE20K, image=size, mlp=Replacement(imlp=ImlpRecipe()))
    with Builder("cpu").variant(recipe, AS_WRITTEN) as variant, torch.no_grad():
        scores = variant.model(torch.randn(1, 3, *size))
    assert scores.shape == (1, 150, *size)
    assert torch.isfinite(scores).all()


@pytest.mark.slow
def test_heads_are_transformers(segmenter: SwinUperNet, images: Tensor) -> None:
    theirs = _theirs(SMALL).eval()
    theirs.decode_head.load_state_dict(segmenter.decode_head.state_dict(), strict=True)
    theirs.auxiliary_head.load_state_dict(segmenter.auxiliary_head.state_dict(), strict=True)
    with torch.no_grad():
        maps = segmenter.backbone(images)
        scores = F.interpolate(theirs.decode_head(maps), SMALL, mode="bilinear", align_corners=False)
        torch.testing.assert_close(segmenter(images), scores)
        torch.testing.assert_close(segmenter.auxiliary_head(maps[2]), theirs.auxiliary_head(maps))
    assert scores.shape == (2, 150, *SMALL)
    assert torch.isfinite(scores).all()


@pytest.mark.slow
def test_gradient_reaches_every_parameter_in_training(segmenter: SwinUperNet, images: Tensor) -> None:
    scores, auxiliary = segmenter.train()(images)
    segmenter.eval()
    assert scores.shape == auxiliary.shape == (2, 150, *SMALL)
    torch.autograd.backward([scores.square().sum(), auxiliary.square().sum()])
    assert [name for name, p in segmenter.named_parameters() if p.grad is None] == []


@pytest.mark.slow
def test_state_round_trip(segmenter: SwinUperNet) -> None:
    build_upernet(ADE20K, SMALL).load_state_dict(segmenter.state_dict(), strict=True)


@pytest.mark.slow
def test_head_is_the_last_layer_of_both_heads(segmenter: SwinUperNet) -> None:
    head = sum(p.numel() for module in segmenter.get_classifier() for p in module.parameters())
    assert head == (512 + 1) * 150 + (256 + 1) * 150
