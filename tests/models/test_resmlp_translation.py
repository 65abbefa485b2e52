from __future__ import annotations

import pytest
import torch
from imlp_audit.models.nets.translation import (
    END,
    PADDING,
    CrossAttention,
    DecoderLayer,
    Encoded,
    EncoderLayer,
    TranslationModel,
    build_translation,
)
from pydantic import ValidationError
from torch import Tensor, nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.resmlp import ResMlpTranslation
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.resmlp import AlgorithmLayer
from imlp_audit.models.settings import example_inputs

SMALL = ResMlpTranslation(layers=2, width=8, hidden=16, heads=2, tokens=7, vocabulary=11)


def randomised(module: nn.Module) -> None:
    """Give every parameter, the betas of Aff included, a value of its own."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)


@pytest.fixture
def model() -> TranslationModel:
    model = build_translation(SMALL)
    randomised(model)
    return model.double().eval()


def parameters(host: ResMlpTranslation) -> int:
    """The embedding is shared; A, B, C and attention's projections have biases; Aff has 2 d, LayerScale d."""
    n, d, h, t = host.layers, host.width, host.hidden, host.tokens
    a, mlp, attention = t * t + t, 2 * d * h + h + d, 4 * (d * d + d)
    encoder, decoder = a + mlp + 2 * 3 * d, a + attention + mlp + 3 * 3 * d
    return host.vocabulary * d + n * (encoder + decoder) + 2 * 2 * d


def macs(host: ResMlpTranslation, source: int, target: int) -> int:
    """Of one pair of sentences; the triangle of A is multiplied as the whole matrix that holds it."""
    n, d, h = host.layers, host.width, host.hidden
    encoder = source * source * d + 2 * d * h * source
    attention = 2 * d * d * source + 2 * d * d * target + 2 * source * target * d
    decoder = target * target * d + attention + 2 * d * h * target
    return n * (encoder + decoder) + d * host.vocabulary * target


@pytest.mark.parametrize("host", [SMALL, ResMlpTranslation(layers=6), ResMlpTranslation(layers=12)], ids=str)
def test_parameters_and_macs_follow_closed_formulas(host: ResMlpTranslation) -> None:
    with Builder().variant(Recipe.of(resmlp_translation=host), None) as variant:
        with torch.device("meta"):
            ledger = measure(variant.model, *example_inputs(variant.model))
        assert count_parameters(variant.model) == parameters(host)
        assert count_parameters(variant.model, ParameterConvention.NO_HEAD) == parameters(host)  # the head is tied
        assert not ledger.unknown
        assert total(ledger, FLOPS_CONVENTIONS["macs"]) == macs(host, host.tokens, host.tokens)


def test_macs_of_sentences_of_other_lengths() -> None:
    with torch.device("meta"):
        ids = torch.zeros(3, 7, dtype=torch.long)
        ledger = measure(build_translation(SMALL), ids[:, :5], ids)
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == 3 * macs(SMALL, 5, 7)


def test_published_sizes() -> None:
    """Sec. 3.6: dimension 512, hidden MLP size 2048; as large as the base Transformer's 65 M (Vaswani et al.)."""
    host = ResMlpTranslation(layers=6)
    assert (host.width, host.hidden) == (512, 2048)
    assert parameters(host) == 60_920_832


def test_computes_logits_and_reaches_every_parameter_with_gradient(model: TranslationModel) -> None:
    source, target = torch.randint(3, 11, (3, 6)), torch.randint(3, 11, (3, 7))
    logits = model(source, target)
    assert logits.shape == (3, 7, 11)
    assert torch.isfinite(logits).all()
    logits.logsumexp(-1).sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_state_dict_round_trip(model: TranslationModel) -> None:
    other = build_translation(SMALL).double().eval()
    other.load_state_dict(model.state_dict(), strict=True)
    ids = torch.randint(3, 11, (2, 7))
    torch.testing.assert_close(other(ids, ids), model(ids, ids))
    assert other.output.weight is other.embedding.weight


