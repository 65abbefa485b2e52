"""What cells were judged under: rows identified, leads, a table's columns in a line each, and every option's score."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Caught, CellCheck, CountedCheck, Identified, Power
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult, ColumnScore, FitScore, GroupScore, PaperHypothesis
from imlp_audit.report.document import Block, Heading, Item, List, Paragraph, code
from imlp_audit.report.text import shorten

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

    def count(part: Caught) -> str:
        return f"{part.caught} of {part.tried}"

    ten, one = count(power.ten), count(power.one)
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


def group_of_column(hypothesis: PaperHypothesis, column: str) -> ColumnScore | None:
    """Return the score of a column, which is named table/column."""
    return next((score for score in hypothesis.columns if score.group.name == column), None)


def table_hypothesis(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[Block]:
    """Yield a line for each counted column of a table, and below it the rows that state their own counter."""
    lines = []
    for column in table.columns:
        judged = _judged_under(result, paper, table, column)
        own = _own_counters(result, paper, table, column)
        if judged or own:
            lines.append(Item(judged or own, (own,) if judged and own else (), label=column.heading))
    if lines:
        yield List(tuple(lines))


def _own_counters(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Say which selected rows of a column state their own counter, and why; an empty text where none does."""
    selected = {check.id for check in result.checks}
    rows: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        for own in row.counters if f"{paper.id}/{table.id}/{row.id}/{column.id}" in selected else ():
            if own.measure == column.measure:
                rows.setdefault((own.convention, own.because), []).append(row.id)
    named = "; ".join(f"{name} for {', '.join(ids)} (because: {why})" for (name, why), ids in rows.items())
    count = sum(map(len, rows.values()))
    counters = "a counter of its" if count == 1 else "counters of their"
    return f"{counters} own for {count_of(count, 'row')}: {named}" if rows else ""


def _judged_under(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Say under what a column was judged, and what its passes are worth; an empty text for one that is not counted."""
    hypothesis = result.hypotheses.get(paper.id)
    score = None if hypothesis is None else group_of_column(hypothesis, f"{table.id}/{column.id}")
    if hypothesis is None or score is None:
        return ""
    own = f"{paper.id}/{table.id}/"
    checks = (one for one in result.of_kind(CountedCheck) if one.id.startswith(own) and one.reading is not None)
    found = dict.fromkeys(str(one.reading) for one in checks if one.id.rpartition("/")[2] == column.id)
    winners = {group.winner for group in hypothesis.readings}
    readings = [name for name in found if name in winners] or found  # most baselines have only the default
    under = f"{' or '.join(readings)} + " if readings and score.group.votes else ""
    return f"{under}{describe_column(score)}"


def paper_hypothesis(hypothesis: PaperHypothesis) -> Iterator[Block]:
    """Yield the hypothesis of a paper, with the score of every declared option; columns have theirs at their tables."""
    yield Heading("What the counted numbers were judged under", 3)
    yield Paragraph(
        (
            "The numbers are judged together: a reading for each family of models, a convention for each column and a "
            f"rounding rule for the paper. The best choice explains {hypothesis.explained} of "
            f"{count_of(hypothesis.votes, 'number')}; numbers are rounded ",
            code(hypothesis.rounding),
            *(part for group in hypothesis.rounding_of for part in (f", {group.name} ", code(str(group.winner)))),
            ".",
        )
    )
    groups = [("rounding", hypothesis.roundings)] if hypothesis.roundings is not None else []
    groups += [(f"rounding of {group.name}", group) for group in hypothesis.rounding_of]
    groups += [(f"readings of {group.name}", group) for group in hypothesis.readings]
    if groups:
        yield List(
            tuple(Item(f"{describe_group(one)}; by chance at most {one.chance}", label=of) for of, one in groups)
        )


def list_leads(result: AuditResult) -> Iterator[Block]:
    """Yield the rows whose labels point to a model that has not their numbers: questions, which fail nothing."""
    leads: dict[str, CellCheck] = {}
    for one in result.of_kind(CellCheck):
        if one.identified is Identified.LEAD:
            leads.setdefault(one.id.rpartition("/")[0], one)
    if leads:
        yield Heading(f"Leads ({len(leads)})", 3)
        places = (((one.place or one.id).rpartition(", ")[0], one.reason) for one in leads.values())
        items = [f"{place}: {shorten(reason, _LONGEST)}" for place, reason in places]
        yield List(_first(items, "lead"))


def summarize_identified(result: AuditResult) -> Iterator[Item]:
    """Yield a line for each table with candidates: its identified rows, and how its columns were counted."""
    cells = result.of_kind(CellCheck)
    rows = {check.id.rpartition("/")[0]: check.identified for check in cells if check.identified is not None}
    lines = []
    for paper, table in ((one, table) for one in result.papers for table in one.tables):
        own = [how for name, how in rows.items() if name.startswith(f"{paper.id}/{table.id}/")]
        if own:
            known = sum(how not in (Identified.NO, Identified.LEAD) for how in own)
            by_name = own.count(Identified.NAME)
            named = f", {by_name} of them by the names of others" if by_name else ""
            identified = f"{known} of {count_of(len(own), 'row')} by their numbers{named}"
            lines.append(f"{table.called}: {'; '.join((identified, *_counters(result, paper, table)))}")
    yield from (Item(one, label="identified") for one in _first(lines, "table"))


def _first(lines: list[str], noun: str) -> tuple[str, ...]:
    more = [count_of(len(lines) - _MOST, f"more {noun}")] if len(lines) > _MOST else []
    return (*lines[:_MOST], *more)


def _counters(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[str]:
    """Yield for each column of FLOPs the counter that explains most numbers, with the next best."""
    hypothesis = result.hypotheses.get(paper.id)
    if hypothesis is None or paper.flops:
        return
    for column in table.columns:
        score = group_of_column(hypothesis, f"{table.id}/{column.id}")
        if column.measure == "flops" and score is not None and score.group.votes:
            group = score.group
            most = group.scores.get(str(group.winner), 0)
            best = " or ".join(str(name) for name, explained in group.scores.items() if explained == most)
            others = sorted(((n, str(name)) for name, n in group.scores.items() if n < most), reverse=True)
            after = f"; next best {others[0][1]} {others[0][0]}" if others else ""
            yield f"{column.heading} counted by {best} (not stated; explains {most} of {group.votes}{after})"
