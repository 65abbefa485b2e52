"""`imlp-audit eval` and `imlp-audit inspect`: what a checkpoint scores, and what it is of."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import ValidationError

from imlp_audit.checkpoint.contents import Checkpoint, check_kind, hash_file, parse_states
from imlp_audit.cli.loading import load_specs
from imlp_audit.cli.options import (
    CheckpointFile,
    Device,
    Formatted,
    NoProgress,
    Prefix,
    Reading,
    ReportOptions,
    Specs,
    State,
    TrustCode,
    check_device,
    group_options,
    trusting,
)
from imlp_audit.cli.output import ExitCode, Outputs, emit_document, emit_result, exit_code, parse_outputs, tell
from imlp_audit.cli.progress import show_image_progress, show_progress
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.processes.interrupts import on_interrupt, write_error
from imlp_audit.processes.limits import cores
from imlp_audit.records.checkpoint import Inspection
from imlp_audit.report.atomic_files import check_writable
from imlp_audit.report.document import make_visible
from imlp_audit.report.first_screen import run_screen
from imlp_audit.report.formats import Format
from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import RowRef, find_row
from imlp_audit.spec.schema import Preprocessing
from imlp_audit.spec.targets import id_in, whole_paper

if TYPE_CHECKING:
    from imlp_audit.evaluate.predictions import Running
    from imlp_audit.evaluate.run import Request


_IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".parquet")
_SETTINGS = ("size", "crop_pct", "interpolation", "mean", "std")
_LARGEST = 4096  # pixels of a side
_WORKERS = 8  # more rarely read faster


RowId = Annotated[
    str, typer.Option(metavar="ID", help="The checkpoint's row, such as imlp/1/deit_s_imlp.", show_default=False)
]
ImageFolder = Annotated[
    str,
    typer.Option(
        metavar="DIR",
        help="The images: a folder of CLASS/IMAGE or of parquet, or a .parquet file.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ImageOptions:
    """Which images, and how they are prepared."""

    split: Annotated[str, typer.Option(metavar="NAME", help="Which split of the images.")] = "validation"
    class_map: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file that gives the class of each class folder.")
    ] = None
    labels: Annotated[
        Literal["real"] | None, typer.Option(help="Judge by ImageNet's ReaL labels in place of class folders.")
    ] = None
    on: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of the row's data sets the images are, e.g. imagenet-v2.")
    ] = None
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only N images, each class in proportion.")
    ] = None
    preprocessing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Prepare images other than the spec or the model says: size, crop_pct, interpolation, mean=R,G,B or "
            "std=R,G,B. Repeatable.",
        ),
    ] = None

    def stated(self) -> Preprocessing | None:
        """Return how the user wants images prepared. Raises UsageError."""
        if not self.preprocessing:
            return None
        given = dict(one.partition("=")[::2] for one in self.preprocessing)
        strange = next((name for name in given if name not in _SETTINGS), None)
        if strange is not None:
            raise UsageError(f"--preprocessing {strange}: {did_you_mean(strange, _SETTINGS)}")
        values = {name: text.split(",") if name in ("mean", "std") else text for name, text in given.items()}
        try:
            stated = Preprocessing.model_validate({"rows": ("any/row/*",), "because": "you", **values})
            if stated.size is not None and stated.size > _LARGEST:
                raise UsageError(f"--preprocessing size={stated.size}: give a side of at most {_LARGEST} pixels")
            return stated
        except ValidationError as error:
            (name, *_), why = error.errors()[0]["loc"], error.errors()[0]["msg"].removeprefix("Value error, ")
            form = " (three numbers with commas between them)" if name in ("mean", "std") else ""
            raise UsageError(f"--preprocessing {name}={given[str(name)]}{form}: {why}") from error


@dataclass(frozen=True)
class RunOptions:
    """How the model is computed, and what is kept of it."""

    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the prediction for each image as CSV; an interrupted run continues from it.",
        ),
    ] = None
    batch_size: Annotated[int | None, typer.Option(min=1, help="Images per pass. [default: 32, on a GPU 256]")] = None
    device: Annotated[Device, typer.Option(help="Where the model runs.")] = "cpu"
    amp: Annotated[bool, typer.Option("--amp", help="Compute in 16 bits where torch's autocast does.")] = False
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that read images; one per core, at most 8, if left out.")
    ] = None

    def running(self, *, outside: bool) -> Running:
        """Return them as the evaluation takes them.

        A model whose code comes from `outside` may keep what it computes in itself, where threads would mix batches up.
        """
        from imlp_audit.evaluate.predictions import Running

        return Running(
            device=self.device,
            batch_size=self.batch_size or (256 if self.device == "cuda" else 32),
            amp=self.amp,
            workers=min(cores(), _WORKERS) if self.workers is None else self.workers,
            threads=1 if outside or self.device == "cuda" else cores(),
        )


@group_options
def evaluate(
    checkpoint: CheckpointFile,
    row: RowId,
    data: ImageFolder,
    specs: Specs = None,
    reading: Reading = None,
    state: State = None,
    prefix: Prefix = "",
    trust_code: TrustCode = False,
    *,
    images: ImageOptions,
    running: RunOptions,
    reporting: ReportOptions,
) -> int:
    """Evaluate a checkpoint on images, and judge the accuracies that its row prints."""
    resume = "imlp-audit: interrupted; run the same command to continue\n" if running.predictions is not None else ""
    with on_interrupt(lambda: write_error(resume)):
        from imlp_audit.evaluate.datasets import Data
        from imlp_audit.evaluate.predictions import check_ending
        from imlp_audit.evaluate.run import Request
        from imlp_audit.evaluate.weights import Weights

        check_kind(checkpoint)
        if running.predictions is not None:
            check_ending(running.predictions)
            check_writable(running.predictions, links=True)
        outputs, preprocessing = parse_outputs(reporting.printed, reporting.output), images.stated()
        model = _find_row(row, specs, trust_code=trust_code)
        check_device(running.device)
        checked = {"CHECKPOINT": checkpoint, "--data": Path(data), "--class-map": images.class_map}
        _check_written(running.predictions, outputs, Path(data), checked)
        request = Request(
            weights=Weights(model, checkpoint, reading, state, prefix),
            data=Data(data, images.split, images.class_map, images.labels is not None, images.limit, images.on),
            preprocessing=preprocessing,
            running=running.running(outside=model.row.model is not None and model.row.model.code is not None),
            predictions=running.predictions,
        )
        given = [*(specs or [whole_paper(row)]), *trusting(trust_code)]
        return _run(request, outputs, reporting, given)


def _run(request: Request, outputs: Outputs, reporting: ReportOptions, specs: list[str]) -> int:
    from imlp_audit.evaluate.run import run_evaluation

    gc.enable()  # it is off for commands that end in seconds
    say = (lambda _: None) if reporting.quiet else (lambda text: tell(make_visible(text)))
    progress = partial(show_image_progress, shown=reporting.progress)
    with run_evaluation(request, say, progress) as result:
        emit_result(result, outputs, screen=None if reporting.all_ else run_screen(result, specs, outputs.saved))
    return exit_code(result)


def _check_written(predictions: Path | None, outputs: Outputs, data: Path, inputs: dict[str, Path | None]) -> None:
    """Raise UsageError where a file that is written is one that is read, or the predictions' is another output."""
    written = [*(("-o", path) for _, path in outputs.files), *([("--predictions", predictions)] if predictions else [])]
    for option, path in written:
        others = {**inputs, "--predictions": predictions} if option == "-o" else inputs
        for name in (name for name, other in others.items() if other is not None and _same_file(path, other)):
            raise UsageError(f"{option} {path}: this is also the file of {name}; name another file")
        if path.exists() and path.suffix.lower() in _IMAGES and path.resolve().is_relative_to(data.resolve()):
            raise UsageError(f"{path}: this file, of an image in {data}, would be overwritten; name another file")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError):  # one of them isn't there, or links go round in a circle
        return False


