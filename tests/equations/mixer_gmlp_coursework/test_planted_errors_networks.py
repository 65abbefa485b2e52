"""Each error that is planted in a network of the package makes a claim about whole networks false."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from imlp_audit.models.nets import gmlp, text_heads
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models import mixer
from imlp_audit.models.gmlp import (
    GmlpBlock,
    GmlpClassifier,
    SpatialGatingUnit,
    TinyAttention,
    ToeplitzProjection,
    TokenProjection,
)
from imlp_audit.models.hosts import Gmlp, Mixer
from imlp_audit.models.mixer import MixerLayer, MlpMixer, PatchClassifier, PatchEmbedding
from imlp_audit.models.reading import Family, SpatialMatrix, make_reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.text import GmlpEncoder, GmlpLanguageModel, GmlpTextClassifier
from specs.mixer_gmlp_coursework.equations import sec2_1_patches, sec3_defaults
from tests.equations import papers

IMAGES = "gmlp_network_of_images"
TEXTS = "gmlp_network_of_texts"
CLASSES = "gmlp_classifier_of_texts"


def _is_false(name: str) -> bool:
    return papers.is_false("mixer_gmlp_coursework", name, 100)


AROUND_BLOCKS: dict[str, Callable[[PatchClassifier, Tensor], Tensor]] = {
    "no last norm": lambda net, x: net.head(net.blocks(net.stem(x)).mean(1)),
    "the last norm first": lambda net, x: net.head(net.blocks(net.norm(net.stem(x))).mean(1)),
    "the first patch for the mean": lambda net, x: net.head(net.norm(net.blocks(net.stem(x)))[:, 0]),
    "the sum for the mean": lambda net, x: net.head(net.norm(net.blocks(net.stem(x))).sum(1)),
    "only the first block": lambda net, x: net.head(net.norm(net.blocks[0](net.stem(x))).mean(1)),
    "the last block twice": lambda net, x: net.head(net.norm(net.blocks[-1](net.blocks(net.stem(x)))).mean(1)),
}


@pytest.mark.parametrize("claim", ["mixer_network", IMAGES])
@pytest.mark.parametrize("forward", AROUND_BLOCKS.values(), ids=AROUND_BLOCKS)
def test_around_the_blocks(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(PatchClassifier, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("claim", ["mixer_network", IMAGES])
def test_patches_column_by_column(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(PatchEmbedding, "forward", lambda stem, x: stem.proj(x).mT.flatten(2).mT)
    assert _is_false(claim)


def test_mixing_in_the_other_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MixerLayer, "forward", lambda layer, x: layer.token_mixing(layer.channel_mixing(x)))
    assert _is_false("mixer_network")


def test_hidden_widths_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixer, "MixerLayer", lambda s, c, d_s, d_c: MixerLayer(s, c, d_c, d_s))
    assert _is_false("mixer_network")


@pytest.mark.parametrize(("claim", "network"), [("mixer_network", MlpMixer), (IMAGES, GmlpClassifier)])
@pytest.mark.parametrize("change", [-1, 1])
def test_a_layer_more_or_less(
    monkeypatch: pytest.MonkeyPatch, claim: str, network: type[PatchClassifier], change: int
) -> None:
    init = network.__init__

    def build(net: PatchClassifier, sizes: Mixer | Gmlp, *others: object) -> None:
        init(net, sizes.model_copy(update={"layers": sizes.layers + change}), *others)  # type: ignore[arg-type]

    monkeypatch.setattr(network, "__init__", build)
    assert _is_false(claim)


def _one_for_all(module: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a block of a network the same module each time that it is built."""
    build, built = getattr(module, name), dict[object, nn.Module]()

    def build_once(*sizes: object, **others: object) -> nn.Module:
        block: nn.Module = built.setdefault((sizes, *others.values()), build(*sizes, **others))
        return block

    monkeypatch.setattr(module, name, build_once)


