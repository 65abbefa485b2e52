"""What the numbers say the models were: what cells were judged under, identified rows, leads, what `solve` found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.parsing import headed_unit
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import PASSES, CellCheck, CountedCheck, Identified, Power
from imlp_audit.records.result import (
    AuditResult,
    ColumnHead,
    ColumnScore,
    FitScore,
    GroupScore,
    PaperHead,
    PaperHypothesis,
    TableHead,
)
from imlp_audit.records.solution import Answered, Solved, SolvedAxis, SolvedFirst, SolvedWeights
from imlp_audit.report import document as doc

_CHOICES = {
    "only": "the options give the same values",
    "clear": "a clear choice",
    "mixed": "two counters in one column",
    "shared": "as in the paper's other tables",
    "weak": "not a clear choice, so each number was judged alone",
}
_MOST = 8  # leads and tables that are listed; the rest is counted
_LONGEST = 160


def describe_group(group: GroupScore) -> str:
    """Return the chosen option with its score, those of the others, and how sure the choice is."""
    others = ", ".join(f"{name} {score}" for name, score in group.scores.items() if name != group.winner)
    best = f"{group.winner}, which explains {group.scores.get(str(group.winner), 0)} of {group.votes}"
    if not others:
        return best
    choice = f"{best} ({others}), {_CHOICES[group.choice]}"
    if group.rival is None:
        return choice
    alone = f"{group.rival} explains {count_of(group.alone[group.rival], 'number')} that {group.winner} does not"
    return f"{choice}: {alone}; `counted_by` in a row settles which of them made its number"


def describe_power(power: Power) -> str:
    """Return how many of the wrong numbers that were tried would not have passed."""
    ten, one = (f"{part.caught} of {part.tried}" for part in (power.ten, power.one))
    return f"{ten} wrong numbers within ten last digits would not have passed, {one} one digit away"


def describe_column(score: ColumnScore) -> str:
    """Return a column's convention with its score, and what its passes are worth."""
    group = describe_group(score.group) if score.group.votes else "none of its numbers takes part in the choice"
    fit = f"its weights were fitted: {describe_fit(score.fit)}" if score.fit is not None else ""
    passing = f"{score.passing} of its numbers {'passes' if score.passing == 1 else 'pass'}"
    chance = f"{passing}, {score.by_chance} would pass by chance"
    worth = describe_power(score.power) if score.power.one.tried else ""
    return "; ".join(part for part in (group, fit, chance, worth) if part)


def describe_fit(fit: FitScore) -> str:
    """Return what a search explained, beside what it explains by chance."""
    return f"the search explained {fit.explained} of {fit.of} numbers, by chance it explains at most {fit.by_chance}"


def group_of_column(hypothesis: PaperHypothesis | None, column: str) -> ColumnScore | None:
    """Return the score of a column, which is named table/column."""
    scores = hypothesis.columns if hypothesis is not None else ()
    return next((score for score in scores if score.group.name == column), None)


