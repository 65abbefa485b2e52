"""`imlp-audit eval`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from imlp_audit.cli.exits import ExitCode, exit_code
from imlp_audit.cli.options import (
    ChannelsLast,
    CheckpointFile,
    Device,
    Reading,
    ReportOptions,
    Specs,
    State,
    check_device,
    group_options,
)
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.evaluate.request import Interpolation, Overrides
from imlp_audit.interrupts import on_interrupt, write_error
from imlp_audit.report.files import check_writable
from imlp_audit.workers import cores

if TYPE_CHECKING:
    from imlp_audit.cli.output import Outputs
    from imlp_audit.evaluate.request import Request, Running
    from imlp_audit.evaluate.sharding import Group
    from imlp_audit.records.result import AuditResult
    from imlp_audit.spec.references import RowRef

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
    amp: Annotated[bool, typer.Option("--amp", help="Compute in 16 bits where torch's autocast does.")] = False
    channels_last: ChannelsLast = False
    threads: Annotated[
        int | None, typer.Option(min=1, help="Batches computed at a time on a CPU; one per core if left out.")
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that read images; one per core, at most 8, if left out.")
    ] = None

    def running(self, share: int) -> Running:
        """Return them as the evaluation takes them; `share` is how many cores this process may use."""
        from imlp_audit.evaluate.request import Running

        return Running(
            device=self.device.value,
            batch_size=self.batch_size or (256 if self.device is Device.CUDA else 32),
            amp=self.amp,
            channels_last=self.channels_last,
            workers=min(share, _WORKERS) if self.workers is None else self.workers,
            threads=self.threads or share,
        )


@dataclass(frozen=True)
class PipelineOptions:
    """How images are prepared, where that isn't as the model's weights say."""

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


@group_options
def evaluate(
    checkpoint: CheckpointFile,
    row: Annotated[
        str,
        typer.Option(
            "--row", metavar="ID", help="The checkpoint's row, such as imlp/1/deit_s_imlp.", show_default=False
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="DIR",
            help="The images: a folder with CLASS/IMAGE or SPLIT/CLASS/IMAGE in it, a .tar file, or a timm data set.",
            show_default=False,
        ),
    ],
    specs: Specs = None,
    reading: Reading = None,
    state: State = None,
    *,
    images: ImageOptions,
    results: PredictionOptions,
    computing: ComputeOptions,
    pipeline: PipelineOptions,
    reporting: ReportOptions,
) -> int:
    """Evaluate a checkpoint on images, and judge the accuracies that its row prints."""
    from imlp_audit.evaluate.sharding import ElsewhereError, group, processes_here

    share = max(1, cores() // processes_here())

    def parse() -> tuple[Request, Outputs]:
        from imlp_audit.cli.output import parse_outputs

        _check_predictions(results)
        outputs, overrides = parse_outputs(reporting.output), pipeline.overrides()
        model, earlier = _find_row(row, specs), _read_earlier(results.against)
        check_device(computing.device)
        from imlp_audit.evaluate.request import Data, Request, Weights

        labels = (images.class_map, images.real_labels)
        request = Request(
            weights=Weights(model, checkpoint, reading, state),
            data=Data(data, images.split, *labels, images.allow_download, images.limit, images.on),
            overrides=overrides,
            running=computing.running(share),
            predictions=results.predictions,
            resume=results.resume,
            against=earlier,
            most_unreadable=Fraction(str(images.max_unreadable)),
        )
        return request, outputs

    try:
        with on_interrupt(_say_how_to_resume(results.predictions)), group(computing.device.value) as ours:
            request, outputs = ours.agree_on(parse)
            return _run(request, outputs, reporting, ours)
    except ElsewhereError:
        return ExitCode.CLEAN


def _run(request: Request, outputs: Outputs, reporting: ReportOptions, group: Group) -> int:
    from imlp_audit.cli.output import emit_result
    from imlp_audit.cli.progress import show_image_progress
    from imlp_audit.evaluate.run import run_evaluation

    gc.enable()  # it is off for commands that end in seconds
    say = _say if group.leads and not reporting.quiet else _say_nothing
    progress = partial(show_image_progress, shown=reporting.progress and group.leads)
    with run_evaluation(request, group, say, progress) as result:
        if result is None:
            return ExitCode.CLEAN
        emit_result(result, reporting.printed, outputs)
    return exit_code(result, strict=False)


def _say(text: str) -> None:
    print(f"imlp-audit: {text}", file=sys.stderr)


def _say_nothing(text: str) -> None:
    del text


def _say_how_to_resume(predictions: Path | None) -> Callable[[], None]:
    resumable = "imlp-audit: interrupted; run the same command with --resume to continue\n"
    return lambda: write_error(resumable if predictions is not None else "")


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


def _check_predictions(results: PredictionOptions) -> None:
    from imlp_audit.evaluate.predictions import check_ending

    if results.predictions is not None:
        check_ending(results.predictions)
        check_writable(results.predictions)
    elif results.resume:
        raise UsageError("--resume continues the run that began to write --predictions; name that file")


def _find_row(wanted: str, specs: list[str] | None) -> RowRef:
    from imlp_audit.spec.library import load
    from imlp_audit.spec.references import find_row, rows_of

    papers = load(specs or [wanted.partition("/")[0]]).papers
    found = find_row(papers, wanted)
    if found is None:
        known = [row.id for paper in papers for row in rows_of(paper)]
        raise UsageError(f"--row {wanted}: {did_you_mean(wanted, known, 'rows here')}")
    return found


def _read_earlier(path: Path | None) -> tuple[AuditResult, str] | None:
    from imlp_audit.records.document import from_json
    from imlp_audit.records.result import AuditResult

    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
        return from_json(AuditResult, text, str(path), written_by="`imlp-audit eval --format json`"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--against {path} could not be read: {error}") from error