def test_layers_that_share_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    _one_for_all(mixer, "MixerLayer", monkeypatch)
    assert _is_false("mixer_network")
    _one_for_all(gmlp, "_block", monkeypatch)
    assert _is_false(TEXTS)
    assert _is_false(CLASSES)


@pytest.mark.parametrize("claim", [TEXTS, CLASSES])
@pytest.mark.parametrize(
    "states",
    [lambda net, ids: net.blocks(net.embedding(ids)), lambda net, ids: net.blocks(net.norm(net.embedding(ids)))],
    ids=["no last norm", "the last norm first"],
)
def test_states(monkeypatch: pytest.MonkeyPatch, states: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(GmlpEncoder, "states", states)
    assert _is_false(claim)


def test_class_read_from_another_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        GmlpTextClassifier,
        "forward",
        lambda net, ids: net.head(net.states(ids)[:, -1] if net.pooler is None else net.pooler(net.states(ids))),
    )
    assert _is_false(CLASSES)


def test_pooler_that_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GmlpTextClassifier, "forward", lambda net, ids: net.head(net.states(ids)[:, 0]))
    assert _is_false(CLASSES)
    monkeypatch.setattr(GmlpLanguageModel, "forward", lambda net, ids: net.output(net.states(ids)))
    assert _is_false(TEXTS)


@pytest.mark.parametrize("claim", [TEXTS, CLASSES])
def test_matrices_exchanged(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    exchanged = {SpatialMatrix.FULL: ToeplitzProjection, SpatialMatrix.TOEPLITZ: TokenProjection}
    monkeypatch.setattr(gmlp, "PROJECTIONS", exchanged)
    assert _is_false(claim)


def _with(**always: object) -> Callable[..., GmlpBlock]:
    return lambda *sizes, **others: GmlpBlock(*sizes, **(others | always))


BLOCKS: dict[str, Callable[..., GmlpBlock]] = {
    "a norm in every gate": _with(gate_norm_layer=nn.LayerNorm),
    "no norm in any gate": _with(gate_norm_layer=nn.Identity),
    "another epsilon": _with(norm_layer=partial(nn.LayerNorm, eps=1e-3)),
    "no attention": _with(d_attn=None),
}


@pytest.mark.parametrize("claim", [TEXTS, CLASSES])
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_block(monkeypatch: pytest.MonkeyPatch, block: Callable[..., GmlpBlock], claim: str) -> None:
    monkeypatch.setattr(gmlp, "GmlpBlock", block)
    assert _is_false(claim)


@pytest.mark.parametrize("eps", [1e-5, 1e-4])
def test_epsilon_of_blocks_for_images(monkeypatch: pytest.MonkeyPatch, eps: float) -> None:
    monkeypatch.setattr(gmlp, "GmlpBlock", _with(norm_layer=partial(nn.LayerNorm, eps=eps)))
    assert _is_false(IMAGES)


def test_output_layer_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tied layers have the embedding's matrix."""

    def untied(embedding: nn.Embedding, *, bias: bool) -> nn.Linear:
        return nn.Linear(embedding.embedding_dim, embedding.num_embeddings, bias=bias)

    monkeypatch.setattr(text_heads, "_tie", untied)
    assert _is_false(TEXTS)


def test_a_network_that_misreports_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatchClassifier, "example_inputs", lambda net, batch: (torch.zeros(batch, 3, 224, 224),))
    monkeypatch.setattr(GmlpLanguageModel, "get_classifier", lambda net: net.embedding)
    assert _is_false("mixer_network")
    assert _is_false(TEXTS)


