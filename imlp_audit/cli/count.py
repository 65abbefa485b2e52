"""`imlp-audit count`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.options import Formatted, NoProgress, group_options
from imlp_audit.cli.output import ExitCode, emit_document
from imlp_audit.errors import UsageError
from imlp_audit.report.formats import Format

if TYPE_CHECKING:
    from imlp_audit.count.request import Changes
    from imlp_audit.explain.tries import CountedQuantity, Question


_MEASURES = {"params": "parameters", "parameters": "parameters", "flops": "flops"}


@dataclass(frozen=True)
class ModelOptions:
    """How the model is built, and what it reads."""

    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            metavar="NAME=VALUE",
            help="An argument of the model; a.b=1 goes into a, a=[16,16]:float32 is a tensor. Repeatable.",
        ),
    ] = None
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Arguments in a YAML or JSON file; FILE:SECTION takes a part of it, FILE.py what Python "
            "defines, FILE.py:NAME one thing of it, NAME=FILE what ${NAME.key} refers to. Repeatable.",
        ),
    ] = None
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="SIZES",
            help="What the model reads, without the batch: 3,224,224; ids=128:int64; x=[4,3,32,32] with it; a constant "
            "is t:=10; x[]=3,8,224,224 is one of a list, x.left=3,224,224 of a mapping. Repeatable.",
        ),
    ] = None
    path: Annotated[
        list[Path] | None, typer.Option("--path", metavar="DIR", help="A folder to import from. Repeatable.")
    ] = None
    stub: Annotated[
        list[str] | None,
        typer.Option(
            "--stub",
            metavar="PACKAGE",
            help="A package to put a stand-in in place of, which the model does not need. Repeatable.",
        ),
    ] = None

    argv: Annotated[
        str, typer.Option(metavar="WORDS", help="What the file reads from the command line when it is imported.")
    ] = ""

    def changes(self, model: str, questions: Sequence[Question]) -> Changes:
        """Return what is to be counted, and again under changes if there are questions. Raises UsageError."""
        from imlp_audit.count import request
        from imlp_audit.explain.tries import CountedQuantity, any_exact

        library, name, file = request.parse_model(model)
        if find_spec("torch") is None:  # the process that counts would end without a word
            raise ModuleNotFoundError(name="torch")
        arguments, defaults = request.read_configurations(self.config or (), request.parse_arguments(self.arg or ()))
        folders = tuple(self.path or ())
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"--path {folder}: there is no such folder")
        inputs, stubs = request.parse_inputs(self.input_ or ()), tuple(self.stub or ())
        try:
            words = tuple(shlex.split(self.argv))
        except ValueError as error:
            raise UsageError(f"--argv {self.argv}: {error}; write it as for a shell") from error
        asked = request.ModelRequest(library, name, file, arguments, inputs, folders, stubs, defaults, argv=words)
        flops = tuple(
            one.printed.value * one.printed.scale for one in questions if one.measure is CountedQuantity.FLOPS
        )
        return request.Changes(asked, bool(questions), flops, tuple(self.config or ()), exact=any_exact(questions))


@group_options
def count(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="timm:NAME, torchvision:NAME, transformers:CLASS, or FILE.py:NAME of a class or function, which runs "
            "that file.",
            show_default=False,
        ),
    ],
    *,
    building: ModelOptions,
    printed: Annotated[
        list[str] | None,
        typer.Option(
            "--printed",
            metavar="NUMBER",
            help="A number to explain: 22.84M (parameters), 4.6G (FLOPs), or params=..., flops=... Repeatable.",
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=0, max=3, help="How many levels of parts are shown.")] = 2,
    format_: Formatted = Format.RICH,
    no_progress: NoProgress = False,
) -> int:
    """Count a model by every counter, with its parts; and say what would give a printed number that it does not."""
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.explain.cause_search import collect_changes, count_apart, take_first
    from imlp_audit.explain.causes import find_causes
    from imlp_audit.explain.explanation_document import counted_document

    questions = [_question(text) for text in printed or ()]
    asked = building.changes(model, questions)
    with show_progress(shown=not no_progress) as announce, closing(count_apart(asked)) as found:
        tell = announce(2 if questions else 1)
        tell(str(asked.request))
        counted = take_first(asked, found)
        printed_numbers = find_causes(questions, counted, {})
        if not all(one.follows or one.measured is None for one in printed_numbers):
            tell("changes of it")
            printed_numbers = find_causes(questions, counted, collect_changes(found))
        counted = counted.model_copy(update={"printed": printed_numbers})
    emit_document(counted_document(counted, depth), format_, counted)
    if any(one.measured is None or (counted.left_out and not one.follows) for one in counted.printed):
        return ExitCode.INCOMPLETE
    return ExitCode.CLEAN if all(one.follows for one in counted.printed) else ExitCode.FINDINGS


def _question(text: str) -> Question:
    from imlp_audit.explain.tries import CountedQuantity, Question
    from imlp_audit.numbers.parsing import NumberForm, parse_printed

    named, equals, number = text.rpartition("=")
    if equals and named not in _MEASURES:
        raise UsageError(f"--printed {text}: write params=... or flops=... before the number")
    nouns = ("FLOPs", "FLOPS", "Flops", "flops", "MACs", "Macs", "params", "parameters")
    try:
        printed = parse_printed(number, NumberForm("", nouns=nouns))
    except ValueError as error:
        raise UsageError(f"--printed {text}: {error}; write a count, such as 22.8M or 4.6G") from error
    if printed.value <= 0:
        raise UsageError(f"--printed {text}: give a number above zero")
    if printed.scale == 1 and printed.step < 1:
        raise UsageError(f"--printed {text}: it has no unit; write {number}M for millions, {number}G for billions")
    return Question(printed, CountedQuantity(_MEASURES[named]) if equals else _guess_measure(printed.scale, number))


def _guess_measure(scale: int, text: str) -> CountedQuantity:
    from imlp_audit.explain.tries import CountedQuantity

    if any(word in text.lower() for word in ("flop", "mac")):
        return CountedQuantity.FLOPS
    billions = text.strip().endswith("B") or "param" in text.lower()
    return CountedQuantity.FLOPS if scale >= 10**9 and not billions else CountedQuantity.PARAMETERS
