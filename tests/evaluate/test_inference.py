"""From images to answers: how they are prepared and who says so, and the loop, however many threads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import timm
import torch
from PIL import Image
from timm.data import create_transform
from torch import Tensor, nn

from imlp_audit.errors import BuildError, CheckpointError
from imlp_audit.evaluate.datasets import Data, open_images
from imlp_audit.evaluate.predictions import ModelAnswer, Running, load_batches, predict_batches, resolve_pipeline
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import Paper, find_row, preprocessing_of
from imlp_audit.spec.schema import Preprocessing
from tests.cli.running import call
from tests.evaluate.digits import digits


class Scores(nn.Module):
    """A classifier of ten classes; `fail` is raised for the batch whose first pixel is `at`."""

    def __init__(self, fail: Exception | None = None, at: float = -1.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 16, 3)
        self.head = nn.Linear(16, 10)
        self.fail, self.at = fail, at

    def forward(self, images: Tensor) -> Tensor:
        if self.fail is not None and images[0, 0, 0, 0] == self.at:
            raise self.fail
        scores: Tensor = self.head(self.conv(images).relu().mean((2, 3)))
        return scores


def batches(count: int = 7, size: int = 3) -> list[tuple[Tensor, Tensor]]:
    torch.manual_seed(1)
    made = [(torch.randn(size, 3, 8, 8), torch.arange(size)) for _ in range(count)]
    for number, (images, _) in enumerate(made):
        images[0, 0, 0, 0] = number
    return made


def flat(found: Iterator[tuple[ModelAnswer | None, ...]]) -> list[ModelAnswer | None]:
    return [answer for batch in found for answer in batch]


def test_answers_are_argmax_and_softmax() -> None:
    model, given = Scores(), batches()
    found = flat(predict_batches(model, given, Running()))
    with torch.no_grad():
        scores = torch.cat([model(images) for images, _ in given])
    assert [one and one.top5[0] for one in found] == scores.argmax(1).tolist()
    assert [one and one.top5 for one in found] == [tuple(row) for row in scores.topk(5).indices.tolist()]
    assert [one and one.probability for one in found] == scores.softmax(1).max(1).values.tolist()


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_answers_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    model = Scores()
    alone = flat(predict_batches(model, batches(), Running()))
    assert flat(predict_batches(model, batches(), Running(threads=threads))) == alone


def test_threads_that_torch_computes_with_are_as_before() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        running = predict_batches(Scores(), batches(), Running())
        next(running)
        assert torch.get_num_threads() == 1
        running.close()  # type: ignore[attr-defined]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_image_that_cannot_be_read_has_no_answer() -> None:
    images, _ = batches(1)[0]
    found = flat(predict_batches(Scores(), [(images, torch.tensor([0, -2, 2]))], Running()))
    assert [one is None for one in found] == [False, True, False]


def test_the_first_class_comes_first_among_equal_scores() -> None:
    class Ties(nn.Module):
        def forward(self, images: Tensor) -> Tensor:
            return torch.tensor([[1.0, 2.0] * 500]).expand(len(images), -1)

    (answer,) = flat(predict_batches(Ties(), [(torch.zeros(1, 3, 2, 2), torch.zeros(1))], Running()))
    assert answer is not None
    assert answer.top5 == (1, 3, 5, 7, 9)


def test_fewer_than_five_classes() -> None:
    model = Scores()
    model.head = nn.Linear(16, 2)
    assert {len(one.top5) for one in flat(predict_batches(model, batches(1), Running())) if one} == {2}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you ..."
        ),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes."),
    ],
    ids=["Python", "CUDA", "Linux", "Windows"],
)
def test_memory_that_runs_out(error: Exception, threads: int) -> None:
    running = predict_batches(Scores(error, at=4), batches(), Running(threads=threads))
    assert len([next(running) for _ in range(4)]) == 4
    with pytest.raises(BuildError, match="memory ran out; give a smaller --batch-size"):
        next(running)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_outputs_that_are_not_finite_are_refused(value: float) -> None:
    model = Scores()
    nn.init.constant_(model.head.bias, value)
    with pytest.raises(CheckpointError, match=r"the model's outputs are not finite numbers$"):
        list(predict_batches(model, batches(1), Running()))
    unreadable = [(images, numbers - 3) for images, numbers in batches(1)]
    assert flat(predict_batches(model, unreadable, Running())) == [None, None, None]


@pytest.mark.parametrize("threads", [1, 2])
def test_autocast_computes_in_sixteen_bits(threads: int) -> None:
    class Seen(Scores):
        def forward(self, images: Tensor) -> Tensor:
            scores = super().forward(images)
            assert scores.dtype is torch.bfloat16
            return scores

    whole = flat(predict_batches(Scores(), batches(), Running()))
    half = flat(predict_batches(Seen(), batches(), Running(threads=threads, amp=True)))
    assert half != whole
    for one, other in zip(half, whole, strict=True):
        assert one is not None
        assert other is not None
        assert one.probability == pytest.approx(other.probability, rel=0.02)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_a_gpu_the_first_guesses_are_the_same() -> None:
    device = torch.device("cuda")
    on_cpu = flat(predict_batches(Scores(), batches(), Running()))
    moved = [(images.to(device), numbers.to(device)) for images, numbers in batches()]
    on_gpu = flat(predict_batches(Scores().to(device), moved, Running("cuda")))
    assert [one and one.top5[0] for one in on_gpu] == [one and one.top5[0] for one in on_cpu]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(7):
        (tmp_path / str(number % 2)).mkdir(exist_ok=True)
        image = Image.radial_gradient("L").rotate(10 * number).convert("RGB").resize((60 + number, 50))
        image.save(tmp_path / str(number % 2) / f"{number}.png")
    (tmp_path / "1" / "3.png").write_bytes(b"no image")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["deit_small_patch16_224", "swin_tiny_patch4_window7_224", "resmlp_12_224", "test_vit"]
)
def test_a_model_brings_its_own_settings(name: str) -> None:
    with torch.device("meta"):
        model = timm.create_model(name)
    own = timm.models.get_pretrained_cfg(name)
    assert own is not None
    found = resolve_pipeline(model, own.input_size[1:])
    assert (found.input_size, found.crop_pct, found.crop_mode) == (
        own.input_size,
        own.crop_pct,
        own.crop_mode or "center",
    )
    assert (found.interpolation, found.mean, found.std) == (own.interpolation, own.mean, own.std)


def test_a_model_without_settings_has_those_of_imagenet() -> None:
    found = resolve_pipeline(torch.nn.Linear(1, 1), (64, 48))
    assert found.input_size == (3, 64, 48)
    assert (found.crop_pct, found.interpolation) == (0.875, "bicubic")
    assert (found.mean, found.std) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # of the loader's processes
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_the_images_in_their_order_as_timm_transforms_them(folder: Path, workers: int) -> None:
    images = open_images(Data(str(folder), ""))
    chosen = resolve_pipeline(torch.nn.Linear(1, 1), (32, 24))
    indices = [0, 1, 2, 4, 5, 6]
    found = list(load_batches(images, indices, chosen, Running(batch_size=4, workers=workers)))
    assert [len(one) for one, _ in found] == [4, 2]
    assert [(numbers >= 0).tolist() for _, numbers in found] == [
        [images.ids[index] != "1/3.png" for index in part] for part in (indices[:4], indices[4:])
    ]
    transform = create_transform(
        (3, 32, 24), interpolation="bicubic", mean=chosen.mean, std=chosen.std, crop_pct=0.875, crop_mode="center"
    )
    for index, one in zip(indices, torch.cat([one for one, _ in found]), strict=True):
        if images.ids[index] != "1/3.png":
            expected = transform(Image.open(folder / images.ids[index]))
            assert one.shape == expected.shape
            assert torch.allclose(one, expected, atol=1e-6)


SIZE, SHAPE = (48, 48), (3, 48, 48)


@pytest.fixture(scope="module")
def vit() -> nn.Module:
    model: nn.Module = timm.create_model("test_vit")  # whose own crop is 0.95, in timm's configuration
    return model


@pytest.fixture(scope="module")
def bundled() -> Sequence[Paper]:
    return load(["imlp", "resmlp"]).papers


def stated(because: str, **settings: object) -> Preprocessing:
    return Preprocessing.model_validate({"rows": ["a/1/*"], "because": because, **settings})


def test_the_user_has_the_last_word(vit: nn.Module) -> None:
    theirs = stated("Their code", crop_pct="0.875", interpolation="box", std=["1", "1", "1"])
    asked = stated("you", crop_pct="1", interpolation="nearest")
    found = resolve_pipeline(vit, SIZE, asked, theirs)
    assert (found.crop_pct, found.interpolation, found.input_size, found.std) == (1.0, "nearest", SHAPE, (1, 1, 1))
    own = resolve_pipeline(vit, SIZE)
    assert (own.crop_pct, own.interpolation, own.input_size, own.mean) == (0.95, "bicubic", SHAPE, (0.5, 0.5, 0.5))


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
    first = preprocessing_of(found)[0]
    assert (first.size, first.crop_pct, first.interpolation, first.mean, first.std) == (
        None,
        crop,
        "bicubic",
        None,
        None,
    )


def test_the_verdict_names_the_source(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    made = digits(tmp_path_factory)
    entry = (
        "preprocessing: [{rows: [digits/1/res*], crop_pct: 0.5, because: A note}, "
        "{rows: [digits/1/resmlp], crop_pct: 0.7, interpolation: box, because: A blog}]\n"
    )
    (tmp_path / "spec.yaml").write_text(made.spec.read_text(encoding="utf-8") + entry, encoding="utf-8")
    files = [str(made.checkpoint("resmlp")), str(tmp_path / "spec.yaml"), "--data", str(made.images)]
    run = [*files, "--row", "digits/1/resmlp", "--reading", "released", "--workers", "0", "--limit", "20", "-f", "json"]
    (check,) = json.loads(call("eval", *run).out)["checks"]
    settings = check["evidence"][0]["settings"]
    assert (settings["crop_pct"], settings["interpolation"]) == ("0.5", "bicubic")  # of the first source alone
    assert "images prepared as A note says" in check["hints"]


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
