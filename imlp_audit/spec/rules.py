"""What is wrong with a spec: parts that contradict each other, and models that their libraries do not have."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import ValidationError

from imlp_audit.claims.catalogue import BrokenClaim
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, MemoryConvention, ParameterConvention
from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.available_hosts import Timm, Torchvision
from imlp_audit.models.names.known import Library, known_models, version_of
from imlp_audit.models.own import OwnBlock, find_missing_name, find_wrong_argument
from imlp_audit.models.readings import OwnFamily, axis_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import describe
from imlp_audit.numbers.parsing import NumberForm, parse_printed
from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import write_complaint
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.claims import parse_claims
from imlp_audit.spec.columns import AccuracyColumn, FlopsColumn, Measure, form_of, hold_the_same
from imlp_audit.spec.paper import (
    CellRef,
    Paper,
    RowRef,
    find_rows,
    models_of,
    own_families,
    repeated_row,
    rows_of_table,
)
from imlp_audit.spec.plan import find_equation
from imlp_audit.spec.schema import Choice, ConventionFit, PrintedTable
from imlp_audit.spec.tree import Located, taken_twice

_SIZES = ("in_features", "hidden_features", "out_features", "use_conv")
"""What a block is given of the MLP that it replaces, where it takes it."""


def unanswered_models(paper: Paper) -> Iterator[Problem]:
    """Yield the models that leave something open that not every reading of the paper answers."""
    readings = {name: named.reading() for name, named in paper.about.value.readings.items()}
    for recipe, owner in models_of(paper):
        if recipe.family is None or isinstance(recipe.family, OwnFamily):  # whose axes have defaults under any reading
            continue
        silent = next((name for name, reading in readings.items() if recipe.part_of(reading) is None), None)
        if not readings:
            message = f"{recipe.family.models} needs a reading: name at least one under about: readings:"
            yield owner.problem(message, "model")
        elif silent is not None:
            message = f"{recipe.family.models} needs a reading, and {silent!r} has none of its axes"
            yield owner.problem(message, "model")


def unknown_models(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each name of a model that its library does not have.

    An installed library of another version than our list may have others: then only its own word counts.
    """
    for recipe, owner in models_of(paper):
        if (complaint := complaint_about(recipe)) is not None:
            yield owner.problem(complaint, "model")


def complaint_about(recipe: Recipe) -> str | None:
    """Return what is wrong with the name of a recipe's model, None if its library has it."""
    match recipe.host:
        case Timm(architecture=name):
            library = Library.TIMM
        case Torchvision(architecture=name):
            library = Library.TORCHVISION
        case _:
            return None
    if name.partition(".")[0] in known_models(library) or _is_another_version(library):
        return None
    from imlp_audit.models.names.match import suggest  # a name that is right needs no hint

    hint = suggest(name, library) or f"see the models of {library}"
    return f"{library} {version_of(library)} has no model {name!r}; {hint}"


def _is_another_version(library: Library) -> bool:
    try:
        return version(str(library)).partition("+")[0] != version_of(library).partition("+")[0]
    except PackageNotFoundError:
        return False


