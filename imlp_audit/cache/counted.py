"""Facts of models that earlier runs counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from imlp_audit.cache.sources import MEASURING, fingerprint, fingerprint_folder
from imlp_audit.cache.store import Store
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.operations import Operation
from imlp_audit.count.outside import is_outside
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.models.host import Setting
from imlp_audit.records.base import Record


class CountedModel(Record):
    """The facts of a model; `work` is its ledger's, by module and class."""

    parameters: dict[ParameterConvention, int]
    mlps: tuple[str, ...]
    mlp_parameters: int
    settings: dict[Setting, int]
    work: dict[str, dict[Operation, int]] | None = None
    unknown: dict[str, int]
    peaks: dict[int, Peak]


def recall_models(store: Store, needed: Mapping[ModelKey, Need]) -> tuple[Facts, Mapping[ModelKey, Need]]:
    """Return what is kept of models, and what is left to measure: for these also what is kept, so that none is lost."""
    known: dict[ModelKey, ModelFacts | Failure] = {}
    left: dict[ModelKey, Need] = {}
    for key, need in needed.items():
        kept = store.read(_name(key), CountedModel) if _may_be_kept(key) else None
        has = Need() if kept is None else Need(kept.work is not None, frozenset(kept.peaks))
        if kept is not None and has | need == has:
            known[key] = narrow(_facts_of(kept), need)
        else:
            left[key] = need | has
    return known, left


def keep_model(store: Store, key: ModelKey, facts: ModelFacts | Failure) -> None:
    """Keep what was counted. A model that failed is tried again by the next run: the cause may be the machine."""
    if isinstance(facts, ModelFacts) and not facts.counted and _may_be_kept(key):
        store.keep(_name(key), _record_of(facts))


def narrow(facts: ModelFacts | Failure, need: Need) -> ModelFacts | Failure:
    """Return what is needed of the facts: a run says the same whatever others kept."""
    if isinstance(facts, Failure):
        return facts
    peaks = {batch: peak for batch, peak in facts.peaks.items() if batch in need.batches}
    return replace(facts, ledger=facts.ledger if need.work else None, peaks=peaks)


def _may_be_kept(key: ModelKey) -> bool:
    return not is_outside(key)  # what code from outside depends on is not known


def _name(key: ModelKey) -> str:
    papers = map(fingerprint_folder, sorted(key.recipe.code_folders or ()))
    return " ".join(["model", fingerprint(MEASURING), *papers, repr(key)])


def _record_of(facts: ModelFacts) -> CountedModel:
    return CountedModel(
        parameters=dict(facts.parameters),
        mlps=facts.mlps,
        mlp_parameters=facts.mlp_parameters,
        settings=dict(facts.settings),
        work=_by_path(facts.ledger) if facts.ledger is not None else None,
        unknown=dict(facts.ledger.unknown) if facts.ledger is not None else {},
        peaks=dict(facts.peaks),
    )


def _by_path(ledger: Ledger) -> dict[str, dict[Operation, int]]:
    found: defaultdict[str, dict[Operation, int]] = defaultdict(dict)
    for (path, operation), amount in ledger.work.items():
        found[path][operation] = amount
    return dict(found)


def _facts_of(kept: CountedModel) -> ModelFacts:
    ledger = None
    if kept.work is not None:
        work = {(path, operation): n for path, amounts in kept.work.items() for operation, n in amounts.items()}
        ledger = Ledger(work, kept.unknown)
    return ModelFacts(
        parameters=kept.parameters,
        mlps=kept.mlps,
        mlp_parameters=kept.mlp_parameters,
        ledger=ledger,
        settings=kept.settings,
        peaks=kept.peaks,
    )
