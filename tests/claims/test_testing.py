"""What testing a claim gives: true ones, false ones with what refutes them, and those that cannot be judged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch

from imlp_audit.claims.catalogue import ClaimText, read_claims
from imlp_audit.claims.running import running
from imlp_audit.claims.settings import Outcome, Settings
from imlp_audit.claims.testing import run_claim
from imlp_audit.processes.workers import open_pool
from tests.claims.papers import all_claims
from tests.cli.running import spawn

CASES = Path(__file__).parent / "cases" / "mine"
CLAIMS = [claim for claim in read_claims("mine", CASES, "mine") if isinstance(claim, ClaimText)]
MANY = """from hypothesis import strategies as st
from imlp_audit.claims import choice, claim

a, b, c, d = (choice(name, *range(4)) for name in "abcd")
TRIED = set()

@claim(n=st.tuples(a, b, c, d), place="Eq. 1", printed="y = x")
def many(n):
    '''Words.'''
    TRIED.add(n)
    return len(TRIED) < 55 or [len({one[i] for one in TRIED}) for i in range(4)] == [4] * 4
"""


def claims_in(module: str) -> list[str]:
    return [claim.name for claim in CLAIMS if claim.code.module == module]


def is_like(text: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\.\.\.", ".*"), text) is not None


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """Test all claims in this process."""
    return {claim.name: run_claim(claim.code, Settings(10)) for claim in CLAIMS}


@pytest.mark.parametrize("name", claims_in("holding"))
def test_a_true_claim_holds(outcomes: dict[str, Outcome], name: str) -> None:
    assert outcomes[name] == Outcome(outcomes[name].examples)


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.code.module == "false"], ids=lambda one: one.name)
def test_a_false_claim_shows_what_refutes_it(outcomes: dict[str, Outcome], claim: ClaimText) -> None:
    found = outcomes[claim.name]
    assert found.problem is None
    assert is_like("; ".join(found.counterexample), claim.statement)


@pytest.mark.parametrize("claim", [one for one in CLAIMS if one.code.module == "unusable"], ids=lambda one: one.name)
def test_what_cannot_be_judged_is_a_problem_with_its_place(outcomes: dict[str, Outcome], claim: ClaimText) -> None:
    found = outcomes[claim.name]
    assert found.counterexample == ()
    place, _, reason = (found.problem or "").partition(": ")
    file, _, line = place.rpartition(":")
    assert (file, int(line) - claim.line in range(-1, 4)) == (claim.file, True)
    assert is_like(reason, claim.statement)


def test_all_combinations_are_tried(outcomes: dict[str, Outcome]) -> None:
    counts = {name: outcomes[name].examples for name in ("sums", "without_arguments", "truths", "known")}
    assert counts == {"sums": 1 + 2 * 3 * 2, "without_arguments": 1, "truths": 10, "known": 1}


def test_of_many_combinations_some_are_tried_and_every_value_is_among_them(tmp_path: Path) -> None:
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "sec1.py").write_text(MANY)
    (claim,) = read_claims("mine", tmp_path, "mine")
    assert isinstance(claim, ClaimText)
    found = run_claim(claim.code, Settings(10))
    assert found == Outcome(found.examples)
    assert 55 <= found.examples <= 65  # of 256


def test_nothing_of_this_process_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = torch.get_default_dtype(), torch.get_num_threads(), torch.get_rng_state().tolist()
    for claim in CLAIMS[:6]:
        run_claim(claim.code, Settings(3))
    assert (torch.get_default_dtype(), torch.get_num_threads(), torch.get_rng_state().tolist()) == before
    assert [*tmp_path.iterdir()] == []


def test_time_that_runs_out_is_a_problem() -> None:
    (claim,) = [one for one in CLAIMS if one.name == "sums"]
    found = run_claim(claim.code, Settings(10**9, seconds=0.05))
    assert found.problem == f"only {found.examples} of 1000000000 examples were run in 0.05 s; none was false"


@pytest.mark.slow
@pytest.mark.parametrize(("patience", "for_each"), [(0, 1), (10**9, 0)])
def test_a_claim_shows_that_it_goes_on_as_often_as_patience_asks(patience: float, for_each: int) -> None:
    beats = list[float]()
    (code,) = (claim.code for claim in all_claims() if claim.id == "imlp/equations/eq4_agelu")
    found = run_claim(code, Settings(20, patience=patience), lambda: beats.append(patience))
    assert found.examples >= 20
    assert len(beats) == 1 + for_each * found.examples


def test_a_claim_from_outside_is_tested_in_a_process_and_equal_runs_are_equal(tmp_path: Path) -> None:
    first, second = (
        spawn("properties", str(CASES), "--jobs", jobs, "--trust-code", "-f", "json", "--examples", "4", cwd=tmp_path)
        for jobs in "12"
    )
    assert first.out == second.out
    assert [*tmp_path.iterdir()] == []
    verdicts = {check["id"].rpartition("/")[2]: check["verdict"] for check in json.loads(first.out)["checks"]}
    assert {name for name, verdict in verdicts.items() if verdict == "error"} == {*claims_in("unusable")}
    assert {name for name, verdict in verdicts.items() if verdict == "differs"} == {*claims_in("false")}


@pytest.mark.slow
@pytest.mark.parametrize("helping", [False, True])
def test_processes_and_this_one_find_what_one_alone_does(*, helping: bool) -> None:
    claims = all_claims()[:3]
    with open_pool(1) as pool, running(claims, Settings(4), pool, helping=helping) as outcomes:
        found = outcomes(lambda _: None)
    assert found == {claim.id: run_claim(claim.code, Settings(4)) for claim in claims}
