"""The ledger equals fvcore and torch's FlopCounterMode, to the last unit, on hosts of many families."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.fvcore import count_with_fvcore
from imlp_audit.count.ledger import measure

from .counters import flop_counter_macs, host, image_size, ptflops_of, with_zeros

AUDITED = (
    "deit_tiny_patch16_224 deit_small_patch16_224 deit_base_patch16_224 swin_tiny_patch4_window7_224"
    " swin_small_patch4_window7_224 swin_base_patch4_window7_224 poolformer_s12 poolformer_s24 poolformer_s36"
    " poolformer_m36 poolformer_m48"
)
# Between them: grouped, depthwise and strided convolutions, every norm, pooling of all kinds, einsum, talking
# heads, linear attention, gating, upsampling and re-parametrised blocks.
OTHERS = (
    "resnet50 convnext_tiny maxvit_tiny_tf_224 pvt_v2_b0 cait_xxs24_224 efficientnet_b0 tf_efficientnet_b0"
    " mixer_b16_224 gmlp_s16_224 resmlp_12_224 regnety_004 mobilenetv3_small_100 coat_tiny xcit_nano_12_p8_224"
    " levit_128s halonet26t botnet26t_256 lambda_resnet26t densenet121 volo_d1_224 crossvit_tiny_240 twins_svt_small"
    " hrnet_w18_small skresnet18 tnt_s_legacy_patch16_224 mobilevitv2_050 focalnet_tiny_srf"
    " convmixer_1024_20_ks9_p14 nf_regnet_b0 test_nfnet samvit_base_patch16_224 mvitv2_tiny"
    " inception_next_atto resnest14d edgenext_xx_small deit_tiny_distilled_patch16_224"
)


DAILY = ("deit_tiny_patch16_224", "poolformer_s12")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in DAILY else pytest.mark.slow)
        for name in [*AUDITED.split(), *OTHERS.split()]
    ],
)
def test_ledger_equals_fvcore_and_flop_counter(name: str) -> None:
    on_meta = host(name, "meta")
    size = image_size(on_meta)
    image = torch.empty(size, device="meta")

    ledger = measure(on_meta, image)

    assert ledger.unknown == {}
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == flop_counter_macs(on_meta, image)
    assert total(ledger, FLOPS_CONVENTIONS["fvcore"]) == count_with_fvcore(with_zeros(on_meta), torch.zeros(size))


def test_fvcore_misses_both_products_of_fused_attention() -> None:
    model = host("deit_tiny_patch16_224", "meta")
    image = torch.empty(1, 3, 224, 224, device="meta")
    unfused = total(measure(model, image), FLOPS_CONVENTIONS["fvcore"])
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = True  # type: ignore[assignment]
    fused = measure(model, image)

    # 12 blocks; 197 tokens, width 192, in Q K^T and again in A V.
    assert unfused - total(fused, FLOPS_CONVENTIONS["fvcore"]) == 12 * 2 * 197 * 197 * 192
    assert total(fused, FLOPS_CONVENTIONS["macs"]) == flop_counter_macs(model, image)


@pytest.mark.parametrize(
    "name",
    [
        "deit_tiny_patch16_224",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("swin_tiny_patch4_window7_224", "resnet18")),
    ],
)
def test_conventions_named_after_counters_agree_with_them(name: str) -> None:
    """torch's FlopCounterMode counts two per multiply-accumulate; ptflops with backend "aten" also counts biases."""
    ledger = measure(host(name, "meta"), torch.empty(1, 3, 224, 224, device="meta"))
    with FlopCounterMode(display=False) as counter:
        host(name, "meta")(torch.empty(1, 3, 224, 224, device="meta"))

    assert total(ledger, FLOPS_CONVENTIONS["torch"]) == counter.get_total_flops()
    assert total(ledger, FLOPS_CONVENTIONS["ptflops"]) == ptflops_of(with_zeros(host(name, "meta")))


def test_conventions_that_leave_out_attention_or_the_head() -> None:
    """DeiT-Ti: 12 blocks of 197 tokens of width 192, and 1000 classes; thop sees only modules: 1.0749 G."""
    ledger = measure(host("deit_tiny_patch16_224", "meta"), torch.empty(1, 3, 224, 224, device="meta"))
    macs, products = 1_253_683_200, 12 * 2 * 197 * 197 * 192

    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == macs
    assert total(ledger, FLOPS_CONVENTIONS["no_products"]) == macs - products
    assert total(ledger, FLOPS_CONVENTIONS["modules"]) == macs - products == 1_074_851_328
    assert total(ledger, FLOPS_CONVENTIONS["no_head"]) == macs - 192 * 1000
