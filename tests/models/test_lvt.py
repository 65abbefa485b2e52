from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import pytest
import torch
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.nets.lvt import LiteVisionTransformer, build_lvt
from imlp_audit.models.nets.lvt_layers import (
    AtrousConvolution,
    ConvolutionalSelfAttention,
    DepthwiseMlp,
    RecursiveAtrousSelfAttention,
)
from pydantic import ValidationError
from timm.models.pvt_v2 import Attention, MlpWithDepthwiseConv
from timm.models.volo import OutlookAttention
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import ImlpRecipe, Part, Replacement
from imlp_audit.models.build import Builder
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.replace import mlps_of
from imlp_audit.models.settings import example_inputs
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, RELEASED

RECURSIONS = (1, 2, 3, 4)
WIDTHS = (64, 64, 160, 256)
HIDDEN = (256, 512, 640, 1024)
GRIDS = (56, 28, 14, 7)  # at 224
REDUCTIONS = (None, 4, 2, 1)
MLPS = (
    "backbone.0.1.0.mlp", "backbone.0.1.1.mlp", "backbone.1.1.0.mlp", "backbone.1.1.1.mlp", "backbone.2.1.0.mlp",
    "backbone.2.1.1.mlp", "backbone.3.1.0.mlp", "backbone.3.1.1.mlp", "post_network.0.mlp", "post_network.1.mlp",
)  # fmt: skip
MLP_SIZES = [
    size
    for size in (*((c, h, g * g) for c, h, g in zip(WIDTHS, HIDDEN, GRIDS, strict=True)), (256, 1024, 1))
    for _ in range(2)
]
"""Width, hidden width and positions of each."""

Module = TypeVar("Module", bound=nn.Module)


def randomised(module: Module) -> Module:
    """Weights, norms and biases that all matter, in double precision."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double().eval()


def lvt(recursions: int, size: tuple[int, int] = (224, 224), classes: int = 1000) -> LiteVisionTransformer:
    model = build_lvt(Lvt(recursions=recursions), size, classes)
    assert isinstance(model, LiteVisionTransformer)
    return model


def on_meta(recursions: int) -> LiteVisionTransformer:
    with torch.device("meta"):
        return lvt(recursions)


def macs(model: nn.Module) -> int:
    with torch.device("meta"):
        ledger = measure(model, *example_inputs(model))
    assert not ledger.unknown
    return total(ledger, FLOPS_CONVENTIONS["macs"])


# Closed formulas, from the sizes in the published configuration.


def backbone_parameters() -> int:
    """Patches with norm, then two blocks a stage: two norms, CSA or RASA, the MLP."""
    total = 0
    before = 3
    for c, hidden, reduction in zip(WIDTHS, HIDDEN, REDUCTIONS, strict=True):
        total += (49 if before == 3 else 9) * before * c + c + 2 * c
        if reduction is None:
            attention = c * 2 * 81 + 2 * 81 + 9 * c * c + c * c + c
            mlp = formulas.mlp(c, hidden // c)
        else:
            reduced = reduction**2 * c * c + c + 2 * c if reduction > 1 else 0
            attention = 3 * c * c + 9 * c + reduced + c * c + c
            mlp = formulas.mlp(c, hidden // c) + 9 * hidden + hidden
        total += 2 * (4 * c + attention + mlp)
        before = c
    return total


def classifier_parameters(classes: int) -> int:
    """The class token, two blocks of class-attention, a norm, and the heads of the class token and the patches."""
    block = 4 * 256 + 4 * 256 * 256 + 256 + formulas.mlp(256)
    return 256 + 2 * block + 2 * 256 + 2 * (256 * classes + classes)


def published_macs(recursions: int) -> int:
    """Multiply-accumulates of a forward pass at 224 with 1000 classes."""
    total = 0
    before = 3
    for c, hidden, grid, reduction in zip(WIDTHS, HIDDEN, GRIDS, REDUCTIONS, strict=True):
        tokens = grid * grid
        total += (49 if before == 3 else 9) * before * c * tokens
        if reduction is None:
            windows = tokens // 4
            attention = windows * (c * 2 * 81 + 9 * c * c + 81 * c) + tokens * c * c
            mlp = 2 * c * hidden * tokens
        else:
            keys = tokens // reduction**2
            reduced = tokens * c * c if reduction > 1 else 0
            once = 2 * tokens * c * c + 27 * tokens * c + reduced + 2 * keys * c * c + 2 * tokens * keys * c
            attention = recursions * once
            mlp = (2 * c + 9) * hidden * tokens
        total += 2 * (attention + mlp)
        before = c
    tokens = 50
    class_block = 2 * tokens * 256**2 + 2 * 256**2 + 2 * tokens * 256 + 2 * 256 * 1024
    return total + 2 * class_block + tokens * 256 * 1000


@pytest.mark.parametrize("recursions", RECURSIONS)
def test_parameters_follow_the_closed_formula(recursions: int) -> None:
    """imlp, Table 1, prints 5.52 M for all four; the recursions share their weights."""
    model = on_meta(recursions)
    assert count_parameters(model) == backbone_parameters() + classifier_parameters(1000) == 5_521_844
    heads = 2 * (256 * 1000 + 1000)
    assert count_parameters(model, ParameterConvention.NO_HEAD) == 5_521_844 - heads


@pytest.mark.daily(2)
@pytest.mark.parametrize("recursions", RECURSIONS)
def test_multiply_accumulates_follow_the_closed_formula(recursions: int) -> None:
    assert macs(on_meta(recursions)) == published_macs(recursions)


def test_published_size() -> None:
    """The authors' table: backbone 3.4 M parameters, 0.9 G at two recursions."""
    assert count_parameters(on_meta(2).backbone) == backbone_parameters()
    assert round(backbone_parameters() / 1e6, 1) == 3.4
    assert round(published_macs(2) / 1e9, 1) == 0.9


