"""Judges the sentences of papers by a checkpoint's weights: finds them without running them, and runs them if trusted.

The Python of a paper that comes with this package runs in this process, that of any other in one of its own, which is
ended when a sentence takes too long.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from imlp_audit.equations.trust import explain_distrust, is_trusted
from imlp_audit.errors import Problem
from imlp_audit.files import FileError, parse_python
from imlp_audit.inspect.sentences import Sentence, SentenceText, judge_sentence, parse_sentence, record_verdict
from imlp_audit.processes.code import load_module, locate_error
from imlp_audit.processes.installed import is_bundled
from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Inspection, Statement
from imlp_audit.spec.folders import display_path
from imlp_audit.spec.library import Selection

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from imlp_audit.inspect.noise import Noise

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
    folders: Iterable[PaperFolder],
    inspection: Inspection,
    noise: Noise | None = None,
    *,
    trust_code: bool = False,
    patience: float = _PATIENCE,
) -> Iterator[Statement]:
    """Judge the sentences that are about parts of this checkpoint. Never raises what a paper's Python raises.

    What noise supports too is not reproduced (None: without that test).
    """
    for folder in folders:
        sentences = read_sentences(folder)
        for one in sentences:
            if isinstance(one, BrokenSentence):
                yield _report_problem(folder, one.name, str(one.problem))
        texts = [one for one in sentences if isinstance(one, SentenceText) and one.about.names(inspection)]
        if not trust_code and not is_trusted(folder.path):
            reason = explain_distrust(folder.path, folder.shown_as)
            yield from (record_verdict(folder.paper, one, Verdict.UNVERIFIABLE, reason) for one in texts)
        elif texts and is_bundled(folder.path):
            from imlp_audit.inspect.support import judge_against_noise  # draws with torch, which `lint` does without

            ask = partial(_judge_one, folder)
            yield from (judge_against_noise(ask, one, inspection, noise) for one in texts)
        elif texts:
            yield from _judge_in_process(folder, texts, inspection, noise, patience)


def read_sentences(folder: PaperFolder) -> tuple[SentenceText | BrokenSentence, ...]:
    """Return the sentences of a paper without running its Python; none if it has no file of them."""
    path = folder.path / f"{MODULE}.py"
    if not lexists(path):
        return ()
    try:
        tree = parse_python(path, folder.file)
    except FileError as error:
        return (BrokenSentence(MODULE, error.problem(folder.file)),)
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
        PaperFolder(paper.id, paper.code or paper.folder, display_path(paper.folder))
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


def _judge_one(folder: PaperFolder, text: SentenceText, inspection: Inspection) -> Statement:
    try:
        one = getattr(load_module(folder.path, MODULE), text.id)
        if not isinstance(one, Sentence):
            raise TypeError(f"{text.id} is not a sentence; its decorator is not imlp_audit's `sentence`")
        return judge_sentence(folder.paper, one, inspection)
    except (Exception, SystemExit) as error:  # whatever a paper's Python raises
        place = locate_error(error, folder.path.resolve(), folder.shown_as) or folder.file
        return record_verdict(folder.paper, text, Verdict.ERROR, f"{place}: {type(error).__name__}: {error}")


def _judge_in_process(
    folder: PaperFolder, texts: Sequence[SentenceText], inspection: Inspection, noise: Noise | None, patience: float
) -> Iterator[Statement]:
    """Judge sentences in a process of their own; one that takes too long ends the process."""
    from imlp_audit.inspect.support import judge_against_noise
    from imlp_audit.processes.workers import start_worker

    worker = start_worker(_serve)

    def receive(limit: float) -> Statement | None:
        if not worker.pipe.poll(limit):
            raise TimeoutError(f"did not answer within {limit:g} s and was stopped")
        answer: Statement | None = worker.pipe.recv()
        return answer

    def ask(text: SentenceText, held: Inspection) -> Statement:
        worker.pipe.send((text, held))
        answer = receive(patience)
        assert answer is not None
        return answer

    waiting = list(texts)
    try:
        worker.pipe.send(folder)
        receive(_BEGIN)
        while waiting:
            yield judge_against_noise(ask, waiting[0], inspection, noise)
            waiting.pop(0)
        problem = ""
    except TimeoutError as error:
        problem = str(error)
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
    folder: PaperFolder = pipe.recv()
    pipe.send(None)
    with suppress(EOFError):
        while True:
            text, inspection = pipe.recv()
            pipe.send(_judge_one(folder, text, inspection))


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
