"""Judges the sentences of papers by a checkpoint's weights: finds them without running them, and runs them if trusted.

The Python of a paper that comes with this package runs in this process, that of any other in one of its own, which is
ended when a sentence takes too long.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.errors import Problem
from imlp_audit.files import FileError, parse_python
from imlp_audit.processes.code import is_bundled, load_module, locate_error
from imlp_audit.processes.trust import explain_distrust, is_trusted
from imlp_audit.processes.workers import StoppedError, yield_apart
from imlp_audit.records.check import Verdict
from imlp_audit.records.checkpoint import Statement
from imlp_audit.spec.library import Selection
from imlp_audit.spec.targets import display_path

if TYPE_CHECKING:
    from torch import Tensor

    from imlp_audit.inspect.sentences import Judge, LayerWeights

MODULE = "sentences"
_PATIENCE = 300.0  # seconds for a sentence, with its noise
_MOST_LAYERS = 512
_MOST_TABLES = 64
_FIELDS = re.compile(r"(.+?)\sPlace: (.+?)\sMeasured: (.+?)\sTrue if: (.+)")

Places: TypeAlias = Mapping[str, Mapping[str, str]]
"""The layers of a checkpoint by their paths: of each letter the name of its tensor."""


@dataclass(frozen=True)
class SentenceText:
    """A sentence and its place in the paper; what is measured in each layer; when it counts as true, and why."""

    id: str
    text: str
    place: str
    measured: str
    judged: str


@dataclass(frozen=True)
class PaperFolder:
    """A paper's id, its folder, and how messages name the folder."""

    paper: str
    path: Path
    shown_as: str

    @property
    def file(self) -> str:
        """How messages name the file of sentences."""
        return f"{self.shown_as}/{MODULE}.py"


