"""Sec. 2 and 3.6: the sequence-to-sequence ResMLP, from token ids to the scores of the words."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.matrix import RoundedMatrix

from ..models import TranslationModel
from ._network_stages import exact
from ._network_weights import Weights
from ._translation import PADDING, WORDS, Formulas, Ids, Translation

_TOKENS = 3
_WORD = st.sampled_from([word for word in range(WORDS) if word != PADDING])


def _sentences(length: int, most_padding: int) -> st.Strategy[Ids]:
    def padded(words: tuple[int, ...], padding: int) -> Ids:
        return (*words[: length - padding], *(PADDING,) * padding)

    return st.builds(padded, st.tuples(*[_WORD] * length), st.integers(0, most_padding))


_LENGTHS = st.integers(2, _TOKENS)
_CASES = st.builds(
    Translation, st.integers(1, 2), st.just(_TOKENS), _LENGTHS.flatmap(lambda length: _sentences(length, length - 1)),
    _LENGTHS.flatmap(lambda length: _sentences(length, 1)), st.integers(0, 99),
)  # fmt: skip


@claim(_CASES, share=0.1)
def translation_network(case: Translation, arithmetic: Arithmetic) -> Trial:
    """The sequence-to-sequence ResMLP has the Transformer's encoder and decoder, with a linear layer across the tokens
    in place of self-attention: its rows and columns of as many tokens as there are, triangular in the decoder, which
    keeps its attention to the encoder's output.

    Read as: sublayers are those of Algorithm 1, cross-attention too, and another Aff follows the last layer of both
    sides; embeddings are multiplied by sqrt(d) and shared with the output layer (Vaswani et al., Sec. 3.4); padding at
    the end is a zero in what A reads, and is not attended to.

    Place: Sec. 2, Sequence-to-sequence ResMLP, and Sec. 3.6
    Printed: we follow the general encoder-decoder architecture from Vaswani et al., where we replace the self-attention
        sublayers by the residual multi-perceptron layer. In the decoder, we keep the cross-attention sublayers; by
        constraining the matrix A to be triangular; padding with zeros and extracting the submatrix A
    Bound: of each layer, that of Eq. 2, of softmax and of Eq. 3
    """
    # Hold each part of the package's model, on the second of a batch of two, against its formula.
    model = case.fresh()
    shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    if shapes != dict(case.shapes()):
        return Trial(False, {**case.shown(), "weights": sorted(shapes.items() ^ set(case.shapes()))})
    weights = case.weights()
    arithmetic.place(model)
    arithmetic.load(model, {**weights, "output.weight": weights["embedding.weight"]})
    formulas = Formulas(case, Weights.of(weights, arithmetic), arithmetic)
    called = _Calls(model)
    source, target = (_batch(ids, arithmetic) for ids in (case.source, case.target))
    logits = model(source, target)
    if called.skipped:
        return Trial(False, {**case.shown(), "parts that are not run": called.skipped})
    return _judge(case, formulas, called, logits, arithmetic)


def _batch(ids: Ids, arithmetic: Arithmetic) -> Tensor:
    """Return a batch of two sentences, of which the first has no padding."""
    return torch.tensor([[0] * len(ids), ids], device=arithmetic.device)


class _Calls:
    """What entered each part of a model, and what it gave."""

    def __init__(self, model: nn.Module) -> None:
        self.entered: dict[str, Tensor] = {}
        self.given: dict[str, Tensor] = {}
        parts = [*(f"{side}_aff" for side in ("encoder", "decoder")), "output"]
        parts += [name for name, _ in model.named_modules() if name.count(".") == 1 and name[-1].isdigit()]
        self.parts = parts
        for name in parts:
            model.get_submodule(name).register_forward_hook(self._note(name))

    @property
    def skipped(self) -> list[str]:
        """The parts that were not run."""
        return [name for name in self.parts if name not in self.given]

    def _note(self, name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def note(_: nn.Module, entered: tuple[Tensor, ...], given: Tensor) -> None:
            self.entered[name], self.given[name] = entered[0].detach()[1], given.detach()[1]

        return note


def _judge(case: Translation, formulas: Formulas, calls: _Calls, logits: Tensor, arithmetic: Arithmetic) -> Trial:
    def table(x: Tensor) -> RoundedMatrix:
        return exact(x[None], arithmetic)[0]

    states = table(calls.given["encoder_aff"])
    for side, ids in (("encoder", case.source), ("decoder", case.target)):
        enters: Tensor | RoundedMatrix = formulas.embedded(ids)
        for layer in range(case.layers):
            name = f"{side}.{layer}"
            x = table(calls.entered[name])
            gives = formulas.encoder(layer, x) if side == "encoder" else formulas.decoder(layer, x, states)
            for found, printed in ((calls.entered[name], enters), (calls.given[name], gives)):
                trial = equal(found, printed if isinstance(printed, RoundedMatrix) else table(printed), **case.shown())
                if not trial.holds:
                    return Trial(False, {**trial.shown, "part": name})
            enters = calls.given[name]
        last = equal(calls.given[f"{side}_aff"], formulas.aff(side, table(calls.given[name])), **case.shown())
        if not last.holds:
            return Trial(False, {**last.shown, "part": f"{side}_aff"})
    return equal(logits[1], formulas.scores(table(calls.given["decoder_aff"])), **case.shown())


@claim(st.integers(1, 2), share=0.01)
def translation_by_default(layers: int, _: Arithmetic) -> Trial:
    """The models for translation have width 512, MLPs of 2,048 hidden units, and LayerScale parameters that start with
    0.2; a recipe gives the number of layers.

    Read as: cross-attention has 8 heads (Vaswani et al., Table 3, base), the longest sequence has 1024 tokens (the
    default of fairseq), and both languages share 32,768 words (Ott et al.). A longer sequence is refused.

    Place: Sec. 3.6, first paragraph
    Printed: We consider models of dimension 512, with a hidden MLP size of 2,048, and with 6 or 12 layers; We
        initialize the LayerScale parameter to 0.2
    Bound: none: sizes are integers, and a start is a number of the arithmetic or it is not
    """
    # Hold the sizes and the start of the package's model, of few words, against the numbers.
    model = TranslationModel(layers, vocabulary=WORDS)
    sizes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    attention = model.get_submodule("decoder.0.attention.sublayer")
    found = {
        "layers": {len(model.get_submodule(side)) for side in ("encoder", "decoder")},  # type: ignore[arg-type]
        "A": {size for name, size in sizes.items() if name.endswith(".a.weight")},
        "B": {size for name, size in sizes.items() if name.endswith(".b.weight")},
        "starts": {
            start for name, weight in model.named_parameters() if ".scale." in name for start in weight.tolist()
        },
        "heads": attention.heads,
        "words": signature(TranslationModel).parameters["vocabulary"].default,
        "longer ones": _runs(model, 1025),
        "output": tuple(model.output.weight.shape),
    }
    printed = {
        "layers": {layers},
        "A": {(1024, 1024)},
        "B": {(2048, 512)},
        "starts": {torch.tensor(0.2).item()},
        "heads": 8,
        "words": 32768,
        "longer ones": False,
        "output": (WORDS, 512),
    }
    return Trial(found == printed, {**found})


def _runs(model: nn.Module, length: int) -> bool:
    try:
        model(torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, length, dtype=torch.long))
    except ValueError:
        return False
    return True
