"""Evaluations of two small models trained on digits: the results do not depend on how a run came about."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.errors import CheckpointError, ClosedPipeError, DatasetError, UsageError
from imlp_audit.evaluate.datasets import Data
from imlp_audit.evaluate.images import Images
from imlp_audit.evaluate.predictions import ModelAnswer, Pipeline, Running, load_batches, predict_batches
from imlp_audit.evaluate.run import Request, code_digest, run_evaluation
from imlp_audit.evaluate.weights import Weights
from imlp_audit.models.own import PythonModule
from imlp_audit.records.base import to_json
from imlp_audit.records.check import Accuracy, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.schema import Preprocessing
from tests.evaluate.digits import ROWS, Digits
from tests.evaluate.digits import digits as trained

Loaded: TypeAlias = Iterable[tuple[Tensor, Tensor]]
Answers: TypeAlias = Iterator[tuple[ModelAnswer | None, ...]]
Steps: TypeAlias = dict[str, object]
"""What takes the place of functions that `run` uses, by name."""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Digits:
    return trained(tmp_path_factory)


def request(digits: Digits, row: str = "resmlp", limit: int | None = 80, **changes: object) -> Request:
    asked = Request(
        Weights(digits.row(row), digits.checkpoint(row), "released"),
        Data(str(digits.images), limit=limit),
        running=Running(batch_size=16),
    )
    return replace(asked, **changes)  # type: ignore[arg-type]


def asking(**settings: object) -> Preprocessing:
    return Preprocessing.model_validate({"rows": ("any/row/*",), "because": "you", **settings})


def evaluated(asked: Request, said: list[str] | None = None, steps: Steps | None = None) -> AuditResult:
    say = said.append if said is not None else lambda text: None
    progress = lambda: nullcontext(lambda done, total: None)  # noqa: E731
    with pytest.MonkeyPatch.context() as patched:
        for name, step in (steps or {}).items():
            patched.setattr(f"imlp_audit.evaluate.run.{name}", step)
        with run_evaluation(asked, say, progress) as result:
            return result


def found(result: AuditResult, cell: int = 0) -> Accuracy:
    (one,) = result.checks[cell].evidence
    assert isinstance(one, Accuracy)
    return one


def predicted(path: Path) -> dict[str, list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return {line.split(",")[0]: line.split(",")[1:] for line in lines}


@pytest.mark.parametrize("row", ROWS)
def test_answers_are_those_of_a_plain_loop(digits: Digits, tmp_path: Path, row: str) -> None:
    plain = digits.plain[row]
    right, ids = sum(plain.right(1)), plain.ids
    assert right / len(ids) > 0.35  # chance is a tenth
    result = evaluated(request(digits, row, limit=None, predictions=tmp_path / "p.csv"))
    one = found(result)
    assert (one.correct, one.images, one.available, one.unreadable) == (right, len(ids), len(ids), 0)
    assert result.checks[0].printed == plain.share(1)
    assert result.checks[0].verdict in (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)
    assert "sampling" not in result.checks[0].under
    written = predicted(tmp_path / "p.csv")
    assert set(written) == set(ids)
    for name, label, row_scores in zip(ids, plain.labels, plain.scores, strict=True):
        accepted, top5, probability, readable = written[name]
        assert (accepted, readable) == (str(label), "true")
        assert top5 == " ".join(map(str, row_scores.topk(5).indices.tolist()))
        assert float(probability) == pytest.approx(float(row_scores.softmax(0).max()), abs=1e-5)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # of the loader's processes
def test_equal_however_it_is_computed(digits: Digits, tmp_path: Path) -> None:
    written = []
    for number, running in enumerate(
        (Running(batch_size=16), Running(batch_size=16, threads=3), Running(batch_size=16, workers=2, threads=2))
    ):
        path = tmp_path / f"{number}.csv"
        result = evaluated(request(digits, running=running, predictions=path))
        written.append((to_json(result), path.read_bytes()))
    assert written[0] == written[1] == written[2]


def dying_after(batches: int, error: BaseException) -> Steps:
    """Break the evaluation off after so many batches."""

    def some(model: nn.Module, loaded: Loaded, running: Running) -> Answers:
        for number, answer in enumerate(predict_batches(model, loaded, running)):
            if number == batches:
                raise error
            yield answer

    return {"predict_batches": some}


INTERRUPTED = dying_after(3, KeyboardInterrupt())


def test_resumed_after_an_interrupt(digits: Digits, tmp_path: Path) -> None:
    whole = request(digits, predictions=tmp_path / "whole.csv")
    expected = to_json(evaluated(whole))
    asked = request(digits, predictions=tmp_path / "p.csv")
    with pytest.raises(KeyboardInterrupt):
        evaluated(asked, steps=INTERRUPTED)
    computed: list[int] = []

    def counted(images: Images, indices: Sequence[int], pipeline: Pipeline, running: Running) -> Loaded:
        computed.extend(indices)
        return load_batches(images, indices, pipeline, running)

    assert to_json(evaluated(asked, steps={"load_batches": counted})) == expected
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert len(computed) == 80 - 3 * 16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "whole.csv"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"running": Running(batch_size=8)}, "batch size was 16, is 8"),
        ({"running": Running(batch_size=16, amp=True)}, "precision was float32, is autocast to bfloat16"),
        ({"preprocessing": asking(crop_pct="1")}, "crop_pct was 0.875, is 1.0"),
    ],
)
def test_a_resume_under_other_settings_is_refused(
    digits: Digits, tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    asked = request(digits, predictions=tmp_path / "p.csv")
    with pytest.raises(KeyboardInterrupt):
        evaluated(asked, steps=INTERRUPTED)
    with pytest.raises(UsageError, match=words):
        evaluated(replace(asked, **changes))  # type: ignore[arg-type]


def test_a_resume_with_other_weights_or_images_is_refused(digits: Digits, tmp_path: Path) -> None:
    shutil.copytree(digits.images / "val", tmp_path / "digits")
    asked = request(digits, predictions=tmp_path / "p.csv", data=Data(str(tmp_path / "digits")))
    with pytest.raises(KeyboardInterrupt):
        evaluated(asked, steps=INTERRUPTED)
    state = torch.load(digits.checkpoint("mixer"), weights_only=True)
    torch.save(state | {"epoch": 7}, tmp_path / "other.pth")
    other = Weights(digits.row("mixer"), tmp_path / "other.pth", "released")
    with pytest.raises(UsageError, match=r"checkpoint was [0-9a-f]{64}, is [0-9a-f]{64}; model was digits/1/resmlp"):
        evaluated(replace(asked, weights=other))
    picture = next((tmp_path / "digits").rglob("*.png"))
    held = picture.read_bytes()
    picture.write_bytes(held + b"x")
    with pytest.raises(UsageError, match=r"bytes of the images was [0-9a-f]{64}, is"):
        evaluated(asked)
    picture.write_bytes(held)
    shutil.copytree(tmp_path / "digits", tmp_path / "dark" / "digits")  # as folders of ImageNet-C are alike
    with pytest.raises(
        UsageError, match=r"images from was .*digits, validation, is .*dark/digits, validation\. Repeat"
    ):
        evaluated(replace(asked, data=Data(str(tmp_path / "dark" / "digits"))))
    next((tmp_path / "digits").rglob("*.png")).unlink()
    with pytest.raises(UsageError, match=r"ids and labels was [0-9a-f]{64}, is"):
        evaluated(asked)


def test_the_journal_is_removed_even_if_nobody_reads_the_result(digits: Digits, tmp_path: Path) -> None:
    asked = request(digits, predictions=tmp_path / "p.csv", data=Data(str(digits.images), limit=20))
    progress = lambda: nullcontext(lambda done, total: None)  # noqa: E731
    with pytest.raises(ClosedPipeError), run_evaluation(asked, lambda text: None, progress):
        raise ClosedPipeError
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_a_result_that_could_not_be_written_can_be_resumed(digits: Digits, tmp_path: Path) -> None:
    asked = request(digits, predictions=tmp_path / "p.csv", data=Data(str(digits.images), limit=20))
    progress = lambda: nullcontext(lambda done, total: None)  # noqa: E731
    with pytest.raises(OSError, match="full"), run_evaluation(asked, lambda text: None, progress):
        raise OSError("full")
    evaluated(asked, steps=dying_after(0, AssertionError("nothing is left to compute")))
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


@pytest.fixture
def damaged(digits: Digits, tmp_path: Path) -> Path:
    """The validation images, three of which cannot be read."""
    shutil.copytree(digits.images / "val", tmp_path / "digits")
    broken = sorted((tmp_path / "digits").rglob("*.png"))[::150]
    broken[0].write_bytes(b"")
    broken[1].write_bytes(broken[1].read_bytes()[:-30])
    broken[2].write_text("no image", encoding="utf-8")
    return tmp_path / "digits"


def test_images_that_cannot_be_read_are_counted_and_named(digits: Digits, damaged: Path, tmp_path: Path) -> None:
    names = [path.relative_to(damaged).as_posix() for path in sorted(damaged.rglob("*.png"))[::150]]
    asked = request(digits, data=Data(str(damaged)), predictions=tmp_path / "p.csv")
    (check,) = evaluated(asked).checks
    assert check.verdict is Verdict.ERROR
    assert "3 of 360 images could not be read, more than the 0.1 %" in check.reason
    assert [hint for hint in check.hint_texts if hint.startswith("not read: ")] == [
        f"not read: {names[0]}: the file is empty",
        *(hint for hint in check.hint_texts if hint.startswith(f"not read: {names[1]}: ")),
        f"not read: {names[2]}: not an image in a known format",
    ]
    written = predicted(tmp_path / "p.csv")
    assert [name for name in written if written[name][1:] == ["", "", "false"]] == names


def test_a_wrong_number_of_classes_is_reported_before_the_first_batch(digits: Digits, tmp_path: Path) -> None:
    shutil.copytree(digits.images / "val", tmp_path / "digits")
    shutil.rmtree(tmp_path / "digits" / "9")
    with pytest.raises(DatasetError, match="the model has 10 outputs, but there are"):
        evaluated(request(digits, data=Data(str(tmp_path / "digits"))), steps=dying_after(0, AssertionError()))


def test_weights_that_are_not_finite(digits: Digits, tmp_path: Path) -> None:
    state = torch.load(digits.checkpoint("mixer"), weights_only=True)["model"]
    state["head.bias"][3] = float("nan")
    torch.save(state, tmp_path / "nan.pth")
    asked = request(digits, weights=Weights(digits.row("mixer"), tmp_path / "nan.pth"))
    with pytest.raises(CheckpointError, match="outputs are not finite"):
        evaluated(asked)


def test_more_images_than_the_data_set_has_are_refused_before_the_first_batch(digits: Digits, tmp_path: Path) -> None:
    shutil.copytree(digits.images / "val", tmp_path / "digits" / "val")
    some = next((tmp_path / "digits" / "val" / "0").iterdir())
    shutil.copy(some, some.with_name("more.png"))
    whole = request(digits, "mixer", data=Data(str(tmp_path / "digits")))
    with pytest.raises(DatasetError, match="has 361 images with a label, but digits has 360; give its images alone"):
        evaluated(whole, steps=dying_after(0, AssertionError()))


def test_which_data_set_the_images_are(digits: Digits, tmp_path: Path) -> None:
    (tmp_path / "letters").symlink_to(digits.images / "val", target_is_directory=True)
    (tmp_path / "images").symlink_to(digits.images / "val", target_is_directory=True)
    small = {"split": "", "limit": 5}

    def ids(row: str, source: Path, on: str | None = None) -> list[str]:
        data = Data(str(source), on=on, **small)  # type: ignore[arg-type]
        return [check.id.rpartition("/")[2] for check in evaluated(request(digits, row, data=data)).checks]

    assert ids("resmlp", digits.images / "val", on="letters") == ["other"]
    assert ids("mixer", tmp_path / "images", on="digits") == ["top1", "top5"]
    with pytest.raises(UsageError, match="digits/1/resmlp prints accuracies on digits, letters; pass --on"):
        ids("resmlp", digits.images / "val")  # called val
    with pytest.raises(UsageError, match="digits/1/mixer prints no accuracy on 'letters'"):
        ids("mixer", digits.images / "val", on="letters")


def test_a_data_set_that_nothing_shows_is_taken_for_the_only_one_printed(digits: Digits) -> None:
    said: list[str] = []
    result = evaluated(request(digits, "mixer", data=Data(str(digits.images / "val"), split="", limit=5)), said)
    words = "the images in val are taken for those of digits, the only data set of digits/1/mixer"
    assert words in said
    assert words in result.checks[0].hint_texts


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_a_gpu(digits: Digits, tmp_path: Path) -> None:
    running = Running(device="cuda", batch_size=64)
    with pytest.raises(KeyboardInterrupt):
        evaluated(request(digits, running=running, predictions=tmp_path / "p.csv"), steps=INTERRUPTED)
    resumed = evaluated(request(digits, running=running, predictions=tmp_path / "p.csv"))
    whole = evaluated(request(digits, running=running, predictions=tmp_path / "q.csv"))
    assert to_json(resumed) == to_json(whole)
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()
    sure = digits.plain["resmlp"].scores.softmax(1).topk(2).values
    near = int((sure[:, 0] - sure[:, 1] < 1e-3).sum())
    on_cpu = found(evaluated(request(digits)))
    assert abs(found(whole).correct - on_cpu.correct) <= near


def test_other_python_beside_a_model_is_another_model(tmp_path: Path) -> None:
    host = PythonModule(file="net.py", name="net", input=(3, 8, 8)).model_copy(update={"folder": tmp_path})
    recipe = SimpleNamespace(row=SimpleNamespace(model=SimpleNamespace(code=host)))
    (tmp_path / "net.py").write_text("import helper", encoding="utf-8")
    (tmp_path / "helper.py").write_text("scale = 1", encoding="utf-8")
    before = code_digest(recipe)  # type: ignore[arg-type]
    assert code_digest(recipe) == before  # type: ignore[arg-type]
    (tmp_path / "helper.py").write_text("scale = 2", encoding="utf-8")
    assert code_digest(recipe) != before  # type: ignore[arg-type]