@dataclass(frozen=True)
class SentenceFile:
    """What a paper's file of sentences declares: the layers they are about, sentences, and what is wrong."""

    folder: PaperFolder
    layers: tuple[Mapping[str, str], ...] = ()
    sentences: tuple[SentenceText, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class WeightsToJudge:
    """What is judged: the tensors, how another process gets them, why they look untrained, and how often to draw."""

    tensors: Mapping[str, Tensor]
    read: Callable[[], Mapping[str, Tensor]]
    untrained: str | None = None
    draws: int = 19


def read_sentences(folder: PaperFolder) -> SentenceFile:
    """Return what a paper's file of sentences declares, without running it; nothing if there is no such file."""
    path = folder.path / f"{MODULE}.py"
    if not lexists(path):
        return SentenceFile(folder)
    try:
        tree = parse_python(path, folder.file)
    except FileError as error:
        return SentenceFile(folder, problems=(error.problem(folder.file),))
    layers: tuple[Mapping[str, str], ...] = ()
    sentences: dict[str, SentenceText] = {}
    problems = []
    for node in tree.body:
        try:
            if isinstance(node, ast.Assign) and _names(node.targets) == {"LAYERS"}:
                layers = _read_layers(node.value)
            elif isinstance(node, ast.FunctionDef) and "sentence" in _names(node.decorator_list):
                if node.name in sentences:
                    raise ValueError(f"{node.name} is defined twice")
                sentences[node.name] = _read_sentence(node.name, " ".join((ast.get_docstring(node) or "").split()))
        except ValueError as error:
            problems.append(Problem(folder.file, node.lineno, node.col_offset + 1, str(error)))
    if sentences and not layers and not problems:
        problems.append(Problem(folder.file, 1, 1, "it needs LAYERS, the names of the tensors of a layer"))
    return SentenceFile(folder, layers, tuple(sentences.values()), tuple(problems))


def _names(nodes: Iterable[ast.expr]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _read_layers(node: ast.expr) -> tuple[Mapping[str, str], ...]:
    """Return the tables of names. Raises ValueError for anything else."""
    try:
        tables = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        tables = ()
    if not isinstance(tables, tuple | list) or not 0 < len(tables) <= _MOST_TABLES:
        raise ValueError(f"LAYERS must list tables of names, written out, and at most {_MOST_TABLES}")
    for table in tables:
        texts = [*table, *table.values()] if isinstance(table, dict) else [None]
        if not all(isinstance(text, str) for text in texts) or all(name.endswith("?") for name in table.values()):
            raise ValueError("each table of LAYERS must map letters to names, of which one at least does not end in ?")
    return tuple(tables)


def _read_sentence(name: str, docstring: str) -> SentenceText:
    fields = _FIELDS.fullmatch(docstring)
    if fields is None:
        raise ValueError("its docstring needs the sentence, then the fields `Place:`, `Measured:` and `True if:`")
    return SentenceText(name, *fields.groups())


def broken_sentences(selection: Selection) -> Iterator[Problem]:
    """Yield the mistakes in the selected papers' sentences that can be seen without running them."""
    for folder in list_folders(selection):
        yield from read_sentences(folder).problems


def list_folders(selection: Selection) -> tuple[PaperFolder, ...]:
    """Return the folders of the selected papers that have one."""
    return tuple(
        PaperFolder(paper.id, paper.code or paper.folder, display_path(paper.folder))
        for paper in selection.papers
        if paper.folder is not None
    )


def find_layers(names: Collection[str], tables: Sequence[Mapping[str, str]]) -> Places:
    """Return the layers of a checkpoint, in their order; a file may list blocks.10 before blocks.2."""
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        first = next(name for name in table.values() if not name.endswith("?"))
        for path in (name.removesuffix(first) for name in names if f".{name}".endswith(f".{first}")):
            all_names = {letter: path + name.removesuffix("?") for letter, name in table.items()}
            held = {letter: name for letter, name in all_names.items() if name in names}
            if path not in found and all(letter in held or name.endswith("?") for letter, name in table.items()):
                found[path] = held
    return {path: found[path] for path in sorted(found, key=_layer_order)}


def _layer_order(path: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that sorts by words, and by value where a part of the path is a number."""
    return tuple((0, int(one), "") if re.fullmatch(r"[0-9]{1,9}", one) else (1, 0, one) for one in path.split("."))


def judge_papers(
    folders: Iterable[PaperFolder], weights: WeightsToJudge, *, trust_code: bool = False, patience: float = _PATIENCE
) -> Iterator[Statement]:
    """Judge the sentences about layers that this checkpoint has. Never raises what a paper's Python raises."""
    for folder in folders:
        file = read_sentences(folder)
        for problem in file.problems:
            yield _record(folder, SentenceText(MODULE, "", "", "", ""), Verdict.ERROR, str(problem))
        places = find_layers(weights.tensors.keys(), file.layers)
        if not places:
            continue
        if len(places) > _MOST_LAYERS:
            reason = f"the checkpoint has {len(places)} such layers; the limit is {_MOST_LAYERS}"
            yield from (_record(folder, one, Verdict.UNVERIFIABLE, reason) for one in file.sentences)
        elif not trust_code and not is_trusted(folder.path):
            reason = explain_distrust(folder.path, folder.shown_as)
            yield from (_record(folder, one, Verdict.UNVERIFIABLE, reason) for one in file.sentences)
        else:
            yield from _judge_file(_Task(folder, places, file.sentences, weights), patience)


@dataclass(frozen=True)
class _Task:
    """What is to be judged by the code of a folder."""

    folder: PaperFolder
    places: Places
    asked: tuple[SentenceText, ...]
    weights: WeightsToJudge


def _judge_file(task: _Task, patience: float) -> Iterator[Statement]:
    if is_bundled(task.folder.path):
        yield from _judge_all(task)
        return
    waiting = list(task.asked)
    given = replace(task, weights=replace(task.weights, tensors={}))
    try:
        with closing(yield_apart(_judge_apart, given, patience)) as answers:
            for answer in answers:
                waiting.pop(0)
                yield answer
    except StoppedError as error:
        reason = f"{task.folder.file}: {error}"
        yield from (_record(task.folder, one, Verdict.ERROR, reason) for one in waiting)


def _judge_apart(task: _Task) -> Iterator[Statement]:
    """Judge in another process, which reads the tensors itself."""
    return _judge_all(replace(task, weights=replace(task.weights, tensors=task.weights.read())))


def _judge_all(task: _Task) -> Iterator[Statement]:
    from imlp_audit.inspect.sentences import LayerWeights

    tensors = task.weights.tensors
    image = any(value.ndim == 4 and re.search(r"(^|\.)(stem|patch_embed)\.", name) for name, value in tensors.items())
    layers = [
        LayerWeights(escape_name(path.removesuffix(".")) or "the module", names, tensors, image)
        for path, names in task.places.items()
    ]
    return (_answer(task, one, layers) for one in task.asked)


def _answer(task: _Task, asked: SentenceText, layers: Sequence[LayerWeights]) -> Statement:
    """Judge a sentence; whatever a paper's Python raises is a statement with the verdict error."""
    from imlp_audit.inspect.sentences import judge_weights

    folder, weights = task.folder, task.weights
    try:
        judge: Judge = getattr(load_module(folder.path, MODULE), asked.id)
        verdict, reason, values = judge_weights(judge, layers, weights.untrained, weights.draws)
    except (Exception, SystemExit) as error:
        place = locate_error(error, folder.path.resolve(), folder.shown_as) or folder.file
        return _record(folder, asked, Verdict.ERROR, f"{place}: {type(error).__name__}: {error}")
    by_name = {name: tuple(numbers) for name, numbers in values.items()}
    found = {"layers": tuple(layer.name for layer in layers), "values": by_name}
    return _record(folder, asked, verdict, reason).model_copy(update=found)


def _record(folder: PaperFolder, one: SentenceText, verdict: Verdict, reason: str) -> Statement:
    return Statement(
        id=one.id, paper=folder.paper, place=one.place, sentence=one.text, measured=one.measured, judged=one.judged,
        verdict=verdict, reason=reason,
    )  # fmt: skip
