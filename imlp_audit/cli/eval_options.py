"""The options of `imlp-audit eval`, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from imlp_audit.cli.options import ChannelsLast, Device
from imlp_audit.errors import UsageError
from imlp_audit.evaluate.function import Function
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.spec.interpolation import Interpolation

if TYPE_CHECKING:
    from imlp_audit.evaluate.request import Running

Channels: TypeAlias = tuple[float, float, float]
_WORKERS = 8  # more rarely read faster
_LARGEST = 4096  # pixels of a side


@dataclass(frozen=True)
class ImageOptions:
    """Which images, and which of them."""

    split: Annotated[str, typer.Option(metavar="NAME", help="Which split of the images.")] = "validation"
    class_map: Annotated[
        Path | None,
        typer.Option("--class-map", metavar="FILE", help="A file that gives the class of each class folder."),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", metavar="FILE", help="The class of each image: the devkit's ground truth, Kaggle's CSV, a list."
        ),
    ] = None
    real_labels: Annotated[
        Path | None,
        typer.Option("--real-labels", metavar="FILE", help="Judge by ReaL labels: real.json, or `timm` for its copy."),
    ] = None
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="NAME", help="Which of the row's data sets the images are, e.g. imagenet-v2."),
    ] = None
    allow_download: Annotated[
        bool, typer.Option("--allow-download", help="Fetch the named data set if it is not on this machine.")
    ] = False
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only N images, each class in proportion.")
    ] = None
    max_unreadable: Annotated[
        float,
        typer.Option(
            "--max-unreadable",
            min=0,
            max=1,
            metavar="SHARE",
            help="Judge if at most this share of images is unreadable.",
        ),
    ] = 0.001

    def label_files(self) -> dict[str, Path | None]:
        """Return the files that say which class an image has, by option."""
        return {"--class-map": self.class_map, "--labels": self.labels, "--real-labels": self.real_labels}


@dataclass(frozen=True)
class PredictionOptions:
    """What earlier runs left, and what this one leaves."""

    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="FILE", help="A JSON result of eval: also test the printed difference from it."
        ),
    ] = None
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="Write the prediction for each image: .parquet or .csv."),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run with the same --predictions.")
    ] = False


@dataclass(frozen=True)
class ComputeOptions:
    """How the model is computed."""

    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            min=1,
            help="Images per pass; halved when memory runs out. [default: 32, on a GPU 256]",
        ),
    ] = None
    device: Annotated[Device, typer.Option(help="Where the model runs.")] = Device.CPU
    function: Annotated[
        Function | None,
        typer.Option(
            help="Whose function to compute, where timm and the publisher's code differ for the same weights; "
            "the one that the names in the file show if left out."
        ),
    ] = None
    amp: Annotated[bool, typer.Option("--amp", help="Compute in 16 bits where torch's autocast does.")] = False
    channels_last: ChannelsLast = False
    processes: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Share the images among N processes here; on GPUs, one for each."),
    ] = 1
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Batches computed at a time on a CPU. If left out, one per core, and one where the model's code comes "
            "from outside.",
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that read images; one per core, at most 8, if left out.")
    ] = None

    def running(self, share: int, *, outside: bool) -> Running:
        """Return them as the evaluation takes them; `share` is how many cores this process may use.

        A model whose code comes from `outside` may keep what it computes in itself, where threads would mix batches up.
        """
        from imlp_audit.evaluate.request import Running

        return Running(
            device=self.device.value,
            batch_size=self.batch_size or (256 if self.device is Device.CUDA else 32),
            amp=self.amp,
            channels_last=self.channels_last,
            workers=min(share, _WORKERS) if self.workers is None else self.workers,
            threads=self.threads or (1 if outside else share),
        )


@dataclass(frozen=True)
class PipelineOptions:
    """How images are prepared, where that isn't as the spec or the model says."""

    input_size: Annotated[
        str | None, typer.Option("--input-size", metavar="SIZE", help="Side of the input, or HEIGHTxWIDTH.")
    ] = None
    crop_pct: Annotated[
        float | None, typer.Option("--crop-pct", min=0.1, max=1, help="Share of the resized image that is cropped.")
    ] = None
    interpolation: Annotated[Interpolation | None, typer.Option(help="How images are resized.")] = None
    mean: Annotated[
        str | None, typer.Option(metavar="R,G,B", help="Subtract this from the channels, which are 0 to 1.")
    ] = None
    std: Annotated[str | None, typer.Option(metavar="R,G,B", help="Then divide the channels by this.")] = None

    def overrides(self) -> Overrides:
        """Return them as the pipeline takes them. Raises UsageError."""
        mean, std = _channels("--mean", self.mean), _channels("--std", self.std)
        if std is not None and min(std) <= 0:
            raise UsageError(f"--std {self.std}: images are divided by it, so each number has to be above 0")
        return Overrides(_size(self.input_size), self.crop_pct, self.interpolation, mean, std)


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    sides = text.split("x")
    if len(sides) > 2 or not all(side.isdecimal() and 0 < int(side) <= _LARGEST for side in sides):
        raise UsageError(f"--input-size {text}: give a side in pixels, or HEIGHTxWIDTH, each of at most {_LARGEST}")
    return int(sides[0]), int(sides[-1])


def _channels(option: str, text: str | None) -> Channels | None:
    if text is None:
        return None
    try:
        red, green, blue = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"{option} {text}: give three numbers with commas between them") from None
    if not all(map(isfinite, (red, green, blue))):
        raise UsageError(f"{option} {text}: give finite numbers")
    return red, green, blue
