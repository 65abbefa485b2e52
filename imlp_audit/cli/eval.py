"""`imlp-audit eval`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.eval_options import ComputeOptions, ImageOptions, PipelineOptions, PredictionOptions
from imlp_audit.cli.exits import ExitCode, exit_code
from imlp_audit.cli.options import (
    CheckpointFile,
    Prefix,
    Reading,
    ReportOptions,
    Specs,
    State,
    TrustCode,
    check_device,
    group_options,
)
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.processes.interrupts import on_interrupt, write_error
from imlp_audit.processes.limits import cores
from imlp_audit.report.files import check_writable

if TYPE_CHECKING:
    from imlp_audit.cli.output import Outputs
    from imlp_audit.evaluate.request import Data, Request
    from imlp_audit.evaluate.sharding import Group
    from imlp_audit.records.result import AuditResult
    from imlp_audit.spec.paper import RowRef


_IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".parquet", ".tar")
_SPECS = (".yaml", ".yml", ".py", ".lock")

RowId = Annotated[
    str,
    typer.Option("--row", metavar="ID", help="The checkpoint's row, such as imlp/1/deit_s_imlp.", show_default=False),
]
Images = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="DIR",
        help="The images: a folder of CLASS/IMAGE, of parquet or of shards, a .parquet or .tar file, or a name such as "
        "torch/cifar10:DIR.",
        show_default=False,
    ),
]


@group_options
def evaluate(
    checkpoint: CheckpointFile,
    row: RowId,
    data: Images,
    specs: Specs = None,
    reading: Reading = None,
    state: State = None,
    prefix: Prefix = "",
    trust_code: TrustCode = False,
    *,
    images: ImageOptions,
    results: PredictionOptions,
    computing: ComputeOptions,
    pipeline: PipelineOptions,
    reporting: ReportOptions,
) -> int:
    """Evaluate a checkpoint on images, and judge the accuracies that its row prints."""
    from imlp_audit.checkpoint.contents import check_kind
    from imlp_audit.evaluate.launch import command_again, end_with_launcher, is_launched, launch
    from imlp_audit.evaluate.sharding import ElsewhereError, group, processes_here
    from imlp_audit.spec.targets import whole_paper

    if computing.processes > 1 and not is_launched():
        check_kind(checkpoint)
        return launch(computing.processes, command_again(sys.argv[1:]))
    end_with_launcher()
    share = max(1, cores() // processes_here())

    def parse() -> tuple[Request, Outputs]:
        from imlp_audit.cli.output import parse_outputs
        from imlp_audit.evaluate.request import Request, Weights

        check_kind(checkpoint)
        _check_predictions(results)
        outputs, overrides = parse_outputs(reporting.printed, reporting.output), pipeline.overrides()
        model, earlier = _find_row(row, specs, trust_code=trust_code), _read_earlier(results.against)
        check_device(computing.device)
        read = {"checkpoint": checkpoint, "--data": Path(data), "--against": results.against, **images.label_files()}
        _check_distinct(results.predictions, outputs, read)
        _check_outside(results.predictions, outputs, data, specs or [])
        request = Request(
            weights=Weights(model, checkpoint, reading, state, prefix, computing.function),
            data=_data_of(data, images),
            overrides=overrides,
            running=computing.running(share, outside=model.row.model is not None and model.row.model.code is not None),
            predictions=results.predictions,
            resume=results.resume,
            against=earlier,
            most_unreadable=Fraction(str(images.max_unreadable)),
        )
        return request, outputs

    try:
        with on_interrupt(_say_how_to_resume(results.predictions)), group(computing.device.value) as ours:
            request, outputs = ours.agree_on(parse)
            given = [*(specs or [whole_paper(row)]), *(["--trust-code"] if trust_code else [])]
            return _run(request, outputs, reporting, ours, given)
    except ElsewhereError:
        return ExitCode.CLEAN


def _data_of(data: str, images: ImageOptions) -> Data:
    from imlp_audit.evaluate.data.open import Labelling
    from imlp_audit.evaluate.request import Data

    labelling = Labelling(images.class_map, images.labels, images.real_labels)
    return Data(data, images.split, labelling, images.allow_download, images.limit, images.on)


def _run(request: Request, outputs: Outputs, reporting: ReportOptions, group: Group, specs: list[str]) -> int:
    from imlp_audit.cli.output import emit_result
    from imlp_audit.cli.progress import show_image_progress
    from imlp_audit.evaluate.run import run_evaluation
    from imlp_audit.report.first_screen import run_screen

    gc.enable()  # it is off for commands that end in seconds
    say = _say if group.leads and not reporting.quiet else _say_nothing
    progress = partial(show_image_progress, shown=reporting.progress and group.leads)
    with run_evaluation(request, group, say, progress) as result:
        if result is None:
            return ExitCode.CLEAN
        emit_result(result, outputs, screen=None if reporting.all_ else run_screen(result, specs, outputs.saved))
    return exit_code(result)


def _say(text: str) -> None:
    from imlp_audit.report.document import make_visible

    print(f"imlp-audit: {make_visible(text)}", file=sys.stderr)


def _say_nothing(text: str) -> None:
    del text


def _say_how_to_resume(predictions: Path | None) -> Callable[[], None]:
    resumable = "imlp-audit: interrupted; run the same command with --resume to continue\n"
    leads = os.environ.get("RANK", "0") == "0"  # of several processes one says it
    return lambda: write_error(resumable if predictions is not None and leads else "")


def _check_predictions(results: PredictionOptions) -> None:
    from imlp_audit.evaluate.predictions import check_ending

    if results.predictions is not None:
        check_ending(results.predictions)
        check_writable(results.predictions, links=True)
    elif results.resume:
        raise UsageError("--resume continues the run that began to write --predictions; name that file")


def _check_distinct(predictions: Path | None, outputs: Outputs, inputs: dict[str, Path | None]) -> None:
    """Raise UsageError where a file that is written is one that is read, or the predictions' is another output."""
    written = [("-o", path) for _, path in outputs.files]
    if predictions is not None:
        for _, path in written:
            if _same_file(path, predictions):
                raise UsageError(f"-o {path}: this is also the file of --predictions; name another file")
        written.append(("--predictions", predictions))
    for option, path in written:
        for name, read in inputs.items():
            if read is not None and _same_file(path, read):
                raise UsageError(
                    f"{option} {path}: this file is also read ({name}), and would be overwritten; name another file"
                )