def test_example_inputs_run_with_real_weights() -> None:
    model = build_translation(SMALL).eval()
    logits = model(*example_inputs(model, 2))
    assert logits.shape == (2, 7, 11)
    assert torch.isfinite(logits).all()


def test_starts_with_the_papers_layer_scale() -> None:
    scales = [p for name, p in build_translation(SMALL).named_parameters() if name.endswith("scale.alpha")]
    assert len(scales) == 2 * (2 + 3)
    for scale in scales:
        torch.testing.assert_close(scale, torch.full((8,), 0.2))


def test_embeddings_are_multiplied_by_the_root_of_the_width(model: TranslationModel) -> None:
    """Vaswani et al., Sec. 3.4: with every LayerScale zero the sublayers add nothing."""
    for name, parameter in model.named_parameters():
        if name.endswith("scale.alpha"):
            nn.init.zeros_(parameter)
    nn.init.ones_(model.encoder_aff.alpha)
    nn.init.zeros_(model.encoder_aff.beta)
    ids = torch.tensor([[3, 5]])
    torch.testing.assert_close(model.encode(ids).states, 8**0.5 * model.embedding.weight[[3, 5]][None])


def algorithm_1(layer: EncoderLayer | DecoderLayer, tokens: int) -> AlgorithmLayer:
    """Algorithm 1's layer for images with the weights of a layer of ours, A cut to so many tokens."""
    state = layer.state_dict()
    across = "across_tokens.sublayer.linear" if isinstance(layer, EncoderLayer) else "across_tokens.sublayer"
    submatrix = state[f"{across}.a.weight"][:tokens, :tokens]
    theirs = AlgorithmLayer(8, tokens, expansion=2).double()
    weights: dict[str, Tensor] = {
        "across_patches.a.weight": submatrix if isinstance(layer, EncoderLayer) else submatrix.tril(),
        "across_patches.a.bias": state[f"{across}.a.bias"][:tokens],
    }
    for place, name in enumerate(("across_tokens", "across_channels"), start=1):
        weights[f"pre{place}.alpha"] = state[f"{name}.aff.alpha"]
        weights[f"pre{place}.beta"] = state[f"{name}.aff.beta"]
        weights[f"post{place}.alpha"] = state[f"{name}.scale.alpha"]
    for part in ("b.weight", "b.bias", "c.weight", "c.bias"):
        weights[f"across_channels.{part}"] = state[f"across_channels.sublayer.{part}"]
    theirs.load_state_dict(weights, strict=True)
    return theirs


@pytest.mark.parametrize("tokens", [7, 4, 1])
def test_encoder_layer_is_algorithm_1_with_the_submatrix_of_a(tokens: int) -> None:
    layer = EncoderLayer(SMALL).double()
    randomised(layer)
    x = torch.randn(3, tokens, 8, dtype=torch.float64)
    nothing = torch.zeros(3, tokens, dtype=torch.bool)
    torch.testing.assert_close(layer(x, nothing), algorithm_1(layer, tokens)(x))


@pytest.mark.parametrize("tokens", [7, 4, 1])
def test_decoder_layer_without_its_attention_is_algorithm_1_with_a_triangle(tokens: int) -> None:
    layer = DecoderLayer(SMALL).double()
    randomised(layer)
    nn.init.zeros_(layer.attention.scale.alpha)
    y, source = torch.randn(2, 3, tokens, 8, dtype=torch.float64)
    encoded = Encoded(source, torch.zeros(3, tokens, dtype=torch.bool))
    torch.testing.assert_close(layer(y, encoded), algorithm_1(layer, tokens)(y))


