"""Each error that is planted in ResMLP's translation model, or in one of its defaults, makes a claim false."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from imlp_audit.models.nets.translation import CrossAttention, PaddedCrossPatch, TranslationModel
from torch import Tensor, nn

from imlp_audit.models import resmlp
from imlp_audit.models.hosts.resmlp import ResMlpTranslation
from imlp_audit.models.nets import translation
from imlp_audit.models.reading import Family, Presence, ResMlpForm, make_reading
from imlp_audit.models.resmlp import ClassMlp, ClassMlpLayer, CrossPatch, LayerScale
from specs.resmlp.equations import sec2_defaults, sec3_1_start
from tests.equations import papers


def _is_false(name: str) -> bool:
    return papers.is_false("resmlp", name, 100)


def test_another_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "PADDING", 0)
    assert _is_false("translation_network")


def test_another_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "LAYER_SCALE", 0.1)
    assert _is_false("translation_by_default")


def _last_tokens(layer: CrossPatch, x: Tensor) -> Tensor:
    size = x.shape[1]
    weight, bias = layer.a.weight[-size:, -size:], layer.a.bias[-size:]
    return nn.functional.linear(x.transpose(1, 2), weight.tril() if layer.causal else weight, bias).transpose(1, 2)


def _no_embedding_scale(model: TranslationModel, ids: Tensor) -> Tensor:
    embedded: Tensor = model.embedding(ids)
    return embedded


FORWARDS: dict[str, tuple[type[nn.Module], str, Callable[..., Tensor]]] = {
    "padding leaks": (PaddedCrossPatch, "forward", lambda layer, x, _: layer.linear(x)),
    "padding is attended to": (
        CrossAttention,
        "forward",
        lambda layer, y, states, padding, run=CrossAttention.forward: run(layer, y, states, padding & False),
    ),
    "embeddings keep their size": (TranslationModel, "_embed", _no_embedding_scale),
    "the last rows of A": (CrossPatch, "forward", _last_tokens),
}


@pytest.mark.parametrize("planted", FORWARDS.values(), ids=FORWARDS)
def test_another_forward(
    monkeypatch: pytest.MonkeyPatch, planted: tuple[type[nn.Module], str, Callable[..., Tensor]]
) -> None:
    monkeypatch.setattr(*planted)
    assert _is_false("translation_network")


def test_the_decoder_sees_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "CrossPatch", lambda tokens, *, bias, causal=False: CrossPatch(tokens, bias=bias))
    assert _is_false("translation_network")


@pytest.mark.parametrize("sizes", [{"width": 256}, {"hidden": 1024}, {"heads": 4}, {"tokens": 512}])
def test_other_sizes(monkeypatch: pytest.MonkeyPatch, sizes: dict[str, int]) -> None:
    from specs.resmlp.equations import sec3_6_translation

    monkeypatch.setattr(sec3_6_translation, "ResMlpTranslation", partial(ResMlpTranslation, **sizes))
    assert _is_false("translation_by_default")


def test_the_last_entries_of_the_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(layer: CrossPatch, x: Tensor) -> Tensor:
        size = x.shape[1]
        weight, bias = layer.a.weight[:size, :size], layer.a.bias[-size:]
        return nn.functional.linear(x.transpose(1, 2), weight.tril() if layer.causal else weight, bias).transpose(1, 2)

    monkeypatch.setattr(CrossPatch, "forward", forward)
    assert _is_false("submatrix_of_the_first_tokens")


def test_class_layers_that_share_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    make = ClassMlp.__init__

    def share(pool: ClassMlp, channels: int, patches: int, *, depth: int = 2, scale: float = 1.0) -> None:
        make(pool, channels, patches, depth=1, scale=scale)
        pool.layers = nn.Sequential(*[pool.layers[0]] * depth)

    monkeypatch.setattr(ClassMlp, "__init__", share)
    assert _is_false("class_mlp_of_two_layers")


@pytest.mark.parametrize("form", ["EquationLayer", "AlgorithmLayer", "ClassMlp"])
def test_another_small_start(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(sec3_1_start, form, partial(getattr(resmlp, form), scale=1e-3))
    assert _is_false("layer_starts_with_a_small_scale")


def test_a_second_scale_that_starts_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    make = ClassMlpLayer.__init__

    def start(layer: ClassMlpLayer, *sizes: int, **others: object) -> None:
        make(layer, *sizes, **others)  # type: ignore[arg-type]
        layer.post2 = LayerScale(sizes[0], 1.0)

    monkeypatch.setattr(ClassMlpLayer, "__init__", start)
    assert _is_false("layer_starts_with_a_small_scale")


def test_positions_that_start_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda tensor, std: torch.nn.init.normal_(tensor, std=10 * std))
    assert _is_false("positions_start_small")


@pytest.mark.parametrize("axis", ["resmlp_form", "scales_stay"])
def test_another_default(monkeypatch: pytest.MonkeyPatch, axis: str) -> None:
    others = {"resmlp_form": ResMlpForm.ALGORITHM, "scales_stay": Presence.YES}

    def read(family: Family, answers: dict[str, object]) -> object:
        return make_reading(family, {**answers, axis: others[axis]})

    monkeypatch.setattr(sec2_defaults, "make_reading", read)
    assert _is_false("network_by_default")
