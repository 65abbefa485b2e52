"""Verdicts to exit codes, and what a run prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from imlp_audit.pipeline import audit_targets
from imlp_audit.report.formats import AuditFormat

from .running import Outcome, call, spawn


def checks(text: str) -> dict[str, Any]:
    return {check["id"]: check for check in json.loads(text)["checks"]}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("clean",), 0),
        (("scores",), 0),
        (("scores", "--strict"), 1),
        (("clean", "--strict"), 0),
        (("changes",), 0),
        (("findings",), 1),
        (("findings", "--skip", "*.delta"), 0),
        (("findings", "scores", "--strict"), 1),
        (("imlp_row",), 1),
        (("broken",), 3),
        (("broken", "findings"), 3),
        (("broken", "--only", "broken/1/wrong/*"), 1),
        (("broken", "--only", "broken/1/typo/*"), 3),
    ],
)
def test_the_exit_code_says_what_was_found(here: Path, arguments: tuple[str, ...], code: int) -> None:
    done = call("verify", *arguments, "--no-progress")
    undecided = "imlp-audit: --strict: unverifiable checks fail the run ("
    assert (done.code, done.err.partition(undecided)[0]) == (code, "")
    assert (undecided in done.err) == ({"scores", "--strict"} <= {*arguments})
    assert done.out


def test_quiet_prints_nothing(here: Path) -> None:
    assert call("verify", "findings", "-q") == Outcome(1, "", "")


def test_a_row_that_cannot_be_built_is_an_error_and_the_rest_goes_on(verified: tuple[Outcome, Path]) -> None:
    done, folder = verified
    found = checks((folder / "r.json").read_text(encoding="utf-8"))
    assert done.code == 3
    assert found["broken/1/base/params"]["verdict"] == "reproduced"
    assert found["broken/1/base/params"]["measured"] == "5717416"  # timm's own count of DeiT-Ti
    assert found["broken/1/typo/params"]["verdict"] == "error"
    assert "did you mean 'deit_tiny_patch16_224'" in found["broken/1/typo/params"]["reason"]
    assert found["broken/1/no_mlp/params"]["verdict"] == "error"
    assert "resnet18 has no timm.layers.Mlp" in found["broken/1/no_mlp/params"]["reason"]
    assert found["broken/1/wrong/params"]["verdict"] == "differs"


def test_the_default_reading_is_the_first_declared(here: Path) -> None:
    found = checks(call("verify", "imlp_row", "-f", "json", "--no-progress").out)["imlp_row/1/block/params"]
    assert found["reading"] == "as_written"
    # `lean` lacks the bias of FC2: 192 numbers in each of 12 blocks
    assert [one["reading"] for one in found["also"]] == ["lean"]
    assert int(found["measured"]) - int(found["also"][0]["measured"]) == 12 * 192


def test_another_declared_reading_can_be_judged_by_first(here: Path) -> None:
    done = call("verify", "imlp_row", "--reading", "lean", "-f", "json", "--no-progress")
    found = checks(done.out)["imlp_row/1/block/params"]
    assert done.code == 1
    assert (found["reading"], [one["reading"] for one in found["also"]]) == ("lean", ["as_written"])


def test_a_reading_is_judged_by_where_a_paper_declares_it(here: Path) -> None:
    done = call("verify", "imlp_row", "clean", "--reading", "lean", "-f", "json", "--no-progress")
    assert checks(done.out)["clean/1/base/params"]["verdict"] == "reproduced"


def test_without_a_device_the_real_counter_cannot_run_there(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = call("verify", "clean", "--counter", "fvcore", "--device", "cuda")
    assert (done.code, done.out) == (3, "")
    assert "--device cuda" in done.err


@pytest.fixture
def unmeasured(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where any attempt to measure fails the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("something was measured")

    monkeypatch.setattr("imlp_audit.pipeline._measure", refuse)
    (here / "bad.yaml").write_text("paper: bad\nnonsense: yes\n", encoding="utf-8")
    (here / "bare.yaml").write_text("paper: bare\nabout: {title: T, authors: A, version: v}\n", encoding="utf-8")
    (here / "ok.json").write_text("{}", encoding="utf-8")
    return here


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing command; `imlp-audit demo DIR` shows what it does."),
        (["nosuch"], "nosuch"),
        (["--nosuch"], "--nosuch"),
        (["verify", "--nosuch"], "--nosuch"),
        (["verify", "nosuch"], "nosuch: no spec file, folder or paper"),
        (["verify", "cleen"], "did you mean 'clean'?"),
        (["verify", "a" * 300], "no spec file, folder or paper"),
        (["verify", "bad.yaml"], "bad.yaml:2:1: unknown key 'nonsense'"),
        (["lint", "bad.yaml"], "bad.yaml:2:1: unknown key 'nonsense'"),
        (["list", "bad.yaml"], "bad.yaml:2:1: unknown key 'nonsense'"),
        (["list", "bare.yaml"], "there is nothing to check in bare.yaml: write a table, a claim or an equation"),
        (["report", "bad.yaml"], "bad.yaml:2:1: unknown key 'nonsense'"),
        (["verify", "--format", "pdf"], "pdf"),
        (["verify", "--counter", "abacus"], "abacus"),
        (["verify", "--device", "abacus"], "abacus"),
        (["verify", "clean", "--json"], "No such option: --json"),
        (["demo", "--xml"], "No such option: --xml\nTry `imlp-audit demo --help`"),
        (["verify", "--jobz"], "No such option: --jobz (Possible"),
        (["verify", "--reading", "nonsense"], "nonsense"),
        (["verify", "imlp_row", "--reading", "leen"], "lean"),
        (["verify", "--only", "zzz*"], "no check is selected"),
        (["verify", "--skip", "*"], "no check is selected"),
        (["list", "--only", "zzz*"], "a glob must match the whole id, as '*/params' does"),
        (["verify", "-o"], "-o"),
        (["verify", "-o", "markdown"], "FORMAT:FILE"),
        (["verify", "-o", "markdown:"], "FORMAT:FILE"),
        (["verify", "-o", ":r.md"], "FORMAT:FILE"),
        (["verify", "-o", "pdf:r.pdf"], "rich, json, markdown"),
        (["verify", "-o", "markdown:missing/r.md"], "missing"),
        (["verify", "-o", "markdown:specs"], "specs is a folder"),
        (["verify", "-o", "json:ok.json", "-o", "markdown:ok.json/r.md"], "ok.json is not a folder"),
        (["report", "--dir", "ok.json"], "ok.json: this folder cannot be made"),
        (["report", "--from", "missing.json"], "missing.json does not exist"),
        (["report", "--from", "specs"], "specs is a folder, not a regular file"),
        (["report", "--from", "ok.json", "clean"], "not both"),
        (["report", "--from", "ok.json"], "ok.json: not a result"),
    ],
)
def test_unusable_input_is_refused_in_words_before_anything_is_measured(
    unmeasured: Path, arguments: list[str], told: str
) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_folder_that_cannot_be_written_to_is_refused(unmeasured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A stand-in, because root may write anywhere.
    monkeypatch.setattr("imlp_audit.report.atomic_files.os.access", lambda *_: False)
    done = call("verify", "clean", "-o", "markdown:r.md")
    assert (done.code, done.out) == (2, "")
    assert "is not writable" in done.err


@pytest.mark.slow
def test_all_formats_are_the_same_to_the_byte_whatever_the_hash_seed_the_processes_and_the_cache(
    papers: Path, tmp_path: Path
) -> None:
    runs = []
    cache = str(tmp_path / "cache")  # the second run fills it for the third
    for seed, options in (("1", ("--no-cache", "--jobs", "0")), ("2", ("--jobs", "4")), ("3", ("--jobs", "1"))):
        (tmp_path / seed).mkdir()
        written = [f"-o{one}:{tmp_path / seed / one}" for one in AuditFormat if one is not AuditFormat.RICH]
        command = ("verify", "imlp_row", "findings", "mlp_mixer_notes", "--all", *options, *written)
        done = spawn(*command, cwd=papers, PYTHONHASHSEED=seed, IMLP_AUDIT_CACHE=cache)
        assert ("took the result of an earlier run" in done.err) == (seed == "3"), done.err
        runs.append((done.code, done.out, {path.name: path.read_bytes() for path in (tmp_path / seed).iterdir()}))
    assert len(runs[0][2]) == len(AuditFormat) - 1
    assert runs[0] == runs[1] == runs[2]


def test_the_json_names_no_folder_of_the_machine(verified: tuple[Outcome, Path], papers: Path) -> None:
    text = (verified[1] / "r.json").read_text(encoding="utf-8")
    assert str(papers) not in text
    assert str(Path.home()) not in text
    assert json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n" == text


CAUSES = """\
paper: causes
about: {title: Five rows, authors: An author, version: v1, flops: [macs]}
tables:
  - table: "1"
    title: Five rows
    source: {section: "1"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
      flops: {measure: flops, unit: G, heading: FLOPs (G)}
    rows:
      - {id: s, label: S, model: {timm: deit_small_patch16_224}, printed: {params: 5.717, flops: 9.20}}
      - {id: ti, label: Ti, model: {timm: deit_tiny_patch16_224}, printed: {params: 5.717, flops: 2.51}}
      - {id: r18, label: R18, model: {torchvision: resnet18}, printed: {params: 12.937, flops: 3.63}}
      - {id: r34, label: R34, model: {torchvision: resnet34}, printed: {params: 21.793, flops: 7.33}}
"""


@pytest.mark.slow
def test_numbers_that_differ_have_hints_at_their_causes(tmp_path: Path) -> None:
    """S has the number of Ti, all FLOPs are two for each multiply-accumulate; R18's and R34's numbers have no cause."""
    spec = tmp_path / "causes.yaml"
    spec.write_text(CAUSES, encoding="utf-8")
    done = call("verify", str(spec), "-f", "json", "--no-progress")
    found = checks(done.out)
    causes = {name: hint for name, one in found.items() for hint in one.get("hints", ()) if hint.get("kind") == "cause"}
    assert done.code == 1
    assert {one: check["verdict"] for one, check in found.items() if one.startswith("causes/1/")} == {
        check.id: check.verdict for check in audit_targets(spec).checks if check.id.startswith("causes/1/")
    }
    flops = causes["causes/1/s/flops"]
    assert flops["cause"]["text"] == "two for each multiply-accumulate, as torch's FlopCounterMode counts"
    assert sorted(flops["cause"]["explains"]) == ["2.51 of ti", "3.63 of r18", "7.33 of r34", "9.20"]
    assert {causes[f"causes/1/{row}/flops"]["as_in"] for row in ("ti", "r18", "r34")} == {"causes/1/s/flops"}
    assert causes["causes/1/s/params"]["cause"]["text"] == "what the row ti has"
    assert causes["causes/1/r18/params"]["tried"] > 100
    assert "cause" not in causes["causes/1/r18/params"]
    assert causes["causes/1/r34/params"]["tried"] == 0  # the fourth number
    assert call("verify", str(spec), "-f", "json", "--no-progress").out == done.out
    for form in ("rich", "markdown", "html"):
        again = call("verify", str(spec), "-f", form).out
        assert "likely cause: what the row ti has: " in again
        assert "1 of 7 unexplained numbers not searched for a cause" in again
    assert "nothing known explains it: " in again
