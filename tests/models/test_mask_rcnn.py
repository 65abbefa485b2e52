from __future__ import annotations

import pytest
import torch
from imlp_audit.models.hosts.dense import MaskRcnn
from imlp_audit.models.nets.mask_rcnn import Pyramid, SwinMaskRcnn, build_mask_rcnn
from imlp_audit.models.nets.swin import swin_features
from torch import Tensor, nn
from torchvision.models.detection import MaskRCNN, maskrcnn_resnet50_fpn

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
COCO = MaskRcnn(backbone=NAME)
PUBLISHED, SMALL = (800, 1280), (32, 64)


@pytest.fixture(scope="module")
def detector() -> SwinMaskRcnn:
    torch.manual_seed(0)
    return build_mask_rcnn(COCO, SMALL).eval()


@pytest.fixture(scope="module")
def images() -> Tensor:
    return torch.randn(2, 3, *SMALL)


@pytest.fixture(scope="module")
def boxes() -> Tensor:
    """Two in each image."""
    return torch.tensor([[[0.0, 0.0, 20.0, 30.0], [5.0, 5.0, 64.0, 32.0]]]).expand(2, -1, -1)


def heads_parameters(swin: Swin, classes: int) -> int:
    """Lateral and output convolutions of the pyramid; the heads of proposals, boxes and masks."""
    pyramid = sum(c * 256 + 256 + 256 * 256 * 9 + 256 for c in swin.widths)
    proposals = 256 * 256 * 9 + 256 + 256 * 3 * (1 + 4) + 3 * (1 + 4)
    boxes = 256 * 49 * 1024 + 1024 + 1024 * 1024 + 1024 + (1024 + 1) * classes * (1 + 4)
    masks = 4 * (256 * 256 * 9 + 256) + 256 * 256 * 4 + 256 + (256 + 1) * classes
    return pyramid + proposals + boxes + masks


def heads_macs(swin: Swin, classes: int, size: tuple[int, int]) -> int:
    """The same on four maps, proposals on a fifth of half the last one's sides; 1000 boxes and 100 masks."""
    areas = [h * w for h, w in (grid(*size, stage) for stage in range(5))]
    pyramid = sum(area * (c * 256 + 256 * 256 * 9) for area, c in zip(areas[:4], swin.widths, strict=True))
    proposals = sum(areas) * (256 * 256 * 9 + 256 * 3 * (1 + 4))
    boxes = 1000 * (256 * 49 * 1024 + 1024 * 1024 + 1024 * classes * (1 + 4))
    masks = 100 * (4 * 14 * 14 * 256 * 256 * 9 + 14 * 14 * 256 * 256 * 4 + 28 * 28 * 256 * classes)
    return pyramid + proposals + boxes + masks


def _ledger(model: nn.Module) -> Ledger:
    with torch.device("meta"):
        return measure(model, *example_inputs(model))


@pytest.mark.daily(1)
@pytest.mark.parametrize("name", SWINS)
def test_parameters_and_macs_follow_the_closed_formulas(name: str) -> None:
    with torch.device("meta"):
        model = build_mask_rcnn(MaskRcnn(backbone=name), PUBLISHED)
    swin = SWINS[name]
    assert count_parameters(model) == swin.parameters() + heads_parameters(swin, 81)
    ledger = _ledger(model)
    assert not ledger.unknown
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == swin.macs(*PUBLISHED) + heads_macs(swin, 81, PUBLISHED)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("name", "parameters", "flops"),
    [("swin_tiny_patch4_window7_224", 48, 267), ("swin_small_patch4_window7_224", 69, 359)],
)
def test_baselines_are_the_published_ones_with_attentions_products(name: str, parameters: int, flops: int) -> None:
    """In M and G: imlp Table 6, and Swin's repository for detection."""
    with Builder().variant(Recipe.of(mask_rcnn=MaskRcnn(backbone=name)), None) as variant:
        ledger = _ledger(variant.model)
        assert round(count_parameters(variant.model) / 1e6) == parameters
        assert round((mmcv_count(variant.model, ledger) + products(ledger)) / 1e9) == flops
        assert round(mmcv_count(variant.model, ledger) / 1e9) < flops - 2


@pytest.mark.slow
def test_variant_is_the_published_one_without_attentions_products() -> None:
    """44M and 251G (imlp Table 6): 16G less than a baseline that was counted with them."""
    with Builder().variant(Recipe.of(mask_rcnn=COCO, mlp=Replacement(imlp=ImlpRecipe())), AS_WRITTEN) as variant:
        ledger = _ledger(variant.model)
        assert round(count_parameters(variant.model) / 1e6) == 44
        assert round(mmcv_count(variant.model, ledger) / 1e9) == 251
        assert round((mmcv_count(variant.model, ledger) + products(ledger)) / 1e9) == 254


