"""Blocks of a user's own in place of a host's MLPs: their counts, their answers, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from itertools import product
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from timm.layers import Mlp
from torch import nn

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
from imlp_audit.count.measuring import measure_outside
from imlp_audit.errors import UntrustedError
from imlp_audit.models.build import OWN_KINDS, Builder, describe_failure
from imlp_audit.models.readings import BlockReading, PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.run_code import make_block
from imlp_audit.models.settings import example_inputs
from tests.count.counters import flop_counter_macs

HERE = Path(__file__).parent
SMALL = {"embed_dim": 24, "depth": 2, "num_heads": 2, "patch_size": 32}
DEIT = {"timm": {"architecture": "deit_tiny_patch16_224", "arguments": SMALL}, "image": 64, "classes": 5}


def with_block(name: str, host: Mapping[str, object] = DEIT, folder: Path | None = HERE, **block: object) -> Recipe:
    sites = {"sites": block.pop("sites")} if "sites" in block else {}
    own = {"file": "own_blocks.py", "name": name, "beside": folder or HERE, "folder": folder, **block}
    return Recipe.of(**host, mlp={"python": own, **sites})


def reading_of(recipe: Recipe, **answers: str) -> BlockReading:
    assert recipe.mlp is not None and recipe.mlp.python is not None  # noqa: PT018
    stated = tuple((f"{recipe.mlp.python.name}.{axis}", value) for axis, value in answers.items())
    found = recipe.part_of(PaperReading(blocks=stated))
    assert isinstance(found, BlockReading)
    return found


def facts_of(recipe: Recipe, reading: BlockReading | None) -> ModelFacts:
    key = ModelKey(recipe, reading)
    found = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(found, ModelFacts), found
    return found


def counts(recipe: Recipe, reading: BlockReading | None) -> tuple[int, int]:
    """All parameters and the multiply-accumulates."""
    facts = facts_of(recipe, reading)
    assert facts.ledger is not None
    return facts.parameters["all"], total(facts.ledger, FLOPS_CONVENTIONS["macs"])  # type: ignore[index]


def failure_of(recipe: Recipe, reading: BlockReading | None = None) -> str:
    key = ModelKey(recipe, reading)
    found = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(found, Failure)
    return found.message


def gate(width: int, places: int, gate_norm: str, bias: bool, branch: int) -> tuple[int, int]:
    """The parameters of one GatedMlp and its multiply-accumulates on so many places: three matrices, biases, a norm."""
    hidden = branch * width
    parameters = 3 * width * hidden + bias * (2 * hidden + width) + (gate_norm == "layer") * 2 * hidden
    return parameters, places * 3 * width * hidden


def mlp(width: int, hidden: int, places: int) -> tuple[int, int]:
    """The parameters of timm's MLP and its multiply-accumulates."""
    return 2 * width * hidden + hidden + width, places * 2 * width * hidden


