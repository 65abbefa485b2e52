"""What `eval`, `bench` and `inspect` found, as records: to and from JSON, and merged into a paper's report."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from imlp_audit.records.base import Count, Digest, Number, Record


class Accuracy(Record):
    """How many images a checkpoint classified rightly.

    `correct` of `images` are right, of the `available` that the data set has; `unreadable` and `unlabelled` ones, which
    have no accepted class, are counted among neither. `low` and `high` are the ends of Wilson's 95 % interval in
    percent, decimal text, if all unreadable images were wrong and if all were right. `checkpoint` is the file's
    SHA-256, `data` that of the images' ids and labels, `contents` that of their bytes. `settings` are the pipeline's
    and the model's, by name.
    """

    kind: Literal["accuracy"] = "accuracy"
    metric: str
    correct: Count
    images: Count
    available: Count
    unreadable: Count
    unlabelled: Count = 0
    low: Number
    high: Number
    checkpoint: Digest
    data: Digest
    contents: Digest | None = None
    settings: dict[str, str]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.images + self.unreadable + self.unlabelled > self.available:
            raise ValueError("more images than are available")
        if self.correct > self.images:
            raise ValueError("more images are right than there are")
        return self

    @property
    def whole(self) -> bool:
        """Whether every image of the data set that has a label was classified or could not be read."""
        return self.images + self.unreadable + self.unlabelled == self.available


class Throughput(Record):
    """Images a second of two models, measured in turns: medians over `pairs`, and the ratio with its 95 % interval.

    `hardware` is this machine's, `stated` what the paper names. Numbers are decimal text.
    """

    kind: Literal["throughput"] = "throughput"
    batch: Count
    pairs: Count
    baseline: Number
    variant: Number
    ratio: Number
    low: Number
    high: Number
    hardware: str
    stated: str
    settings: dict[str, str]


Evidence: TypeAlias = Annotated[Accuracy | Throughput, Field(discriminator="kind")]