# Convolutional self-attention.


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
    csa = randomised(ConvolutionalSelfAttention(6, heads=2))
    x = torch.randn(2, *size, 6, dtype=torch.float64)
    torch.testing.assert_close(csa(x), torch.stack([slowly(csa, image) for image in x]))


def test_csa_of_one_window_by_hand() -> None:
    """Without scores each weight is 1/9; the window of a 2 x 2 image holds its pixels at positions 4, 5, 7 and 8."""
    csa = ConvolutionalSelfAttention(1, heads=1)
    with torch.no_grad():
        for parameter in (csa.attn.weight, csa.attn.bias, csa.proj.bias):
            parameter.zero_()
        csa.proj.weight.fill_(1.0)
        csa.weight.weight.copy_(torch.arange(9.0).reshape(9, 1, 1, 1))
    x = torch.tensor([[1.0, 10.0], [100.0, 1000.0]]).reshape(1, 2, 2, 1)
    everywhere = (4 * 1 + 5 * 10 + 7 * 100 + 8 * 1000) / 9
    torch.testing.assert_close(csa(x), torch.full((1, 2, 2, 1), everywhere))


def test_csa_with_one_matrix_for_all_positions_is_outlook_attention() -> None:
    """VOLO's (arXiv 2106.13112), as timm has it."""
    torch.manual_seed(0)
    theirs = randomised(OutlookAttention(6, 2, kernel_size=3, padding=1, stride=2))
    state = theirs.state_dict()
    state["weight.weight"] = state.pop("v.weight").repeat(9, 1)[..., None, None]
    ours = ConvolutionalSelfAttention(6, heads=2).double()
    ours.load_state_dict(state)
    x = torch.randn(2, 5, 4, 6, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x))


# Recursive atrous self-attention.


