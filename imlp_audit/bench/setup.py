"""How throughput is measured: what a user may choose. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FEWEST_PAIRS = 6  # of five, all that were measured hold the median with 94 %: no interval of them is one of 95 %


class ModelDtype(StrEnum):
    """The type of weights and images, by torch's name."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


@dataclass(frozen=True)
class Setup:
    """How models are run and timed. `threads` is torch's own choice where it is None.

    Of `batches`, images a forward pass, the first is the one that cells are judged by. `reading` is the declared
    reading that models are built under, the paper's default where it is None. With `same_hardware` the user states
    that hardware, software and settings are the paper's.
    """

    batches: tuple[int, ...] = (32,)
    pairs: int = 10
    device: str = "cpu"
    threads: int | None = None
    dtype: ModelDtype = ModelDtype.FLOAT32
    channels_last: bool = False
    compiled: bool = False
    reading: str | None = None
    same_hardware: bool = False