def _find_row(wanted: str, specs: list[str] | None, *, trust_code: bool) -> RowRef:
    papers = load_specs(specs or [whole_paper(wanted)], trust_code=trust_code).papers
    found = find_row(papers, id_in(wanted, papers[0].id))
    if found is None:
        known = [row.id for paper in papers for row in paper.rows]
        raise UsageError(f"--row {wanted}: {did_you_mean(wanted, known, 'rows here')}")
    return found


def inspect(
    checkpoint: CheckpointFile,
    specs: Specs = None,
    state: State = None,
    prefix: Prefix = "",
    format_: Formatted = Format.RICH,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
) -> int:
    """Identify a checkpoint: which rows and readings of the papers its shapes fit, and what its weights show."""
    states = parse_states(checkpoint, state, prefix)  # bad files are refused before torch is imported
    selection = load_specs(specs, trust_code=trust_code)
    from imlp_audit.inspect.document import checkpoint_document
    from imlp_audit.inspect.matching_rows import choose_candidates, report_checkpoint

    sha256 = hash_file(states[0])
    with show_progress(shown=not no_progress) as announce:
        number, candidates = choose_candidates([one.shapes for one in states], selection, announce)
    parsed = states[number]
    weights = _judge_weights(parsed, selection, trust_code=trust_code)
    report = report_checkpoint(parsed, sha256, candidates, weights)
    emit_document(checkpoint_document(report, str(checkpoint)), format_, report)
    return ExitCode.CLEAN if candidates.exact else ExitCode.FINDINGS


def _judge_weights(checkpoint: Checkpoint, selection: Selection, *, trust_code: bool) -> Inspection:
    """Return what papers say about learned weights, judged by these."""
    from imlp_audit.checkpoint.loading import read_tensors
    from imlp_audit.inspect.learned_weights import WeightsToJudge, explain_untrained, judge_claims, list_claims

    tensors = read_tensors(checkpoint)
    untrained = explain_untrained(tensors)
    weights = WeightsToJudge(tensors, partial(read_tensors, checkpoint), untrained)
    statements = tuple(judge_claims(list_claims(selection), weights, trust_code=trust_code))
    return Inspection(statements=statements, untrained=untrained)