COMBINATIONS = list(product(("none", "layer"), (True, False), (2, 3)))
POOLFORMER = ((64, 4, 2), (128, 8, 2), (320, 16, 6), (512, 32, 2))  # width, stride and depth of each stage
# for each host the width of each MLP, its hidden width, and the places (tokens, or pixels) that it works on
HOSTS: dict[str, tuple[dict[str, object], dict[str, object], list[tuple[int, int, int]]]] = {
    "DeiT-Ti": ({"timm": "deit_tiny_patch16_224"}, {}, 12 * [(192, 768, 197)]),
    "PoolFormer-S12": (
        {"timm": "poolformer_s12"},
        {},
        [(w, 4 * w, (224 // stride) ** 2) for w, stride, depth in POOLFORMER for _ in range(depth)],
    ),
    "Mixer-S/32, tokens": ({"timm": "mixer_s32_224"}, {"sites": ["*.mlp_tokens"]}, 8 * [(49, 256, 512)]),
    "Mixer-S/32, channels": ({"timm": "mixer_s32_224"}, {"sites": ["*.mlp_channels"]}, 8 * [(512, 2048, 49)]),
}


@pytest.mark.daily(1)
@pytest.mark.parametrize("host", HOSTS)
def test_a_host_with_blocks_counts_by_its_formula(host: str) -> None:
    keys, sites, mlps = HOSTS[host]
    own = counts(Recipe.of(**keys), None)
    recipe = with_block("GatedMlp", keys, HERE, **sites)
    for norm, bias, branch in (COMBINATIONS[1], COMBINATIONS[6]):  # tests/solve/test_compose_outside.py has all
        answers = {"gate_norm": norm, "bias": str(bias).lower(), "branch": str(branch)}
        pairs = [(gate(w, places, norm, bias, branch), mlp(w, hidden, places)) for w, hidden, places in mlps]
        expected = tuple(own[i] + sum(new[i] - old[i] for new, old in pairs) for i in (0, 1))
        assert counts(recipe, reading_of(recipe, **answers)) == expected


@contextmanager
def on_cpu(recipe: Recipe, reading: BlockReading) -> Iterator[nn.Module]:
    with Builder("cpu").variant(recipe, reading) as variant, torch.no_grad():
        yield unfuse_attention(variant.model)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_public_counters_count_the_same(host: str) -> None:
    keys, sites, _ = HOSTS[host]
    check_against_public_counters(with_block("GatedMlp", keys, HERE, **sites))


def test_public_counters_count_the_same_of_a_small_model() -> None:
    check_against_public_counters(with_block("GatedMlp"))


def check_against_public_counters(recipe: Recipe) -> None:
    reading = reading_of(recipe, gate_norm="layer", branch="3")
    facts = facts_of(recipe, reading)
    assert facts.ledger is not None
    with on_cpu(recipe, reading) as model:
        inputs = example_inputs(model)
        macs, by_fvcore = flop_counter_macs(model, *inputs), count_with_fvcore(model, *inputs)
        parameters = sum(one.numel() for one in model.parameters())
    assert total(facts.ledger, FLOPS_CONVENTIONS["macs"]) == macs
    assert total(facts.ledger, FLOPS_CONVENTIONS["fvcore"]) == by_fvcore
    assert facts.parameters["all"] == parameters  # type: ignore[index]


def test_what_no_reading_states_is_what_the_axes_declare_first() -> None:
    """The class's own defaults are others, on purpose."""
    recipe = with_block("GatedMlp")
    declared = reading_of(recipe, gate_norm="none", bias="true", branch="2")
    assert recipe.part_of(PaperReading()) == declared
    assert counts(recipe, None) == counts(recipe, declared) == counts(recipe, reading_of(recipe))
    assert counts(recipe, reading_of(recipe, bias="false")) != counts(recipe, declared)


def test_arguments_of_a_row_win_over_readings() -> None:
    fixed = with_block("GatedMlp", arguments={"gate_norm": "layer", "branch": "7"})
    free = with_block("GatedMlp")
    assert counts(fixed, reading_of(fixed, gate_norm="none"))[0] - counts(free, reading_of(free))[0] == 2 * (
        gate(24, 1, "layer", True, 7)[0] - gate(24, 1, "none", True, 2)[0]
    )


def test_only_sites_are_replaced_and_the_host_is_left_as_it_was() -> None:
    builder, host = Builder(), Recipe.of(**DEIT)
    with builder.variant(host, None) as before:
        paths = {path: type(module).__name__ for path, module in before.model.named_modules()}
    with builder.variant(with_block("halved", sites=["blocks.0.*"]), None) as variant:
        assert isinstance(variant.model.get_submodule("blocks.0.mlp"), nn.Sequential)
        assert type(variant.model.get_submodule("blocks.1.mlp")).__name__ == "Mlp"
    with builder.variant(host, None) as after:
        assert {path: type(module).__name__ for path, module in after.model.named_modules()} == paths


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "own_blocks.py: number returns int, not a torch.nn.Module; name what makes a model"),
        ("OneChannel", r"own_blocks.py: OneChannel returns \[1, 5, 1\] at blocks.0.mlp, but .* needs \[1, 5, 24\]"),
    ],
)
def test_a_block_that_is_wrong_is_named(name: str, message: str) -> None:
    assert re.fullmatch(message, failure_of(with_block(name)))


