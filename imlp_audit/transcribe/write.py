"""A draft as the YAML of a spec, with what was guessed in comments beside it, and what was made of it in words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.numbers.forms import DecimalMark
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.parse_yaml import without_refused
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.counters import NamedCounter, find_counter, find_counting
from imlp_audit.transcribe.draft import Draft, DraftRow
from imlp_audit.transcribe.grid import SourceTable, swap_marks
from imlp_audit.transcribe.headings import ColumnGuess, ColumnRole, counts_macs
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
    waiting = [row for row in draft.rows if row.numbers.waiting]
    waits = Counter((row.numbers.why_waiting, row.numbers.why_waiting or row.model.reason) for row in waiting)
    for (other, reason), count in waits.most_common():
        labels = [row.label.text for row in waiting if reason in (row.numbers.why_waiting, row.model.reason)]
        kind = "with FLOPs that wait" if other else "with only parameters"
        found.append(f"{count_of(count, 'row')} {kind} ({list_some(labels)}): {reason}")
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


_LONGEST = 400
_PLAIN = re.compile(r"[A-Za-z0-9.][A-Za-z0-9.%+\-/()×^_ ]*(?<! )|[+\-]\d[\d.,]*%?")


@dataclass(frozen=True)
class DraftPaper:
    """What a spec says about its paper; `described` where another file of the folder does.

    `table` is what the table is called in it, where that is not its number.
    """

    id: str
    title: str
    authors: str
    version: str
    described: bool = False
    table: str | None = None


def write_spec(draft: Draft, paper: DraftPaper) -> str:
    """Return the YAML of a spec with one table."""
    lines = [*_introduction(draft), f"paper: {paper.id}"]
    if paper.described:
        return "\n".join([*lines, *_table(draft, paper), ""])
    lines += ["about:", *(f"  {key}: {scalar(getattr(paper, key))}" for key in ("title", "authors", "version"))]
    lines += ['  decimal: ","'] if draft.table.decimal == "," else []
    lines += [f"  {line}" for line in _conventions(draft)]
    first, *rest = _table(draft, paper)
    return "\n".join([*lines, "tables:", f"  - {first}", *(f"    {line}" for line in rest), ""])


def scalar(text: str) -> str:
    """Return a text as a value in YAML, in quotes where it needs them."""
    text = _clean(text)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _comment(text: str) -> str:
    return f"# {_clean(text)}"


def _clean(text: str) -> str:
    """Return a text on one line, not too long and without characters that a spec refuses."""
    text = " ".join(without_refused(text).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _introduction(draft: Draft) -> Iterator[str]:
    table = draft.table
    label = f" ({table.label})" if table.label else ""
    yield _comment(f"Table {table.number}{label} of {table.file}, {table.place}, written by `imlp-audit init`.")
    decisions = decisions_of(draft)
    if decisions:
        yield "# To decide:"
        yield from (f"#   {_comment(text)[2:]}" for text in decisions)


def _conventions(draft: Draft) -> Iterator[str]:
    if draft.may_lack_head is not None:
        comment = _comment(f"the table says {draft.may_lack_head!r}: give the one that it means")
        yield f"parameters: [all, no_head]  {comment}"
    headings = _headings_of_flops(draft)
    declared = find_counting(draft.table.caption)
    counter = _counter(draft)
    if counter is not None:
        sure = counter.convention is not None and counter.certain
        which = f"[{counter.convention}]  " if sure else "[fvcore, macs]  "
        more = "" if sure else "; give the convention of the numbers first (docs/conventions.md)"
        yield f"flops: {which}{_comment(f'the source says {counter.sentence!r}{more}')}"
    elif headings and all(counts_macs(heading) for heading in headings):
        yield "flops: [macs]  # by the heading"
    elif headings and declared is not None:
        yield f"flops: [{declared[0]}]  {_comment(f'the caption says {declared[1]!r}')}"
    elif headings:
        yield "flops: [fvcore, macs]  # the source does not say what counted them; give the paper's own counter first"


def _headings_of_flops(draft: Draft) -> list[str]:
    return [guess.heading for _, guess in draft.columns.numbers if guess.measure is Measure.FLOPS]


def _counter(draft: Draft) -> NamedCounter | None:
    """Return the counter that the source names, if it prints FLOPs."""
    headings = _headings_of_flops(draft)
    notes = [text for _, text in draft.table.marks]
    notes += [row.single for row in draft.table.rows if row.single is not None]
    return find_counter(draft.table.caption, headings, notes) if headings else None


def _table(draft: Draft, paper: DraftPaper) -> Iterator[str]:
    table = draft.table
    title = _clean(table.caption) or f"Table {table.number} of {table.file}"
    yield f'table: "{paper.table or table_id(table)}"'
    if paper.table:
        yield f"name: {scalar(f'Table {table.number} of {table.file}')}"
    yield f"title: {scalar(f'{paper.title}: {title}' if paper.table else title)}"
    yield f"source: {{section: {scalar(f'Table {table.number}')}, file: {scalar(table.file)}}}"
    yield "columns:"
    for at, guess in draft.columns.numbers:
        slug = draft.columns.slugs[at]
        oblong = draft.oblong if guess.measure is Measure.FLOPS else None
        image = f", image: [{oblong[0]}, {oblong[1]}]" if oblong is not None else ""
        yield f"  {slug}: {{{_column(guess, needs=_needs(draft, paper, at))}{image}}}"
        yield from (f"  {_comment(doubt)}" for doubt in guess.doubts)
    for at, guess in enumerate(draft.columns.guesses):
        yield from _other_column(draft, at, guess)
    yield "rows:"
    for row in draft.rows:
        yield from (f"  {line}" for line in _row(row, draft.table.decimal))


def _needs(draft: Draft, paper: DraftPaper, at: int) -> str | None:
    """Return what a column needs to be checked, None for one whose numbers can be counted."""
    if draft.columns.slugs[at] in draft.unsized:
        return SIZE_NEEDED
    counter = _counter(draft)
    if draft.columns.guesses[at].measure is Measure.FLOPS and counter is not None and counter.convention is None:
        return f"a convention for what {counter.tool} counts"
    counted = draft.columns.guesses[at].measure is Measure.PARAMETERS
    return HEAD_NEEDED if counted and paper.described and draft.may_lack_head is not None else None


def table_id(table: SourceTable) -> str:
    """Return what a spec calls a table by its number."""
    return re.sub("[^a-z0-9]", "", table.number.lower())


def _column(guess: ColumnGuess, needs: str | None) -> str:
    entries = [("measure", str(guess.measure)), ("unit", guess.unit), *guess.fields, ("heading", guess.heading)]
    entries += [("needs", needs)] if needs else []
    return ", ".join(f"{key}: {_flow(value)}" for key, value in entries)


def _flow(text: str) -> str:
    """Return a text as a value between braces."""
    return scalar(text) if text and "," not in text else json.dumps(text, ensure_ascii=False)


def _other_column(draft: Draft, at: int, guess: ColumnGuess) -> Iterator[str]:
    heading = guess.heading or f"the column {at + 1}"
    empty = not guess.heading and all(row.cells[at] in MISSING for row in draft.table.rows if row.single is None)
    if at in draft.columns.slugs or at == draft.columns.label or empty:
        return
    if guess.role is ColumnRole.CHANGES:
        yield _comment(f"{heading}: taken for changes of {draft.columns.slugs[draft.columns.changes[at]]}")
    elif guess.role is ColumnRole.SIZE:
        use = "in the models below" if at == draft.columns.size else "left out"
        yield _comment(f"{heading}: the size of the images, {use}")
    elif guess.role is ColumnRole.LINKS:
        return
    elif guess.role is ColumnRole.UNKNOWN:
        yield _comment(f"{heading}: {'left out' if guess.doubts else 'not understood, so left out'}")
    elif guess.role is ColumnRole.TRAINING:
        yield _comment(f"{heading}: not a number that a check reads; kept where it tells two rows of a model apart")
    else:
        yield _comment(f"{heading}: text, left out")


def _row(row: DraftRow, decimal: DecimalMark) -> Iterator[str]:
    yield from (_comment(remark) for remark in row.remarks)
    yield f"- id: {row.id}"
    yield f"  label: {scalar(_clean(row.label.text + row.label.mark) or row.id)}"
    if row.baseline is not None:
        yield f"  baseline: {row.baseline}"
    if row.training is not None:
        yield f"  training: {scalar(row.training)}"
    yield from (f"  {line}" for line in _model(row))
    yield f"  printed: {{{_mapping(row.numbers.printed, decimal)}}}"
    if row.numbers.changes:
        delta = f"delta: {{{_mapping(row.numbers.changes, decimal)}}}"
        yield f"  {delta}" if row.baseline is not None else f"  # {delta}  # give `baseline`: the row it is a change of"
    if row.numbers.waiting:
        waiting = _mapping(row.numbers.waiting, decimal)
        sized = f"for the size of the images: {row.model.reason}. Choose the model, then add it to `printed`"
        why = f": {row.numbers.why_waiting}" if row.numbers.why_waiting else f" {sized}"
        yield f"  {_comment(f'{waiting} waits{why}')}"
    yield from (f"  {_comment(text)}" for text in row.numbers.left_out)


def _model(row: DraftRow) -> Iterator[str]:
    """Yield a row's model, or why it has none and each proposal as a line that is right without its "# "."""
    guess = row.model
    if guess.recipe is not None:
        others = f"; or {' or '.join(guess.candidates)}" if guess.candidates else ""
        variants = f"; other variants: {list_some(guess.variants)}" if guess.variants else ""
        yield f"model: {guess.recipe}  {_comment(f'exact{others}{variants}')}"
        return
    near = f"the nearest {'is' if len(guess.nearest) == 1 else 'are'}:" if guess.nearest else ""
    yield _comment(f"no model: {'; '.join(filter(None, (guess.reason, guess.more, near)))}")
    yield from (f"# model: {recipe}" for recipe in (*guess.candidates, *guess.nearest))


def _mapping(values: Mapping[str, str], decimal: DecimalMark) -> str:
    printed = {key: swap_marks(value) if decimal == "," else value for key, value in values.items()}
    return ", ".join(f"{key}: {_flow(value)}" for key, value in printed.items())
