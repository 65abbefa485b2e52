"""How a row's images are prepared: by the spec's source, the user's options, or the model; and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import timm
from torch import nn

from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.evaluate.preprocessing import Preparation, prepare_images
from imlp_audit.spec.interpolation import Interpolation
from imlp_audit.spec.library import load
from imlp_audit.spec.paper import Paper, find_row
from imlp_audit.spec.schema import Preprocessing
from tests.cli.running import call
from tests.evaluate.digits import digits

SIZE = (48, 48)


@pytest.fixture(scope="module")
def vit() -> nn.Module:
    model: nn.Module = timm.create_model("test_vit")  # whose own crop is 0.95, in timm's configuration
    return model


@pytest.fixture(scope="module")
def bundled() -> Sequence[Paper]:
    return load(["imlp", "resmlp"]).papers


def stated(because: str, **settings: object) -> Preprocessing:
    return Preprocessing.model_validate({"rows": ["a/1/*"], "because": because, **settings})


def test_the_first_source_is_followed_and_the_others_are_offered(vit: nn.Module) -> None:
    sources = (stated("Their code", crop_pct="0.875", std=["1", "1", "1"]), stated("A blog", interpolation="bilinear"))
    found = Preparation(Overrides(), sources)
    pipeline = found.pipeline(vit, SIZE)
    assert (pipeline.crop_pct, pipeline.interpolation, pipeline.std) == (0.875, "bicubic", (1, 1, 1))
    assert list(found.notes(vit, SIZE)) == [
        "images prepared as Their code says (crop_pct, std)",
        "A blog says otherwise: pass --interpolation bilinear to evaluate with that",
        "timm's configuration of the model says otherwise: pass --crop-pct 0.95 --std 0.5,0.5,0.5 to evaluate with "
        "that",
    ]


def test_the_user_has_the_last_word(vit: nn.Module) -> None:
    asked = Overrides(crop_pct=1.0, interpolation=Interpolation.NEAREST)
    found = Preparation(asked, (stated("Their code", crop_pct="0.875", interpolation="box", size="32"),))
    pipeline = found.pipeline(vit, SIZE)
    assert (pipeline.crop_pct, pipeline.interpolation, pipeline.size) == (1.0, "nearest", (32, 32))
    followed = "images prepared as Their code says (input size, crop_pct, interpolation)"
    assert next(found.notes(vit, SIZE)) == f"{followed}; you set --crop-pct 1.0 --interpolation nearest"


def test_without_a_source_nothing_changes(vit: nn.Module) -> None:
    found = Preparation(Overrides(), ())
    assert found.pipeline(vit, SIZE).crop_pct == 0.95
    assert [*found.notes(vit, SIZE)] == [
        "the spec does not say how images are prepared, so timm's configuration of the model decides (crop_pct 0.95; "
        "interpolation bicubic; mean 0.5, 0.5, 0.5); whoever published the weights may prepare them otherwise"
    ]
    asked = Overrides(crop_pct=0.9, interpolation=Interpolation.BILINEAR, mean=(0, 0, 0))
    assert [*Preparation(asked, ()).notes(vit, SIZE)] == []


@pytest.mark.parametrize(
    ("row", "crop"),
    [
        ("imlp/1/deit_ti", 0.875),
        ("imlp/1/swin_s_imlp", 0.875),
        ("imlp/1/poolformer_s36", 0.9),
        ("imlp/1/poolformer_m48_imlp", 0.95),
        ("imlp/1/lvt_r1", 0.96),
        ("imlp/5/n7", 0.875),
        ("resmlp/1/b24", 0.875),
    ],
)
def test_rows_have_their_authors_crop(bundled: Sequence[Paper], row: str, crop: float) -> None:
    """As the code of each model's authors has it."""
    found = find_row(bundled, row)
    assert found is not None
    assert prepare_images(found, Overrides()).overrides == Overrides(crop_pct=crop, interpolation=Interpolation.BICUBIC)


def test_the_verdict_names_the_source(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    made = digits(tmp_path_factory)
    entry = "preprocessing: [{rows: [digits/1/res*], crop_pct: 0.5, because: A note}]\n"
    (tmp_path / "spec.yaml").write_text(made.spec.read_text(encoding="utf-8") + entry, encoding="utf-8")
    files = [str(made.checkpoint("resmlp")), str(tmp_path / "spec.yaml"), "--data", str(made.images)]
    run = [*files, "--row", "digits/1/resmlp", "--reading", "released", "--workers", "0", "--limit", "20", "-f", "json"]
    (check,) = json.loads(call("eval", *run).out)["checks"]
    assert check["evidence"][0]["settings"]["crop_pct"] == "0.5"
    assert any(hint.startswith("images prepared as A note says (") for hint in check["hints"])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{rows: [digits/1/nobody], crop_pct: 0.5, because: x}", "no row 'digits/1/nobody' in this paper"),
        ("{rows: [digits/1/mixer], because: x}", "say how the images are prepared"),
        ("{rows: [digits/1/mixer], crop_pct: 1.5, because: x}", "crop_pct"),
        ("{rows: [digits/1/mixer], std: [0.5, 0, 0.5], because: x}", "std"),
        ("{rows: [digits/1/mixer], mean: [nan, 0, 0.5], because: x}", "mean"),
        ("{rows: [digits/1/mixer], interpolation: cubic, because: x}", "did you mean 'bicubic'?"),
        ("{rows: [digits/1/mixer], crop_pct: 0.5}", "because"),
    ],
)
def test_entries_that_are_wrong(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, entry: str, words: str
) -> None:
    text = digits(tmp_path_factory).spec.read_text(encoding="utf-8") + f"preprocessing: [{entry}]\n"
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    done = call("lint", str(tmp_path / "spec.yaml"))
    assert done.code == 2
    assert words in done.out + done.err
