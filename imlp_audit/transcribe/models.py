"""The model that a row is of: a name only where the label supports it, candidates as a comment otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from imlp_audit.models.names.data_sets import text_class, text_recipe
from imlp_audit.models.names.known import Library, has_sizeless_parameters, own_size, resembles, size_in_name
from imlp_audit.models.names.match import Confidence, close_models, first_meaning, spellings, variants_of
from imlp_audit.numbers.printed import Printed
from imlp_audit.numbers.words import list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import read_columns
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.image_sizes import (
    Named,
    is_sized,
    models_of_all_sizes,
    published,
    sides_to_propose,
    split_size,
    why_not_for_all,
    why_own,
    why_several,
)
from imlp_audit.transcribe.labels import LabelParts, read_label
from imlp_audit.transcribe.meanings import (
    LIBRARIES,
    TableSays,
    join_reasons,
    split_name,
    two_models,
    why_another,
    why_like,
    why_unfit,
)
from imlp_audit.transcribe.recipes import propose, propose_near, write_recipe
from imlp_audit.transcribe.rows import read_numbers

TotalsPrinted: TypeAlias = Mapping[tuple[str, int | None], Sequence[str]]
"""The totals that are printed for a label and a size of the images, one of those that begin alike."""


def totals_printed(table: SourceTable, others: Sequence[SourceTable]) -> Mapping[str, TotalsPrinted]:
    """Return the totals that a document prints for the labels: parameters in all its tables, FLOPs in one."""
    parameters = _totals_of([table, *others], Measure.PARAMETERS)
    return {"parameters": parameters, "FLOPs": _totals_of([table], Measure.FLOPS)}


def _totals_of(tables: Sequence[SourceTable], measure: Measure) -> TotalsPrinted:
    """Return the totals that each label has in the first such column of the tables, by label and size of the images."""
    found: dict[tuple[str, int | None], dict[str, str]] = {}
    for table in tables[:50]:
        columns = read_columns(table)
        at = next((i for i, guess in columns.numbers if guess.measure is measure), None)
        if at is None:
            continue
        for row in table.rows:
            label = read_label(row.cells[columns.label], None, ())
            key = ((label.text + label.mark).casefold(), read_numbers(row, columns).size)
            text = row.cells[at]
            if text not in MISSING:
                found.setdefault(key, {}).setdefault(_leading(text), text)
    return {key: tuple(texts.values()) for key, texts in found.items()}


def _leading(text: str) -> str:
    """Return a number's first two digits and how many digits stand before the point: enough to tell models apart."""
    found = re.search(r"\d[\d,]*", text)
    whole = found[0].replace(",", "") if found else text
    return whole[:2] + "0" * max(0, len(whole) - 2)


def why_several_models(label: LabelParts, size: int | None, printed: Mapping[str, TotalsPrinted]) -> str | None:
    """Say that a label stands for several models, if the source prints several totals for it."""
    for counted, totals in printed.items():
        texts = totals.get(((label.text + label.mark).casefold(), size), ())
        if len(texts) > 1:
            one = "one model on images of one size" if counted == "FLOPs" else "one model"
            return f"the source prints several {counted} for {label.text!r} ({list_some(texts)}), so it is not {one}"
    return None


@dataclass(frozen=True)
class ModelGuess:
    """A row's recipe and where it comes from, or the reason why it has none; other names are candidates.

    `nearest` are models of which no name has all of the label, each with a comment on what it lacks, and `variants`
    those whose names have one more word than the recipe's. `sized` says that the source gives the size of the images,
    `sizeless` is the library if this size alone is missing and the candidates have the same parameters for all sizes.
    `more` is what the label has besides a name.
    """

    recipe: str | None
    library: Library | None
    reason: str
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    sized: bool = False
    sizeless: Library | None = None
    more: str = ""

    @property
    def of_images(self) -> bool:
        """Whether the row has no model, and may have one that reads images."""
        return self.recipe is None and not all("transformers:" in one for one in (*self.candidates, *self.nearest))

    def opened(self, reason: str) -> ModelGuess:
        """Return the guess of a row that waits for a reason: its model is the first candidate."""
        first = [self.recipe] if self.recipe is not None else []
        candidates = (*first, *self.candidates)
        return replace(self, recipe=None, library=None, reason=reason, candidates=candidates, variants=(), sized=False)


