"""`imlp-audit eval`: verdicts on printed accuracies, and what it refuses."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from torch import Tensor, nn

from imlp_audit.evaluate import run
from imlp_audit.evaluate.predictions import ModelAnswer, Running, predict_batches
from tests.evaluate.digits import Digits
from tests.evaluate.digits import digits as trained

from .running import Outcome, call, spawn

Answers: TypeAlias = Iterator[tuple[ModelAnswer | None, ...]]
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Digits:
    return trained(tmp_path_factory)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in and write to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arguments(digits: Digits, row: str = "resmlp") -> list[str]:
    required = [str(digits.checkpoint(row)), str(digits.spec), "--row", f"digits/1/{row}", "--data", str(digits.images)]
    return ["eval", *required, "--reading", "released", "--workers", "0"]


def evaluated(digits: Digits, *more: str, row: str = "resmlp") -> Outcome:
    return call(*arguments(digits, row), *more)


def test_every_format_has_the_verdict(digits: Digits, there: Path) -> None:
    done = evaluated(digits, "-o", "json:r.json", "-o", "markdown:r.md")
    assert done.code == 0
    assert done.err.startswith("imlp-audit: the spec does not say how images are prepared")
    assert done.err.count("\n") == 1
    right, printed = sum(digits.plain["resmlp"].right(1)), digits.plain["resmlp"].share(1)
    (check,) = json.loads((there / "r.json").read_text(encoding="utf-8"))["checks"]
    assert (check["id"], check["verdict"]) == ("digits/1/resmlp/top1", "reproduced_under")
    assert check["under"] == ["reading released"]
    assert (check["evidence"][0]["correct"], check["evidence"][0]["images"]) == (right, 360)
    for text in (done.out, (there / "r.md").read_text(encoding="utf-8")):
        assert printed in text
        assert "reproduced" in text
        assert f"{right} of" in text


def test_json_names_nothing_of_the_machine(digits: Digits, there: Path) -> None:
    done = evaluated(digits, "-f", "json", "--limit", "10", "--predictions", "p.csv")
    found = json.loads(done.out)
    for check in found["checks"]:
        del check["source"]  # the spec, as it was given
    assert str(digits.root) not in json.dumps(found)
    assert set(found["versions"]) == {"imlp_audit", "pillow", "timm", "torch", "torchvision"}


def test_a_number_that_is_not_the_printed_one(digits: Digits, there: Path) -> None:
    printed = digits.plain["mixer"].share(1)
    other = f"{(float(printed) + 30) % 100:.1f}"
    text = digits.spec.read_text(encoding="utf-8").replace(f"top1: {printed},", f"top1: {other},")
    (there / "digits.yaml").write_text(text, encoding="utf-8")
    given = arguments(digits, "mixer")
    given[2] = "digits.yaml"
    done = call(*given)
    assert done.code == 1
    assert "all images were evaluated, so it is not a matter of sampling" in " ".join(done.out.split())
    assert "(unexplained: fails the run)" in done.out


def test_the_users_own_pipeline(digits: Digits, there: Path) -> None:
    asked = ("crop_pct=1", "interpolation=bilinear", "mean=0.5,0.4,0.3", "std=.5,.5,.5", "size=32")
    options = [word for one in asked for word in ("--preprocessing", one)]
    done = evaluated(digits, *options, "--limit", "20", "--amp", "-f", "json")
    settings = json.loads(done.out)["checks"][0]["evidence"][0]["settings"]
    assert settings == {
        "data": "digits",
        "classes": "the names of the class folders",
        "images": "20, stratified",
        "batch size": "32",
        "device": "cpu",
        "precision": "autocast to bfloat16",
        "input size": "32 x 32",
        "crop_pct": "1.0",
        "crop_mode": "center",
        "interpolation": "bilinear",
        "mean": "0.5, 0.4, 0.3",
        "std": "0.5, 0.5, 0.5",
    }


def test_an_interrupt_keeps_what_is_finished(
    digits: Digits, there: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def some(model: nn.Module, loaded: Iterable[tuple[Tensor, Tensor]], running: Running) -> Answers:
        for number, answer in enumerate(predict_batches(model, loaded, running)):
            if number == 3:
                signal.raise_signal(signal.SIGINT)
            yield answer

    outputs = ["--predictions", "p.csv", "-o", "json:r.json", "-q"]
    with monkeypatch.context() as patch:
        patch.setattr(run, "predict_batches", some)
        done = evaluated(digits, *outputs)
    assert done.code == 130
    assert capfd.readouterr().err == "imlp-audit: interrupted; run the same command to continue\n"
    assert [path.name for path in there.iterdir()] == ["p.csv.unfinished"]
    refused = evaluated(digits, *outputs, "--amp")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("imlp-audit: p.csv.unfinished holds another evaluation: precision was float32, is")
    assert evaluated(digits, *outputs).code == 0
    resumed = [(there / name).read_bytes() for name in ("p.csv", "r.json")]
    assert evaluated(digits, *outputs).code == 0
    assert [(there / name).read_bytes() for name in ("p.csv", "r.json")] == resumed
    assert not (there / "p.csv.unfinished").exists()


def test_several_processes_are_refused(digits: Digits, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = evaluated(digits)
    assert (done.code, done.out) == (2, "")
    assert "eval runs in one process, on one device; start it without torchrun" in done.err


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--row", "digits/1/resmpl"], 2, "--row digits/1/resmpl: did you mean 'digits/1/resmlp'?"),
        (["--row", "digits/1/mixer"], 2, "does not fit digits/1/mixer under the reading"),
        (["--row", "digits/1/unknown", "--on", "digits"], 2, "has no model in its spec"),
        (["--reading", "lean"], 2, "but it fits with --reading released"),
        (["--reading", "leen"], 2, "did you mean 'lean'?"),
        (["--data", "nowhere"], 2, "nowhere is neither a folder nor a .parquet file"),
        (["--on", "letter"], 2, "did you mean 'letters'?"),
        (["--predictions", "p.txt"], 2, "end the file name in .csv"),
        (["--predictions", "no/p.csv"], 2, "no is not a folder"),
        (["--preprocessing", "size=12x"], 2, "--preprocessing size=12x: "),
        (["--preprocessing", "size=50"], 2, "does not accept images of 50 x 50"),
        (["--preprocessing", "size=1000000"], 2, "--preprocessing size=1000000: "),
        (["--preprocessing", "crop=1"], 2, "--preprocessing crop: did you mean 'crop_pct'?"),
        (["--preprocessing", "crop_pct=2"], 2, "--preprocessing crop_pct=2: "),
        (["--preprocessing", "mean=1,2"], 2, "--preprocessing mean=1,2 (three numbers with"),
        (
            ["--preprocessing", "mean=1,2,nan"],
            2,
            "mean=1,2,nan (three numbers with commas between them): Input should be a finite",
        ),
        (["--preprocessing", "std=1,0,1"], 2, ": Input should be greater than 0"),
        (["--batch-size", "0"], 2, "--batch-size"),
        (["--limit", "0"], 2, "--limit"),
        (["--state", "ema"], 2, "does not hold a state ema"),
        (["--labels", "real.json"], 2, "--labels"),
    ],
)
def test_requests_that_are_refused(digits: Digits, there: Path, more: list[str], code: int, words: str) -> None:
    done = evaluated(digits, *more)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert list(there.iterdir()) == []


def test_a_missing_checkpoint_is_named_before_anything_else(there: Path) -> None:
    done = call("eval", "gone.pth", "nowhere.yaml", "--row", "no/1/row", "--data", "nowhere", "--reading", "none")
    assert (done.code, done.out) == (2, "")
    assert done.err == "imlp-audit: gone.pth does not exist; give a .safetensors file or a torch file of weights\n"


@pytest.mark.slow
def test_help_needs_no_torch(there: Path) -> None:
    code = "import sys; from imlp_audit.cli import eval; sys.exit('torch' in sys.modules)"
    assert spawn("-c", code, cwd=REPOSITORY, command=(sys.executable,)).code == 0


@pytest.mark.parametrize(
    ("more", "kept", "words"),
    [
        (["--predictions", "p.csv", "-o", "json:p.csv"], "p.csv", "-o p.csv: this is also the file of --predictions"),
        (
            ["--class-map", "l.csv", "-o", "json:other.csv"],
            "l.csv",
            "-o other.csv: this is also the file of --class-map",
        ),
        (["--predictions", "c.csv"], "c.csv", "--predictions c.csv: this is also the file of CHECKPOINT"),
        (["--data", "d", "-o", "json:d/0/1.png"], "d/0/1.png", "d/0/1.png: this file, of an image in d, would be"),
        (
            ["--data", "d", "-o", "json:d/x.parquet"],
            "d/x.parquet",
            "d/x.parquet: this file, of an image in d, would be",
        ),
        (["-o", "json:digits.yaml"], "digits.yaml", "this would replace a spec"),
    ],
)
def test_no_file_is_read_and_written(digits: Digits, there: Path, more: list[str], kept: str, words: str) -> None:
    (there / "d" / "0").mkdir(parents=True)
    for name in ("l.csv", "p.csv", "d/0/1.png", "d/x.parquet"):
        (there / name).write_text("kept", encoding="utf-8")
    (there / "other.csv").symlink_to("l.csv")
    shutil.copy(digits.checkpoint("resmlp"), there / "c.csv")
    shutil.copy(digits.spec, there / "digits.yaml")
    given = arguments(digits)
    given[1:3] = ["c.csv", "digits.yaml"]
    before = (there / kept).read_bytes()
    done = call(*given, *more)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert (there / kept).read_bytes() == before


def test_notes_show_the_control_characters_of_a_name(digits: Digits, there: Path) -> None:
    shutil.copytree(digits.images / "val", there / "a\x1b[2Jb")
    done = evaluated(digits, "--data", "a\x1b[2Jb", "--limit", "20", row="mixer")
    assert "a\\x1b[2Jb" in done.err
    assert "\x1b" not in done.err
