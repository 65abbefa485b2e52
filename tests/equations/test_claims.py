"""Every claim, run: what is false as printed names what holds, and the counterexample does not depend on luck."""

from __future__ import annotations

from importlib import import_module

import pytest
import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.catalogue import ClaimText, claims_of, papers_with_claims
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.search import search
from imlp_audit.equations.settings import Limits

ALL = [claim for paper in papers_with_claims() for claim in claims_of(paper)]
FALSE = [claim for claim in ALL if claim.nearest]


def run(text: ClaimText, limits: Limits, arithmetic: Arithmetic | None = None) -> Outcome:
    claim: Claim[object] = import_module(text.module).CLAIM
    return search(claim, arithmetic or Arithmetic(), limits)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_a_claim_is_false_just_when_it_names_what_holds_instead(claim: ClaimText) -> None:
    found = run(claim, Limits(30))
    assert found.problem is None
    assert bool(found.counterexample) == bool(claim.nearest), found


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_the_same_holds_in_single_precision(claim: ClaimText) -> None:
    found = run(claim, Limits(15), Arithmetic(torch.float32))
    assert found.problem is None
    assert bool(found.counterexample) == bool(claim.nearest), found


@pytest.mark.parametrize("claim", FALSE, ids=lambda claim: claim.id)
def test_a_counterexample_does_not_depend_on_the_seed_or_the_number_of_examples(claim: ClaimText) -> None:
    searches = [Limits(20, 0), Limits(100, 0), Limits(30, 1), Limits(30, 2)]
    found = {run(claim, limits).counterexample for limits in searches}
    assert len(found) == 1, found


@pytest.mark.parametrize("claim", FALSE, ids=lambda claim: claim.id)
def test_a_counterexample_is_short_enough_to_check_by_hand(claim: ClaimText) -> None:
    assert len("; ".join(run(claim, Limits(20)).counterexample)) <= 400


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_the_same_holds_on_a_gpu(claim: ClaimText) -> None:
    found = run(claim, Limits(15), Arithmetic(device="cuda"))
    assert found.problem is None
    assert bool(found.counterexample) == bool(claim.nearest), found
