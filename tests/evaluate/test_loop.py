"""The loop: answers as argmax and softmax give them, however many threads, and what goes wrong by its name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.loop import Computing, OutOfMemoryError, predict_batches
from imlp_audit.evaluate.predictions import ModelAnswer

CPU = torch.device("cpu")


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
    found = flat(predict_batches(model, given, Computing(CPU)))
    with torch.no_grad():
        scores = torch.cat([model(images) for images, _ in given])
    assert [one and one.top5[0] for one in found] == scores.argmax(1).tolist()
    assert [one and one.top5 for one in found] == [tuple(row) for row in scores.topk(5).indices.tolist()]
    assert [one and one.probability for one in found] == scores.softmax(1).max(1).values.tolist()


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_answers_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    model = Scores()
    alone = flat(predict_batches(model, batches(), Computing(CPU)))
    assert flat(predict_batches(model, batches(), Computing(CPU, threads))) == alone


def test_threads_that_torch_computes_with_are_as_before() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        running = predict_batches(Scores(), batches(), Computing(CPU))
        next(running)
        assert torch.get_num_threads() == 1
        running.close()  # type: ignore[attr-defined]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_image_that_cannot_be_read_has_no_answer() -> None:
    images, _ = batches(1)[0]
    found = flat(predict_batches(Scores(), [(images, torch.tensor([0, -2, 2]))], Computing(CPU)))
    assert [one is None for one in found] == [False, True, False]


def test_the_first_class_comes_first_among_equal_scores() -> None:
    class Ties(nn.Module):
        def forward(self, images: Tensor) -> Tensor:
            return torch.tensor([[1.0, 2.0] * 500]).expand(len(images), -1)

    (answer,) = flat(predict_batches(Ties(), [(torch.zeros(1, 3, 2, 2), torch.zeros(1))], Computing(CPU)))
    assert answer is not None
    assert answer.top5 == (1, 3, 5, 7, 9)


def test_fewer_than_five_classes() -> None:
    model = Scores()
    model.head = nn.Linear(16, 2)
    assert {len(one.top5) for one in flat(predict_batches(model, batches(1), Computing(CPU))) if one} == {2}


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
    running = predict_batches(Scores(error, at=4), batches(), Computing(CPU, threads))
    assert len([next(running) for _ in range(4)]) == 4
    with pytest.raises(OutOfMemoryError):
        next(running)


def test_another_error_stays_itself() -> None:
    with pytest.raises(RuntimeError, match="sizes differ"):
        list(predict_batches(Scores(RuntimeError("sizes differ"), at=0), batches(), Computing(CPU)))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_outputs_that_are_not_finite_are_refused(value: float) -> None:
    model = Scores()
    nn.init.constant_(model.head.bias, value)
    with pytest.raises(CheckpointError, match=r"the model's outputs are not finite numbers$"):
        list(predict_batches(model, batches(1), Computing(CPU)))
    unreadable = [(images, numbers - 3) for images, numbers in batches(1)]
    assert flat(predict_batches(model, unreadable, Computing(CPU))) == [None, None, None]


def test_autocast_is_named_when_it_may_be_to_blame() -> None:
    model = Scores()
    nn.init.constant_(model.head.bias, float("nan"))
    with pytest.raises(CheckpointError, match="try without --amp"):
        list(predict_batches(model, batches(1), Computing(CPU, amp=True)))


@pytest.mark.parametrize("threads", [1, 2])
def test_autocast_computes_in_sixteen_bits(threads: int) -> None:
    class Seen(Scores):
        def forward(self, images: Tensor) -> Tensor:
            scores = super().forward(images)
            assert scores.dtype is torch.bfloat16
            return scores

    whole = flat(predict_batches(Scores(), batches(), Computing(CPU)))
    half = flat(predict_batches(Seen(), batches(), Computing(CPU, threads, amp=True)))
    assert half != whole
    for one, other in zip(half, whole, strict=True):
        assert one is not None
        assert other is not None
        assert one.probability == pytest.approx(other.probability, rel=0.02)


def test_channels_last_is_how_the_images_lie() -> None:
    class Seen(Scores):
        def forward(self, images: Tensor) -> Tensor:
            assert images.is_contiguous(memory_format=torch.channels_last)
            return super().forward(images)

    list(predict_batches(Seen(), batches(), Computing(CPU, channels_last=True)))


def test_images_are_not_read_far_ahead() -> None:
    read = []

    def reading() -> Iterator[tuple[Tensor, Tensor]]:
        for number, batch in enumerate(batches(20)):
            read.append(number)
            yield batch

    running = predict_batches(Scores(), reading(), Computing(CPU, threads=2))
    next(running)
    assert len(read) <= 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_a_gpu_the_first_guesses_are_the_same() -> None:
    device = torch.device("cuda")
    on_cpu = flat(predict_batches(Scores(), batches(), Computing(CPU)))
    moved = [(images.to(device), numbers.to(device)) for images, numbers in batches()]
    on_gpu = flat(predict_batches(Scores().to(device), moved, Computing(device)))
    assert [one and one.top5[0] for one in on_gpu] == [one and one.top5[0] for one in on_cpu]
