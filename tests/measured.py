"""Models that many tests need: each is counted once in a run of the tests, by whichever process needs it first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from imlp_audit.cache.measured import keep_model, narrow, recall_models
from imlp_audit.cache.store import Store, cache_folder
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Facts, ModelKey, Need
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.load import load

STORE = Store(cache_folder())


def facts_of(needed: Mapping[ModelKey, Need]) -> Facts:
    """Return the facts of models, from the store where they are there."""
    known, left = recall_models(STORE, needed)
    made = {}
    for key, facts in measure_models(left, lambda name: None):
        keep_model(STORE, key, facts)
        made[key] = narrow(facts, needed[key])
    return {**known, **made}


def audit_file(spec: Path) -> AuditResult:
    """Audit a spec as `verify` does, with what other tests have counted."""
    return audit(load([str(spec)]), Options(store=STORE), lambda _: lambda _: None)
