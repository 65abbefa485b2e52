"""Outcomes of claims about functions that earlier runs tested."""

from __future__ import annotations

from collections.abc import Iterable

from imlp_audit.cache.sources import TESTING, fingerprint, fingerprint_folder
from imlp_audit.cache.store import Store
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.door import is_bundled
from imlp_audit.equations.outcome import AnyOutcome, Outcome
from imlp_audit.equations.running import Outcomes
from imlp_audit.equations.settings import Settings
from imlp_audit.records.base import Record


class TestedClaim(Record):
    """The outcome of a claim."""

    outcome: Outcome


def recall_outcomes(store: Store, claims: Iterable[ClaimText], settings: Settings) -> Outcomes:
    """Return the outcomes that are kept, by claim id."""
    bundled = [claim for claim in claims if is_bundled(claim.code.folder)]
    found = {claim.id: store.read(_name(claim, settings), TestedClaim) for claim in bundled}
    return {name: kept.outcome for name, kept in found.items() if kept is not None}


def keep_outcome(store: Store, claim: ClaimText, settings: Settings, outcome: AnyOutcome) -> None:
    """Keep an outcome. A claim that could not be tested to its end is tested again by the next run."""
    if isinstance(outcome, Outcome) and outcome.problem is None and is_bundled(claim.code.folder):
        store.keep(_name(claim, settings), TestedClaim(outcome=outcome))


def _name(claim: ClaimText, settings: Settings) -> str:
    """Return what an outcome depends on; how long it may take and how many processes share the work do not matter."""
    limits = settings.limits
    how = f"{limits.examples} examples from seed {limits.seed} in {settings.dtype} on {settings.device}"
    code = f"{claim.code.module}.{claim.code.function} {fingerprint_folder(claim.code.folder)}"
    return f"claim {fingerprint(TESTING)} {code} {how}"
