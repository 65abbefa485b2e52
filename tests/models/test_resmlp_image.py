from __future__ import annotations

from typing import Any

import pytest
import timm
import torch
import torch.nn.functional as F
from pydantic import ValidationError
from timm.models.mlp_mixer import Affine, MlpMixer, ResBlock
from torch import Tensor, nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import ResMlp
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.readings import (
    Family,
    PaperReading,
    Presence,
    ResMlpForm,
    ResMlpReading,
    axes_of,
    make_reading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.resmlp import (
    CrossPatch,
    initial_scale,
)
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from tests.models.resmlp_helpers import (
    RES_BLOCK,
    assert_round_trip,
    counts,
    loaded,
    randomised,
    renamed,
    without_gradient,
)


def build_resmlp(host: Host, reading: ResMlpReading, size: tuple[int, int], classes: int) -> Any:  # noqa: ANN401  # each class has parts of its own
    return host.build(BuildRequest(size, classes, reading))


ALGORITHM, EQUATIONS = (ResMlpReading(form, Presence.NO) for form in (ResMlpForm.ALGORITHM, ResMlpForm.EQUATIONS))
SMALL = ResMlp(layers=2, width=6, patch=4)
SIZE, PATCHES, CLASSES = (12, 16), 12, 5
S12, S24, S36 = (ResMlp(layers=layers, width=384) for layers in (12, 24, 36))
B24 = ResMlp(layers=24, width=768)


def _changed(host: ResMlp, **fields: object) -> ResMlp:
    return ResMlp.model_validate({**host.model_dump(), **fields})


def _small(form: ResMlpReading = ALGORITHM, **fields: object) -> nn.Module:
    model: nn.Module = build_resmlp(_changed(SMALL, **fields), form, SIZE, CLASSES)
    return model


def _on_meta(host: ResMlp, form: ResMlpReading = ALGORITHM) -> nn.Module:
    with torch.device("meta"):
        model: nn.Module = build_resmlp(host, form, (224, 224), 1000)
        return model


def _images(batch: int = 2) -> Tensor:
    return torch.randn(batch, 3, *SIZE, dtype=torch.float64)


def test_is_timms_resmlp() -> None:
    torch.manual_seed(0)
    theirs = randomised(
        MlpMixer(
            CLASSES, SIZE, patch_size=4, num_blocks=2, embed_dim=6, mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine
        )
    )
    ours = loaded(_small(), renamed(theirs, {**RES_BLOCK, r"^norm\.": "pool.0."}))
    images = _images()
    torch.testing.assert_close(ours(images), theirs(images), rtol=1e-12, atol=1e-12)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("host", "name"),
    [
        (S12, "resmlp_12_224"),
        (S24, "resmlp_24_224"),
        (S36, "resmlp_36_224"),
        (_changed(B24, patch=8), "resmlp_big_24_224"),
    ],
)
def test_sizes_are_timms(host: ResMlp, name: str) -> None:
    with torch.device("meta"):
        theirs = timm.create_model(name)
    assert counts(_on_meta(host)) == counts(theirs)


@pytest.mark.daily(1)
@pytest.mark.parametrize(("layers", "width", "patch"), [(24, 768, 16), (12, 384, 14), (12, 384, 8)])
def test_sizes_are_those_of_timms_classes(layers: int, width: int, patch: int) -> None:
    with torch.device("meta"):
        theirs = MlpMixer(
            patch_size=patch, num_blocks=layers, embed_dim=width, mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine
        )
    assert counts(_on_meta(ResMlp(layers=layers, width=width, patch=patch))) == counts(theirs)


@pytest.mark.parametrize("form", [None, *ResMlpForm])
def test_a_recipe_that_gives_sizes_alone(form: ResMlpForm | None) -> None:
    """It has the equations' layers, of Affs, GELU and a linear layer across patches of 16 x 16, and an average."""
    host = ResMlp(layers=1, width=6, form=form)
    recipe = Recipe.of(resmlp=host, image=(16, 32), classes=CLASSES)
    defaults = {name: axis.default for name, axis in axes_of(Family.RESMLP).items()}
    default = make_reading(Family.RESMLP, defaults)
    assert isinstance(default, ResMlpReading)
    reading = recipe.part_of(PaperReading(resmlp=default))
    given = {"patch": 16, "norm": "aff", "pooling": "average", "communication": "linear", "nonlinearity": "gelu"}
    written = build_resmlp(
        _changed(host, **given), ALGORITHM if form is ResMlpForm.ALGORITHM else EQUATIONS, (16, 32), CLASSES
    )
    assert str(recipe.host.build(BuildRequest(recipe.image, recipe.classes, reading))) == str(written)


