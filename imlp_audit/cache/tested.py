"""Outcomes of claims about functions that earlier runs tested."""

from __future__ import annotations

from collections.abc import Iterable

from imlp_audit.cache.sources import TESTING, fingerprint, fingerprint_folder
from imlp_audit.cache.store import Store
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.running import Outcomes
from imlp_audit.equations.settings import Settings
from imlp_audit.processes.code import is_bundled
from imlp_audit.records.base import Record


class TestedClaim(Record):
    """The outcome of a claim."""

    outcome: Outcome


def recall_outcomes(store: Store, claims: Iterable[ClaimText], settings: Settings) -> Outcomes:
    """Return the outcomes that are kept, by claim id."""
    found = {name: store.read(key, TestedClaim) for name, key in _keys(claims, settings).items()}
    return {name: kept.outcome for name, kept in found.items() if kept is not None}


def keep_outcomes(store: Store, claims: Iterable[ClaimText], settings: Settings, outcomes: Outcomes) -> None:
    """Keep outcomes. A claim that could not be tested to its end is tested again by the next run."""
    for name, key in _keys(claims, settings).items():
        outcome = outcomes[name]
        if isinstance(outcome, Outcome) and outcome.problem is None:
            store.keep(key, TestedClaim(outcome=outcome))


def _keys(claims: Iterable[ClaimText], settings: Settings) -> dict[str, str]:
    """Return what the outcome of each bundled claim depends on: not on time limits, nor on how many processes."""
    bundled = [claim for claim in claims if is_bundled(claim.code.folder)]
    folders = {folder: fingerprint_folder(folder) for folder in {claim.code.folder for claim in bundled}}
    limits = settings.limits
    how = f"{limits.examples} examples from seed {limits.seed} in {settings.dtype} on {settings.device}"
    own = fingerprint(TESTING)
    codes = ((claim.id, claim.code) for claim in bundled)
    return {name: f"claim {own} {code.module}.{code.function} {folders[code.folder]} {how}" for name, code in codes}
