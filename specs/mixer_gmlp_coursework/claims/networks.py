"""Sec. 2.1, 3 and 3.3: MLP-Mixer and gMLP as a whole, from their sizes on."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, cat, nn, tensor

from imlp_audit.claims import Side, Sides, choice, claim, modules, size, tensors
from imlp_audit.models.available_hosts import Bert, Gmlp, GmlpText, Mixer
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import BertTextModel, GmlpBlock, GmlpClassifier, GmlpTextModel, TextModel
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.mixer import MixerLayer, Mlp, MlpMixer, PatchClassifier
from imlp_audit.models.new_modules import is_normal, keeps_type, refuses, starts_as_torchs
from imlp_audit.models.readings import Family, OutputLayer, Presence, SpatialMatrix, TextReading, axes_of

from ._formulas import (
    EPSILON,
    SMALL,
    TORCHS_EPSILON,
    agree,
    block_output,
    linear,
    norm,
)

Network = tuple[Mixer | Gmlp, tuple[int, int], int]
"""Its sizes, the rows and columns of patches, and its classes."""


def _sides(network: Network) -> tuple[int, int]:
    host, (rows, columns), _ = network
    return rows * host.patch, columns * host.patch


def _images(network: Network) -> st.SearchStrategy[Tensor]:
    return tensors(2, 3, *_sides(network))


def _build(network: Network) -> nn.Module:
    return network[0].build(BuildRequest(_sides(network), network[2]))


def _patches(images: Tensor, net: PatchClassifier) -> Tensor:
    """Return the projected patches, row by row."""
    w, b = net.stem.parameters()
    P = w.shape[-1]
    patches = images.unfold(2, P, P).unfold(3, P, P).flatten(2, 3)  # batch, channels, patches, P, P
    return torch.einsum("nksyx,ckyx->nsc", patches, w) + b


def _classes(X: Tensor, net: PatchClassifier) -> Tensor:
    """Return the linear layer of the mean over the patches, after a last norm."""
    return linear(norm(X, net.norm, EPSILON).mean(1), net.head)


def _mlp(x: Tensor, mlp: Mlp) -> Tensor:
    return linear(F.gelu(linear(x, mlp.fc1)), mlp.fc2)


MIXERS = choice(
    "network",
    (Mixer(layers=2, patch=1, width=3, tokens_hidden=2, channels_hidden=4), (1, 2), 2),
    (Mixer(layers=1, patch=2, width=4, tokens_hidden=3, channels_hidden=1), (3, 1), 1),
    (Mixer(layers=3, patch=2, width=3, tokens_hidden=1, channels_hidden=2), (2, 3), 2),
    (Mixer(layers=1, patch=4, width=192, tokens_hidden=96, channels_hidden=384), (14, 14), 10),
)


@claim(
    network=MIXERS,
    images=MIXERS.flatmap(_images),
    net=modules(_build, MIXERS, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.2,
    place="Sec. 2.1, Fig. 2 and its paragraph",
    printed="MLP-Mixer состоит из блоков, каждый из которых представлен двумя видами уровней: проекция по "
    "пространству (token-mixing) и по каналам (channel-mixing).",
)
def mixer_network(network: Network, images: Tensor, net: MlpMixer) -> Sides:
    """MLP-Mixer is a projection of the patches, its blocks one after the other, and a classifier.

    Read as: the package's network of one to three layers for images of any size, square or not, in a batch of two; each
    block mixes tokens, then channels, both with weights of their own; biases and norms with any scale and shift; the
    classifier is that of mixer_classifier. A gradient reaches every parameter; a new network's start as torch's do.
    """
    host, X = network[0], _patches(images, net)
    assert isinstance(host, Mixer)
    for layer in net.blocks:
        assert isinstance(layer, MixerLayer)
        assert layer.token_mixing.mlp.fc1.out_features == host.tokens_hidden
        assert layer.channel_mixing.mlp.fc1.out_features == host.channels_hidden
        of_tokens, of_channels = layer.token_mixing, layer.channel_mixing
        X = X + _mlp(norm(X, of_tokens.norm, EPSILON).mT, of_tokens.mlp).mT
        X = X + _mlp(norm(X, of_channels.norm, EPSILON), of_channels.mlp)
    new = [*starts_as_torchs(_build(network)), keeps_type(lambda: _build(network), images)]
    return [*agree(net, images, _classes(X, net)), *new]


def _of_matrices() -> PatchClassifier:
    return PatchClassifier((1, 2), 1, 2, (nn.Linear(2, 2, bias=False) for _ in range(2)), 2)


@claim(
    images=tensors(2, 3, 1, 2),
    net=modules(_of_matrices),
    share=0.5,
    place="Sec. 2.1, after the description of both steps",
    printed="На выходе используется стандартный линейный слой классификации, который каждому изображению "
    "сопоставляет веса классов.",
)
def mixer_classifier(images: Tensor, net: PatchClassifier) -> Sides:
    """The package's network around the blocks gives every image the weights of the classes: patches, the blocks one
    after the other, and a linear layer.

    Read as: the linear layer is that of the average over the patches after a last LayerNorm, as in arXiv 2105.01601; in
    place of the blocks, whose claims are others, stand two matrices.
    """
    X = _patches(images, net)
    for block in net.blocks:
        assert isinstance(block, nn.Linear)
        X = X @ block.weight.T
    example, classifier = *net.example_inputs(3), net.get_classifier()
    return [(net(images), _classes(X, net)), example.shape == (3, 3, 1, 2) and classifier is net.head]


def _sizes(block: nn.Module) -> tuple[int, int, int | None]:
    """Return D_C, the dimensions of the weights of W, and aMLP's d_attn."""
    assert isinstance(block, GmlpBlock)
    attention = block.attention
    return block.u.out_features, block.sgu.proj.weight.ndim, None if attention is None else attention.out.in_features


