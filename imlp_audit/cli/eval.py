"""`imlp-audit eval`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from imlp_audit.cli.exits import ExitCode, exit_code
from imlp_audit.cli.options import Device, Formatted, NoProgress, Output, Quiet, Specs, check_device
from imlp_audit.cli.stream import emit
from imlp_audit.errors import UsageError
from imlp_audit.evaluate.request import Interpolation, Overrides
from imlp_audit.interrupts import on_interrupt, write_error
from imlp_audit.near import did_you_mean
from imlp_audit.report.files import check_writable, write_whole
from imlp_audit.report.formats import Format
from imlp_audit.workers import cores

if TYPE_CHECKING:
    from imlp_audit.evaluate.request import Request
    from imlp_audit.evaluate.sharding import Group
    from imlp_audit.records.result import AuditResult
    from imlp_audit.spec.references import RowRef

Channels: TypeAlias = tuple[float, float, float]
_WORKERS = 8  # more rarely read faster
_LARGEST = 4096  # pixels of a side


def evaluate(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="The file of weights.", show_default=False)],
    row: Annotated[
        str, typer.Option("--row", metavar="ID", help="The row it is of: imlp/1/deit_s_imlp.", show_default=False)
    ],
    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="DIR",
            help="The images: a folder with CLASS/IMAGE or SPLIT/CLASS/IMAGE in it, a .tar file, or a name of timm's.",
            show_default=False,
        ),
    ],
    specs: Specs = None,
    reading: Annotated[
        str | None, typer.Option(metavar="NAME", help="Build by this declared reading, not the paper's default one.")
    ] = None,
    state: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which weights, of a file that holds several: model_ema.")
    ] = None,
    split: Annotated[str, typer.Option(metavar="NAME", help="Which split of the images.")] = "validation",
    class_map: Annotated[
        Path | None, typer.Option("--class-map", metavar="FILE", help="Which class each class folder is.")
    ] = None,
    real_labels: Annotated[
        Path | None,
        typer.Option("--real-labels", metavar="FILE", help="Judge by ReaL labels: real.json, or `timm` for its copy."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="NAME", help="Which data set of the table's the images are: imagenet-v2."),
    ] = None,
    allow_download: Annotated[
        bool, typer.Option("--allow-download", help="Download a data set that is named with a revision.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only so many images, of each class its share.")
    ] = None,
    max_unreadable: Annotated[
        float, typer.Option("--max-unreadable", min=0, max=1, metavar="SHARE", help="Judge up to this share of images.")
    ] = 0.001,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="A JSON result of eval to test the printed difference from."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="Write what is predicted of each image: .parquet or .csv."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what an earlier run left beside --predictions.")
    ] = False,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            min=1,
            help="Images a pass; halved while memory runs out. [default: 32, on a GPU 256]",
        ),
    ] = None,
    device: Annotated[Device, typer.Option(help="Where the model runs.")] = Device.CPU,
    amp: Annotated[bool, typer.Option("--amp", help="Compute in 16 bits where torch's autocast does.")] = False,
    channels_last: Annotated[
        bool, typer.Option("--channels-last", help="Lay images out with the channels last.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Batches that a CPU computes at a time; as many as cores if left out.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that read images; by the cores, and at most 8 if left out.")
    ] = None,
    input_size: Annotated[
        str | None, typer.Option("--input-size", metavar="SIZE", help="Side of the input, or HEIGHTxWIDTH.")
    ] = None,
    crop_pct: Annotated[
        float | None, typer.Option("--crop-pct", min=0.1, max=1, help="Share of the resized image that is cropped.")
    ] = None,
    interpolation: Annotated[Interpolation | None, typer.Option(help="How images are resized.")] = None,
    mean: Annotated[
        str | None, typer.Option(metavar="R,G,B", help="What is subtracted from each channel, of 0 to 1.")
    ] = None,
    std: Annotated[str | None, typer.Option(metavar="R,G,B", help="What each channel is divided by.")] = None,
    format_: Formatted = Format.RICH,
    output: Output = None,
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> int:
    """Evaluate a checkpoint on images, and judge the accuracies that its row prints."""
    from imlp_audit.evaluate.sharding import ElsewhereError, group, processes_here

    share = max(1, cores() // processes_here())

    def asked() -> Asked:
        from imlp_audit.cli.output import parse_output

        _check_predictions(predictions, resume=resume)
        outputs = [parse_output(text) for text in output or []]
        crop = Overrides(_size(input_size), crop_pct, interpolation, *_statistics(mean, std))
        found, compared = _row(row, specs), _earlier(against)
        check_device(device)
        from imlp_audit.evaluate.request import Data, Request, Running, Weights

        running = Running(
            device=device.value,
            batch_size=batch_size or (256 if device is Device.CUDA else 32),
            amp=amp,
            channels_last=channels_last,
            workers=min(share, _WORKERS) if workers is None else workers,
            threads=threads or share,
        )
        request = Request(
            weights=Weights(found, checkpoint, reading, state),
            data=Data(data, split, class_map, real_labels, allow_download, limit, on),
            overrides=crop,
            running=running,
            predictions=predictions,
            resume=resume,
            against=compared,
            most_unreadable=Fraction(str(max_unreadable)),
        )
        return Asked(request, outputs, None if quiet else format_, bar=not (quiet or no_progress))

    def tell_how_to_resume() -> None:
        if predictions is not None:
            write_error("imlp-audit: interrupted; the same command with --resume goes on from here\n")

    try:
        with on_interrupt(tell_how_to_resume), group(device.value) as ours:
            return _run(ours.agree_on(asked), ours)
    except ElsewhereError:
        return ExitCode.CLEAN


@dataclass(frozen=True)
class Asked:
    """What the command line asks for: an evaluation, files to write it to, and how it is shown, if at all."""

    request: Request
    outputs: Sequence[tuple[Format, Path]]
    shown: Format | None
    bar: bool


def _run(asked: Asked, group: Group) -> int:
    from imlp_audit.cli.output import render, surface
    from imlp_audit.cli.progress_images import image_progress
    from imlp_audit.evaluate.run import run_evaluation

    gc.enable()  # it is off for commands that end in seconds
    say = _say if group.leads and asked.shown else _say_nothing
    progress = partial(image_progress, shown=asked.bar and group.leads)
    with run_evaluation(asked.request, group, say, progress) as result:
        if result is None:
            return ExitCode.CLEAN
        for form, path in asked.outputs:
            write_whole(path, render(result, form))
        if asked.shown is not None:
            emit(render(result, asked.shown, surface()))
    return exit_code(result, strict=False)


def _say(text: str) -> None:
    print(f"imlp-audit: {text}", file=sys.stderr)


def _say_nothing(text: str) -> None:
    del text


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    sides = text.split("x")
    if len(sides) > 2 or not all(side.isdecimal() and 0 < int(side) <= _LARGEST for side in sides):
        raise UsageError(f"--input-size {text}: give a side in pixels, or HEIGHTxWIDTH, each of at most {_LARGEST}")
    return int(sides[0]), int(sides[-1])


def _statistics(mean: str | None, std: str | None) -> tuple[Channels | None, Channels | None]:
    found = _channels("--mean", mean), _channels("--std", std)
    if found[1] is not None and min(found[1]) <= 0:
        raise UsageError(f"--std {std}: images are divided by it, so each number has to be above 0")
    return found


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


def _check_predictions(path: Path | None, *, resume: bool) -> None:
    from imlp_audit.evaluate.predictions import check_ending

    if path is not None:
        check_ending(path)
        check_writable(path)
    elif resume:
        raise UsageError("--resume goes on with what lies beside the file of --predictions; name that file")


def _row(wanted: str, specs: list[str] | None) -> RowRef:
    from imlp_audit.spec.library import load
    from imlp_audit.spec.references import find_row, rows_of

    papers = load(specs or [wanted.partition("/")[0]]).papers
    found = find_row(papers, wanted)
    if found is None:
        known = [row.id for paper in papers for row in rows_of(paper)]
        raise UsageError(f"--row {wanted}: {did_you_mean(wanted, known, 'rows here')}")
    return found


def _earlier(path: Path | None) -> tuple[AuditResult, str] | None:
    from imlp_audit.records.document import from_json
    from imlp_audit.records.result import AuditResult

    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
        return from_json(AuditResult, text, str(path), written_by="`imlp-audit eval --format json`"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--against {path} could not be read: {error}") from error