@pytest.mark.parametrize("claim", ["mixer_network", IMAGES])
def test_patches_that_are_not_learned(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    forward = PatchEmbedding.forward
    monkeypatch.setattr(PatchEmbedding, "forward", lambda stem, x: forward(stem, x).detach())
    assert _is_false(claim)


@pytest.mark.parametrize("claim", [IMAGES, TEXTS, CLASSES])
def test_w_that_is_not_learned(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    matrix = TokenProjection.matrix
    monkeypatch.setattr(TokenProjection, "matrix", lambda projection: matrix(projection).detach())
    monkeypatch.setattr(ToeplitzProjection, "matrix", TokenProjection.matrix)
    assert _is_false(claim)


def test_norms_that_are_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    def fixed(*sizes: int, **others: float) -> nn.LayerNorm:
        norm = nn.LayerNorm(*sizes, **others)  # type: ignore[arg-type]
        norm.requires_grad_(False)
        return norm

    monkeypatch.setattr(gmlp, "GmlpBlock", _with(norm_layer=fixed))
    assert _is_false(TEXTS)


def _only_the_height(image: tuple[int, int], patch: int) -> int:
    if image[0] % patch:
        raise BuildError("no grid of patches")
    return image[0] * image[1] // patch**2


COUNTS: dict[str, Callable[[tuple[int, int], int], float]] = {
    "of a square": lambda image, patch: (image[0] // patch) ** 2,
    "nothing refused": lambda image, patch: (image[0] // patch) * (image[1] // patch),
    "only the height looked at": _only_the_height,
}


@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_number_of_patches(monkeypatch: pytest.MonkeyPatch, count: Callable[..., float]) -> None:
    monkeypatch.setattr(sec2_1_patches, "number_of_patches", count)
    assert _is_false("patches_cover_image")


def test_a_split_of_any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpatialGatingUnit, "__init__", lambda unit, *sizes: None)
    assert _is_false("sgu_split_even_width")


@pytest.mark.parametrize("start", [partial(nn.init.normal_, std=0.02), nn.init.ones_, nn.init.zeros_])
def test_initial_w(monkeypatch: pytest.MonkeyPatch, start: Callable[[Tensor], Tensor]) -> None:
    init = TokenProjection.__init__

    def build(projection: TokenProjection, tokens: int) -> None:
        init(projection, tokens)
        start(projection.weight)

    monkeypatch.setattr(TokenProjection, "__init__", build)
    assert _is_false("sgu_initial_values")


def test_initial_b(monkeypatch: pytest.MonkeyPatch) -> None:
    init = TokenProjection.__init__

    def build(projection: TokenProjection, tokens: int) -> None:
        init(projection, tokens)
        nn.init.zeros_(projection.bias)

    monkeypatch.setattr(TokenProjection, "__init__", build)
    assert _is_false("sgu_initial_values")


def test_attention_of_another_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TinyAttention.__init__, "__defaults__", (32,))
    assert _is_false("attention_width")


@pytest.mark.parametrize("claim", [TEXTS, CLASSES])
def test_a_word_that_is_not_learned(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    make = GmlpEncoder.__init__

    def pad(net: GmlpEncoder, *sizes: object) -> None:
        make(net, *sizes)  # type: ignore[arg-type]
        net.embedding.padding_idx = 0

    monkeypatch.setattr(GmlpEncoder, "__init__", pad)
    assert _is_false(claim)


@pytest.mark.parametrize(
    "other",
    [
        {"vocabulary": 30000}, {"sequence_length": 128}, {"ffn_width": 2048}, {"spatial_matrix": "toeplitz"},
        {"gate_norm": "no"}, {"output_layer": "tied"}, {"pooler": "no"},
    ],
    ids=str,
)  # fmt: skip
def test_another_default(monkeypatch: pytest.MonkeyPatch, other: dict[str, int | str]) -> None:
    def read(family: Family, answers: dict[str, int | str]) -> object:
        kinds = {name: type(answers[name])(value) for name, value in other.items()}
        return make_reading(family, {**answers, **kinds})

    monkeypatch.setattr(sec3_defaults, "make_reading", read)
    assert _is_false("gmlp_of_texts_by_default")


@pytest.mark.parametrize("claim", ["patches_of_height_and_width", "mixer_network", IMAGES])
def test_height_for_width(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    given = Recipe.with_image
    monkeypatch.setattr(Recipe, "with_image", lambda recipe, image: given(recipe, image[::-1]))
    assert _is_false(claim)
