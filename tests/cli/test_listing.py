"""`imlp-audit list` and `imlp-audit lint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imlp_audit.models.names.known import Library, version_of

from .papers import PARAMS, write
from .running import call

DEIT = "{timm: deit_tiny_patch16_224}"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two papers with a model in common, one of which has a model of its own and one that cannot be built."""
    one = f"{{id: base, label: DeiT-Ti, model: {DEIT}, printed: {{params: 5.72}}}}"
    write(tmp_path, "one", PARAMS, one)
    write(
        tmp_path,
        "two",
        PARAMS,
        one.replace("DeiT-Ti", "A tiny DeiT"),
        "{id: mixer, label: Mixer, printed: {params: 5.72}, model: {classes: 7, image: 16,"
        " mixer: {layers: 1, patch: 8, width: 2, tokens_hidden: 3, channels_hidden: 5}}}",
        "{id: typo, label: Typo, model: {timm: deit_tinny_patch16_224}, printed: {params: 5.72}}",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_checks_have_json_and_markdown(models: Path) -> None:
    document = json.loads(call("list", "two", "-f", "json").out)
    assert document["format"] == "imlp-audit/list/1"
    assert document["checks"][0]["id"] == "two/1/base/params"
    assert "two/1/base/params" in call("list", "two", "-f", "markdown").out.replace("\\", "")


def test_lint_finds_python_that_cannot_be_read_without_running_it(models: Path) -> None:
    folder = models / "specs" / "one"
    (folder / "claims").mkdir()
    (folder / "claims" / "sec1.py").write_text("print('ran')\nx = (\n", encoding="utf-8")
    (folder / "claims" / "sec2.py").write_text(
        "@claim(place='1', printed='y')\ndef bare():\n    pass\n", encoding="utf-8"
    )
    twice = "@claim(place='1', printed='y')\ndef twice():\n    '''Words.'''\n"
    (folder / "claims" / "sec3.py").write_text(f"print('ran')\n\n\n{twice}\n\n{twice}", encoding="utf-8")
    (folder / "claims" / "sec4.py").write_text(
        "@claim(learned=cats(), place='1', printed='y', measured='m', judged='j')\ndef purr(layers):\n    'Purrs.'\n"
    )
    done = call("lint")
    assert (done.code, done.out) == (2, "")
    assert "ran" not in done.err
    for problem in (
        "specs/one/claims/sec1.py:2:5: is not Python: '(' was never closed",
        "specs/one/claims/sec2.py:2:1: the claim bare has no docstring",
        "specs/one/claims/sec3.py:5:1: the claim twice is defined again in specs/one/claims/sec3.py:10",
        "specs/one/claims/sec4.py:2:1: the claim purr needs in `learned` tables of names",
    ):
        assert problem in done.err


def test_lint_knows_the_names_of_models_without_their_libraries(models: Path) -> None:
    told = (
        f"timm {version_of(Library.TIMM)} has no model 'deit_tinny_patch16_224'; did you mean 'deit_tiny_patch16_224'?"
    )
    assert told in call("lint", "two").err
    assert call("lint", "one").code == 0


def test_lint_names_models_that_no_library_has_once_the_rest_is_right(here: Path) -> None:
    rows = (
        "{id: b, label: B, model: {timm: resnet50}, printed: {parms: 25.6}}",
        "{id: c, label: C, model: {timm: resnet500}, printed: {params: 25.6}}",
    )
    (here / "x.yaml").write_text(
        "paper: x\nabout: {title: T, authors: A, version: v}\ntables:\n"
        '  - {table: "1", title: T, source: {section: "1"},\n'
        "     columns: {params: {measure: parameters, unit: M, heading: P}},\n"
        f"     rows: [{', '.join(rows)}]}}\n",
        encoding="utf-8",
    )
    assert "no column 'parms'" in call("lint", "x.yaml").err
    (here / "x.yaml").write_text((here / "x.yaml").read_text("utf-8").replace("parms", "params"), encoding="utf-8")
    assert "no model 'resnet500'" in call("lint", "x.yaml").err


def test_a_message_shows_control_characters_and_commands_of_a_file_as_text(here: Path) -> None:
    (here / "t.csv").write_text("model,a\x1b[2J\u202e\nx,y\n", encoding="utf-8")
    done = call("init", "t.csv")
    assert done.code == 2
    assert "a\\x1b[2J\\u202e" in done.err


STATED = """\
paper: stated
about: {title: A paper, authors: An author, version: v1}
tables:
  - table: "1"
    title: A table
    source: {section: "4"}
    columns:
      top1: {measure: score, unit: "%", heading: Top-1 (%), needs: trained weights and images}
    rows:
      - {id: small, label: Small, printed: {top1: 79.0}}
      - {id: large, label: Large, printed: {top1: 81.0}}
claims:
  - id: growing
    text: larger models are better
    source: {section: "5"}
    rows: [stated/1/small, stated/1/large]
    order: {value: top1, direction: DIRECTION}
    charitable: The sentence gives no numbers.
findings:
  - {id: f, title: Size does not help, kind: ask, why: WHY, checks: [stated/claims/growing]}
"""


@pytest.mark.parametrize(
    ("direction", "why", "problem"),
    [
        ("decreasing", "It does.", "18:17: `charitable` is for a claim that holds, and this one does not: "),
        ("increasing", "It does.", "20:75: stated/claims/growing does not fail: "),
        ("increasing", " ".join(["word"] * 56), "20:56: title and why have 60 words"),
        ("increasing", " ".join(["word"] * 57), "20:56: title and why have 61 words together; write at most 60"),
    ],
)
def test_lint_judges_what_printed_numbers_alone_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: str, why: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(STATED.replace("DIRECTION", direction).replace("WHY", why))
    done = call("lint", "p.yaml")
    assert done.code == 2
    assert (f"p.yaml:{problem}" in done.err) is ("have 60" not in problem)


def test_a_charitable_claim_that_holds_says_why_it_is_read_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = STATED.replace("DIRECTION", "increasing").partition("findings:")[0]
    (tmp_path / "p.yaml").write_text(text)
    assert call("lint", "p.yaml").code == 0
    *_, claim = json.loads(call("verify", "p.yaml", "-f", "json").out)["checks"]
    assert (claim["verdict"], claim["charitable"]) == ("reproduced", "The sentence gives no numbers.")
    (tmp_path / "p.yaml").write_text(text.replace(": The sentence gives no numbers.", ': ""'))
    assert "charitable is empty; write a text" in call("lint", "p.yaml").err
