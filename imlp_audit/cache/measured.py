"""Facts of models that earlier runs counted, and outcomes of claims about functions that they tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from imlp_audit.cache.store import MEASURING, TESTING, Store, fingerprint, fingerprint_folder
from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.claims.running import Outcomes
from imlp_audit.claims.settings import Outcome, Settings
from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.measuring import is_outside
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.models.host import Setting
from imlp_audit.processes.code import is_bundled
from imlp_audit.records.base import Record


class CountedModel(Record):
    """The facts of a model; `work` is its ledger's, by module and class."""

    parameters: dict[ParameterConvention, int]
    mlps: tuple[str, ...]
    mlp_parameters: int
    settings: dict[Setting, int]
    work: tuple[tuple[str, Operation, int], ...] | None = None
    unknown: dict[str, int]
    peaks: dict[int, Peak]


def recall_models(store: Store, needed: Mapping[ModelKey, Need]) -> tuple[Facts, Mapping[ModelKey, Need]]:
    """Return what is kept of models, and what is left to measure: for these also what is kept, so that none is lost."""
    known: dict[ModelKey, ModelFacts | Failure] = {}
    left: dict[ModelKey, Need] = {}
    for key, need in needed.items():
        kept = store.read(_model_key(key), CountedModel) if not is_outside(key) else None
        has = Need() if kept is None else Need(kept.work is not None, frozenset(kept.peaks))
        if kept is not None and has | need == has:
            known[key] = narrow(_facts_of(kept), need)
        else:
            left[key] = need | has
    return known, left


def keep_model(store: Store, key: ModelKey, facts: ModelFacts | Failure) -> None:
    """Keep what was counted, unless it depends on code from outside, of which nothing is known.

    A model that failed is tried again by the next run: the cause may be the machine.
    """
    if isinstance(facts, ModelFacts) and not facts.counted and not is_outside(key):
        store.keep(_model_key(key), _record_of(facts))


def narrow(facts: ModelFacts | Failure, need: Need) -> ModelFacts | Failure:
    """Return what is needed of the facts: a run says the same whatever others kept."""
    if isinstance(facts, Failure):
        return facts
    peaks = {batch: peak for batch, peak in facts.peaks.items() if batch in need.batches}
    return replace(facts, ledger=facts.ledger if need.work else None, peaks=peaks)


def _model_key(key: ModelKey) -> str:
    papers = map(fingerprint_folder, sorted(key.recipe.code_folders or ()))
    return " ".join(["model", fingerprint(MEASURING), *papers, repr(key)])


def _record_of(facts: ModelFacts) -> CountedModel:
    return CountedModel(
        parameters=dict(facts.parameters),
        mlps=facts.mlps,
        mlp_parameters=facts.mlp_parameters,
        settings=dict(facts.settings),
        work=tuple((*key, amount) for key, amount in facts.ledger.work.items()) if facts.ledger is not None else None,
        unknown=dict(facts.ledger.unknown) if facts.ledger is not None else {},
        peaks=dict(facts.peaks),
    )


def _facts_of(kept: CountedModel) -> ModelFacts:
    ledger = None
    if kept.work is not None:
        ledger = Ledger({(path, operation): amount for path, operation, amount in kept.work}, kept.unknown)
    return ModelFacts(
        parameters=kept.parameters,
        mlps=kept.mlps,
        mlp_parameters=kept.mlp_parameters,
        ledger=ledger,
        settings=kept.settings,
        peaks=kept.peaks,
    )


class TestedClaim(Record):
    """The outcome of a claim."""

    outcome: Outcome


def recall_outcomes(store: Store, claims: Iterable[ClaimText], settings: Settings) -> Outcomes:
    """Return the outcomes that are kept, by claim id."""
    found = {name: store.read(key, TestedClaim) for name, key in _claim_keys(claims, settings).items()}
    return {name: kept.outcome for name, kept in found.items() if kept is not None}


def keep_outcomes(store: Store, claims: Iterable[ClaimText], settings: Settings, outcomes: Outcomes) -> None:
    """Keep outcomes. A claim that could not be tested to its end is tested again by the next run."""
    for name, key in _claim_keys(claims, settings).items():
        outcome = outcomes[name]
        if isinstance(outcome, Outcome) and outcome.problem is None:
            store.keep(key, TestedClaim(outcome=outcome))


def _claim_keys(claims: Iterable[ClaimText], settings: Settings) -> dict[str, str]:
    """Return what the outcome of each bundled claim depends on: not on time limits, nor on how many processes."""
    bundled = [claim for claim in claims if is_bundled(claim.code.folder)]
    folders = {folder: fingerprint_folder(folder) for folder in {claim.code.folder for claim in bundled}}
    how = f"{settings.examples} examples from seed {settings.seed} on {settings.device}"
    own = fingerprint(TESTING)
    codes = ((claim.id, claim.code) for claim in bundled)
    return {name: f"claim {own} {code.module}.{code.function} {folders[code.folder]} {how}" for name, code in codes}
