"""What only a person can decide about a draft, and what was made of the table, in words."""

from __future__ import annotations

from collections import Counter

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.draft import Draft
from imlp_audit.transcribe.headings import ColumnRole
from imlp_audit.transcribe.image_sizes import OwnSize


def decisions_of(draft: Draft) -> list[str]:
    """Return what a person must look at, the most important first."""
    found = [doubt for guess in draft.columns.guesses for doubt in guess.doubts]
    if draft.rows and not any(row.model.recipe for row in draft.rows):
        found.insert(0, _NO_MODEL)
    if draft.unsized:
        headings = [guess.heading for at, guess in draft.columns.numbers if draft.columns.slugs[at] in draft.unsized]
        found.insert(0, f"{list_some(headings)}: {_UNSIZED}")
    if draft.may_lack_head is not None:
        found.append(
            f"the table says {draft.may_lack_head!r}, so the parameters may be counted without the classifier: "
            "`parameters: [all, no_head]` under about tries both; leave the one that the paper means"
        )
    without = [row for row in draft.rows if row.model.recipe is None]
    for reason, count in Counter(row.model.reason for row in without).most_common():
        labels = [row.label.text + row.label.mark for row in without if row.model.reason == reason]
        found.append(f"{count_of(count, 'row')} without a model ({list_some(labels)}): {reason}")
    waits = Counter(row.model.reason for row in draft.rows if row.numbers.waiting)
    for reason, count in waits.most_common():
        labels = [row.label.text for row in draft.rows if row.numbers.waiting and row.model.reason == reason]
        found.append(f"{count_of(count, 'row')} with only parameters ({list_some(labels)}): {reason}")
    if draft.skipped:
        rows = count_of(len(draft.skipped), "row")
        found.append(f"{rows} left out, without a number that a spec can hold ({list_some(draft.skipped)})")
    marks = sorted({row.label.mark for row in draft.rows if row.label.mark} - draft.harmless.keys())
    if marks:
        found.append(
            f"the footnote marks {', '.join(marks)} are part of the labels; `footnote:` can say what they mean"
        )
    found += [f"the mark {mark} is taken to change no model: {text}" for mark, text in draft.harmless.items()]
    remarks = sorted({row.label.remark.lower() for row in draft.rows if row.label.remark and row.model.recipe})
    if remarks:
        found.append(f"taken to change no model: the remark {', '.join(remarks)} behind labels")
    lost = [row for row in draft.rows if row.numbers.changes and row.baseline is None]
    if lost:
        found.append(f"{count_of(len(lost), 'row')} with printed changes but without `baseline`; they are comments")
    parts = sum(len(row.numbers.left_out) for row in draft.rows)
    if parts:
        found.append(f"{count_of(parts, 'printed part')} that a spec cannot hold; each is a comment at its row")
    sorting = [draft.columns.guesses[at].heading or f"column {at + 1}" for at in sorted(draft.columns.sorting)]
    if sorting:
        found.append(f"taken to say only of what kind the models are: the text under {list_some(sorting, 8)}")
    describing = [draft.columns.guesses[at].heading for at in sorted(draft.columns.describing)]
    if describing:
        found.append(f"taken to describe the models, and to change none: the text under {list_some(describing, 8)}")
    unknown = [guess for guess in draft.columns.guesses if guess.role is ColumnRole.UNKNOWN and not guess.doubts]
    if unknown:
        headings = [guess.heading or "(no heading)" for guess in unknown]
        found.append(f"columns that were not understood: {list_some(headings, 8)}")
    if draft.classes is not None:
        found.append(f"models have {draft.classes} classes, as --classes says")
    return [*found, *_sizes(draft), *(f"note: {note}" for note in draft.table.notes)]


_NO_MODEL = (
    "no row has a model, so no number can be checked yet: give rows a `model:`, such as a hint at the row or "
    "{timm: resnet50}, and look whether the labels are from the right column"
)


HEAD_NEEDED = "`parameters: [all, no_head]` under about, or one of them"
"""What a check of parameters needs where a classifier may not be counted and another file describes the paper."""

SIZE_NEEDED = "the size of the images"
"""What a check of FLOPs needs where nothing says on which images they are counted."""

_UNSIZED = (
    "not checked, since nothing says on which images the models are counted. Run `init` again with "
    "`--image 224`, or with the paper's size; `--image own` takes each model's own. Or remove `needs` from the column: "
    "a row without `image` is then counted at its model's own size"
)


def _sizes(draft: Draft) -> list[str]:
    """Say where the size of the images comes from, if FLOPs depend on it."""
    if not any(guess.measure is Measure.FLOPS for _, guess in draft.columns.numbers):
        return []
    if draft.columns.size is not None or draft.unsized:
        return []
    if draft.columns.first_size is not None:
        return [f"models are built for images of {draft.columns.first_size}, the size of the first column of FLOPs"]
    if draft.size is not None:
        return [f"FLOPs are counted on images of {draft.size}, the size that the caption gives"]
    if draft.oblong is not None:
        height, width = draft.oblong
        return [f"FLOPs are counted on images of {height} x {width}, the size that the caption gives, for all rows"]
    if draft.given is OwnSize.OWN:
        return ["FLOPs are counted at each model's own size in its library, as --image says"]
    if draft.given is not None:
        return [f"rows without a size are counted on images of {draft.given}, as --image says"]
    if all(row.model.recipe for row in draft.rows):
        return []
    return ["the table gives no size of images; models that you give without `image` are counted at their own sizes"]


def summary_of(draft: Draft) -> list[str]:
    """Return what was made of the table: a line on its columns, one on its rows."""
    guesses = [(slug, draft.columns.guesses[at]) for at, slug in draft.columns.slugs.items()]
    columns = [f"{slug} ({one.measure}{f' in {one.unit}' if one.unit else ''})" for slug, one in guesses]
    by = Counter(str(row.model.library) for row in draft.rows if row.model.library is not None)
    models = ", ".join(f"{count} of {library}" for library, count in by.items()) or "none"
    numbers = sum(len(row.numbers.printed) + len(row.numbers.changes) for row in draft.rows)
    label = draft.columns.guesses[draft.columns.label].heading if draft.columns.guesses else ""
    return [
        f"labels: from {f'the column {label!r}' if label else f'column {draft.columns.label + 1}'}",
        f"columns: {', '.join(columns) or 'none'}",
        f"{count_of(len(draft.rows), 'row')}, {count_of(numbers, 'number')}; rows with a model: {models}",
    ]