def _formula(host: ResMlp, form: ResMlpReading) -> dict[str, int]:
    """The sizes in closed form: n patches, width d, biases or a second vector after a sublayer by the form."""
    n, d, bias = (224 // host.patch) ** 2, host.width, int(form is ALGORITHM)
    weights, biases, work = {
        Communication.LINEAR: (n * n, n, n * n * d),
        Communication.NONE: (0, 0, 0),
        Communication.MLP: (8 * n * n, 5 * n, 8 * n * n * d),
        Communication.CONV: (9 * d * d, d, 9 * d * d * n),
        Communication.DEPTHWISE: (9 * d, d, 9 * d * n),
        Communication.SEPARABLE: (9 * d + d * d, 2 * d, (9 * d + d * d) * n),
    }[host.communication]
    pre = 0 if host.norm is Norm.L2 else 2 * d
    around = pre + (d if bias else 2 * d)
    sublayers = 1 if host.communication is Communication.NONE else 2
    layer = sublayers * around + weights + bias * biases + 8 * d * d + bias * 5 * d
    ends = (3 * host.patch**2 + 1) * d + bias * pre + (d + 1) * 1000
    pool = pool_work = 0
    if host.pooling is Pooling.CLASS_MLP:
        pool = d + 2 * ((n + 1) + 1 + 8 * d * d + 5 * d + 2 * pre + 2 * d)
        pool_work = 2 * ((n + 1) * d + 8 * d * d)
    return {
        "parameters": host.layers * layer + ends + pool,
        "macs": host.layers * (work + 8 * d * d * n) + 3 * host.patch**2 * d * n + 1000 * d + pool_work,
    }


ROWS = {  # Tables 3 and D.3: parameters in M, FLOPs in G
    "S12": (S12, "15.4", "3.0"),
    "S24": (S24, "30.0", "6.0"),
    "S36": (S36, "44.7", "8.9"),
    "B24": (B24, "115.7", "23.0"),
    "S12 with LayerNorm": (_changed(S12, norm="layer"), "15.4", "3.0"),
    "S12 with class-MLP": (_changed(S12, pooling="class_mlp"), "17.7", "3.0"),
    "S24 with class-MLP": (_changed(S24, pooling="class_mlp"), "32.4", "6.0"),
    "S36 with class-MLP": (_changed(S36, pooling="class_mlp"), "47.1", "8.9"),
    "S12 without communication": (_changed(S12, communication="none"), "14.9", "2.8"),
    "S12 with an MLP": (_changed(S12, communication="mlp"), "18.6", "4.3"),
    "S12 with a convolution": (_changed(S12, communication="conv"), "30.8", "6.0"),
    "S12 with a depthwise one": (_changed(S12, communication="depthwise"), "14.9", "2.8"),
    "S12 with a separable one": (_changed(S12, communication="separable"), "16.7", "3.2"),
    "S12/14": (_changed(S12, patch=14), "15.6", "4.0"),
    "S12/8": (_changed(S12, patch=8), "22.1", "14.0"),
    "B24/8": (_changed(B24, patch=8), "129.1", "100.2"),
}
ABLATIONS = {"S12 with BatchNorm": _changed(S12, norm="batch"), "S12 with l2": _changed(S12, norm="l2")}
HOSTS = {name: host for name, (host, _, _) in ROWS.items()} | ABLATIONS


@pytest.mark.daily(12)
@pytest.mark.parametrize("form", [ALGORITHM, EQUATIONS])
@pytest.mark.parametrize("name", HOSTS)
def test_sizes_by_formula(name: str, form: ResMlpReading) -> None:
    expected = _formula(HOSTS[name], form)
    measured = counts(_on_meta(HOSTS[name], form))
    assert {key: measured[key] for key in expected} == expected


def _prints(text: str, unit: str, value: int, rounding: Rounding = Rounding.HALF_UP) -> bool:
    return value in parse_printed(text, unit).interval(rounding)


@pytest.mark.parametrize("name", ROWS)
def test_algorithm_1_prints_as_published(name: str) -> None:
    """All but the work with an MLP: 4.249 G is printed as 4.3, to which only rounding twice leads."""
    host, printed_parameters, printed_work = ROWS[name]
    formula = _formula(host, ALGORITHM)
    assert _prints(printed_parameters, "M", formula["parameters"])
    assert _prints(printed_work, "G", formula["macs"]) == (name != "S12 with an MLP")
    assert _prints(printed_work, "G", formula["macs"], Rounding.DOUBLE)


def test_equations_do_not_print_as_published() -> None:
    """Without the biases and the last Aff, ResMLP-S12 has 15.3 M parameters and S36 44.6 M."""
    off = {
        name
        for name, (host, text, _) in ROWS.items()
        if not _prints(text, "M", _formula(host, EQUATIONS)["parameters"])
    }
    assert off == {"S12", "S36", "S12 with LayerNorm", "S36 with class-MLP", "S12/8"}


def test_the_head_is_counted_apart() -> None:
    model = _small()
    head = (6 + 1) * CLASSES
    assert count_parameters(model) - count_parameters(model, ParameterConvention.NO_HEAD) == head


@pytest.mark.daily(12)
@pytest.mark.parametrize("form", [ALGORITHM, EQUATIONS])
@pytest.mark.parametrize(
    "fields",
    [
        *({"communication": communication} for communication in Communication),
        *({"norm": norm, "pooling": pooling} for norm in Norm for pooling in Pooling),
        *({"nonlinearity": nonlinearity, "communication": "mlp"} for nonlinearity in Nonlinearity),
    ],
)
def test_runs_trains_and_is_restored(form: ResMlpReading, fields: dict[str, str]) -> None:
    torch.manual_seed(2)
    model, images = randomised(_small(form, **fields)), _images(3)
    logits = model(images)
    assert logits.shape == (3, CLASSES)
    assert logits.isfinite().all()
    assert without_gradient(model, images) == set()
    assert_round_trip(model, _small(form, **fields), images)


@pytest.mark.parametrize("communication", [Communication.CONV, Communication.DEPTHWISE, Communication.SEPARABLE])
def test_convolution_is_3_by_3_on_the_grid_of_patches(communication: Communication) -> None:
    torch.manual_seed(3)
    on_grid = randomised(_small(communication=communication)).get_submodule("blocks.0.across_patches")
    x = torch.randn(2, PATCHES, 6, dtype=torch.float64)
    y = x.transpose(1, 2).reshape(2, 6, 3, 4)
    groups = [1] if communication is Communication.CONV else [6, 1]
    for convolution in on_grid.get_submodule("convolutions").children():
        weight, bias = convolution.get_parameter("weight"), convolution.get_parameter("bias")
        y = F.conv2d(y, weight, bias, padding=weight.shape[-1] // 2, groups=groups.pop(0))
    torch.testing.assert_close(on_grid(x), y.flatten(2).transpose(1, 2))
    assert on_grid.get_submodule("convolutions.0").get_parameter("weight").shape[2:] == (3, 3)


@pytest.mark.parametrize(("form", "scales"), [(ResMlpForm.ALGORITHM, 3), (ResMlpForm.EQUATIONS, 4)])
def test_scales_that_stay_without_communication(form: ResMlpForm, scales: int) -> None:
    """Aff's two vectors before, one of LayerScale or two of Aff after it in each layer; nothing multiplies them.

    With Algorithm 1's, 13 824 parameters more for S12: both 14.9 M as Table 3 prints it.
    """
    s12 = _changed(S12, communication="none")
    without, stay = (_on_meta(s12, ResMlpReading(form, presence)) for presence in (Presence.NO, Presence.YES))
    fewer, more = count_parameters(without), count_parameters(stay)
    assert more - fewer == 12 * scales * 384
    assert counts(without)["macs"] == counts(stay)["macs"]
    if form is ResMlpForm.ALGORITHM:
        assert (fewer, more) == (14_873_704, 14_873_704 + 13_824)
        assert all(size in parse_printed("14.9", "M").interval(Rounding.HALF_UP) for size in (fewer, more))


@pytest.mark.parametrize("communication", [one for one in Communication if one is not Communication.NONE])
def test_scales_stay_says_nothing_of_a_layer_that_is_there(communication: Communication) -> None:
    stay = _small(ResMlpReading(ResMlpForm.ALGORITHM, Presence.YES), communication=communication)
    assert str(stay) == str(_small(communication=communication))


@pytest.mark.parametrize(("layers", "scale"), [(12, 0.1), (18, 0.1), (24, 1e-5), (36, 1e-6)])
def test_layer_scale_starts_as_in_cait(layers: int, scale: float) -> None:
    assert initial_scale(layers) == scale
    model = build_resmlp(_changed(SMALL, layers=layers), ALGORITHM, SIZE, CLASSES)
    torch.testing.assert_close(model.get_parameter("blocks.0.post1.alpha").detach(), torch.full((6,), scale))


def test_communication_mlp_has_its_expansion() -> None:
    model = _small(communication="mlp", expansion=0.25)
    assert model.get_parameter("blocks.0.across_patches.mlp.b.weight").shape == (3, PATCHES)
    model = _small(communication="mlp")
    assert model.get_parameter("blocks.0.across_patches.mlp.b.weight").shape == (4 * PATCHES, PATCHES)
    assert isinstance(_small().get_submodule("blocks.0.across_patches"), CrossPatch)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"communication": "mlp", "expansion": 0.01, "patch": 6}, r"expansion: 0\.01 times 6 patches"),
        ({"communication": "conv", "patch": 6}, "communication: a 3 x 3 kernel is larger than the grid, 2 x 3"),
        ({"communication": "separable", "patch": 6}, "communication: a 3 x 3 kernel"),
    ],
)
def test_impossible_numbers(fields: dict[str, object], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        build_resmlp(_changed(SMALL, **fields), ALGORITHM, (12, 18), CLASSES)


def test_expansion_needs_an_mlp() -> None:
    with pytest.raises(ValidationError, match="expansion: it needs a communication MLP"):
        _changed(S12, expansion=2)
