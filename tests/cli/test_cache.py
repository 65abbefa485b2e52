"""A second run measures nothing and says the same; whatever changed is measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .papers import PARAMS, write
from .running import MODULE, Outcome, call, spawn

ROW = "{id: base, label: AlexNet, model: {torchvision: alexnet}, printed: {params: %s}}"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for measurements, empty, and a paper where we stand."""
    folder = tmp_path / "measurements"
    monkeypatch.setenv("IMLP_AUDIT_CACHE", str(folder))
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "one", PARAMS, ROW % "61.10")
    return folder


def verify(*arguments: str) -> Outcome:
    return call("verify", "one", "--format", "json", *arguments)


def verdict(run: Outcome) -> str:
    return str(json.loads(run.out)["checks"][0]["verdict"])


@pytest.mark.slow
def test_a_second_run_writes_the_same_bytes_without_torch(kept: Path, tmp_path: Path) -> None:
    first = verify()
    broken = tmp_path / "without" / "torch"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('torch was imported')\n")
    path = f"{broken.parent}:{Path(__file__).parent.parent.parent}"
    second = spawn("verify", "one", "--format", "json", cwd=tmp_path, command=MODULE, PYTHONPATH=path)
    assert (second.code, second.out) == (first.code, first.out)
    assert "earlier" not in first.err
    assert second.err == "imlp-audit: took the result of an earlier run; --no-cache measures anew\n"
    anew = spawn("verify", "one", "--no-cache", cwd=tmp_path, command=MODULE, PYTHONPATH=path)
    assert (anew.code, "torch was imported" in anew.err) == (3, True)


def test_a_changed_number_is_judged_anew_by_the_measurements_of_before(kept: Path, tmp_path: Path) -> None:
    assert verdict(verify()) == "reproduced"
    table = tmp_path / "specs" / "one" / "table1.yaml"
    table.write_text(table.read_text().replace("61.10", "61.20"))
    again = verify()
    assert verdict(again) == "differs"
    # the model is known; the result and the causes of the number are not
    assert again.err == "imlp-audit: took 1 of 3 measurements from earlier runs; --no-cache measures anew\n"


def test_a_measurement_that_somebody_changed_is_not_believed(kept: Path) -> None:
    first = verify()
    files = list(kept.glob("*.json"))
    assert files
    for path in files:
        path.write_bytes(path.read_bytes().replace(b"61100840", b"61100841"))
    assert verify("--no-progress") == first


def test_no_cache_keeps_and_reads_nothing(kept: Path) -> None:
    verify("--no-cache")
    assert not kept.exists()
    verify()
    assert verify("--no-cache").err == ""


def test_what_failed_is_tried_again(kept: Path, tmp_path: Path) -> None:
    table = tmp_path / "specs" / "one" / "table1.yaml"
    table.write_text(table.read_text().replace("alexnet", "alexnett"))
    assert verify().code == 3
    assert not list(kept.glob("*.json"))


def test_a_folder_that_cannot_be_written_to_costs_nothing_but_time(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = verify()
    file = kept.parent / "file"
    file.write_text("mine")
    monkeypatch.setenv("IMLP_AUDIT_CACHE", str(file))
    run = verify()
    assert (run.code, run.out) == (first.code, first.out)
    assert run.err.startswith("imlp-audit: measurements could not be kept: ")


def test_an_empty_name_keeps_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMLP_AUDIT_CACHE", "")
    assert verify().err == ""
    assert verify().err == ""