def test_cross_attention_is_torchs() -> None:
    ours = CrossAttention(8, heads=2)
    randomised(ours)
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    projections = (ours.query, ours.key, ours.value)
    state = {
        "in_proj_weight": torch.cat([p.weight for p in projections]),
        "in_proj_bias": torch.cat([p.bias for p in projections]),
        "out_proj.weight": ours.proj.weight,
        "out_proj.bias": ours.proj.bias,
    }
    theirs.load_state_dict(state, strict=True)
    y, source = torch.randn(3, 4, 8), torch.randn(3, 5, 8)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] + [True] * 4])
    expected, _ = theirs(y, source, source, key_padding_mask=padding)
    torch.testing.assert_close(ours(y, source, padding), expected)


def test_no_target_token_sees_a_later_one(model: TranslationModel) -> None:
    embedded: list[Tensor] = []
    encoded = model.encode(torch.tensor([[3, 4, 5]]))
    model.embedding.register_forward_hook(lambda _, __, output: embedded.append(output))
    logits = model.decode(torch.randint(3, 11, (1, 7)), encoded)
    for place in range(7):
        (gradient,) = torch.autograd.grad(logits[0, place].square().sum(), embedded[0], retain_graph=True)
        sees = gradient[0].abs().sum(-1) > 0
        assert sees.tolist() == [other <= place for other in range(7)]


def test_source_tokens_see_one_another_and_targets_see_them_all(model: TranslationModel) -> None:
    embedded: list[Tensor] = []
    model.embedding.register_forward_hook(lambda _, __, output: embedded.append(output))
    encoded = model.encode(torch.randint(3, 11, (1, 5)))
    outputs = [encoded.states[0, place] for place in range(5)] + [model.decode(torch.tensor([[END]]), encoded)]
    for output in outputs:
        (gradient,) = torch.autograd.grad(output.square().sum(), embedded[0], retain_graph=True)
        assert (gradient[0].abs().sum(-1) > 0).all()


def test_translation_does_not_depend_on_the_padding_of_its_source(model: TranslationModel) -> None:
    source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[END, 6, 7, 8]])
    padded = torch.tensor([[3, 4, 5, PADDING, PADDING], [9, 8, 7, 6, 5]])
    torch.testing.assert_close(model.encode(padded).states[:1, :3], model.encode(source).states)
    torch.testing.assert_close(model(padded, target.expand(2, -1))[:1], model(source, target))


def test_target_does_not_depend_on_its_padding(model: TranslationModel) -> None:
    """Whatever the padding: it comes after all that read it, where A is triangular."""
    source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[END, 6, 7]])
    padded = torch.tensor([[END, 6, 7, PADDING, PADDING]])
    torch.testing.assert_close(model(source, padded)[:, :3], model(source, target))


def test_positions_are_only_in_a(model: TranslationModel) -> None:
    """Without position encodings: where A is zero, turning the source around turns its states around."""
    turned, source = torch.tensor([[5, 4, 3]]), torch.tensor([[3, 4, 5]])
    assert not torch.allclose(model.encode(turned).states, model.encode(source).states.flip(1))
    for name, parameter in model.named_parameters():
        if ".a." in name:
            nn.init.zeros_(parameter)
    torch.testing.assert_close(model.encode(turned).states, model.encode(source).states.flip(1))


@pytest.mark.parametrize(("source", "target"), [(8, 1), (1, 8)])
def test_sequence_longer_than_a_is_refused(model: TranslationModel, source: int, target: int) -> None:
    ids = torch.zeros(1, 8, dtype=torch.long)
    with pytest.raises(ValueError, match="8 tokens is longer than A, which is for 7"):
        model(ids[:, :source], ids[:, :target])


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"heads": 7}, "heads and width: 7 does not divide 512"),
        ({"hidden": 1000}, "width and hidden: 512 does not divide 1000"),
        ({"vocabulary": 3}, "greater than or equal to 4"),
        ({"tokens": 0}, "greater than 0"),
    ],
)
def test_impossible_sizes_are_refused(sizes: dict[str, int], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ResMlpTranslation.model_validate({"layers": 6, **sizes})