def test_a_block_for_tokens_is_refused_where_there_are_feature_maps() -> None:
    message = failure_of(with_block("ForTokens", {"timm": "poolformer_s12"}))
    assert message.startswith("own_blocks.py: the MLP at stages.0.blocks.0.mlp works on feature maps")
    assert "let ForTokens take use_conv" in message


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("name", "sites", "number"),
    [
        ("convnextv2_atto", "*", 12),  # GlobalResponseNormMlp, on (batch, height, width, channels)
        ("eva02_tiny_patch14_224", "*", 12),  # GluMlp
        ("eva02_small_patch14_224", "*", 12),  # SwiGLU
        ("coatnet_0_rw_224", "*", 9),  # ConvMlp
        ("gmlp_ti16_224", "*", 30),  # GatedMlp
        ("swinv2_tiny_window8_256", "*.mlp", 12),
    ],
)
def test_mlps_of_every_kind_that_timm_has_are_replaced(name: str, sites: str, number: int) -> None:
    recipe = with_block("GatedMlp", {"timm": name}, HERE, sites=[sites])
    with Builder().variant(recipe.with_own_mlps(), None) as before:
        kinds = {path: module for path, module in before.model.named_modules() if type(module) in OWN_KINDS}
        own = sum(one.numel() for one in before.model.parameters())
        old = sum(one.numel() for module in kinds.values() for one in module.parameters())
        widths = [getattr(module, "fc1", None) or module.fc1_g for module in kinds.values()]
    new = sum(gate(layer.weight.shape[1], 1, "none", True, 2)[0] for layer in widths)
    facts = facts_of(recipe, reading_of(recipe))
    assert facts.parameters["all"] == own - old + new  # type: ignore[index]
    assert (len(facts.mlps), len(kinds)) == (number, number)


def test_mlps_that_would_stay_are_named() -> None:
    assert failure_of(with_block("GatedMlp", {"timm": "swinv2_tiny_window8_256"})) == (
        "swinv2_tiny_window8_256 has modules of other kinds called MLP, such as layers.0.blocks.0.attn.cpb_mlp, that "
        'would stay; if they should, name those to replace with sites, such as sites: ["*.mlp"]'
    )
    assert "resnet10t has none of timm's MLPs" in failure_of(with_block("GatedMlp", {"timm": "resnet10t"}))


def test_a_block_learns_that_there_are_feature_maps() -> None:
    recipe = with_block("GatedMlp")
    assert recipe.mlp is not None
    assert recipe.mlp.python is not None
    block = make_block(recipe.mlp.python, "mlp", Mlp(4, 6, 5, use_conv=True), reading_of(recipe))
    assert sum(one.numel() for one in block.parameters()) == 2 * (4 * 8 + 8) + 8 * 5 + 5
    assert block(torch.zeros(2, 4, 3, 3)).shape == (2, 5, 3, 3)
    assert deepcopy(block)(torch.zeros(2, 4, 3, 3)).shape == (2, 5, 3, 3)


def test_an_error_names_the_line_of_the_block() -> None:
    recipe = with_block("Failing")
    line = (HERE / "own_blocks.py").read_text(encoding="utf-8").split('raise ValueError("it does')[0].count("\n") + 1
    assert failure_of(recipe, reading_of(recipe, works="no")) == f"own_blocks.py:{line}: ValueError: it does not work"
    assert describe_failure(recipe, ValueError("of the host")).endswith("built or counted: ValueError: of the host")
    wrong = with_block("ForTokens", arguments={"wide": 3})
    assert "own_blocks.py" in failure_of(wrong)
    assert "unexpected keyword argument 'wide'" in failure_of(wrong)


def test_what_a_block_prints_is_no_part_of_a_result(capfd: pytest.CaptureFixture[str]) -> None:
    counts(with_block("ForTokens"), None)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "a block is made" in printed.err
    assert "a block is run" in printed.err


def test_code_that_is_not_trusted_is_not_run() -> None:
    untrusted = with_block("ForTokens", folder=None)
    with pytest.raises(UntrustedError, match="not trusted; pass --trust-code"), Builder().variant(untrusted, None):
        pass


def test_an_activation_beside_a_block_is_refused() -> None:
    with pytest.raises(ValidationError, match="activation: a block of your own has its own"):
        with_block("ForTokens", {**DEIT, "activation": "relu"})
    with pytest.raises(ValidationError, match="in_features is that of the MLP"):
        with_block("ForTokens", arguments={"in_features": 3})


def test_a_change_of_the_name_reads_the_axes_again() -> None:
    changed = with_block("GatedMlp").with_change({"mlp": {"python": {"name": "Linked"}}})
    assert changed == with_block("Linked")
    assert changed.family is not None
    assert str(changed.family) == "Linked"


@pytest.mark.slow
def test_a_block_that_ends_the_process_leaves_the_others_alone() -> None:
    keys = [ModelKey(with_block(name), None) for name in ("halved", "leave", "ForTokens")]
    found = dict(measure_outside(dict.fromkeys(keys, Need(work=True)), lambda _: None))
    assert [type(found[key]) for key in keys] == [ModelFacts, Failure, ModelFacts]
    (message,) = (fact.message for fact in found.values() if isinstance(fact, Failure))
    assert "its code ended the process (exit code 7)" in message