def wrong_code(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each model whose class or function is missing in its file, or takes other `arguments`."""
    for recipe, owner in models_of(paper):
        for code in recipe.codes:
            if code.beside is None:
                continue
            path = ("model", "mlp", "python") if isinstance(code, OwnBlock) else ("model", "python")
            if (missing := find_missing_name(code.beside, code.file, code.name)) is not None:
                yield owner.problem(missing, *path)
                continue
            ours = (*_SIZES, *code.axes) if isinstance(code, OwnBlock) else ()
            wrong = find_wrong_argument(code.beside, code.file, code.name, code.arguments, ours)
            if wrong is not None:
                yield owner.problem(wrong, *path, *(("arguments",) if code.arguments else ()))


def broken_blocks(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each block that has the name of another, and for what readings say about no axis."""
    files: dict[str, str] = {}
    owner: RowRef | Located[Any]
    for recipe, owner in models_of(paper):
        block = recipe.own_block
        if block is not None and files.setdefault(block.name, block.file) != block.file:
            other = f"the block of {files[block.name]} is called {block.name} too"
            message = f"{other}, and readings go by the name; rename one"
            yield owner.problem(message, "model", "mlp", "python", "name")
    families: dict[str, OwnFamily] = {}
    for family in own_families(paper):
        families.setdefault(family.name, family)
    for name, reading in paper.about.value.readings.items():
        for block_name, choices in reading.blocks.items():
            path = ("readings", name, "blocks", block_name)
            if block_name not in families:
                message = f"no model has a block {block_name!r} with axes; {did_you_mean(block_name, list(families))}"
                yield paper.about.problem(message, *path)
                continue
            for below, message in _broken_choices(families[block_name], choices):
                yield paper.about.problem(message, *path, *below)


def _broken_choices(family: OwnFamily, choices: Mapping[str, Choice[str]]) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each answer of a reading that names an unknown axis of a block, or an unknown value, and say why."""
    values = dict(family.axes)
    for axis, choice in choices.items():
        known = values.get(axis_of(family.name, axis))
        if known is None:
            names = [name.partition(".")[2] for name in values]
            yield (axis,), f"{family.name} has no axis {axis!r}; {did_you_mean(axis, names)}"
        elif choice.value not in known:
            yield (axis, "value"), f"{axis} is never {choice.value!r}; {did_you_mean(choice.value, known)}"


def broken_rules(paper: Paper, known: tuple[Paper, ...]) -> Iterator[Problem]:
    """Yield every problem of a paper's own parts and of what they refer to."""
    flops = [*FLOPS_CONVENTIONS, *paper.about.value.conventions]
    yield from _broken_conventions(paper, flops)
    yield from _broken_fits(paper)
    for table in paper.tables:
        yield from _broken_table(table, flops)
        yield from _broken_footnote(rows_of_table(paper, table), table)
    for row in paper.rows:
        yield from _broken_row(row, known)
        yield from _broken_numbers(row)
    yield from (problem for claim in parse_claims(paper, known) for problem in claim.problems)
    yield from _rows_not_covered(paper, known)
    yield from _broken_accuracies(paper)
    yield from taken_twice(paper.tables, "table")
    for records in (paper.systems, paper.claims, paper.shared):
        yield from taken_twice(records)
    yield from _broken_shared_claims(paper, known)
    yield from _broken_preprocessing(paper)
    yield from unanswered_models(paper)
    yield from broken_blocks(paper)


def broken_claims(paper: Paper) -> Iterator[Problem]:
    """Yield the mistakes in a paper's claims about functions that can be seen without running them."""
    for claim in paper.equations:
        if isinstance(claim, BrokenClaim):
            yield Problem(claim.file, claim.line, claim.column, claim.problem)


def _broken_conventions(paper: Paper, known: Sequence[str]) -> Iterator[Problem]:
    about = paper.about.value
    for name in FLOPS_CONVENTIONS.keys() & about.conventions.keys():
        yield paper.about.problem(f"{name!r} is a convention already; give yours another name", "conventions", name)
    for index, name in enumerate(about.flops):
        if name not in known:
            yield paper.about.problem(_no_convention(name, known), "flops", index)


def _no_convention(name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    names = f" There are {', '.join(known)}" if hint.startswith("did you mean") else ""
    return f"no convention is called {name!r}; {hint}{names}"


def _broken_fits(paper: Paper) -> Iterator[Problem]:
    about = paper.about.value
    for name, fit in about.fitted.items():
        if name not in about.conventions:
            message = f"no convention is called {name!r}; {did_you_mean(name, about.conventions)}"
            yield paper.about.problem(message, "fitted", name)
        if about.flops[:1] == (name,):  # all that follows from a default is plainly reproduced
            message = f"{name} was fitted and cannot be the default; put a named counter first, such as fvcore"
            yield paper.about.problem(message, "flops", 0)
        cells = [cell for row in paper.rows for cell in row.cells if isinstance(cell.column, FlopsColumn)]
        unmatched = list(_unmatched_globs(paper, name, fit, [cell.id for cell in cells]))
        yield from unmatched or _impossible_scores(paper, name, fit, cells)


def _unmatched_globs(paper: Paper, name: str, fit: ConventionFit, cells: Sequence[str]) -> Iterator[Problem]:
    """Yield the globs that match no cell of FLOPs, or among those that are undecided none of the fit's cells."""
    fitted = {cell for glob in fit.cells for cell in fnmatch.filter(cells, glob)}
    for key, globs in (("cells", fit.cells), ("undecided", fit.undecided)):
        for index, glob in enumerate(globs):
            found = fnmatch.filter(cells, glob)
            if not found:
                message = f"no cell of FLOPs matches {glob!r}; give ids or globs such as {paper.id}/1/*/flops"
                yield paper.about.problem(message, "fitted", name, key, index)
            elif not fitted.intersection(found):
                message = f"{glob!r} is none of the cells that {name} was fitted on; add it to `cells`, or leave it out"
                yield paper.about.problem(message, "fitted", name, key, index)


def _impossible_scores(paper: Paper, name: str, fit: ConventionFit, flops: Sequence[CellRef]) -> Iterator[Problem]:
    """Yield a number of cells that the search cannot have had: of those that the globs match without a counter."""
    built = [row for row in paper.rows if row.row.model is not None]
    counters = {row.id: row.row.counted_by.get(Measure.FLOPS) for row in built}
    own = {row for row, by in counters.items() if by is None or by.convention == name}
    least = sum(c.row.id in own and any(fnmatch.fnmatch(c.id, glob) for glob in fit.cells) for c in flops)
    most = least + sum(cell.column.measure is Measure.PARAMETERS for row in built for cell in row.cells)
    if not least <= fit.of <= most:
        sizes = f", or up to {most} with the paper's sizes" if most > least else ""
        cells = count_of(least, "cell")
        message = f"of is {fit.of}, but the globs match {cells} that this counter may have counted{sizes}"
        yield paper.about.problem(message, "fitted", name, "of")


def _broken_table(located: Located[PrintedTable], flops: Sequence[str]) -> Iterator[Problem]:
    rows = located.value.rows
    yield from taken_twice([Located(row, located.file, (*located.path, "rows", at)) for at, row in enumerate(rows)])
    conventions = {
        Measure.PARAMETERS: list(ParameterConvention),
        Measure.FLOPS: flops,
        Measure.MEMORY: list(MemoryConvention),
    }
    for index, row in enumerate(rows):
        for measure, by in row.counted_by.items():
            if by.convention not in conventions[measure]:
                message = _no_convention(by.convention, conventions[measure])
                yield located.problem(message, "rows", index, "counted_by", measure, "convention")


def _broken_footnote(rows: Sequence[RowRef], located: Located[PrintedTable]) -> Iterator[Problem]:
    table = located.value
    footnote = table.footnote
    if footnote is None:
        return
    column = table.columns.get(footnote.decided_by)
    if column is None or not column.measure.totalled:
        counted = [name for name, c in table.columns.items() if c.measure.totalled]
        message = f"a mark is decided by a counted column; {did_you_mean(footnote.decided_by, counted)}"
        yield located.problem(message, "footnote", "decided_by")
    recipes = [(row, row.row.model) for row in rows if row.row.model is not None]
    fits = [(row, recipe) for row, recipe in recipes if recipe.takes(footnote.marked)]
    unbuilt = any(row.model is None and row.baseline for row in table.rows)
    if recipes and not fits and not unbuilt:
        yield located.problem("no row's recipe has the part that the mark changes", "footnote", "marked")
    for row, recipe in fits:
        for key, change in (("marked", footnote.marked), ("otherwise", footnote.otherwise)):
            complaint = _complaint(partial(recipe.with_change, change))
            if complaint is not None:
                message = f"{describe(change)} does not fit the model of row {row.row.id!r}: {complaint}"
                yield located.problem(message, "footnote", key)
                return
        meant, mark = footnote.change(row.row.mark), footnote.mark
        if footnote.concerns(recipe) and recipe.with_change(meant) != recipe:
            has = f"the mark {mark!r}" if mark in row.row.mark else f"no mark {mark!r}"
            message = f"the row has {has}, which stands for {describe(meant)}, but its recipe has"
            yield row.problem(f"{message} {recipe.describe(meant)}", "model")


def _complaint(make: Callable[[], object]) -> str | None:
    try:
        make()
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        return write_complaint(detail, str(detail["loc"][-1]) if detail["loc"] else "the change")
    return None


def _broken_row(ref: RowRef, known: Sequence[Paper]) -> Iterator[Problem]:
    row, table = ref.row, ref.table.value
    if row.baseline is not None and (ref.baseline is None or row.baseline == row.id):
        others = [r.id for r in table.rows if r.id != row.id]
        if len(others) == len(table.rows) - 1:  # an id that two rows have is the problem
            nearest = did_you_mean(row.baseline, others)
            yield ref.problem(f"no other row {row.baseline!r} in this table; {nearest}", "baseline")
    if row.mark and (table.footnote is None or row.mark != table.footnote.mark):
        yield ref.problem(f"the table's footnote does not explain the mark {row.mark!r}", "mark")
    other = repeated_row(ref, known)
    if (row.repeats or table.repeats) and other is None:
        target = row.repeats or f"{table.repeats}/{row.id}"
        rows = [r.id for p in known for r in p.rows]
        message = f"no row {target!r} for this one to repeat; {did_you_mean(target, rows)}"
        yield ref.problem(message, *(("repeats",) if row.repeats else ()))
    for cell in ref.cells:
        theirs = other.table.value.columns.get(cell.column_id) if other is not None else None
        if (complaint := _complaint(partial(getattr, cell, "recipe"))) is not None:
            message = f"the column's images do not fit the row's model: {complaint}"
            yield ref.problem(message, "printed", cell.column_id)
        if theirs is not None and not hold_the_same(cell.column, theirs):
            message = f"the row it repeats has another kind of number under {cell.column_id!r}; rename one"
            yield ref.problem(message, "printed", cell.column_id)


def _broken_numbers(ref: RowRef) -> Iterator[Problem]:
    for name, numbers in (("printed", ref.row.printed), ("delta", ref.row.delta)):
        for column, text in numbers.items():
            complaint = _complain_about_number(ref, name, column, text)
            if complaint is not None:
                yield ref.problem(complaint, name, column)


def _complain_about_number(ref: RowRef, name: str, column: str, text: str) -> str | None:
    columns, is_change = ref.table.value.columns, name == "delta"
    if column not in columns:
        return f"the table has no column {column!r}; {did_you_mean(column, list(columns))}"
    if is_change and (complaint := _baseless(ref, column)) is not None:
        return complaint
    counted = columns[column].measure.counted
    try:
        printed = parse_printed(text, NumberForm("%") if is_change else form_of(columns[column]))
    except ValueError as error:
        return str(error)
    if printed.spread is not None and (is_change or counted):
        return f"{text} has a spread, but a {'change' if is_change else 'count'} is one number; write that alone"
    if not is_change and printed.negative and not printed.value and counted:
        zero = printed.negated.text
        return f"{text} is a zero with a minus sign, which no count is; write {zero} if the sign is a slip of the spec"
    return None


def _baseless(ref: RowRef, column: str) -> str | None:
    """Say what a printed change lacks; an unknown baseline is a problem of its own."""
    if column not in ref.row.printed:
        return f"a change of {column} is printed, but no value of it"
    if ref.row.baseline is None:
        return f"a change of {column} needs a row that it is from: give the row a baseline"
    if ref.baseline is not None and ref.baseline.cell(column) is None:
        return f"a change of {column} needs one of the baseline {ref.baseline.row.id!r}"
    return None


def _rows_not_covered(paper: Paper, known: Sequence[Paper]) -> Iterator[Problem]:
    """Yield a problem for each row that a sentence covers and no claim is about, and for each glob of no row."""
    for claim in (claim for claim in paper.claims if claim.value.covers or claim.value.left_out):
        alike = [one.value for one in paper.claims if one.value.text == claim.value.text]
        left = [glob for one in alike for group in one.left_out for glob in group.rows]
        stated = _ids([glob for one in alike for glob in one.ids_named] + left, known)
        for index, glob in enumerate(claim.value.covers):
            rows = find_rows(known, glob)
            if not rows:
                yield claim.problem(f"no row {glob!r}", "covers", index)
            for row in (row for row in rows if row.id not in stated):
                message = (
                    f"the sentence covers {row.id}, but no claim with its text is about that row: make one, or add"
                    " the row under left_out with the reason"
                )
                yield claim.problem(message, "covers", index)
        yield from _broken_left_out(claim, known)


def _broken_left_out(claim: Located[ClaimEntry], known: Sequence[Paper]) -> Iterator[Problem]:
    own = _ids(claim.value.rows, known)
    for index, left in enumerate(claim.value.left_out):
        for position, glob in enumerate(left.rows):
            rows = _ids([glob], known)
            if not rows:
                yield claim.problem(f"no row {glob!r}", "left_out", index, "rows", position)
            elif rows & own:
                message = f"the claim is about {min(rows & own)}, which it says it leaves out"
                yield claim.problem(message, "left_out", index, "rows", position)


def _ids(globs: Sequence[str], known: Sequence[Paper]) -> set[str]:
    return {row.id for glob in globs for row in find_rows(known, glob)}


def _broken_accuracies(paper: Paper) -> Iterator[Problem]:
    """Yield the columns of accuracies in which more than half of the numbers are above 100; one may be a misprint."""
    for located in paper.tables:
        for name, column in located.value.columns.items():
            texts = [row.printed[name] for row in located.value.rows if name in row.printed]
            if not isinstance(column, AccuracyColumn):
                continue
            above = [text for text in texts if _is_above_100(text, form_of(column))]
            if 2 * len(above) > len(texts):
                message = f"this is no accuracy in %: {len(above)} of its {len(texts)} numbers are above 100, such as "
                advice = f"{above[0]}; check the column's measure and heading"
                yield located.problem(message + advice, "columns", name)


def _is_above_100(text: str, form: NumberForm) -> bool:
    try:
        return parse_printed(text, form).value > 100
    except ValueError:  # a problem of its own
        return False


def _broken_shared_claims(paper: Paper, known: Sequence[Paper]) -> Iterator[Problem]:
    own = {claim.name for claim in paper.equations}
    for entry in paper.shared:
        words = entry.value
        if words.id in own:
            yield entry.problem(f"a function of the paper's equations is called {words.id!r} already", "id")
        if find_equation(words.same_as, known) is None:
            hint = did_you_mean(words.same_as, [claim.id for other in known for claim in other.equations])
            yield entry.problem(f"no equation is called {words.same_as!r}; {hint}", "same_as")
        others = sorted({*own, *(other.value.id for other in paper.shared)} - {words.id})
        if words.nearest is not None and words.nearest not in others:
            hint = did_you_mean(words.nearest, others)
            yield entry.problem(f"the paper has no equation called {words.nearest!r}; {hint}", "nearest")


def _broken_preprocessing(paper: Paper) -> Iterator[Problem]:
    for one in paper.preprocessing:
        for index, glob in enumerate(one.value.rows):
            if not paper.row_names.matching(glob):
                yield one.problem(f"no row {glob!r} in this paper", "rows", index)
