from __future__ import annotations

import pytest
import timm
import torch
from imlp_audit.models.nets.cait_chain import build_cait_chain
from pydantic import ValidationError
from timm.layers import Mlp
from timm.models.cait import Cait, ClassAttn
from torch import Tensor, nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.resmlp import CaitChain, CaitStage, Nonlinearity, Norm, Pooling, ResMlp
from imlp_audit.models.nets.resmlp import ACTIVATIONS, build_resmlp
from imlp_audit.models.reading import Presence, ResMlpForm, ResMlpReading
from imlp_audit.models.settings import example_inputs
from tests.models.resmlp_helpers import assert_round_trip, counts, loaded, randomised, renamed, without_gradient

SIZE, PATCHES, CLASSES = (12, 16), 12, 5
AS_IN_CODE = ResMlpReading(ResMlpForm.ALGORITHM, Presence.NO)
WIDTH, LAYERS = 6, 3
TIMM_NAMES = {
    r"^patch_embed\.": "stem.",
    r"^pos_embed$": "positions",
    r"^cls_token$": "pool.token",
    r"^norm\.": "pool.layers.2.",
    r"^blocks_token_only\.(\d+)\.attn\.": r"pool.layers.\1.aggregate.",
    r"^blocks_token_only\.": "pool.layers.",
    r"^blocks\.(\d+)\.attn\.": r"blocks.\1.across_patches.",
    r"^(blocks\.\d+\.)mlp\.": r"\1across_channels.",
    r"\.proj_l\.": ".before.",
    r"\.proj_w\.": ".after.",
    r"\.norm([12])\.": r".pre\1.",
    r"\.gamma_([12])$": r".post\1.alpha",
    r"\.fc1\.": ".b.",
    r"\.fc2\.": ".c.",
}


def _small(stage: CaitStage, **fields: object) -> nn.Module:
    given = {"stage": stage, "layers": LAYERS, "width": WIDTH, "heads": 2, "patch": 4, **fields}
    return build_cait_chain(CaitChain.model_validate(given), SIZE, CLASSES)


def _on_meta(stage: CaitStage, side: int = 224, **fields: object) -> nn.Module:
    with torch.device("meta"):
        return build_cait_chain(CaitChain.model_validate({"stage": stage, **fields}), (side, side), 1000)


def _images(batch: int = 2) -> Tensor:
    return torch.randn(batch, 3, *SIZE, dtype=torch.float64)


def _timms(**changed: object) -> Cait:
    return Cait(img_size=SIZE, patch_size=4, num_classes=CLASSES, embed_dim=WIDTH, depth=LAYERS, num_heads=2, **changed)


def test_starts_as_timms_cait() -> None:
    torch.manual_seed(0)
    theirs = randomised(_timms())
    ours = loaded(_small(CaitStage.ATTENTION), renamed(theirs, TIMM_NAMES))
    images = _images()
    torch.testing.assert_close(ours(images), theirs(images), rtol=1e-12, atol=1e-12)


@pytest.mark.daily(1)
@pytest.mark.parametrize(("name", "side"), [("cait_s24_224", 224), ("cait_s24_384", 384)])
def test_sizes_are_timms(name: str, side: int) -> None:
    with torch.device("meta"):
        theirs = timm.create_model(name)
    for module in theirs.modules():
        if isinstance(module, ClassAttn):
            module.fused_attn = False
    assert counts(_on_meta(CaitStage.ATTENTION, side)) == counts(theirs)


class _TransposedMlp(nn.Module):
    """timm's MLP on the transposed patches, by the contract of its attention."""

    def __init__(self, _dim: int, **_options: object) -> None:
        super().__init__()
        self.mlp = Mlp(PATCHES, 4 * PATCHES)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.mlp(x.transpose(1, 2))
        return y.transpose(1, 2)