def _check_outside(predictions: Path | None, outputs: Outputs, data: str, specs: list[str]) -> None:
    """Raise UsageError where a file of the images or of a spec would be overwritten."""
    folders = [("an image", Path(data), _IMAGES), *(("a spec", Path(spec), _SPECS) for spec in specs)]
    for path in (*(path for _, path in outputs.files), *([predictions] if predictions else [])):
        for what, place, endings in folders:
            inside = place.exists() and path.resolve().is_relative_to(place.resolve())
            if inside and path.exists() and path.suffix.lower() in endings:
                raise UsageError(f"{path}: this file, of {what} in {place}, would be overwritten; name another file")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError):  # one of them isn't there, or links go round in a circle
        return False


def _find_row(wanted: str, specs: list[str] | None, *, trust_code: bool) -> RowRef:
    from imlp_audit.cli.loading import load_specs
    from imlp_audit.spec.paper import find_row, rows_of
    from imlp_audit.spec.targets import id_in, whole_paper

    papers = load_specs(specs or [whole_paper(wanted)], trust_code=trust_code).papers
    found = find_row(papers, id_in(wanted, papers[0].id))
    if found is None:
        known = [row.id for paper in papers for row in rows_of(paper)]
        raise UsageError(f"--row {wanted}: {did_you_mean(wanted, known, 'rows here')}")
    return found


def _read_earlier(path: Path | None) -> tuple[AuditResult, str] | None:
    from imlp_audit.cli.report import read_result_text
    from imlp_audit.records.document import from_json
    from imlp_audit.records.result import AuditResult

    if path is None:
        return None
    text = read_result_text(path, f"--against {path}")
    return from_json(AuditResult, text, str(path), written_by="`imlp-audit eval --format json`"), str(path)