def test_parameters_are_torchvisions() -> None:
    """Those of torchvision's class on the same pyramid; and of its own ResNet-50 model, but for the body and FPN."""
    with torch.device("meta"):
        ours = build_mask_rcnn(COCO, PUBLISHED)
        theirs = MaskRCNN(Pyramid(swin_features(NAME, PUBLISHED)), 81)
        resnet = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=81)
    shapes = {name: p.shape for name, p in ours.detector.named_parameters()}
    assert shapes == {name: p.shape for name, p in theirs.named_parameters()}
    heads = {name: p.shape for name, p in resnet.named_parameters() if not name.startswith("backbone.")}
    assert heads == {name: shape for name, shape in shapes.items() if not name.startswith("backbone.")}


@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
def test_blocks_take_the_place_of_the_backbones_mlps(reading: Reading) -> None:
    with Builder().variant(Recipe.of(mask_rcnn=COCO, mlp=Replacement(imlp=ImlpRecipe())), reading) as variant:
        blocks = [variant.model.get_submodule(path) for path in variant.mlps]
        widths = [96] * 2 + [192] * 2 + [384] * 6 + [768] * 2
        more = sum(formulas.imlp(c, 2 * c, 3, Part.CHANNEL_AND_SPATIAL, reading) - formulas.mlp(c) for c in widths)
        swin = SWINS[NAME]
        assert count_parameters(variant.model) == swin.parameters() + heads_parameters(swin, 81) + more
        grids = [block.grid for block in blocks if isinstance(block, Imlp)]
        assert grids == [(200, 320)] * 2 + [(100, 160)] * 2 + [(50, 80)] * 6 + [(25, 40)] * 2


@pytest.mark.slow
def test_outputs_are_those_of_the_detector_on_its_own_proposals(
    detector: SwinMaskRcnn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(detector.detector.rpn._post_nms_top_n, "testing", 5)
    seen: dict[str, tuple[Tensor, ...]] = {}
    parts = {"image": "transform", "proposals": "rpn", "anchors": "rpn.head", "boxes": "roi_heads.box_predictor"}
    handles = [
        detector.detector.get_submodule(path).register_forward_hook(
            lambda _, __, out, name=name: seen.update({name: out})
        )
        for name, path in parts.items()
    ]
    with torch.no_grad():
        (found,) = detector.detector([torch.rand(3, 50, 70)])
    for handle in handles:
        handle.remove()
    images, proposals = seen["image"][0].tensors, seen["proposals"][0][0]  # type: ignore[attr-defined]  # an ImageList
    assert images.shape == (1, 3, *SMALL)
    monkeypatch.setattr(detector.detector.roi_heads.box_roi_pool, "scales", None)  # told from the first images it sees
    with torch.no_grad():
        outputs = detector(images, proposals[None])
    expected = (*seen["anchors"][0], *seen["anchors"][1], *seen["boxes"])
    for ours, theirs in zip(outputs[:-1], expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert set(found) == {"boxes", "labels", "scores", "masks"}


@pytest.mark.slow
def test_shapes_on_meta_are_those_of_real_images(detector: SwinMaskRcnn, images: Tensor, boxes: Tensor) -> None:
    with torch.no_grad():
        real = detector(images, boxes)
    with torch.device("meta"):
        meta = build_mask_rcnn(COCO, SMALL)(images.to("meta"), boxes.to("meta"))
    assert [x.shape for x in real] == [x.shape for x in meta]
    assert all(torch.isfinite(x).all() for x in real)
    levels = [grid(*SMALL, stage) for stage in range(5)]
    assert [tuple(x.shape) for x in real[:10]] == [(2, n, *level) for n in (3, 12) for level in levels]
    assert [tuple(x.shape) for x in real[10:]] == [(4, 81), (4, 324), (4, 81, 28, 28)]


def test_masks_are_made_of_a_hundred_of_a_thousand_boxes() -> None:
    with torch.device("meta"):
        model = build_mask_rcnn(COCO, SMALL)
        images, boxes = example_inputs(model, 2)
        *_, scores, _, masks = model(images, boxes)
    assert (images.shape, boxes.shape) == ((2, 3, *SMALL), (2, 1000, 4))
    assert (len(scores), len(masks)) == (2000, 200)


@pytest.mark.slow
def test_gradient_reaches_every_parameter(detector: SwinMaskRcnn, images: Tensor, boxes: Tensor) -> None:
    torch.autograd.backward([x.square().sum() for x in detector(images, boxes)])
    assert [name for name, p in detector.named_parameters() if p.grad is None] == []


@pytest.mark.slow
def test_state_round_trip(detector: SwinMaskRcnn) -> None:
    build_mask_rcnn(COCO, SMALL).load_state_dict(detector.state_dict(), strict=True)


def test_head_is_the_last_layers() -> None:
    with torch.device("meta"):
        model = build_mask_rcnn(COCO, PUBLISHED)
    head = sum(p.numel() for module in model.get_classifier() for p in module.parameters())
    assert head == (1024 + 1) * 81 * 5 + (256 + 1) * 81
