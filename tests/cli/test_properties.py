"""`imlp-audit properties`: verdicts, options, and what goes wrong, as a user meets it."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from .running import SCRIPT, call, spawn

FAST = ("properties", "eq2_*", "eq12_*", "eq17_g*", "--examples", "10")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are tested in this process unless a test asks for others: each of them imports torch, for seconds."""
    monkeypatch.setattr("imlp_audit.cli.verify.cores", lambda: 0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, where the bundled papers are taken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


def checks(*arguments: str) -> list[dict[str, Any]]:
    done = call(*arguments, "--no-progress", "-f", "json")
    assert done.err == ""
    found: list[dict[str, Any]] = json.loads(done.out)["checks"]
    return found


@pytest.mark.slow
def test_a_claim_has_all_that_the_json_of_a_check_needs(here: Path) -> None:
    (found,) = checks("properties", "imlp/equations/eq12_biases", "--examples", "10")
    assert found["id"] == "imlp/equations/eq12_biases"
    assert found["kind"] == "equation"
    assert found["verdict"] == "differs"
    assert (found["finding"], found["acknowledged"]) == ("slips-in-derivations", True)
    assert found["examples"] == 1
    assert found["statement"].startswith("Splitting f into g + h splits b^1")
    assert found["place"] == "Appendix A.1, Eq. 12"
    assert found["counterexample"] == ["b11 = [1]", "b12 = [1]", "left = 1", "right = 2"]
    assert found["hints"][0].startswith("what holds is imlp/equations/eq12_biases_corrected: ")
    assert found["source"]["file"] == "specs/imlp/claims/appendix_a1.py"
    assert found["source"]["line"] > 1


@pytest.mark.slow
def test_equal_runs_are_equal_bytes_in_one_process_or_in_two_and_leave_nothing_behind(here: Path) -> None:
    alone, shared = (spawn(*FAST, "--jobs", jobs, "-f", "json", "--no-cache", cwd=here).out for jobs in "12")
    assert alone == shared
    assert json.loads(alone)["summary"]["reproduced"] >= 5
    assert [*here.iterdir()] == []


@pytest.mark.slow
def test_a_claim_is_shown_with_what_was_found(here: Path) -> None:
    shown = " ".join(call("properties", "eq12_biases", "--examples", "10", "--no-progress").out.split())
    assert "For CI: 1 fails (known)." in shown
    assert "- differs, known imlp/equations/eq12_biases printed " in shown
    assert "false for b11 = [1]; b12 = [1]; left = 1; right = 2" in shown
    assert shown.endswith("imlp-audit explain imlp/equations/eq12_biases imlp-audit report --dir DIR")


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("eq2_scale_and_bais",), "no claim matches 'eq2_scale_and_bais'; did you mean 'eq2_scale_and_bias'?"),
        (("nothing*",), "no claim matches 'nothing*'"),
        (("--examples", "0"), "--examples"),
        (("--jobs", "0"), "--jobs"),
        (("-o", "svg:x"), "write FORMAT:FILE"),
    ],
)
def test_what_cannot_be_used(here: Path, arguments: tuple[str, ...], told: str) -> None:
    done = call("properties", *arguments)
    assert done.code == 2
    assert told in done.err
    assert done.out == ""


@pytest.mark.slow
def test_time_that_runs_out_is_an_error_that_says_how_far_it_got(here: Path) -> None:
    done = call("properties", "eq13", "--examples", "1000000", "--time-limit", "0.2", "-f", "json")
    assert done.code == 3
    (found,) = json.loads(done.out)["checks"]
    assert found["verdict"] == "error"
    assert f"only {found['examples']} of 1000000 examples were run in 0.2 s; none was false" == found["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("search", [("--seed", "11"), ("--examples", "1")])
def test_what_is_known_to_be_false_stays_known_in_other_searches(here: Path, search: tuple[str, ...]) -> None:
    done = call("properties", "mixer_token_mixing_columns", "positional_invariance", *search, "-f", "json")
    assert done.code == 0
    for found in json.loads(done.out)["checks"]:
        assert (found["verdict"], found["acknowledged"]) == ("differs", True)
        assert "false for" in found["reason"]


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(here: Path) -> None:
    command = [SCRIPT, "properties", "resmlp*", "-j", "2", "--examples", "1000000000"]
    parent = subprocess.Popen(command, cwd=here, stdout=subprocess.DEVNULL)
    for _ in range(100):
        time.sleep(0.1)
        started = _children(parent.pid)
        if len(started) == 3:  # two that test, and the one that tracks their resources
            break
    parent.kill()
    parent.wait()
    assert len(started) == 3
    for _ in range(100):
        time.sleep(0.1)
        if not any(map(_is_running, started)):
            return
    pytest.fail("orphans")


def _children(pid: int) -> list[str]:
    """The processes that any thread of a process started."""
    return [child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def _is_running(pid: str) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()  # Z: ended, and nobody has asked how
    return False


@pytest.mark.slow
def test_verify_makes_the_same_checks_but_for_those_that_need_a_solver(here: Path) -> None:
    done = call("verify", "imlp", "--only", "*/equations/theorem1*", "--jobs", "0", "-f", "json")
    found = {check["id"].removeprefix("imlp/equations/") for check in json.loads(done.out)["checks"]}
    assert {"theorem1", "theorem1_inequality", "theorem1_optimum", "theorem1_own_t"} <= found
    assert not found & {"theorem1_optimum_corrected", "theorem1_one_unit", "theorem1_proposed_t"}
    assert "imlp/equations/eq13" in call("list", "imlp", "--only", "imlp/equations/*").out
