"""`imlp-audit coverage`: exit codes, formats, and the paper that is taken where none is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.transcribe.two_nets import SPEC, TEXT

from .running import call

OTHER = "paper: other\nabout: {title: T, authors: A, version: v1}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document and the specs of two papers, which is the current one."""
    (tmp_path / "paper.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "two.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "specs" / "other.yaml").write_text(OTHER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_takes_the_paper_that_reads_most_and_ends_with_the_share(folder: Path) -> None:
    done = call("coverage", "paper.txt")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0] == "Numbers of paper.txt against two"
    assert lines[-1] == "17 numbers: 10 read by checks, 2 explained, 5 open (70 % covered)"
    assert any(line.split() == ["13", "5.72", "72.2", "bound", "two/1/small/*"] for line in lines)
    assert any(line.split()[:4] == ["6", "32", "explained", "a"] for line in lines)


def test_open_lists_the_open_ones_alone(folder: Path) -> None:
    out = call("coverage", "paper.txt", "specs/two.yaml", "--open").out
    assert "two/1/small" not in out
    assert "Table 1: Sizes at 224 pixels." in out


def test_what_is_not_counted_is_summed_up_by_kind(folder: Path) -> None:
    out = call("coverage", "paper.txt", "two").out
    assert "16 other numbers not counted: " in out
    assert "3 in the bibliography" in out


def test_a_document_without_an_open_number_is_clean(folder: Path) -> None:
    (folder / "paper.txt").write_text("Table 2: More\n5.72\n22.05\n", encoding="utf-8")
    assert call("coverage", "paper.txt", "two").code == 0


def test_json_has_every_number_with_its_line(folder: Path) -> None:
    document = json.loads(call("coverage", "paper.txt", "two", "-f", "json").out)
    assert document["format"] == "imlp-audit/coverage/2"
    assert document["summary"] == {"apart": 16, "bound": 10, "explained": 2, "numbers": 17, "open": 5}
    assert {"line", "text", "context", "state"} <= document["numbers"][0].keys()
    (explained,) = [one for one in document["numbers"] if one["text"] == "32"]
    assert explained["reason"] == "a setting of training"
    assert explained["sources"] == [{"file": "specs/two.yaml", "line": 36}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gone.txt",), "gone.txt does not exist; give a document"),
        ((".",), ". is a folder"),
        (("paper.txt", "other", "nosuch"), "nosuch"),
        (("https://arxiv.org/abs/1",), "files are read, not addresses"),
    ],
)
def test_unusable_input_is_named(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = call("coverage", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_document_that_no_paper_reads_asks_for_one(folder: Path) -> None:
    (folder / "notes.txt").write_text("We had 7 of 9.", encoding="utf-8")
    done = call("coverage", "notes.txt")
    assert (done.code, done.out) == (2, "")
    assert "no check of other, two reads a number of it; name the paper" in done.err
    assert "may be those of another document" in call("coverage", "notes.txt", "two").out


def test_a_missing_library_is_named_with_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pdfplumber", None)
    monkeypatch.setattr("imlp_audit.cli.main.find_spec", lambda name: None)
    (folder / "paper.pdf").write_bytes(b"%PDF-1.4\n")
    done = call("coverage", "paper.pdf", "two")
    assert (done.code, done.out) == (3, "")
    assert "pdfplumber, which is not installed; run: pip install 'imlp-audit[pdf]'" in done.err