def test_atrous_convolution_shares_its_kernel_at_three_dilations() -> None:
    """A single pixel answers with the kernel's mirror image, 1, 3 and 5 apart, and thrice in the middle."""
    torch.manual_seed(0)
    atrous = AtrousConvolution(1)
    assert count_parameters(atrous) == 9
    x = torch.zeros(1, 1, 11, 11)
    x[0, 0, 5, 5] = 1.0
    expected = torch.zeros(11, 11)
    for dilation in (1, 3, 5):
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                expected[5 + dilation * i, 5 + dilation * j] += F.silu(atrous.weight[0, 0, 1 - i, 1 - j])
    assert int((atrous(x) != 0).sum()) == 3 * 8 + 1
    torch.testing.assert_close(atrous(x)[0, 0], expected)


@pytest.mark.parametrize(("reduction", "size"), [(1, (3, 5)), (2, (4, 6)), (2, (5, 7)), (4, (8, 4))])
def test_rasa_without_its_atrous_queries_is_pvts_attention(reduction: int, size: tuple[int, int]) -> None:
    """Spatial-reduction attention (PVT), as timm has it; only the queries are new."""
    torch.manual_seed(0)
    theirs = randomised(Attention(6, 2, sr_ratio=reduction, qkv_bias=False))
    ours = RecursiveAtrousSelfAttention(6, 2, reduction=reduction, recursions=1).double()
    ours.ds = nn.Identity()  # type: ignore[assignment]  # queries as they come
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, *size, 6, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x.flatten(1, 2), size).reshape(x.shape))


def test_rasa_makes_its_queries_atrous() -> None:
    torch.manual_seed(0)
    rasa = randomised(RecursiveAtrousSelfAttention(6, 2, reduction=1, recursions=1))
    x = torch.randn(2, 4, 5, 6, dtype=torch.float64)
    maps = rasa.q(x).permute(0, 3, 1, 2)
    queries = sum(
        F.silu(F.conv2d(maps, rasa.ds.weight, padding=dilation, dilation=dilation, groups=6)) for dilation in (1, 3, 5)
    )
    assert isinstance(queries, Tensor)
    q, k, v = (
        tokens.reshape(2, 20, 2, 3).transpose(1, 2)
        for tokens in (queries.flatten(2).mT, *rasa.kv(x).flatten(1, 2).split(6, dim=-1))
    )
    attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
    torch.testing.assert_close(rasa(x), rasa.proj(attended))


def test_recursions_apply_the_same_weights_to_their_sum_with_what_they_read() -> None:
    torch.manual_seed(0)
    once = randomised(RecursiveAtrousSelfAttention(6, 2, reduction=2, recursions=1))
    thrice = RecursiveAtrousSelfAttention(6, 2, reduction=2, recursions=3).double()
    thrice.load_state_dict(once.state_dict())
    x1 = torch.randn(2, 4, 6, 6, dtype=torch.float64)
    h1 = F.silu(once(x1))
    x2 = h1 + x1
    h2 = F.silu(once(x2))
    x3 = h2 + x2
    torch.testing.assert_close(thrice(x1), F.silu(once(x3)))


def test_depthwise_mlp_is_pvts() -> None:
    torch.manual_seed(0)
    theirs = randomised(MlpWithDepthwiseConv(4, 12))
    state = {name.replace("dwconv", "depconv"): value for name, value in theirs.state_dict().items()}
    state |= {name: state[name][..., None, None] for name in ("fc1.weight", "fc2.weight")}
    ours = DepthwiseMlp(4, 12).double()
    ours.load_state_dict(state)
    x = torch.randn(2, 4, 3, 5, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x.flatten(2).mT, (3, 5)).mT.reshape(x.shape))


# The whole.


@pytest.mark.daily(1)
@pytest.mark.parametrize("recursions", [1, 2])
def test_computes_with_real_weights(recursions: int) -> None:
    torch.manual_seed(0)
    model = lvt(recursions, (64, 48), classes=7)
    logits = model(torch.randn(2, 3, 64, 48))
    assert logits.shape == (2, 7)
    assert torch.isfinite(logits).all()
    (logits**2).sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []
    other = lvt(recursions, (64, 48), classes=7)
    other.load_state_dict(model.state_dict(), strict=True)
    x = torch.randn(1, 3, 64, 48)
    torch.testing.assert_close(other(x), model(x))


