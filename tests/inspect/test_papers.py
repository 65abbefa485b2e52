"""A paper's sentences come from its folder: found without being run, run only if trusted, and never in the way."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from imlp_audit.inspect.papers import (
    PaperFolder,
    SentenceFile,
    WeightsToJudge,
    find_layers,
    judge_papers,
    read_sentences,
)
from imlp_audit.models.imlp import amlp
from imlp_audit.records.checkpoint import Statement

from .judging import bundled

HEAD = """from pathlib import Path
from imlp_audit.inspect.sentences import Judgement, sentence
Path(__file__).with_name("ran").write_text("x")
LAYERS = [{"W": "fc1.weight", "b": "fc1.bias?", "V": "fc2.weight"}]
"""
ONE = '''
@sentence
def differ(layers):
    """Its AGeLUs differ.

    Place: Sec. 1
    Measured: how many
    differ
    True if: any does
    """
    {body}
'''
TRUE = 'return Judgement(True, "yes", {"rows": [len(one["W"]) for one in layers]})'
STATE = dict(amlp(3, 4).state_dict())


def write(folder: Path, text: str) -> PaperFolder:
    (folder / "sentences.py").write_text(text, encoding="utf-8")
    return PaperFolder("mine", folder, "mine")


def judge(folder: PaperFolder, *, trust_code: bool = True) -> list[Statement]:
    weights = WeightsToJudge(STATE, partial(dict, STATE), draws=0)
    return list(judge_papers([folder], weights, trust_code=trust_code, patience=1))


def judge_one(folder: PaperFolder, *, trust_code: bool = True) -> Statement:
    (one,) = judge(folder, trust_code=trust_code)
    return one


def test_every_sentence_of_the_bundled_papers_is_read() -> None:
    found = {folder.paper: read_sentences(folder) for folder in bundled()}
    counts = {paper: (len(one.sentences), one.problems) for paper, one in found.items()}
    assert counts == {"imlp": (1, ()), "mixer_gmlp_coursework": (1, ()), "resmlp": (9, ())}


def test_a_sentence_is_found_without_being_run(tmp_path: Path) -> None:
    folder = write(tmp_path, HEAD + ONE.format(body=TRUE))
    (found,) = read_sentences(folder).sentences
    assert (found.id, found.text, found.place, found.measured) == (
        "differ", "Its AGeLUs differ.", "Sec. 1", "how many differ"
    )  # fmt: skip
    statement = judge_one(folder, trust_code=False)
    assert statement.verdict == "unverifiable"
    assert (
        statement.reason
        == "the Python in mine was not run, because the folder is not trusted; pass --trust-code to run it"
    )
    assert not (tmp_path / "ran").exists()


def test_sentences_about_layers_that_a_checkpoint_lacks_are_not_run(tmp_path: Path) -> None:
    assert judge(write(tmp_path, (HEAD + ONE.format(body=TRUE)).replace("fc2.weight", "fc3.weight"))) == []
    assert not (tmp_path / "ran").exists()


def test_a_trusted_sentence_is_judged_in_a_process_of_its_own(tmp_path: Path) -> None:
    statement = judge_one(write(tmp_path, HEAD + ONE.format(body=TRUE)))
    assert (statement.id, statement.paper, statement.verdict) == ("differ", "mine", "reproduced")
    assert (statement.layers, statement.values) == (("the module",), {"rows": (4.0,)})
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ONE.format(body=TRUE).replace("Measured", "Seen"), "mine/sentences.py:7:1: its docstring needs"),
        (2 * ONE.format(body=TRUE), "mine/sentences.py:18:1: differ is defined twice"),
        ("def (:\n", "mine/sentences.py:5:5: is not Python: invalid syntax"),
        ("\0", "mine/sentences.py:1:1: is not Python"),
        ("LAYERS = []\n", "mine/sentences.py:5:1: LAYERS must list tables of names, written out"),
        *(
            (f"LAYERS = {tables}\n", "mine/sentences.py:5:1: ")
            for tables in ("1", "[1]", "[{1: 'a'}]", "[{'a': 'b?'}]", "[{}]", "[{'a': f'{1}'}]", "open('x')")
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_seen_without_running_it(tmp_path: Path, text: str, told: str) -> None:
    (problem,) = read_sentences(write(tmp_path, HEAD + text)).problems
    assert str(problem).startswith(told)
    assert not (tmp_path / "ran").exists()


def test_sentences_need_layers(tmp_path: Path) -> None:
    (problem,) = read_sentences(write(tmp_path, ONE.format(body=TRUE))).problems
    assert "it needs LAYERS" in str(problem)
    one = judge_one(write(tmp_path, ONE.format(body=TRUE)))
    assert (one.verdict, one.reason) == ("error", str(problem))


def test_what_is_raised_is_an_error_with_its_place(tmp_path: Path) -> None:
    bodies = ("return 1 / 0", 'return Judgement(True, "yes", {"a": []})', "import nowhere")
    sentences = [ONE.format(body=body).replace("differ(", f"s{at}(") for at, body in enumerate(bodies)]
    assert [one.reason[:45] for one in judge(write(tmp_path, HEAD + "".join(sentences)))] == [
        "mine/sentences.py:15: ZeroDivisionError: divi",
        "mine/sentences.py: ValueError: its values are",
        "mine/sentences.py:37: ModuleNotFoundError: No",
    ]


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import os; os._exit(3)", "mine/sentences.py: its code ended the process (exit code 3)"),
        ("while True: pass", "mine/sentences.py:15: StoppedError: its code did not end within 1 s"),
    ],
)
def test_a_sentence_that_ends_its_process_or_never_ends(tmp_path: Path, body: str, told: str) -> None:
    one = judge_one(write(tmp_path, HEAD + ONE.format(body=body)))
    assert (one.verdict, one.reason) == ("error", told)


def test_a_folder_without_sentences_has_none(tmp_path: Path) -> None:
    assert read_sentences(PaperFolder("mine", tmp_path, "mine")) == SentenceFile(PaperFolder("mine", tmp_path, "mine"))


def test_layers_are_in_their_order_and_have_all_names_but_those_that_may_be_missing() -> None:
    tables = [{"a": "x.weight", "b": "x.bias?"}, {"a": "y.weight"}]
    names = {f"m.{at}.{name}": 0 for at in (10, 2, 1) for name in ("x.weight", "y.weight")}
    found = find_layers({**names, **dict.fromkeys(("m.2.x.bias", "y.weight", "xx.weight", "²x.weight"))}, tables)
    assert found == {
        "m.1.": {"a": "m.1.x.weight"},
        "m.2.": {"a": "m.2.x.weight", "b": "m.2.x.bias"},
        "m.10.": {"a": "m.10.x.weight"},
        "": {"a": "y.weight"},
    }
    assert list(found)[1:] == ["m.1.", "m.2.", "m.10."]
