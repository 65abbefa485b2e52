from __future__ import annotations

import pytest
import timm
import torch
from imlp_audit.models.nets.swin import swin_features

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.errors import BuildError
from tests.models.swin_formulas import SWINS, grid

TINY = "swin_tiny_patch4_window7_224"


@pytest.mark.daily(1)
@pytest.mark.parametrize("size", [(36, 68), (800, 1280), (512, 2048)], ids=str)
@pytest.mark.parametrize("name", SWINS)
def test_parameters_and_macs_follow_the_closed_formulas(name: str, size: tuple[int, int]) -> None:
    with torch.device("meta"):
        model, images = swin_features(name, size), torch.empty(1, 3, *size)
    assert sum(p.numel() for p in model.parameters()) == SWINS[name].parameters()
    ledger = measure(model, images)
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == SWINS[name].macs(*size)
    assert not ledger.unknown


def test_maps_have_the_strides_of_the_stages() -> None:
    size = (36, 68)
    with torch.device("meta"):
        maps = swin_features(TINY, size)(torch.empty(2, 3, *size))
    assert [tuple(x.shape) for x in maps] == [(2, 96 * 2**i, *grid(*size, i)) for i in range(4)]
    assert [x.shape[2:] for x in maps] == [(9, 17), (5, 9), (3, 5), (2, 3)]


@pytest.mark.slow
def test_maps_are_timms_with_a_norm() -> None:
    torch.manual_seed(0)
    size = (64, 96)
    theirs = timm.create_model(TINY, pretrained=False, img_size=size, always_partition=True).eval()
    ours = swin_features(TINY, size).eval()
    renamed = {name.replace("layers.", "body.layers_", 1): tensor for name, tensor in theirs.state_dict().items()}
    renamed = {name.replace("patch_embed", "body.patch_embed"): tensor for name, tensor in renamed.items()}
    missing = ours.load_state_dict(renamed, strict=False).missing_keys
    assert missing == [name for name in ours.state_dict() if name.startswith("norms.")]
    images = torch.randn(1, 3, *size)
    with torch.no_grad():
        maps = ours(images)
        last, raw = theirs.forward_intermediates(images)
    for ours_, theirs_, norm in zip(maps, raw, ours.norms, strict=True):
        torch.testing.assert_close(ours_, norm(theirs_.permute(0, 2, 3, 1)).permute(0, 3, 1, 2))
    torch.testing.assert_close(maps[-1], last.permute(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("name", "size", "told"),
    [
        ("resnet50", (64, 64), "backbone: 'resnet50' is not a Swin"),
        ("swin_tinny_patch4_window7_224", (64, 64), "did you mean 'swin_tiny_patch4_window7_224'"),
        (TINY, (64, 66), "image: the patches of 4 do not divide 66"),
    ],
)
def test_what_cannot_be_built_says_why(name: str, size: tuple[int, int], told: str) -> None:
    with pytest.raises(BuildError, match=told):
        swin_features(name, size)