def test_logits_are_the_class_tokens_and_half_the_patches_largest() -> None:
    torch.manual_seed(0)
    model = lvt(1, (64, 96), classes=5).eval()
    nn.init.normal_(model.cls_token)
    seen: list[Tensor] = []
    model.norm.register_forward_hook(lambda _, __, tokens: seen.append(tokens))
    logits = model(torch.randn(1, 3, 64, 96))
    token, patches = seen[0][:, 0], seen[0][:, 1:]
    assert patches.shape == (1, 2 * 3, 256)
    torch.testing.assert_close(logits, model.head(token) + model.aux_head(patches).max(dim=1).values / 2)


def test_patches_do_not_see_the_class_token() -> None:
    torch.manual_seed(0)
    model = lvt(1, (64, 64), classes=5).eval()
    x = torch.randn(1, 3, 64, 64)
    seen: list[Tensor] = []
    model.post_network.register_forward_hook(lambda _, __, tokens: seen.append(tokens))
    model(x)
    nn.init.normal_(model.cls_token)
    model(x)
    torch.testing.assert_close(seen[0][:, 1:], seen[1][:, 1:])
    assert not torch.allclose(seen[0][:, 0], seen[1][:, 0])


def test_bears_the_published_names() -> None:
    """Shapes of some weights as the published checkpoint has them."""
    weights = on_meta(2).state_dict()
    shapes = {
        "backbone.0.0.proj.weight": (64, 3, 7, 7),
        "backbone.0.1.1.attn.attn.weight": (162, 64),
        "backbone.0.1.1.attn.weight.weight": (576, 64, 1, 1),
        "backbone.0.1.0.mlp.fc1.weight": (256, 64),
        "backbone.1.1.0.attn.ds.weight": (64, 1, 3, 3),
        "backbone.1.1.0.attn.sr.weight": (64, 64, 4, 4),
        "backbone.1.1.0.mlp.fc1.weight": (512, 64, 1, 1),
        "backbone.2.1.1.mlp.depconv.weight": (640, 1, 3, 3),
        "backbone.3.1.0.attn.kv.weight": (512, 256),
        "post_network.1.attn.kv.weight": (512, 256),
        "cls_token": (1, 1, 256),
        "aux_head.weight": (1000, 256),
    }
    assert {name: tuple(weights[name].shape) for name in shapes} == shapes


@pytest.mark.parametrize(("size", "side"), [((24, 224), 24), ((224, 8), 8)])
def test_images_that_are_too_small(size: tuple[int, int], side: int) -> None:
    with pytest.raises(BuildError, match=f"image: {side} pixels"):
        lvt(1, size)
    assert lvt(1, (25, 25), classes=2).eval()(torch.zeros(1, 3, 25, 25)).shape == (1, 2)


@pytest.mark.parametrize("recursions", [0, 101])
def test_recursions_are_bounded(recursions: int) -> None:
    with pytest.raises(ValidationError, match="recursions"):
        Lvt(recursions=recursions)


# IMLP in it.


def imlp_recipe(*sites: str, kernel: int = 5, recursions: int = 1, image: int | None = None) -> Recipe:
    replacement = Replacement(imlp=ImlpRecipe(ratio=2, kernel=kernel), sites=sites)
    return Recipe.of(lvt=Lvt(recursions=recursions), mlp=replacement, image=image)


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder()


def test_its_mlps_are_found(builder: Builder) -> None:
    with builder.variant(Recipe.of(lvt=Lvt(recursions=1)), None) as variant:
        mlps = mlps_of(variant.model)
    assert tuple(mlps) == MLPS
    assert [path for path, mlp in mlps.items() if isinstance(mlp, DepthwiseMlp)] == list(MLPS[2:8])