GMLPS = choice(
    "network",
    (Gmlp(layers=2, patch=1, width=3, hidden=6, gate=Gate.SPLIT), (1, 2), 2),
    (Gmlp(layers=1, patch=2, width=4, hidden=3, gate=Gate.LINEAR), (3, 1), 1),
    (Gmlp(layers=1, patch=2, width=3, hidden=4, gate=Gate.SUM), (2, 3), 2),
    (Gmlp(layers=3, patch=1, width=3, hidden=5, gate=Gate.PRODUCT), (2, 3), 2),
    (Gmlp(layers=1, patch=4, width=192, hidden=384), (14, 14), 10),
)


@claim(
    network=GMLPS,
    images=GMLPS.flatmap(_images),
    net=modules(_build, GMLPS, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.2,
    place="Sec. 3, first paragraph",
    printed="На входе происходит разбиение картинки на непересекающиеся патчи, которые линейно проецируются в "
    "вектора скрытой размерности C. Затем формируется матрица входных данных X in R^{S x C}, которая далее проходит "
    "через все блоки сети. На выходе также используется стандартный линейный слой классификации.",
)
def gmlp_network_of_images(network: Network, images: Tensor, net: GmlpClassifier) -> Sides:
    """On images gMLP is a projection of the patches, its blocks one after the other, and MLP-Mixer's classifier.

    Read as: the package's network of one to three blocks with any gate for images of any size, square or not, in a
    batch of two; biases, and norms with any scale and shift, before U and before f; the classifier is that of
    mixer_classifier. A gradient reaches every parameter; but for those of f a new network's start as torch's do.
    """
    host, X = network[0], _patches(images, net)
    assert isinstance(host, Gmlp)
    assert [*map(_sizes, net.blocks)] == host.layers * [(host.hidden, 2, None)]
    for block in net.blocks:
        assert isinstance(block, GmlpBlock)
        X = block_output(X, block, host.gate, EPSILON)
    new = [*starts_as_torchs(_build(network)), keeps_type(lambda: _build(network), images)]
    return [*agree(net, images, _classes(X, net)), *new]


TextNetwork = tuple[GmlpText | Bert, TextReading]


def _text_network(i: int) -> TextNetwork:
    """Return a network for texts of five words; over 20 of them, every unit meets every output layer."""
    host = GmlpText(
        layers=1 + i % 3,
        width=3 + i % 2,
        hidden=(None, 6, 4)[i % 3],
        gate=[*Gate][i % 4],
        spatial_matrix=(None, *SpatialMatrix)[i // 2 % 3],
        attention=(None, 4, 1)[i // 3 % 3],
    )
    matrix, output_layer = [*SpatialMatrix][i // 3 % 2], [*OutputLayer][i % 5]
    gate_norm, pooler = ([*Presence][(i + i // 4) // period % 2] for period in (1, 2))
    return host, TextReading(5, 2 + i // 2 % 2, (6, 4)[i % 2], matrix, gate_norm, output_layer, pooler)


def _build_text(network: TextNetwork, classes: int | None = None) -> nn.Module:
    return network[0].build(BuildRequest(None, classes, network[1]))


def _ids(network: TextNetwork) -> st.SearchStrategy[Tensor]:
    """Two texts."""
    reading = network[1]
    word, count = st.integers(0, reading.vocabulary - 1), 2 * reading.sequence_length
    return st.lists(word, min_size=count, max_size=count).map(lambda ids: tensor(ids).reshape(2, -1))


def _states(network: TextNetwork, ids: Tensor, net: GmlpTextModel) -> tuple[Tensor, Tensor]:
    """Return the tokens' states, and that of the text: the first token's, or the pooler's vector."""
    (host, reading), X = network, net.embedding.weight[ids]
    assert isinstance(host, GmlpText)
    hidden, matrix = host.hidden or reading.ffn_width, host.spatial_matrix or reading.spatial_matrix
    sizes = hidden, 2 if matrix is SpatialMatrix.FULL else 1, host.attention
    assert [*map(_sizes, net.blocks)] == host.layers * [sizes]
    for block in net.blocks:
        assert isinstance(block, GmlpBlock)
        X = block_output(X, block, host.gate, TORCHS_EPSILON, gate_norm=reading.gate_norm is Presence.YES)
    states = norm(X, net.norm)
    if not reading.pooler:
        return states, states[:, 0]
    assert net.pooler is not None
    return states, linear(states[:, 0], net.pooler.dense).tanh()


def _scores(kind: OutputLayer, net: TextModel, words: Tensor, states: Tensor) -> Tensor:
    """Return the score of each word at each token, or the states where there is no output layer."""
    p = net.output.get_parameter
    match kind:
        case OutputLayer.NONE:
            return states
        case OutputLayer.TIED:
            return states @ words.T
        case OutputLayer.TIED_BIAS:
            return states @ words.T + p("bias")
        case OutputLayer.MASKED_LM:
            hidden = F.gelu(states @ p("0.weight").T + p("0.bias"))
            return norm(hidden, net.get_submodule("output.2"), 1e-12) @ words.T + p("3.bias")
        case OutputLayer.UNTIED:
            return states @ p("weight").T + p("bias")
        case _:
            assert_never(kind)


AS_WIDE_AS_DEIT_TI = (
    GmlpText(layers=1, width=192, hidden=384, attention=64),
    TextReading(50, 128, 384, SpatialMatrix.TOEPLITZ, Presence.YES, OutputLayer.MASKED_LM, Presence.YES),
)
TEXTS = choice("network", *map(_text_network, range(20)), AS_WIDE_AS_DEIT_TI)


@claim(
    network=TEXTS,
    ids=TEXTS.flatmap(_ids),
    net=modules(_build_text, TEXTS, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.6,
    place="Sec. 3, second paragraph, and Sec. 3.3, first paragraph",
    printed="Далее техникой WordPiece получают эмбединги каждого токена размерности C. Таким образом, создаётся "
    "матрица X in R^{S x C}, над которой производятся те же самые манипуляции.",
)
def gmlp_network_of_texts(network: TextNetwork, ids: Tensor, net: GmlpTextModel) -> Sides:
    """On texts gMLP is an embedding of each token, its blocks one after the other, and what BERT has at its end.

    Read as: the package's network of one to three blocks with any gate, W full or Toeplitz, with the tiny attention or
    without it, in a batch of two; a last norm; then BERT's output layer, which scores each word at each token, in any
    of the forms that a reading names, and where there is a pooler its vector of the first token. A gradient reaches
    every parameter, and every word's embedding as often as the word occurs.
    """
    states, pooled = _states(network, ids, net)
    scores = _scores(network[1].output_layer, net, net.embedding.weight, states)
    return agree(net, ids, scores, pooled) if network[1].pooler else agree(net, ids, scores)


CLASSIFIERS = choice("network", *map(_text_network, range(4)))


@claim(
    network=CLASSIFIERS,
    ids=CLASSIFIERS.flatmap(_ids),
    net=modules(_build_text, CLASSIFIERS, size("classes", 1, 2), values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.4,
    place="Sec. 3.3, first paragraph",
    printed="Все входы и выходы сети аналогичны BERT [3].",
)
def gmlp_classifier_of_texts(network: TextNetwork, ids: Tensor, net: GmlpTextModel) -> Sides:
    """A gMLP that classifies texts reads the class from the first token, as BERT does.

    Read as: the package's network as in gmlp_network_of_texts; a linear layer of the first token's state, or of the
    pooler's vector where there is one, gives the weights of the classes. A gradient reaches every parameter.
    """
    _, text = _states(network, ids, net)
    example, length = *net.example_inputs(3), network[1].sequence_length
    is_example = example.shape == (3, length) and net.get_classifier() is net.head
    return [*agree(net, ids, linear(text, net.head)), is_example]


def _bert(i: int) -> TextNetwork:
    """Return a BERT with the reading of a network of texts."""
    host = Bert(layers=1 + i % 2, width=6, heads=(1, 3, 2)[i % 3], hidden=(4, 7)[i % 2], positions=5 + i % 2)
    return host, replace(_text_network(i)[1], spatial_matrix=SpatialMatrix.FULL)


def _encoded(ids: Tensor, bert: nn.Module, host: Bert) -> Tensor:
    """Return LN(Y + GELU(Y W_1 + b_1) W_2 + b_2), Y = LN(X + attention(X)), layer by layer of the embedded ids."""
    words, places, segments = (
        bert.get_parameter(f"embeddings.{name}_embeddings.weight") for name in ("word", "position", "token_type")
    )
    X = norm(words[ids] + places[: ids.shape[1]] + segments[0], bert.get_submodule("embeddings.LayerNorm"), 1e-12)
    for i in range(host.layers):
        part = bert.get_submodule(f"encoder.layer.{i}").get_submodule
        by_head = [
            linear(X, part(f"attention.self.{name}")).chunk(host.heads, -1) for name in ("query", "key", "value")
        ]
        heads = [(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v for q, k, v in zip(*by_head, strict=True)]
        mixed = linear(cat(heads, -1), part("attention.output.dense"))
        Y = norm(X + mixed, part("attention.output.LayerNorm"), 1e-12)
        hidden = F.gelu(linear(Y, part("intermediate.dense")))
        X = norm(Y + linear(hidden, part("output.dense")), part("output.LayerNorm"), 1e-12)
    return X


BERTS = choice("network", *map(_bert, range(6)))


@claim(
    network=BERTS,
    ids=BERTS.flatmap(_ids),
    net=modules(_build_text, BERTS, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.06,
    place="Sec. 3.3, first paragraph, and Tables 7 to 9, rows BERT",
    printed="Все входы и выходы сети аналогичны BERT [3].",
)
def bert_network_of_texts(network: TextNetwork, ids: Tensor, net: BertTextModel) -> Sides:
    """BERT, with which gMLP is compared, is the Transformer's encoder on words, positions and segments, with the same
    inputs and outputs.

    Read as: the encoder of arXiv 1810.04805, every token of the first segment, LayerNorm with its code's 1e-12, weights
    of a standard deviation of 0.02, dropout of 0.1 in training; where nothing is said, its base: 768 wide, 12 heads,
    MLPs of 3072, 512 positions. Every word learns.
    """
    (host, reading), words = network, net.get_parameter("bert.embeddings.word_embeddings.weight")
    assert isinstance(host, Bert)
    states, drops = _encoded(ids, net.bert, host), [part for part in net.modules() if isinstance(part, nn.Dropout)]
    dropped = {part.p for part in drops}
    for part in drops:
        part.p = 0.0
    scores = [_scores(reading.output_layer, net, words, states)]
    if reading.pooler:
        scores.append(linear(states[:, 0], net.get_submodule("bert.pooler.dense")).tanh())
    base, positions = Bert(layers=1), net.get_parameter("bert.embeddings.position_embeddings.weight")
    start = _build_text((host.model_copy(update={"width": 60}), reading)).get_submodule("bert")
    return [
        *agree(net, ids, *scores),
        {len(block.get_parameter("intermediate.dense.weight")) for block in net.blocks} == {host.hidden},
        words.shape == (reading.vocabulary, host.width),
        dropped == {0.1} and (len(net.blocks), len(positions)) == (host.layers, host.positions),
        (base.width, base.heads, base.hidden, base.positions) == (768, 12, 3072, 512),
        *is_normal(cat([weight.flatten() for weight in start.parameters() if weight.ndim == 2]), 0.02),
        keeps_type(lambda: _build_text(network), ids),
    ]


@claim(
    layers=size("layers", 36),
    share=0.01,
    place="Table 1, Sec. 3.3, sentence before Table 6, and Table 7",
    printed="Количество слоёв [...] 8 12 12 24 24 32; Каждая gMLP модель имеет 36 блоков, C = 512 и D_C = 3072",
)
def networks_are_as_deep_as_printed(layers: int) -> Sides:
    """Networks have as many layers as is printed, MLP-Mixer up to 32 and gMLP up to 36, and all of them learn.

    Read as: at tiny widths. Where nothing is said, a unit splits its channels and W is full, without tiny attention;
    on texts D_C = 3072, and words, lengths and outputs are BERT's: 30522, 512, its output layer and its pooler; images
    are of 224 x 224 and 1000 classes. Texts may be of any length that has positions. Refused are halves of an odd
    number of channels, heads that do not divide the width, a Toeplitz W on a grid, and a text model without a reading.
    """
    usual: dict[str, Any] = {name: axis.default for name, axis in axes_of(Family.TEXT).items()}
    of_paper = TextReading(30522, 512, 3072, SpatialMatrix.FULL, Presence.YES, OutputLayer.MASKED_LM, Presence.YES)
    reading = replace(of_paper, vocabulary=3, sequence_length=2)
    mixer = Mixer(layers=layers, patch=1, width=2, tokens_hidden=1, channels_hidden=1)
    gmlp = Gmlp(layers=layers, patch=1, width=2, hidden=2)
    sides: list[Side] = [TextReading(**usual) == of_paper, gmlp.spatial_matrix is SpatialMatrix.FULL]
    images, ids = torch.ones(1, 3, 1, 2), torch.tensor([[0, 1]])
    for net, x, hidden in (
        (_build((mixer, (1, 2), 2)), images, None),
        (_build((gmlp, (1, 2), 2)), images, 2),
        (_build_text((GmlpText(layers=layers, width=2), reading), classes=2), ids, 3072),
    ):
        blocks = [*net.get_submodule("blocks")]  # type: ignore[misc]  # a Sequential
        learned = torch.autograd.grad(net(x).sum(), [*net.parameters()], allow_unused=True)
        sides.append(len(blocks) == layers and all(one is not None for one in learned))
        if hidden is not None:
            split = {(*_sizes(block), block.v.in_features) for block in blocks}
            sides.append(split == {(hidden, 2, None, hidden // 2)})
    text, small = GmlpText(layers=1, width=2), Gmlp(layers=1, patch=16, width=2, hidden=2)
    bert = Bert(layers=1, width=6, heads=3, hidden=4, positions=2000)
    long, longer = (replace(reading, sequence_length=length) for length in (2000, 2001))
    with torch.device("meta"):
        made = [small.build(BuildRequest()), _build_text((text, long)), _build_text((bert, long))]
    for net, shape in zip(made, ((3, 3, 224, 224), (3, 2000), (3, 2000)), strict=True):
        (example,) = net.example_inputs(3)  # type: ignore[operator]
        last = net.get_submodule("output" if len(shape) < 3 else "head")
        sides.append(net.get_classifier() is last and example.shape == shape)  # type: ignore[operator]
        sides.append(example.dtype == (torch.float64 if len(shape) > 2 else torch.int64))
    refused: list[Callable[[], object]] = [
        partial(Gmlp, layers=1, patch=1, width=2, hidden=3),
        partial(Gmlp, layers=1, patch=1, width=2, hidden=2, spatial_matrix=SpatialMatrix.TOEPLITZ),
        partial(GmlpText, layers=1, width=2, hidden=3),
        *(partial(_build_text, (text, replace(reading, ffn_width=odd))) for odd in (5, 7)),
        partial(Bert, layers=1, width=6, heads=4),
        partial(_build_text, (bert, longer)),
        partial(text.build, BuildRequest()),
    ]
    return [*sides, made[0].get_parameter("head.weight").shape == (1000, 2), all(map(refuses, refused))]
