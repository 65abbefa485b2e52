"""Every claim says in its file what it claims, where, in which form, and how rounding is bounded."""

from __future__ import annotations

import ast
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import imlp_audit
from imlp_audit.equations.catalogue import ClaimText, claims_of, papers_with_claims
from imlp_audit.spec.library import load

ALL = [claim for paper in papers_with_claims() for claim in claims_of(paper)]
ROOT = Path(imlp_audit.__file__).parent.parent


def test_there_are_claims_of_all_five_papers() -> None:
    assert set(papers_with_claims()) == {
        "imlp", "iffn_poster", "mixer_gmlp_coursework", "mlp_mixer_notes", "resmlp"
    }  # fmt: skip
    assert len(ALL) >= 60


def test_ids_are_slugs_and_each_is_taken_once() -> None:
    assert len({claim.id for claim in ALL}) == len(ALL)
    assert all(claim.name == claim.name.lower() and claim.name.isidentifier() for claim in ALL)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_a_claim_tells_everything(claim: ClaimText) -> None:
    assert claim.statement.endswith((".", '"', ")"))
    assert claim.place
    assert claim.form
    assert claim.bound
    assert (ROOT / claim.file).is_file()


@pytest.mark.parametrize("claim", [c for c in ALL if c.nearest], ids=lambda claim: claim.id)
def test_the_nearest_form_is_another_claim_of_the_paper(claim: ClaimText) -> None:
    assert claim.literal
    assert claim.nearest in {other.name for other in claims_of(claim.paper)} - {claim.name}


def test_a_docstring_is_all_that_is_read() -> None:
    """Listing claims imports neither torch nor hypothesis nor the claims."""
    program = (
        "import sys; from imlp_audit.equations.catalogue import *; n = sum(len(claims_of(p)) for p in "
        "papers_with_claims()); print(n, [m for m in sys.modules if m.split('.')[0] in ('torch', 'hypothesis')])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert told.stdout.split(maxsplit=1) == [str(len(ALL)), "[]\n"]


@pytest.mark.parametrize("paper", ["no_such_paper", "..", "../equations/imlp", "/", ""])
def test_a_papers_id_leads_nowhere_else(paper: str) -> None:
    assert claims_of(paper) == ()


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_no_claim_draws_lots_beside_its_strategy(claim: ClaimText) -> None:
    """Randomness outside the strategy could not be shrunk, nor shown."""
    tree = ast.parse((ROOT / claim.file).read_text(encoding="utf-8"))
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & {"rand", "randn", "randint", "manual_seed", "default_rng", "allclose", "isclose"}


@pytest.mark.parametrize("paper", papers_with_claims())
def test_every_claim_is_in_the_coverage_of_its_paper(paper: str) -> None:
    (located,) = load([str(ROOT / "specs" / paper)]).papers[0].coverage
    globs = [glob for entry in located.value.entries for glob in entry.checks or ()]
    missing = [claim.id for claim in claims_of(paper) if not any(fnmatchcase(claim.id, glob) for glob in globs)]
    assert missing == []