SITES: dict[str, tuple[tuple[str, ...], Callable[[int], bool]]] = {
    "all": (("*",), lambda _: True),
    "backbone": (("backbone.*",), lambda i: i < 8),
    "convolving": (("backbone.[123].*",), lambda i: 2 <= i < 8),
    "first and class": (("backbone.0.*", "post_network.*"), lambda i: i < 2 or i >= 8),
    "one": (("backbone.2.1.1.mlp",), lambda i: i == 5),
}


@pytest.mark.daily(4)
@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("sites", SITES)
def test_imlp_at_chosen_sites(builder: Builder, sites: str, kernel: int, reading: Reading) -> None:
    """The whole MLP goes, its depthwise convolution too; the other sites stay as they are."""
    globs, is_chosen = SITES[sites]
    chosen = [i for i in range(len(MLPS)) if is_chosen(i)]
    parameters = 5_521_844
    work = published_macs(1)
    for i in chosen:
        c, hidden, tokens = MLP_SIZES[i]
        convolves = 2 <= i < 8
        parameters += formulas.imlp(c, 2 * c, kernel, Part.CHANNEL_AND_SPATIAL, reading)
        parameters -= formulas.mlp(c, hidden // c) + 10 * hidden * convolves
        work += tokens * (2 * c * c + 4 * c * c + kernel**2 * 4 * c)
        work -= tokens * (2 * c + 9 * convolves) * hidden
    with builder.variant(imlp_recipe(*globs, kernel=kernel), reading) as variant:
        replaced = [path for path in variant.mlps if isinstance(variant.model.get_submodule(path), Imlp)]
        assert replaced == [MLPS[i] for i in chosen]
        assert count_parameters(variant.model) == parameters
        assert macs(variant.model) == work


def test_all_sites_under_the_released_reading(builder: Builder) -> None:
    """imlp, Table 1, prints 4.98 M; this is 4.97."""
    with builder.variant(imlp_recipe("*"), RELEASED) as variant:
        assert count_parameters(variant.model) == 4_970_420


@pytest.mark.daily(1)
@pytest.mark.parametrize("reading", [AS_WRITTEN, RELEASED], ids=["as_written", "released"])
def test_imlp_computes_with_real_weights(reading: Reading) -> None:
    torch.manual_seed(0)
    with Builder("cpu").variant(imlp_recipe("*", kernel=3, image=96, recursions=2), reading) as variant:
        logits = variant.model.train()(torch.randn(2, 3, 96, 96))
        assert logits.shape == (2, 1000)
        assert torch.isfinite(logits).all()
        (logits**2).sum().backward()
        assert [name for name, p in variant.model.named_parameters() if p.grad is None] == []
        variant.model.load_state_dict(variant.model.state_dict(), strict=True)


def test_keeps_its_class_token_under_every_reading(builder: Builder) -> None:
    """Only a ViT can average its patches instead; LVT's classifier is made of the token."""
    with (
        builder.variant(Recipe.of(lvt=Lvt(recursions=1)), None) as host,
        builder.variant(imlp_recipe("*"), RELEASED) as v,
    ):
        assert v.model is host.model
        assert "cls_token" in dict(v.model.named_parameters())


def test_kernel_larger_than_a_grid_of_its_stages(builder: Builder) -> None:
    """At 224 the last grid is 7 x 7; the class token has no grid, and any kernel is as good."""
    with (
        builder.variant(imlp_recipe("backbone.*", kernel=9), RELEASED) as variant,
        pytest.raises(BuildError, match="kernel: 9 is larger than the grid of 7 x 7"),
    ):
        macs(variant.model)


def test_sites_that_are_not_there(builder: Builder) -> None:
    with (
        pytest.raises(BuildError, match=r"the host has no MLP at 'backbone\.4\.\*'"),
        builder.variant(imlp_recipe("backbone.4.*"), RELEASED),
    ):
        pass