def test_only_the_patch_mlp_differs_from_cait() -> None:
    """CaiT of timm with an MLP over the patches given to it as its attention."""
    torch.manual_seed(1)
    theirs = randomised(_timms(attn_block=_TransposedMlp))
    ours = loaded(_small(CaitStage.PATCH_MLP), renamed(theirs, TIMM_NAMES))
    images = _images()
    torch.testing.assert_close(ours(images), theirs(images), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pooling", [Pooling.AVERAGE, Pooling.CLASS_MLP])
def test_ends_as_resmlp_with_positions(pooling: Pooling) -> None:
    """The linear stage with Aff has Algorithm 1's weights and outputs, once its positions are nought."""
    torch.manual_seed(2)
    fields = {"layers": LAYERS, "width": WIDTH, "patch": 4, "pooling": pooling}
    resmlp = randomised(build_resmlp(ResMlp.model_validate(fields), AS_IN_CODE, SIZE, CLASSES))
    positions = torch.zeros(PATCHES, WIDTH)
    chain = loaded(
        _small(CaitStage.LINEAR, norm="aff", pooling=pooling), {**resmlp.state_dict(), "positions": positions}
    )
    images = _images()
    torch.testing.assert_close(chain(images), resmlp(images))


def test_positions_are_added_to_the_patches() -> None:
    torch.manual_seed(3)
    model, images = randomised(_small(CaitStage.CLASS_MLP)), _images()
    embedded = model.get_submodule("stem")(images) + model.get_parameter("positions")
    expected = model.get_submodule("head")(model.get_submodule("pool")(model.get_submodule("blocks")(embedded)))
    torch.testing.assert_close(model(images), expected)


def _formula(host: CaitChain, heads: int = 8) -> dict[str, int]:
    """The sizes in closed form at 224: n patches, width d, layers with LayerNorm, LayerScale and biases."""
    n, d = (224 // host.patch) ** 2, host.width
    hidden = int((4 if host.expansion is None else host.expansion) * n)
    attention = (4 * d * d + 4 * d + 2 * (heads * heads + heads), 4 * d * d * n + 2 * n * n * (d + heads * heads))
    patch_mlp = (2 * n * hidden + n + hidden, 2 * n * hidden * d)
    across, across_work = {
        CaitStage.ATTENTION: attention,
        CaitStage.PATCH_MLP: patch_mlp,
        CaitStage.CLASS_MLP: patch_mlp,
        CaitStage.LINEAR: (n * n + n, n * n * d),
    }[host.stage]
    mlp, around = 8 * d * d + 5 * d, 2 * 2 * d + 2 * d
    class_attention = (4 * d * d + 4 * d, 2 * d * d + 2 * d * d * (n + 1) + 2 * (n + 1) * d)
    with_attention = host.stage in (CaitStage.ATTENTION, CaitStage.PATCH_MLP) and host.pooling is None
    gather, gather_work = class_attention if with_attention else (n + 1 + 1, (n + 1) * d)
    pool, pool_work = d + 2 * (gather + mlp + around), 2 * (gather_work + 8 * d * d)
    if host.pooling is Pooling.AVERAGE:
        pool = pool_work = 0
    ends = (3 * host.patch**2 + 1) * d + n * d + 2 * d + (d + 1) * 1000
    return {
        "parameters": host.layers * (across + mlp + around) + pool + ends,
        "macs": host.layers * (across_work + 8 * d * d * n) + pool_work + 3 * host.patch**2 * d * n + 1000 * d,
    }


@pytest.mark.daily(8)
@pytest.mark.parametrize(
    "fields",
    [
        *({"stage": stage} for stage in CaitStage),
        *({"stage": stage, "patch": 14} for stage in CaitStage),
        *({"stage": "class_mlp", "pooling": "average", "expansion": e} for e in (0.25, 0.5, 1, 2, 3, 4)),
        {"stage": "linear", "pooling": "average"},
        {"stage": "attention", "pooling": "class_mlp"},
    ],
)
def test_sizes_by_formula(fields: dict[str, object]) -> None:
    expected, measured = _formula(CaitChain.model_validate(fields)), counts(_on_meta(**fields))  # type: ignore[arg-type]
    assert {key: measured[key] for key in expected} == expected


def test_batch_norm_and_aff_have_layer_norms_parameters_and_l2_has_none() -> None:
    sizes = {norm: counts(_on_meta(CaitStage.CLASS_MLP, norm=norm)) for norm in Norm}
    norms = 24 * 2 + 2 * 2 + 1
    assert sizes[Norm.AFF]["parameters"] == sizes[Norm.BATCH]["parameters"] == sizes[Norm.LAYER]["parameters"]
    assert sizes[Norm.LAYER]["parameters"] - sizes[Norm.L2]["parameters"] == norms * 2 * 384
    assert len({size["macs"] for size in sizes.values()}) == 1


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    "fields",
    [
        *({"stage": stage} for stage in CaitStage),
        *({"stage": "class_mlp", "norm": norm} for norm in Norm),
        *({"stage": "class_mlp", "nonlinearity": nonlinearity} for nonlinearity in Nonlinearity),
        {"stage": "class_mlp", "pooling": "average", "expansion": 0.5},
        {"stage": "attention", "pooling": "class_mlp"},
    ],
)
def test_runs_trains_and_is_restored(fields: dict[str, object]) -> None:
    """A softmax does not change with what is added to all scores of a query: two kinds of biases have no effect."""
    torch.manual_seed(4)
    model, images = randomised(_small(**fields)), _images(3)  # type: ignore[arg-type]
    logits = model(images)
    assert logits.shape == (3, CLASSES)
    assert logits.isfinite().all()
    names = {name for name, _ in model.named_parameters()}
    no_effect = {name for name in names if name.endswith(("before.bias", "aggregate.k.bias"))}
    assert without_gradient(model, images) == no_effect
    assert_round_trip(model, _small(**fields), images)  # type: ignore[arg-type]


def test_nonlinearity_is_that_of_every_mlp() -> None:
    model = _small(CaitStage.PATCH_MLP, nonlinearity="silu")
    found = [type(module) for name, module in model.named_modules() if name.endswith("activation")]
    assert found == [ACTIVATIONS[Nonlinearity.SILU]] * (2 * LAYERS + 2)


def test_layer_scale_starts_as_in_cait_s24() -> None:
    model = build_cait_chain(CaitChain(stage=CaitStage.LINEAR, width=8, heads=2, patch=4), SIZE, CLASSES)
    scales = [model.get_parameter(name) for name in ("blocks.23.post2.alpha", "pool.layers.1.post1.alpha")]
    for scale in scales:
        torch.testing.assert_close(scale.detach(), torch.full((8,), 1e-5))


def test_head_and_example() -> None:
    model = _small(CaitStage.ATTENTION)
    head = (WIDTH + 1) * CLASSES
    assert count_parameters(model) - count_parameters(model, ParameterConvention.NO_HEAD) == head
    (images,) = example_inputs(model, 4)
    assert images.shape == (4, 3, *SIZE)


def test_impossible_numbers() -> None:
    with pytest.raises(BuildError, match=r"expansion: 0\.01 times 12 patches"):
        _small(CaitStage.CLASS_MLP, expansion=0.01)
    with pytest.raises(ValidationError, match="heads and width: 7 does not divide 384"):
        CaitChain(stage=CaitStage.ATTENTION, heads=7)
    for stage in (CaitStage.ATTENTION, CaitStage.LINEAR):
        with pytest.raises(ValidationError, match=r"expansion: the stage .* has no MLP over the patches"):
            CaitChain(stage=stage, expansion=2)
