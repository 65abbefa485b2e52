"""Reports in files: whole or not at all; and `report`, from a result or anew, and whether kept ones are stale."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .running import call


def result(**changes: object) -> str:
    """The smallest JSON result, with changes to its one check."""
    check = {
        "id": "p/1/a/params",
        "kind": "cell",
        "verdict": "reproduced",
        "reason": "it lies in it",
        "source": {"file": "p.yaml", "line": 1},
        "printed": "5.72",
        "measured": "5717416",
    }
    column = {"id": "params", "heading": "Parameters (M)", "unit": "M"}
    table = {"id": "1", "title": "T", "columns": [column], "rows": [{"id": "a", "label": "A"}]}
    paper = {
        "id": "p",
        "title": "T",
        "authors": "A",
        "version": "v",
        "tables": [table],
        "rounding": ["half_up"],
        "parameters": ["all"],
        "flops": ["macs"],
        "readings": [],
    }
    document: dict[str, Any] = {
        "format": "imlp-audit/3",
        "versions": {},
        "summary": {},
        "papers": [paper],
        "checks": [{**check, **changes}],
    }
    return json.dumps(document)


def test_a_report_goes_to_stdout_and_to_every_file_named(here: Path) -> None:
    done = call(
        "verify", "findings", "--no-progress", "-f", "markdown",
        "-o", "json:r.json", "-o", "markdown:r.md", "-o", "rich:r:x.txt",
    )  # fmt: skip
    assert (done.code, done.err) == (1, "")
    assert (here / "r.md").read_text(encoding="utf-8") == done.out
    assert json.loads((here / "r.json").read_text(encoding="utf-8"))["format"] == "imlp-audit/3"
    assert "findings/1/b/top1.delta" in (here / "r:x.txt").read_text(encoding="utf-8")
    assert sorted(path.name for path in here.iterdir()) == ["r.json", "r.md", "r:x.txt", "specs"]


@pytest.mark.parametrize("failing", ["pathlib.Path.replace", "os.fsync", "os.urandom"])
def test_an_older_report_stays_whole_where_writing_fails(
    here: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (here / "r.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr(failing, fail)
    done = call("verify", "findings", "-o", "markdown:r.md")
    monkeypatch.undo()
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("r.md could not be written: No space left on device\n")
    assert (here / "r.md").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in here.iterdir()) == ["r.md", "specs"]


def test_a_special_file_is_not_replaced_by_a_regular_one(here: Path) -> None:
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # who writes without a reader waits for ever
    try:
        assert call("verify", "findings", "-q", "-o", "json:pipe").code == 1
        assert (here / "pipe").is_fifo()
        assert os.read(reader, 1) == b"{"
    finally:
        os.close(reader)


def test_a_link_is_written_through(here: Path) -> None:
    (here / "target.md").write_text("old", encoding="utf-8")
    (here / "link.md").symlink_to("target.md")
    call("verify", "findings", "-q", "-o", "markdown:link.md")
    assert (here / "link.md").is_symlink()
    assert (here / "target.md").read_text(encoding="utf-8").startswith("# Audit of")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        '{"format": "imlp-audit/1"}',
        '{"format": "imlp-audit/3"}',
        result().replace('"reproduced"', '"approved"'),
        result().replace('"kind"', '"kin"'),
        result(surplus=1),
        result(source={"file": "p.yaml", "line": "one"}),
        result(reason="\ud800"),
        result(measured="1e40000000"),
        result(gap="1/0"),
        result()[:-1],
    ],
)
@pytest.mark.parametrize("format_", ["markdown", "rich"])
def test_a_broken_result_is_refused_in_words(here: Path, text: str, format_: str) -> None:
    (here / "r.json").write_text(text, encoding="utf-8")
    done = call("report", "--from", "r.json", "-f", format_)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("imlp-audit: r.json: ")
    assert "Traceback" not in done.err


def test_a_finding_must_name_checks_of_its_result(here: Path) -> None:
    finding = {"id": "f", "paper": "p", "title": "T", "kind": "misprint", "why": "w", "checks": ["p/none"]}
    (here / "r.json").write_text(json.dumps(json.loads(result()) | {"findings": [finding]}), encoding="utf-8")
    done = call("report", "--from", "r.json", "-f", "github")
    assert (done.code, done.out) == (2, "")
    assert "r.json: the finding f names p/none, and no check has this id; give a file written by" in done.err


def test_a_result_may_begin_with_a_byte_order_mark(here: Path) -> None:
    (here / "r.json").write_text(result(), encoding="utf-8-sig")
    assert call("report", "--from", "r.json").code == 0


@pytest.mark.parametrize(
    ("key", "part"), [("checks", "the check 'p/1/a/params'"), ("papers", "the paper p"), ("tables", "the table p/1")]
)
def test_a_result_with_a_part_twice_is_refused(here: Path, key: str, part: str) -> None:
    document = json.loads(result())
    (document["papers"][0] if key == "tables" else document)[key] *= 2
    (here / "r.json").write_text(json.dumps(document), encoding="utf-8")
    done = call("report", "--from", "r.json")
    assert (done.code, done.out) == (2, "")
    assert f"r.json: {part} stands there twice; run `imlp-audit verify` again" in done.err


def test_a_message_shows_the_beginning_of_a_long_name(here: Path) -> None:
    long = "x" * 10**6
    for text in (f'{{"format": "{long}"}}', result(**{long: 1}), f'{{"{long}": NaN}}'):
        (here / "r.json").write_text(text, encoding="utf-8")
        done = call("report", "--from", "r.json")
        assert done.code == 2
        assert len(done.err) < 500, done.err[:500]


@pytest.mark.parametrize("paper", ["../outside", "HERE/outside", "a/b", ".."])
def test_a_result_cannot_name_a_place_outside_the_folder(here: Path, paper: str) -> None:
    (here / "d").mkdir()
    (here / "r.json").write_text(
        result().replace('"id": "p"', f'"id": "{paper.replace("HERE", str(here))}"'), encoding="utf-8"
    )
    assert call("report", "--from", "r.json", "--dir", "d").code == 2
    assert sorted(path.name for path in here.iterdir()) == ["d", "r.json", "specs"]


def test_reports_are_written_into_a_folder_that_is_made(here: Path) -> None:
    done = call("report", "findings", "scores", "--dir", "new/d")
    assert (done.code, done.out) == (0, "")
    names = ("index.html", "findings.html", "findings.md", "scores.html", "scores.md")
    assert done.err == "".join(f"wrote new/d/{name}\n" for name in names)
    for paper in ("findings", "scores"):
        assert (here / "new/d" / f"{paper}.md").read_text(encoding="utf-8") == call("report", paper).out
        page = (here / "new/d" / f"{paper}.html").read_text(encoding="utf-8")
        assert page == call("report", paper, "-f", "html").out
        assert f'href="{paper}.html"' in (here / "new/d/index.html").read_text(encoding="utf-8")


def test_reports_are_all_written_or_none(here: Path) -> None:
    (here / "r.json").write_text(result(), encoding="utf-8")
    (here / "d" / "p.md").mkdir(parents=True)
    done = call("report", "--from", "r.json", "--dir", "d")
    assert (done.code, done.out, done.err) == (2, "", "imlp-audit: d/p.md is a folder; name a file in it\n")
    assert [path.name for path in (here / "d").iterdir()] == ["p.md"]


@pytest.mark.parametrize("length", [255, 256])
def test_a_file_may_have_the_longest_name_that_there_is(here: Path, length: int) -> None:
    (here / "r.json").write_text(result(), encoding="utf-8")
    name = f"{'n' * (length - 5)}.html"
    done = call("report", "--from", "r.json", "-o", name)
    if length == 255:
        assert (done.code, (here / name).exists()) == (0, True)
    else:
        assert (done.code, done.err) == (
            2,
            f"imlp-audit: {name} could not be written: File name too long; name another file\n",
        )


def test_a_dash_is_not_taken_for_a_file(here: Path) -> None:
    done = call("verify", "scores", "-o", "json:-")
    assert (done.code, done.out) == (2, "")
    assert "-o json:-: to print on standard output, use --format json" in done.err
    assert not (here / "-").exists()


@pytest.mark.parametrize("more", [("-f", "html"), ("-o", "r.html")])
def test_a_folder_of_reports_has_its_own_formats(here: Path, more: tuple[str, str]) -> None:
    done = call("report", "scores", "--dir", "d", *more)
    assert (done.code, done.out) == (2, "")
    assert "leave out --format and -o" in done.err
    assert not (here / "d").exists()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (("a.html", "markdown:./a.html"), "-o a.html: this file is named twice"),
        (("a.html", "link.html"), "this file is named twice"),
        (("htlm:a.html",), "-o htlm:a.html: write FORMAT:FILE with one of the formats"),
        (("json:specs/scores/paper.yaml",), "this would replace a spec or code; name another file"),
        (("json:spec.json",), "this would replace a spec or code; name another file"),
        (("a.pdf",), "or a FILE that ends in .sarif.json, .json, .md,"),
    ],
)
def test_files_that_could_not_both_be_kept_or_have_no_format_are_refused(
    here: Path, files: tuple[str, ...], told: str
) -> None:
    (here / "link.html").symlink_to("a.html")
    (here / "spec.json").symlink_to("specs/scores/paper.yaml")
    done = call("verify", "scores", *(part for file in files for part in ("-o", file)))
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert sorted(path.name for path in here.iterdir()) == ["link.html", "spec.json", "specs"]


ACCURACY = {
    "kind": "accuracy",
    "metric": "top1",
    "correct": 36,
    "images": 50,
    "available": 50,
    "unreadable": 0,
    "low": "58.3",
    "high": "82.6",
    "checkpoint": "0123456789abcdef" * 4,
    "data": "f" * 64,
    "settings": {"crop": "0.9"},
}


def evaluated(verdict: str = "reproduced_under", **changes: object) -> str:
    """The JSON of an evaluation of the only number of `scores`."""
    plain: dict[str, object] = {
        "id": "scores/1/a/top1",
        "verdict": verdict,
        "printed": "72.2",
        "unit": "%",
        "measured": "72",
    }
    plain |= {"under": ["sampling"], "reason": "36 of 50 are right", "evidence": [ACCURACY]}
    return result(**{**plain, **changes})


def test_a_run_is_put_into_the_report_of_an_audit(here: Path) -> None:
    (here / "a.json").write_text(evaluated(), encoding="utf-8")
    done = call("report", "scores", "--with", "a.json")
    assert (done.code, done.err) == (0, "")
    assert "| A | Top-1 (%) | 72.2 | 72 |  | reproduced under sampling |  |" in done.out
    assert "## Evidence" in done.out
    assert "printed 72.2: 36 of 50 are right\n  - checkpoint 0123456789ab; 36 of 50 images" in done.out
    shown = call("report", "scores", "--with", "a.json", "-f", "rich").out
    assert "scores/1/a/top1 printed 72.2: 36 of 50 are right" in shown
    assert "For CI: 1 holds.\n" in shown


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a.json: not JSON"),
        ("{}", "a.json: not a result of format imlp-audit/3"),
        (evaluated(evidence="none"), "a.json: checks.0.evidence"),
        (evaluated(measured="1e40000000"), "a.json: checks.0.measured: '1e40000000' is not a number in plain decimal"),
        (evaluated(evidence=[{**ACCURACY, "correct": 51}]), "a.json: checks.0.evidence.0"),
        (result(), "a.json: none of its checks has evidence; give a JSON result of eval or bench"),
        (evaluated(printed="72.3"), "a.json: it judges scores/1/a/top1 as '72.3', but '72.2' is printed"),
        (evaluated(id="scores/1/b/top1"), "a.json: scores/1/b/top1 is not in this report"),
    ],
)
def test_a_broken_run_or_one_of_other_numbers_is_refused(here: Path, text: str, told: str) -> None:
    (here / "a.json").write_text(text, encoding="utf-8")
    done = call("report", "scores", "--with", "a.json")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err