def guess_model(
    label: LabelParts, size: int | None, doubt: str | None, table: TableSays, flops: Printed | None = None
) -> ModelGuess:
    """Match a label with the names of the libraries; `size` is the side of the images where the row gives one.

    `flops` are those that it prints for images of 224, in G.
    """
    bare, said = split_size(label.name) if label.size is None else (label.name, None)
    row = label.size or size or said
    side = row or (table.given if isinstance(table.given, int) else None)
    name, found = _find(bare if said is not None and side == said else label.name, side, table)
    exact = _with(Confidence.EXACT, found)
    alike = sorted(_with(Confidence.CLOSE, found), key=lambda one: resembles(*one))
    close = () if label.changed else propose(alike, side, label.name)
    if not exact:
        return _without(label, side, found, close, table)
    reason = join_reasons(doubt, why_another(exact, label.name, side, table.prefer)) or _why_longer(found, exact, side)
    candidates = (*(write_recipe(one, side) for one in exact if why_unfit(one, side) is None), *close)[:3]
    sizeless = None
    if reason is None:
        reason, candidates = _why_open(exact, label.name, name, row, table, flops) or (None, candidates)
        sizeless = exact[0][0] if all(has_sizeless_parameters(*one) for one in exact) else None
    (library, model), *rest = exact
    variants = tuple(variants_of(model, library))
    if label.marks and label.marks not in table.harmless:
        reason, sizeless = f"the mark {label.marks!r} may stand for a change of the model", None
        others = propose(((library, one) for one in variants[:2]), side, label.name)
        spelt = "†" in label.marks and any("_dagger" in one for one in variants)
        both = (*others, *candidates[:1]) if spelt else (*candidates[:1], *others)
        candidates = (*both, *candidates[1:])[:3]
    if reason is not None:
        return ModelGuess(None, None, reason, candidates, sizeless=sizeless)
    sized = side or size_in_name(library, model)
    return ModelGuess(
        write_recipe((library, model), side),
        library,
        f"{label.name!r} is {model} of {library}",
        tuple(write_recipe(one, side) for one in rest if side is None or own_size(*one) == own_size(library, model)),
        variants=variants,
        sized=sized is not None and (side is not None or str(sized) in label.name),
    )


def _why_longer(found: _Found, exact: Sequence[Named], side: int | None) -> str | None:
    """Return why a label may stand for a longer name: that one is of these images, and the label's is not."""
    longer = [one for one in _with(Confidence.CLOSE, found) if side is not None and size_in_name(*one) == side]
    if not longer or own_size(*exact[0]) == side:
        return None
    return f"{longer[0][0]} has a model for images of {side} under a longer name: {longer[0][1]}"


_Open: TypeAlias = tuple[str, tuple[str, ...]]
"""Why a model is open, and the recipes that it may be."""


def _why_open(
    exact: Sequence[Named], label: str, name: str, row: int | None, table: TableSays, flops: Printed | None
) -> _Open | None:
    """Return why a label's name leaves a model open: by the size of its images, or as it stands for two models."""
    side = row or (table.given if isinstance(table.given, int) else None)
    unfit = why_unfit(exact[0], row)
    if unfit is not None:
        return unfit, propose(exact[:1], None, label)
    return _why_no_size(exact, name, row, table) or two_models(exact[0], label, side, flops)


def _why_no_size(exact: Sequence[Named], label: str, row: int | None, table: TableSays) -> _Open | None:
    """Return why the size of the images leaves a model open, and the models that it may be; None where it does not."""
    if row is not None:
        return None
    if isinstance(table.given, int):
        reason, models = why_not_for_all(exact, table.given), [*exact, *published(exact)]
    else:
        models = models_of_all_sizes(label, [exact[0][0]] if exact[0][0] is table.prefer else LIBRARIES)
        reason = why_several(models) if models else None
        if reason is None and (table.unsized or is_sized(exact[0], label)):
            reason, models = why_own(exact, label, table.prefer, table.given), [*exact, *published(exact)]
    if reason is None:
        return None
    models.sort(key=lambda one: (own_size(*one), one[0] is not exact[0][0]))
    if len(models) == 1:
        return reason, tuple(write_recipe(models[0], side) for side in sides_to_propose(models[0], label, table.given))
    return reason, tuple(write_recipe(one, own_size(*one)) for one in models)


