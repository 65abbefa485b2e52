"""Whether a number that differs is that of a variant: a model whose name has one word more than the row's."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.checks.context import Conventions
from imlp_audit.count.conventions import ParameterConvention, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.models.hosts.timm import Timm
from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.names.match import variants_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef

_MOST = 8  # variants that are built: each takes a second


def say_which_variant_fits(cell: CellRef, check: Check, read: Conventions) -> Iterator[tuple[str, str]]:
    """Yield a line for each variant of a row's model whose count is printed as the row's number is."""
    if check.verdict is not Verdict.DIFFERS or not cell.column.measure.totalled or cell.recipe is None:
        return
    for recipe in _variants(cell.recipe):
        value = _count(recipe, cell.column.measure, str(check.convention), read)
        if value is not None and value in cell.printed.interval(read.roundings_of(cell.column)[0]):
            yield "variant", f"{recipe.name} has {readable(value)}, which prints so: is it the row's model?"


def _variants(recipe: Recipe) -> Iterator[Recipe]:
    """Yield the recipe with the variants of its model; none for a model that was changed."""
    host = recipe.host
    if not isinstance(host, Timm) or host.arguments or recipe.mlp is not None:
        return
    name = host.architecture.partition(".")[0]
    for other in variants_of(name, Library.TIMM)[:_MOST] if name in known_models(Library.TIMM) else ():
        yield recipe.model_copy(update={"host": Timm(architecture=other)})


def _count(recipe: Recipe, measure: Measure, convention: str, read: Conventions) -> int | None:
    """Return a model's total; None for a model that cannot be built."""
    from imlp_audit.count.models import measure_models  # torch takes seconds to import

    key = ModelKey(recipe, None)
    work = measure is Measure.FLOPS
    facts = dict(measure_models({key: Need(work=work)}, lambda _: None))[key]
    if not isinstance(facts, ModelFacts):
        return None
    if not work:
        return facts.parameters[ParameterConvention(convention)]
    counter = read.flops[convention]
    return int(total(facts.ledger, counter)) if facts.ledger is not None and facts.has_total(counter) else None
