"""What `eval`, `bench` and `inspect` found, as records: to and from JSON, and merged into a paper's report."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """Base: frozen, unknown keys refused; built when first used."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Accuracy(Record):
    """How many images a checkpoint classified rightly.

    `correct` of `images` are right, of the `available` that the data set has; `unreadable` are counted among neither.
    `low` and `high` are Wilson's 95 % interval in percent, decimal text. `checkpoint` is the file's SHA-256, `data`
    that of the evaluated images' ids and labels. `settings` are the pipeline's and the model's, by name.
    """

    kind: Literal["accuracy"] = "accuracy"
    metric: str
    correct: int
    images: int
    available: int
    unreadable: int
    low: str
    high: str
    checkpoint: str
    data: str
    settings: dict[str, str]


class PairedAccuracy(Record):
    """Two runs over the same images: `first_only` and `second_only` are right in one of them alone.

    `p` is the two-sided probability of McNemar's exact test, `difference` second minus first in points of percent,
    `low` and `high` its 95 % interval; all decimal text.
    """

    kind: Literal["paired"] = "paired"
    metric: str
    images: int
    both: int
    first_only: int
    second_only: int
    difference: str
    low: str
    high: str
    p: str


class Throughput(Record):
    """Images a second of two models, measured in turns: medians over `pairs`, and the ratio with its 95 % interval.

    `hardware` is this machine's, `stated` what the paper names. Numbers are decimal text.
    """

    kind: Literal["throughput"] = "throughput"
    batch: int
    pairs: int
    baseline: str
    variant: str
    ratio: str
    low: str
    high: str
    hardware: str
    stated: str
    settings: dict[str, str]


Evidence: TypeAlias = Annotated[Accuracy | PairedAccuracy | Throughput, Field(discriminator="kind")]
