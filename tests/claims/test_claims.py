"""The papers' claims, run: what is false names what holds instead, and its counterexample does not depend on luck."""

from __future__ import annotations

import pytest
import torch

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.claims.settings import Settings
from imlp_audit.claims.testing import run_claim
from tests.claims.papers import all_claims

# a claim that another paper makes too is run there
OWN = [claim for claim in all_claims() if claim.paper == claim.code.folder.name]
FALSE = [claim for claim in OWN if claim.nearest]
MODULES = {file: [claim for claim in OWN if claim.code.file == file] for file in sorted({one.code.file for one in OWN})}


def check(claim: ClaimText, settings: Settings) -> None:
    found = run_claim(claim.code, settings)
    assert found.problem is None, claim.id
    assert bool(found.counterexample) == bool(claim.nearest), (claim.id, found)


@pytest.mark.parametrize("examples", [3, pytest.param(10, marks=pytest.mark.slow)])  # as many as reports are made on
@pytest.mark.parametrize("file", MODULES)
def test_claims_are_false_only_if_they_name_what_holds_instead(file: str, examples: int) -> None:
    for claim in MODULES[file]:
        check(claim, Settings(examples))


@pytest.mark.slow
@pytest.mark.parametrize("claim", FALSE, ids=lambda claim: claim.id)
def test_a_counterexample_is_short_and_depends_on_neither_the_seed_nor_the_number_of_examples(claim: ClaimText) -> None:
    searches = [Settings(10, 0), Settings(60, 1)]
    (found,) = {run_claim(claim.code, settings).counterexample for settings in searches}
    assert len("; ".join(found)) <= 400  # a person checks it by hand


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_same_holds_on_a_gpu() -> None:
    for claim in OWN:
        check(claim, Settings(15, device="cuda"))