def table_hypothesis(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[doc.Block]:
    """Yield a line for each counted column of a table, and below it the rows that state their own counter."""
    lines = []
    for column in table.columns:
        judged = _judged_under(result, paper, table, column)
        own = _own_counters(result, paper, table, column)
        if judged or own:
            lines.append(doc.Item(judged or own, (own,) if judged and own else (), label=column.heading))
    if lines:
        yield doc.List(tuple(lines))


def _own_counters(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Say which selected rows of a column state their own counter, and why; an empty text where none does."""
    selected = {check.id for check in result.checks}
    rows: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        for own in row.counters or () if f"{paper.id}/{table.id}/{row.id}/{column.id}" in selected else ():
            if own.measure == column.measure:
                rows.setdefault((own.convention, own.because), []).append(row.id)
    named = "; ".join(f"{name} for {', '.join(ids)} (because: {why})" for (name, why), ids in rows.items())
    count = sum(map(len, rows.values()))
    counters = "a counter of its" if count == 1 else "counters of their"
    return f"{counters} own for {count_of(count, 'row')}: {named}" if rows else ""


def _judged_under(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Say under what a column was judged, and what its passes are worth; an empty text for one that is not counted."""
    hypothesis = result.hypotheses.get(paper.id)
    score = group_of_column(hypothesis, f"{table.id}/{column.id}")
    if hypothesis is None or score is None:
        return ""
    own = f"{paper.id}/{table.id}/"
    checks = (one for one in result.of_kind(CountedCheck) if one.id.startswith(own) and one.reading is not None)
    found = dict.fromkeys(str(one.reading) for one in checks if one.id.rpartition("/")[2] == column.id)
    winners = {group.winner for group in hypothesis.readings}
    readings = [name for name in found if name in winners] or found  # most baselines have only the default
    under = f"{' or '.join(readings)} + " if readings and score.group.votes else ""
    return f"{under}{describe_column(score)}"


def paper_hypothesis(hypothesis: PaperHypothesis) -> Iterator[doc.Block]:
    """Yield the hypothesis of a paper, with the score of every declared option; columns have theirs at their tables."""
    yield doc.Heading("What the counted numbers were judged under", 3)
    yield doc.Paragraph(
        (
            "The numbers are judged together: a reading for each family of models, a convention for each column and a "
            f"rounding rule for the paper. The best choice explains {hypothesis.explained} of "
            f"{count_of(hypothesis.votes, 'number')}; numbers are rounded ",
            doc.code(hypothesis.rounding),
            *(part for group in hypothesis.rounding_of for part in (f", {group.name} ", doc.code(str(group.winner)))),
            ".",
        )
    )
    groups = [("rounding", hypothesis.roundings)] if hypothesis.roundings is not None else []
    groups += [(f"rounding of {group.name}", group) for group in hypothesis.rounding_of]
    groups += [(f"readings of {group.name}", group) for group in hypothesis.readings]
    if groups:
        yield doc.List(
            tuple(doc.Item(f"{describe_group(one)}; by chance at most {one.chance}", label=of) for of, one in groups)
        )


def list_leads(result: AuditResult, *, every: bool = False) -> Iterator[doc.Block]:
    """Yield the numbers that their rows' likely models have not, the first or all: questions, which fail nothing."""
    leads: dict[str, CellCheck] = {}
    for one in result.of_kind(CellCheck):
        if one.lead:
            leads.setdefault(one.id.rpartition("/")[0], one)
    places = (((one.place or one.id).rpartition(", ")[0], one.reason) for one in leads.values())
    items = [f"{place}: {doc.shorten(reason, _LONGEST)}" for place, reason in places]
    most = len(items) if every else _MOST
    yield from doc.titled_list(f"Leads ({len(leads)})", (*items[:most], *doc.count_more(len(items) - most, "lead")))


def summarize_identified(result: AuditResult) -> Iterator[doc.Item]:
    """Yield a line for each table with candidates: its identified rows, and how its columns were counted."""
    cells = [check for check in result.of_kind(CellCheck) if check.identified is not None]
    rows: dict[str, Identified | None] = {check.id.rpartition("/")[0]: Identified.NO for check in cells}
    rows |= {check.id.rpartition("/")[0]: check.identified for check in cells if check.verdict in PASSES}
    lines = []
    for paper, table in ((one, table) for one in result.papers for table in one.tables):
        own = [how for name, how in rows.items() if name.startswith(f"{paper.id}/{table.id}/")]
        if own:
            by_name = own.count(Identified.NAME)
            named = f", {by_name} by the names of others" if by_name else ""
            known = len(own) - own.count(Identified.NO) - by_name
            several = own.count(Identified.ONE_OF)
            named += f", {several} of them as one of several models" if several else ""
            identified = f"{known} of {count_of(len(own), 'row')} by their numbers{named}"
            parts = (identified, *_parameters(result, paper, table), *_counters(result, paper, table))
            lines.append(f"{table.called}: {'; '.join(parts)}")
    listed = (*lines[:_MOST], *doc.count_more(len(lines) - _MOST, "table"))
    yield from (doc.Item(one, label="identified") for one in listed)


def _parameters(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[str]:
    """Yield under what all parameters of a table that follow do, if it is not as usual."""
    columns = [one.id for one in table.columns if one.measure == "parameters"]
    own = [one for one in result.of_kind(CellCheck) if one.id.startswith(f"{paper.id}/{table.id}/")]
    passing = [one for one in own if one.verdict in PASSES and one.identified is not None]
    found = [one.under for one in passing if one.id.rpartition("/")[2] in columns]
    shared = [one for one in dict.fromkeys(name for under in found for name in under) if all(one in u for u in found)]
    if shared:
        yield f"parameters under {', '.join(shared)} (not stated)"


def _counters(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[str]:
    """Yield for each column of FLOPs the counter that explains most numbers, with the next best."""
    for column in table.columns if not paper.flops else ():
        score = group_of_column(result.hypotheses.get(paper.id), f"{table.id}/{column.id}")
        group = score.group if score is not None else None
        most = group.scores.get(str(group.winner), 0) if group is not None else 0
        if column.measure == "flops" and group is not None and most:
            best = " or ".join(str(name) for name, explained in group.scores.items() if explained == most)
            others = sorted(((n, str(name)) for name, n in group.scores.items() if n < most), reverse=True)
            after = f"; next best {others[0][1]} {others[0][0]}" if others else ""
            unit = f" in {column.unit}" if headed_unit(column.heading) is None and column.unit else ""
            yield f"{column.heading}{unit} counted by {best} (not stated; explains {most} of {group.votes}{after})"


COLUMNS = {"parameters": "parameters", "flops": "FLOPs", "both": "both"}


def solved_document(solved: Solved) -> doc.Document:
    """Return an answer as a document."""
    last = solved.last
    left_out = [(doc.code(name), f": {why}") for name, why in solved.left_out.items()]
    return (
        doc.Heading("What the numbers say the model was", 2),
        doc.Paragraph(_introduction(solved.selection)),
        doc.List(tuple(map(_score, solved.answers))),
        *_conclusions(last),
        doc.Heading("The first of the best solutions", 3),
        doc.List(tuple(_first_solution(last.first))),
        *_decisions(solved),
        *_exceptions(last),
        *_controls(last),
        *doc.titled_list("Left out", left_out),
        doc.Heading("The order of the solutions", 3),
        doc.Paragraph(solved.order),
    )


def _introduction(selection: Sequence[str]) -> doc.Inline:
    return (
        "The text of a paper leaves questions about its models open. A reading answers all of them; a counter says how "
        "much each class of work counts as FLOPs (a whole number from 0 to 6). The search covers every combination of "
        "readings, counters and usual rounding rules, without sampling, and finds those that explain the most printed "
        "numbers of ",
        *doc.join(map(doc.code, selection)),
        ".",
    )


def _score(answer: Answered) -> doc.Inline:
    numbers = f"{answer.score} of {count_of(answer.of, 'number')}"
    families = doc.join(count_of(n, f"{family} reading") for family, n in answer.readings.items())
    parts = [doc.Span(f"{COLUMNS[answer.what]}: {numbers} explained by {count_of(answer.solutions, 'solution')}")]
    parts += [doc.Span(" ("), *families, doc.Span(")")] if families else []
    if answer.axes:
        among = [*doc.join(map(doc.code, answer.named), " and "), doc.Span(" among them")]
        parts += [doc.Span("; "), *(among if answer.named else [doc.Span("no named reading among them")])]
    if not answer.exhaustive:
        parts.append(doc.Span(f"; NOT exhaustive: the budget ended the search, at most {answer.bound} possible"))
    return tuple(parts)


def _conclusions(answer: Answered) -> Iterator[doc.Block]:
    said = []
    if answer.reading == "agreed":  # a number without explanation may have been explained by another reading
        said.append(f"The best solutions agree on the reading, but {_doubt(answer)}.")
    elif answer.reading is not None:
        equal = answer.reading.startswith("one of")
        known = f"not identified: {answer.reading} that are equally good" if equal else answer.reading
        said.append(f"The reading is {known}.")
    if answer.counters is not None:
        several = f"There are {answer.counters} counters of FLOPs among the best solutions."
        said.append(several if answer.counters > 1 else "The best solutions have one counter of FLOPs.")
    if answer.named_counter is not None:
        said.append(
            f"The counter of FLOPs is {answer.named_counter}: free weights explain {answer.by_weights} of {answer.of} "
            "numbers, at most one more, and would absorb one that is wrong."
        )
    if answer.conventions:
        scores = ", ".join(f"{name} {score}" for name, score in answer.conventions.items())
        said.append(f"The best scores with named counters, of {answer.of}: {scores}.")
    if said:
        yield doc.List(tuple(said))


def _doubt(answer: Answered) -> str:
    if not answer.unexplained:
        return "the search was not exhaustive"
    return f"{count_of(answer.unexplained, 'number')} {'is' if answer.unexplained == 1 else 'are'} unexplained"


def _first_solution(first: SolvedFirst) -> Iterator[doc.Item]:
    for family, axes in first.reading.items():
        values = ", ".join(f"{axis} {value}" for axis, value in axes.items())
        apart = f" ({first.apart} {'axis' if first.apart == 1 else 'axes'} from "
        yield doc.Item((values, *((apart, doc.code(first.nearest), ")") if first.nearest else ())), label=family)
    if first.parameters is not None:
        yield doc.Item(f"{first.parameters}, rounded {first.parameter_rounding}", label="parameters")
    if first.flops_rounding is not None:
        weights = ", ".join(f"{name} {weight}" for name, weight in first.weights.items())
        yield doc.Item(f"{weights}, rounded {first.flops_rounding}", label="FLOPs")


def _decisions(solved: Solved) -> Iterator[doc.Block]:
    if solved.last.axes:
        yield doc.Heading("What the numbers decide about each open question", 3)
        yield _axes(solved)
        yield from _grounds(solved.last)
    if solved.last.weights:
        yield doc.Heading("What they decide about the counter", 3)
        yield doc.Table(("weight of", "in the best solutions"), tuple(map(_weights, solved.last.weights)))


def _grounds(answer: Answered) -> Iterator[doc.Block]:
    """Yield the numbers that each value rests on, by the value; those that rest on none are left out."""
    decided = {f"{one.axis} {one.values[0]}": one.rests_on for one in answer.axes if one.rests_on}
    if decided:
        agreed = "" if answer.exhaustive and not answer.unexplained else f", and {_doubt(answer)}"
        yield doc.Paragraph(
            f"The best solutions agree on these{agreed}. With another value the first would not explain:"
        )
        yield doc.List(tuple(doc.Item(list_some(rests_on), label=value) for value, rests_on in decided.items()))


def _axes(solved: Solved) -> doc.Table:
    """Return a table with a row for each axis: what each search leaves of it, and what the named readings have."""

    def left(axis: SolvedAxis, answer: Answered) -> str:
        same = [one for one in answer.axes if (one.family, one.axis) == (axis.family, axis.axis)]
        return ", ".join("any" if one.is_free else ", ".join(one.values) for one in same)

    names = list(solved.last.axes[0].named)
    header = ("question", *(COLUMNS[answer.what] for answer in solved.answers), "", *names)
    rows = tuple(
        (
            axis.axis,
            *(left(axis, answer) for answer in solved.answers),
            solved.last.state_of(axis),
            *(axis.named.get(name, "") for name in names),
        )
        for axis in solved.last.axes
    )
    return doc.Table(header, rows)


def _weights(one: SolvedWeights) -> tuple[str, ...]:
    terms = (name if f == 1 else f"{f} {name}" for name, f in zip(one.classes, one.factors, strict=True))
    return " + ".join(terms), ", ".join(map(str, one.values))


def _exceptions(answer: Answered) -> Iterator[doc.Block]:
    if answer.contradicted:
        yield doc.Heading("Printed numbers that no best solution gives", 3)
        yield doc.Paragraph(
            "The nearest value is that of any best solution. The last column says how far it lies outside the values "
            "that print as the number does, in units of the last printed digit."
        )
        header = ("cell", "nearest", "outside by")
        cells = ((one.id, one.value, one.gap or "") for one in answer.contradicted)
        rows = tuple((doc.code(name), "" if value is None else readable(value), gap) for name, value, gap in cells)
        yield doc.Table(header, rows, doc.number_columns(header))
    if answer.disputed:
        yield doc.Heading("Printed numbers that only some of the best solutions give", 3)
        yield doc.Paragraph("They cannot all be right.")
        yield doc.List(tuple(map(doc.code, answer.disputed)))


def _controls(answer: Answered) -> Iterator[doc.Block]:
    if answer.null:
        most = max(bound for _, bound in answer.null)
        yield doc.Heading("What the score is worth", 3)
        yield doc.Paragraph(
            f"The same search explains {answer.score} of {answer.of} numbers here, and at most {most} in any of "
            f"{len(answer.null)} copies with shifted digits."
        )
