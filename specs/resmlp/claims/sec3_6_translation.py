"""Sec. 2 and 3.6: the sequence-to-sequence ResMLP, from token ids to the scores of the words."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from math import inf, sqrt

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from torch import Tensor, nn
from torch.nn.functional import gelu

from imlp_audit.claims import Sides, choice, claim, gradients, modules
from imlp_audit.models.new_modules import is_normal, keeps_type, refuses, starts_as_torchs

from ..models import CrossAttention, TranslationModel
from ._network import WEIGHTS, affine, children

_PADDING, _WORDS, _WIDTH, _HEADS = 1, 6, 6, 3  # fairseq's id of padding


def _residual(x: Tensor, around: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    """x + Diag(alpha') sublayer(Aff(x))."""
    return x + around.get_parameter("scale.alpha") * sublayer(_aff(x, around.get_submodule("aff")))


def _aff(x: Tensor, aff: nn.Module) -> Tensor:
    return aff.get_parameter("alpha") * x + aff.get_parameter("beta")


def _mlp(x: Tensor, around: nn.Module) -> Tensor:
    first, last = around.get_submodule("sublayer.b"), around.get_submodule("sublayer.c")
    return _residual(x, around, lambda z: affine(gelu(affine(z, first, bias=True)), last, bias=True))


def _across(x: Tensor, linear: nn.Module, *, triangular: bool) -> Tensor:
    """A's first rows and columns, as many as there are tokens, and the first entries of its bias."""
    n, weight, bias = x.shape[1], linear.get_parameter("a.weight"), linear.get_parameter("a.bias")
    a = weight[:n, :n]
    return (a.tril() if triangular else a) @ x + bias[:n, None]


def _attend(y: Tensor, states: Tensor, padded: Tensor, attention: nn.Module) -> Tensor:
    """Each target token's attention to the source's tokens that are not padding."""
    q, k, v = (
        affine(x, attention.get_submodule(name), bias=True).chunk(_HEADS, dim=-1)
        for x, name in ((y, "query"), (states, "key"), (states, "value"))
    )
    scores = [q_h @ k_h.mT / sqrt(_WIDTH / _HEADS) for q_h, k_h in zip(q, k, strict=True)]
    weights = [each.masked_fill(padded[:, None], -inf).softmax(dim=-1) for each in scores]
    mixed = torch.cat([w_h @ v_h for w_h, v_h in zip(weights, v, strict=True)], dim=-1)
    return affine(mixed, attention.get_submodule("proj"), bias=True)


def _encoder_layer(x: Tensor, padded: Tensor, layer: nn.Module) -> Tensor:
    """X + A Aff(X)^T over what is not padding, then the MLP."""
    across = layer.get_submodule("across_tokens")
    sublayer = across.get_submodule("sublayer")
    x = _residual(x, across, lambda z: _across(z * ~padded[..., None], sublayer, triangular=False))
    return _mlp(x, layer.get_submodule("across_channels"))


def _decoder_layer(y: Tensor, states: Tensor, padded: Tensor, layer: nn.Module) -> Tensor:
    """Y + A Aff(Y)^T with a triangular A, then attention to the source, then the MLP."""
    across, attention = layer.get_submodule("across_tokens"), layer.get_submodule("attention")
    y = _residual(y, across, lambda z: _across(z, across.get_submodule("sublayer"), triangular=True))
    y = _residual(y, attention, lambda z: _attend(z, states, padded, attention.get_submodule("sublayer")))
    return _mlp(y, layer.get_submodule("across_channels"))


def _sentences(most_padding: Callable[[int], int]) -> SearchStrategy[Tensor]:
    """Token ids of two sentences of two or three tokens, of which the second ends with padding."""
    word = st.sampled_from([word for word in range(_WORDS) if word != _PADDING])

    def of(n: int) -> SearchStrategy[Tensor]:
        sentence = st.lists(word, min_size=n, max_size=n)
        padding = st.integers(0, most_padding(n))
        padded = st.builds(lambda words, m: words[: n - m] + [_PADDING] * m, sentence, padding)
        return st.tuples(sentence, padded).map(torch.tensor)

    return st.integers(2, 3).flatmap(of)


def _model(layers: int) -> TranslationModel:
    return TranslationModel(layers, _WIDTH, hidden=12, heads=_HEADS, tokens=3, vocabulary=_WORDS)


_layers = choice("layers", 1, 2)


@claim(
    model=modules(_model, _layers, values=WEIGHTS, training=st.booleans()),
    source=_sentences(lambda n: n - 1),
    target=_sentences(lambda _: 1),
    layers=_layers,
    share=0.5,
    place="Sec. 2, Sequence-to-sequence ResMLP, and Sec. 3.6",
    printed="we follow the general encoder-decoder architecture from Vaswani et al., where we replace the "
    "self-attention sublayers by the residual multi-perceptron layer. In the decoder, we keep the cross-attention "
    "sublayers; by constraining the matrix A to be triangular; padding with zeros and extracting the submatrix A",
)
def translation_network(model: TranslationModel, source: Tensor, target: Tensor, layers: int) -> Sides:
    """The sequence-to-sequence ResMLP has the Transformer's encoder and decoder, with a linear layer across the tokens
    in place of self-attention: its rows and columns of as many tokens as there are, triangular in the decoder, which
    keeps its attention to the encoder's output.

    Read as: sublayers are those of Algorithm 1, cross-attention too, and another Aff follows the last layer of both
    sides; embeddings are multiplied by sqrt(d) and shared with the output layer (Vaswani et al., Sec. 3.4); padding at
    the end is a zero in what A reads, and is not attended to.
    """
    embedding, padded = model.embedding.weight, source == _PADDING
    x, y = sqrt(_WIDTH) * embedding[source], sqrt(_WIDTH) * embedding[target]
    for layer in children(model, "encoder", layers):
        x = _encoder_layer(x, padded, layer)
    states = _aff(x, model.encoder_aff)
    for layer in children(model, "decoder", layers):
        y = _decoder_layer(y, states, padded, layer)
    scores = _aff(y, model.decoder_aff) @ embedding.T
    found = model(source, target)
    derivatives = gradients(found, model), gradients(scores, model)
    alone = model(source[1:], target[1:]), scores[1:]
    named = [*model.named_parameters(remove_duplicate=False)]
    own_weights, stored = len(named) == len([*model.parameters()]) + 1, len(named) == len(model.state_dict())
    return [(found, scores), alone, derivatives, own_weights, stored]


@claim(
    layers=_layers,
    place="Sec. 3.6, first paragraph",
    printed="We consider models of dimension 512, with a hidden MLP size of 2,048, and with 6 or 12 layers; We "
    "initialize the LayerScale parameter to 0.2",
)
def translation_by_default(layers: int) -> Sides:
    """The models for translation have width 512, MLPs of 2,048 hidden units, and LayerScale parameters that start with
    0.2; a recipe gives the number of layers.

    Read as: cross-attention has 8 heads (Vaswani et al., Table 3, base), the longest sequence has 1024 tokens (the
    default of fairseq), and both languages share 32,768 words (Ott et al.). A longer sequence is refused, as are
    heads that do not divide the width, a width that does not divide the MLPs', and fewer than three words. Embeddings
    start with a standard deviation of d^(-1/2), as fairseq's do, linear layers as torch's.
    """
    model = TranslationModel(layers, vocabulary=_WORDS)
    small, ids = TranslationModel(1, width=64, hidden=128, tokens=32, vocabulary=200), torch.zeros(1, 2).long()
    sizes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    scales = torch.cat([weight for name, weight in model.named_parameters() if ".scale." in name])
    heads = [attention.heads for attention in model.modules() if isinstance(attention, CrossAttention)]
    of_a, of_b = ({size for name, size in sizes.items() if name.endswith(f".{part}.weight")} for part in ("a", "b"))
    return [
        (len(model.encoder), layers),
        (len(model.decoder), layers),
        of_a == {(1024, 1024)} and of_b == {(2048, 512)},
        (scales, torch.full_like(scales, 0.2)),
        (torch.tensor(heads), torch.tensor([8] * layers)),
        (signature(TranslationModel).parameters["vocabulary"].default, 32768),
        sizes["embedding.weight"] == (_WORDS, 512) and model.output.weight is model.embedding.weight,
        not _runs(model, 1025),
        *is_normal(small.embedding.weight, 64**-0.5),
        *starts_as_torchs(small.encoder),
        *starts_as_torchs(small.decoder),
        keeps_type(partial(_model, layers), ids, ids),
        not refuses(partial(TranslationModel, 1, 4, 8, 2, 3, 3)),
        all(
            refuses(partial(TranslationModel, 1, *sizes))
            for sizes in ((6, 12, 4, 3, 4), (4, 6, 2, 3, 4), (4, 8, 2, 3, 2))
        ),
    ]


def _runs(model: nn.Module, length: int) -> bool:
    try:
        model(torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, length, dtype=torch.long))
    except ValueError:
        return False
    return True
