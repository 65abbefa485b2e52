"""Judges the sentences of papers by a checkpoint's weights: finds them without running them, and runs them if trusted.

The Python of a paper that comes with this package runs in this process, that of any other in one of its own, which is
ended when a sentence takes too long.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from imlp_audit.equations.door import bundled_folder, explain_distrust, is_trusted, load_module, locate_error
from imlp_audit.errors import Problem
from imlp_audit.inspect.sentences import Sentence, SentenceText, judge_sentence, parse_sentence, record_verdict
from imlp_audit.processes.workers import start_worker
from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Inspection, Statement
from imlp_audit.spec.folders import display_path
from imlp_audit.spec.library import Selection

MODULE = "sentences"
_BEGIN = 120.0  # seconds for a process to start, on however slow a machine
_PATIENCE = 60.0  # seconds for a sentence


@dataclass(frozen=True)
class BrokenSentence:
    """A sentence, or a file of sentences, that cannot be read, and why."""

    name: str
    problem: Problem


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


def judge_papers(
    folders: Iterable[PaperFolder], inspection: Inspection, *, trust_code: bool = False, patience: float = _PATIENCE
) -> Iterator[Statement]:
    """Judge the sentences that are about parts of this checkpoint. Never raises what a paper's Python raises."""
    for folder in folders:
        sentences = read_sentences(folder)
        for one in sentences:
            if isinstance(one, BrokenSentence):
                yield _report_problem(folder, one.name, str(one.problem))
        texts = [one for one in sentences if isinstance(one, SentenceText) and one.about.names(inspection)]
        if not texts:
            continue
        if not trust_code and not is_trusted(folder.path):
            reason = explain_distrust(folder.shown_as)
            yield from (record_verdict(folder.paper, one, Verdict.UNVERIFIABLE, reason) for one in texts)
        elif folder.path.resolve().is_relative_to(bundled_folder().resolve()):
            yield from _judge_here(folder, texts, inspection)
        else:
            yield from _judge_in_process(folder, texts, inspection, patience)


def read_sentences(folder: PaperFolder) -> tuple[SentenceText | BrokenSentence, ...]:
    """Return the sentences of a paper without running its Python; none if it has no file of them."""
    path = folder.path / f"{MODULE}.py"
    if not path.is_file():
        return ()
    try:
        tree = ast.parse(path.read_bytes(), MODULE)
    except SyntaxError as error:
        problem = Problem(folder.file, error.lineno or 1, error.offset or 1, f"is not Python: {error.msg}")
        return (BrokenSentence(MODULE, problem),)
    except (OSError, ValueError) as error:
        return (BrokenSentence(MODULE, Problem(folder.file, 1, 1, f"cannot be read: {error}")),)
    found: dict[str, SentenceText | BrokenSentence] = {}
    for function in tree.body:
        about = _find_about(function)
        if isinstance(function, ast.FunctionDef) and about is not None:
            try:
                if function.name in found:
                    raise ValueError(f"{function.name} is defined twice")
                found[function.name] = parse_sentence(function.name, about, ast.get_docstring(function) or "")
            except ValueError as error:
                problem = Problem(folder.file, function.lineno, function.col_offset + 1, str(error))
                found[function.name] = BrokenSentence(function.name, problem)
    return tuple(found.values())


def broken_sentences(selection: Selection) -> Iterator[Problem]:
    """Yield the mistakes in the selected papers' sentences that can be seen without running them."""
    for folder in list_folders(selection):
        yield from (one.problem for one in read_sentences(folder) if isinstance(one, BrokenSentence))


def list_folders(selection: Selection) -> tuple[PaperFolder, ...]:
    """Return the folders of the selected papers that have one."""
    return tuple(
        PaperFolder(paper.id, paper.folder, str(display_path(paper.folder)))
        for paper in selection.papers
        if paper.folder is not None
    )


def _find_about(node: ast.stmt) -> str | None:
    """Return what a function's decorator `@sentence(about="...")` says; None for other statements."""
    for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "sentence":
            values = [keyword.value for keyword in decorator.keywords if keyword.arg == "about"]
            literal = values[0] if len(values) == 1 and isinstance(values[0], ast.Constant) else None
            return str(literal.value) if literal is not None else ""
    return None


def _judge_here(folder: PaperFolder, texts: Sequence[SentenceText], inspection: Inspection) -> Iterator[Statement]:
    for text in texts:
        try:
            one = getattr(load_module(folder.path, MODULE), text.id)
            if not isinstance(one, Sentence):
                raise TypeError(f"{text.id} is not a sentence; its decorator is not imlp_audit's `sentence`")
            yield judge_sentence(folder.paper, one, inspection)
        except (Exception, SystemExit) as error:  # whatever a paper's Python raises
            place = locate_error(error, folder.path.resolve(), folder.shown_as) or folder.file
            reason = f"{place}: {type(error).__name__}: {error}"
            yield record_verdict(folder.paper, text, Verdict.ERROR, reason)


def _judge_in_process(
    folder: PaperFolder, texts: Sequence[SentenceText], inspection: Inspection, patience: float
) -> Iterator[Statement]:
    """Judge sentences in a process of their own; one that takes too long ends the process."""
    worker = start_worker(_serve)
    waiting = list(texts)
    try:
        worker.pipe.send((folder, texts, inspection))
        limit = _BEGIN
        while waiting and worker.pipe.poll(limit):
            answer = worker.pipe.recv()
            limit = patience
            if isinstance(answer, Statement):
                waiting.pop(0)
                yield answer
        problem = f"did not answer within {limit:g} s and was stopped"
    except (EOFError, OSError):
        worker.kill()
        problem = f"its process ended (exit code {worker.exit_code})"
    finally:
        worker.kill()
    for text in waiting:
        yield record_verdict(folder.paper, text, Verdict.ERROR, f"{folder.file}: {problem}")


def _serve(pipe: Connection) -> None:
    """Judge the sentences that come by a pipe. What their code prints goes to standard error."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    folder, texts, inspection = pipe.recv()
    pipe.send(None)
    for statement in _judge_here(folder, texts, inspection):
        pipe.send(statement)


def _report_problem(folder: PaperFolder, name: str, problem: str) -> Statement:
    return Statement(
        id=name,
        paper=folder.paper,
        place="",
        sentence="",
        measured="",
        judged="",
        verdict=Verdict.ERROR,
        reason=problem,
    )
