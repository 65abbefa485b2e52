"""A paper's sentences come from its folder: found without being run, run only if trusted, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.inspect.papers import BrokenSentence, PaperFolder, judge_papers, read_sentences
from imlp_audit.inspect.sentences import SentenceText
from imlp_audit.models.imlp import amlp
from imlp_audit.records.inspection import Inspection, Statement

from .judging import bundled, inspect_weights

HEAD = """from pathlib import Path
from imlp_audit.inspect.sentences import Judgement, sentence
Path(__file__).with_name("ran").write_text("x")
"""
ONE = '''
@sentence(about="blocks")
def differ(inspection):
    """Its AGeLUs differ.

    Place: Sec. 1
    Measured: how many
    differ
    True if: any does
    """
    {body}
'''
TRUE = 'return Judgement(True, "yes", [1.0 for _ in inspection.blocks])'


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    return inspect_weights(amlp(3, 4).state_dict())


def write(folder: Path, text: str) -> PaperFolder:
    (folder / "sentences.py").write_text(text, encoding="utf-8")
    return PaperFolder("mine", folder, "mine")


def judge(folder: PaperFolder, inspection: Inspection, *, trust_code: bool = True) -> list[Statement]:
    return list(judge_papers([folder], inspection, trust_code=trust_code, patience=1))


def test_every_sentence_of_the_bundled_papers_is_read() -> None:
    found = {folder.paper: read_sentences(folder) for folder in bundled()}
    assert {paper: len(texts) for paper, texts in found.items()} == {"imlp": 1, "mixer_gmlp_coursework": 1, "resmlp": 9}
    assert all(isinstance(text, SentenceText) for texts in found.values() for text in texts)


def test_a_sentence_is_found_without_being_run(tmp_path: Path, inspection: Inspection) -> None:
    folder = write(tmp_path, HEAD + ONE.format(body=TRUE))
    (found,) = read_sentences(folder)
    assert isinstance(found, SentenceText)
    assert (found.id, found.text, found.place, found.measured) == (
        "differ", "Its AGeLUs differ.", "Sec. 1", "how many differ"
    )  # fmt: skip
    (statement,) = judge(folder, inspection, trust_code=False)
    assert statement.verdict == "unverifiable"
    assert (
        statement.reason
        == "the Python in mine was not run, because the folder is not trusted; pass --trust-code to run it"
    )
    assert not (tmp_path / "ran").exists()


def test_sentences_about_parts_that_a_checkpoint_lacks_are_not_run(tmp_path: Path) -> None:
    assert judge(write(tmp_path, HEAD + ONE.format(body=TRUE)), inspect_weights({})) == []
    assert not (tmp_path / "ran").exists()


def test_a_trusted_sentence_is_judged_in_a_process_of_its_own(tmp_path: Path, inspection: Inspection) -> None:
    (statement,) = judge(write(tmp_path, HEAD + ONE.format(body=TRUE)), inspection)
    assert (statement.id, statement.paper, statement.verdict) == ("differ", "mine", "reproduced")
    assert [value.value for value in statement.values] == [1.0]
    assert (tmp_path / "ran").exists()


@pytest.mark.daily(8)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ONE.format(body="return 1 / 0"), "mine/sentences.py:14: ZeroDivisionError: division by zero"),
        (ONE.format(body='return Judgement(True, "yes", [])'), "mine/sentences.py: ValueError: "),
        (ONE.format(body="import os; os._exit(3)"), "mine/sentences.py: its process ended (exit code 3)"),
        (ONE.format(body=TRUE) + "\nimport nowhere\n", "mine/sentences.py:16: ModuleNotFoundError"),
        (ONE.format(body=TRUE).replace("Measured", "Seen"), "mine/sentences.py:6:1: its docstring needs"),
        (ONE.format(body=TRUE).replace("blocks", "cats"), "mine/sentences.py:6:1: about='cats' is not one of"),
        (2 * ONE.format(body=TRUE), "mine/sentences.py:17:1: differ is defined twice"),
        ("def (:\n", "mine/sentences.py:4:5: is not Python: invalid syntax"),
        (ONE.format(body="while True: pass"), "mine/sentences.py: did not answer within 1 s and was stopped"),
    ],
)
def test_what_goes_wrong_is_an_error_with_its_place(
    tmp_path: Path, inspection: Inspection, text: str, told: str
) -> None:
    folder = write(tmp_path, HEAD + text)
    (statement,) = judge(folder, inspection)
    assert statement.verdict == "error"
    assert statement.reason.startswith(told)


def test_a_folder_without_sentences_has_none(tmp_path: Path) -> None:
    assert read_sentences(PaperFolder("mine", tmp_path, "mine")) == ()


def test_a_file_that_cannot_be_read_is_one_broken_sentence(tmp_path: Path) -> None:
    (only,) = read_sentences(write(tmp_path, "\0"))
    assert isinstance(only, BrokenSentence)
