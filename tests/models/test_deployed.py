"""Models of timm whose branches are merged for inference, against figures that others published for both forms."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from pydantic import ValidationError
from timm.utils.model import reparameterize_model

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding

# Parameters and FLOPs of the deployed form to the last digit: open-mmlab/mmpretrain, configs/mobileone/metafile.yml
# (14ced91f). Its counter is fvcore's; it runs the model up to its classifier, whose width follows. Its squeeze and
# excitation (S4) averages with a pooling layer, which fvcore counts; timm's takes the mean of 1 900 416 values.
MOBILEONE = {
    "s0": (2078504, 274136576, 1024),
    "s1": (4764840, 823839744, 1280),
    "s2": (7808168, 1296478848, 2048),
    "s3": (10078312, 1893842944, 2048),
    "s4": (14838352, 2979222528 - 1900416, 2048),
}
# "#params" and "MACs": THU-MIG/RepViT, README.md (298f4207); they are those of the merged form.
REPVIT = {
    "m0_9": ("5.1", "0.8"),
    "m1_0": ("6.8", "1.1"),
    "m1_1": ("8.2", "1.3"),
    "m1_5": ("14.0", "2.3"),
    "m2_3": ("22.9", "4.5"),
}
# Parameters in M and FLOPs in G: the training form from mmpretrain's configs/repvgg/metafile.yml (09352a81), the
# deployed one from its documentation of RepVGG (mmclassification.readthedocs.io/en/1.x).
REPVGG = {"a0": (("9.11", "1.52"), ("8.31", "1.36")), "a1": (("14.09", "2.64"), ("12.79", "2.36"))}


def recipe(name: str, form: str = "deployed") -> Recipe:
    return Recipe.of(timm=name, form=form)


def count(one: Recipe, convention: str = "macs") -> tuple[int, int]:
    """Parameters and FLOPs."""
    key = ModelKey(one, None)
    facts = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(facts, ModelFacts), facts
    assert facts.ledger is not None
    return facts.parameters["all"], total(facts.ledger, FLOPS_CONVENTIONS[convention])  # type: ignore[index]


def prints_as(value: int, text: str, unit: int) -> bool:
    return value in parse_printed(text).interval(Rounding.HALF_UP) * unit


@pytest.mark.parametrize("size", ["s0", *(pytest.param(f"s{n}", marks=pytest.mark.slow) for n in range(1, 5))])
def test_mobileone_counts_what_mmpretrain_publishes(size: str) -> None:
    parameters, flops, width = MOBILEONE[size]
    counted = count(recipe(f"mobileone_{size}"), "fvcore")
    assert counted[0] == parameters
    assert counted[1] - 1000 * width == flops


@pytest.mark.slow
@pytest.mark.parametrize("size", REPVIT)
def test_repvit_prints_as_its_authors_publish(size: str) -> None:
    parameters, macs = count(recipe(f"repvit_{size}"))
    assert prints_as(parameters, REPVIT[size][0], 10**6)
    assert prints_as(macs, REPVIT[size][1], 10**9)
    assert not prints_as(count(recipe(f"repvit_{size}", "training"))[0], REPVIT[size][0], 10**6)


@pytest.mark.parametrize("size", REPVGG)
def test_repvgg_prints_as_mmpretrain_publishes_in_both_forms(size: str) -> None:
    for form, (parameters, flops) in zip(("training", "deployed"), REPVGG[size], strict=True):
        counted = count(recipe(f"repvgg_{size}", form), "fvcore")
        assert prints_as(counted[0], parameters, 10**6)
        assert prints_as(counted[1], flops, 10**9)


def test_repvgg_has_one_convolution_a_layer() -> None:
    # 1 + 2 + 4 + 14 + 1 layers (arXiv 2101.03697, Table 2) of 48, 48, 96, 192 and 1280 channels, each with a bias
    widths = [3, 48, *[48] * 2, *[96] * 4, *[192] * 14, 1280]
    convolutions = sum(9 * a * b + b for a, b in pairwise(widths))
    assert count(recipe("repvgg_a0"))[0] == convolutions + 1000 * (1280 + 1)


def test_both_forms_compute_the_same() -> None:
    torch.manual_seed(0)
    with Builder("cpu").variant(recipe("repghostnet_050", "training"), None) as trained:
        for module in trained.model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.uniform_(-0.1, 0.1)  # type: ignore[union-attr]
                module.running_var.uniform_(0.8, 1.2)  # type: ignore[union-attr]
        images = torch.randn(1, 3, 96, 96)
        merged = reparameterize_model(trained.model)
        with Builder().variant(recipe("repghostnet_050"), None) as ours:
            assert {name: t.shape for name, t in ours.model.state_dict().items()} == {
                name: t.shape for name, t in merged.state_dict().items()
            }
        with torch.no_grad():
            assert torch.allclose(trained.model(images), merged(images), atol=1e-4)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bert": {"layers": 2}}, "only models of timm, torchvision, transformers and your own"),
        ({"timm": "deit_tiny_patch16_224", "mlp": {"imlp": {}}}, "a deployed model is merged as it is"),
        ({"timm": "repvgg_a0", "form": "deploy"}, "deployed"),
    ],
)
def test_forms_that_do_not_go_together_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Recipe.of(**{"form": "deployed", **fields})


@pytest.mark.parametrize(("name", "printed"), [("efficientvit_m0", "2.33"), ("shvit_s1", "6.31")])
def test_a_norm_that_is_merged_into_the_classifier_is_counted(name: str, printed: str) -> None:
    """Parameters in M as timm prints them: results/benchmark-infer-amp-nchw-pt291-cu128-4090.csv."""
    key = ModelKey(Recipe.of(timm=name, form="deployed"), None)
    ((_, facts),) = measure_models({key: Need(work=True)}, lambda _: None)
    assert isinstance(facts, ModelFacts)
    assert f"{facts.parameters[ParameterConvention.ALL] / 1e6:.2f}" == printed
