"""Drafts of tables as the YAML of a spec, and what was made of them in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.errors import UsageError
from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.spec.tree import without_refused
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import ColumnGuess, ColumnRole
from imlp_audit.transcribe.draft import Draft, DraftRow
from imlp_audit.transcribe.proposed_models import MOST

_LONGEST = 400
_PLAIN = re.compile(r"[A-Za-z0-9.][A-Za-z0-9.%+\-/()×^_ ]*(?<! )|[+\-]\d[\d.,]*%?")


@dataclass(frozen=True)
class DraftPaper:
    """What a spec says about its paper."""

    id: str
    title: str
    authors: str
    version: str


def write_spec(drafts: Sequence[Draft], paper: DraftPaper, notes: Sequence[str] = ()) -> str:
    """Return the YAML of a spec with these tables, with as many candidates a row as the limit of its bytes allows.

    Raises UsageError for tables that are too large for one spec.
    """
    for most in (MOST, 10, 6, 3, 1):
        text = "\n".join([*_lines(drafts, paper, notes, most), ""])
        if len(text.encode()) <= MAX_SPEC_BYTES:
            return text
    raise UsageError(f"these tables are too large for one spec: choose among the {len(drafts)} with --table")


def _lines(drafts: Sequence[Draft], paper: DraftPaper, notes: Sequence[str], most: int) -> Iterator[str]:
    tables = f"{'Table' if len(drafts) == 1 else 'Tables'} {list_some([draft.table.number for draft in drafts])}"
    yield _comment(f"{tables} of {drafts[0].table.file}, written by `imlp-audit init`: candidates are proposals.")
    yield from map(_comment, notes)
    yield f"paper: {paper.id}"
    yield "about:"
    yield from (f"  {key}: {scalar(getattr(paper, key))}" for key in ("title", "authors", "version"))
    yield "  parameters: [all, no_head, with_buffers]"
    yield "tables:"
    for draft in drafts:
        first, *rest = _table(draft, most, several=len(drafts) > 1)
        yield f"  - {first}"
        yield from (f"    {line}" for line in rest)


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


def _table(draft: Draft, most: int, *, several: bool) -> Iterator[str]:
    table = draft.table
    yield f'table: "{re.sub("[^a-z0-9]", "", table.number.lower())}"'
    yield f"title: {scalar(_clean(table.caption) or f'Table {table.number} of {table.file}')}"
    yield f"source: {{section: {scalar(f'Table {table.number}')}, file: {scalar(table.file)}}}"
    yield from map(_comment, table.notes)
    doubt = next((row.doubt for row in draft.rows if row.doubt is not None), None)
    if doubt is not None:
        yield f"uncertain: {scalar(doubt)}"
    if draft.images:
        yield f"images: [{', '.join(map(str, draft.images))}]"
    yield "columns:"
    for at, guess in draft.columns.numbers:
        note = f"  {_comment(guess.note)}" if guess.note else ""
        yield f"  {draft.columns.slugs[at]}: {{{_column(guess)}}}{note}"
    yield from (_comment(f"{heading}: {note or 'not understood'}, so left out") for heading, note in _left_out(draft))
    yield from (_comment(f"left out: {one}") for one in draft.skipped)
    yield "rows:"
    for row in draft.rows:
        if several and draft.columns.scored & row.numbers.printed.keys():
            row = replace(row, training="; ".join(filter(None, [f"Table {table.number}", row.training])))
        yield from (f"  {line}" for line in _row(row, most))


def _column(guess: ColumnGuess) -> str:
    entries = [("measure", str(guess.measure)), ("unit", guess.unit), *guess.fields, ("heading", guess.heading)]
    return ", ".join(f"{key}: {_flow(value)}" for key, value in entries)


def _flow(text: str) -> str:
    return scalar(text) if text and "," not in text else json.dumps(text, ensure_ascii=False)


def _left_out(draft: Draft) -> list[tuple[str, str]]:
    """Return the headings of the columns of numbers that are left out, each with the reason if it is known."""
    return [
        (guess.heading or f"column {at + 1}", guess.note)
        for at, guess in enumerate(draft.columns.guesses)
        if guess.role is ColumnRole.UNKNOWN
        and any(row.cells[at] not in MISSING for row in draft.table.rows if row.single is None)
    ]


def _row(row: DraftRow, most: int) -> Iterator[str]:
    if row.doubt is not None:
        yield _comment(f"uncertain: {row.doubt}")
    yield f"- id: {row.id}"
    yield f"  label: {scalar(_clean(row.label.text + row.label.mark) or row.id)}"
    if row.baseline is not None:
        yield f"  baseline: {row.baseline}"
    if row.training is not None:
        yield f"  training: {scalar(row.training)}"
    if row.variant is not None:
        yield f"  variant: {scalar(row.variant)}"
    if row.proposal.recipes:
        yield f"  candidates: [{', '.join(row.proposal.recipes[:most])}]"
        if row.proposal.named:
            yield "  named: true"
    yield f"  printed: {{{_mapping(row.numbers.printed)}}}"
    if row.numbers.changes:
        delta = f"delta: {{{_mapping(row.numbers.changes)}}}"
        yield f"  {delta}" if row.baseline is not None else f"  # {delta}  # give `baseline`: the row it is a change of"
    yield from (f"  {_comment(text)}" for text in row.numbers.left_out)


def _mapping(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key}: {_flow(value)}" for key, value in values.items())


def summarize(draft: Draft) -> str:
    """Return what was made of a table on a line: its columns, rows and proposals."""
    columns = [
        f"{slug} ({guess.measure}{f' in {guess.unit}' if guess.unit else ''})"
        for slug, guess in ((draft.columns.slugs[at], guess) for at, guess in draft.columns.numbers)
    ]
    numbers = sum(len(row.numbers.printed) + len(row.numbers.changes) for row in draft.rows)
    named = sum(row.proposal.named for row in draft.rows)
    proposed = sum(bool(row.proposal.recipes) for row in draft.rows)
    rows, lost = count_of(len(draft.rows), "row"), [heading for heading, _ in _left_out(draft)]
    left_out = f" (left out: {list_some(lost, 8)})" if lost else ""
    return (
        f"table {draft.table.number}: {', '.join(columns)}{left_out}; {rows}, {count_of(numbers, 'number')}; "
        f"{named} labels are exactly one model's name, {proposed} rows have candidates"
    )