def _without(
    label: LabelParts, side: int | None, found: _Found, close: tuple[str, ...], table: TableSays
) -> ModelGuess:
    """Return why a label that is not the name of one model has none, and the names that it may stand for."""
    if label.changed:
        part = _with(Confidence.EXACT, _find(label.base, side, table)[1]) if label.base else []
        excited = _with(Confidence.EXACT, _find(label.with_se, side, table)[1]) if label.with_se else []
        known = propose((*excited, *part), side, label.name)
        how = "left out of" if label.left_out else "added to"
        return ModelGuess(None, None, f"the label names something that is {how} a model", (), known)
    meaning = first_meaning(label.name)
    meant = _with(Confidence.EXACT, _first(meaning, side, table)) if meaning else []
    if meant:
        return ModelGuess(
            None, None, _FIRST_MEANING, tuple(dict.fromkeys((*propose(meant, side, label.name), *close)))[:3]
        )
    if close:
        many = "the label does not say which of these it is"
        short = many if len(close) > 1 else "the label is only a part of this name"
        alike = [why_like(one) for one in _with(Confidence.CLOSE, found)]
        only = alike[0] if None not in alike else None
        return ModelGuess(None, None, join_reasons(short, only) or short, close[:3])
    for family in table.captioned:
        exact = _with(Confidence.EXACT, _first(f"{family}-{label.name}", side, table))
        if exact:
            short = f"the caption names {family}, which the label may leave out"
            return ModelGuess(None, None, short, propose(exact, side, label.name))
    text = text_class(label.name)
    if text is not None:
        return _of_text(label.name, text)
    near = propose_near(_with(Confidence.NEAR, found), side, label.name)
    added, name = split_name(label.name)
    if added:
        named = _find(name, side, table)[1]
        near = propose((*_with(Confidence.EXACT, named), *_with(Confidence.CLOSE, named)), side, name)
    more = f"{added!r} may stand for another model than {name!r}" if added else ""
    return ModelGuess(None, None, _IN_NEITHER, (), near[:3], more=more)


_FIRST_MEANING = "the label is not all of a name; in the paper that first printed it, it is the first of these"
_IN_NEITHER = "no name in timm or torchvision matches this label"
_IN_TRANSFORMERS = f"{_IN_NEITHER}, but a class of transformers does"


def _of_text(label: str, architecture: str) -> ModelGuess:
    """Return why a text model is open, with its recipe only if the label names the size that its class has."""
    recipe = text_recipe(label)
    if recipe is not None:
        return ModelGuess(None, None, f"{_IN_TRANSFORMERS}, in this size", (recipe,))
    reason = f"{_IN_TRANSFORMERS}, in a size that may not be the row's: give its sizes as `config`"
    return ModelGuess(None, None, reason, more=f"the class is {architecture}")


_Found: TypeAlias = Mapping[Library, tuple[tuple[str, Confidence], ...]]


def _with(sure: Confidence, found: _Found) -> list[tuple[Library, str]]:
    return [(library, name) for library, names in found.items() for name, one in names if one is sure]


def _find(label: str, size: int | None, table: TableSays) -> tuple[str, _Found]:
    """Return a label and what is known of it, or of both after a family in the heading: CaiT-xxs-24 for xxs-24."""
    found = _first(label, size, table)
    if any(found.values()):
        return label, found
    headed = ((name, _first(name, size, table)) for name in (f"{family}-{label}" for family in table.headed))
    return next((one for one in headed if any(one[1].values())), (label, found))


def _first(label: str, size: int | None, table: TableSays) -> _Found:
    """Return names, the preferred library's first, for the first spelling that stands for one; else for the last."""
    spelt = spellings(label)
    found = dict[Library, tuple[tuple[str, Confidence], ...]]()
    for library in sorted(LIBRARIES, key=lambda one: one is not table.prefer):
        known = [_names(one, library, size) for one in spelt]
        sure = (names for names in known if any(one is Confidence.EXACT for _, one in names))
        found[library] = next(sure, known[-1])
    return found


@lru_cache(maxsize=1024)
def _names(label: str, library: Library, size: int | None) -> tuple[tuple[str, Confidence], ...]:
    return tuple(close_models(label, library, size))
