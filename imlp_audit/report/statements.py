"""What a paper says in words: claims about its numbers, statements about functions, marks, headings, repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, PASSES, Check, CheckKind, ClaimCheck, EquationCheck, Verdict, printed_form
from imlp_audit.report.document import (
    Block,
    Fold,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Plot,
    Span,
    Style,
    Table,
    code,
    faint,
    figure_file,
    join,
)
from imlp_audit.report.linked import paper_of, section_anchor
from imlp_audit.report.numbered import NumberedFinding
from imlp_audit.report.verdicts import style_of, word_of, write_verdict

Findings: TypeAlias = Mapping[str, NumberedFinding]  # by the ids of their checks
HEADINGS = {
    CheckKind.MARK: "Footnote marks",
    CheckKind.COLUMN: "Column headings",
    CheckKind.REPEAT: "Numbers printed in several places",
}


def claims(checks: Sequence[ClaimCheck], findings: Findings) -> Iterator[Block]:
    """Yield what the text says about the numbers: what does not hold first."""
    if not checks:
        return
    yield Heading("What the text says about the numbers", anchor=section_anchor(CheckKind.CLAIM, paper_of(checks[0])))
    header = ("claim", "verdict", "checked as", "what was found")
    failing = [check for check in checks if check.verdict not in PASSES]
    passing = [check for check in checks if check.verdict in PASSES]
    if failing:
        yield Table(header, tuple(_claim(check, findings) for check in failing))
    if passing:
        table = Table(header, tuple(_claim(check, findings) for check in passing))
        yield _fold_passing(len(passing), table)


def _claim(check: ClaimCheck, findings: Findings) -> tuple[Inline, ...]:
    place = (faint(f"({check.place})"), " ") if check.place else ()
    return (
        (check.printed or "", " ", *place, _named(check, name_of(check))),
        _verdict(check, findings),
        check.statement or "",
        check.reason,
    )


def _verdict(check: Check, findings: Findings) -> tuple[Span, ...]:
    """Return a check's verdict and, if it fails, the finding that covers it."""
    found = findings.get(check.id)
    caveats = "".join(f", {caveat}" for caveat in check.caveats)
    return (Span(word_of(check.verdict), style_of(check)), Span(caveats), *((Span(" "), found.link) if found else ()))


def equations(checks: Sequence[EquationCheck], findings: Findings) -> Iterator[Block]:
    """Yield statements about functions: those that are false as printed with their counterexamples, then the others."""
    if not checks:
        return
    yield Heading("What the text says about functions", anchor=section_anchor(CheckKind.EQUATION, paper_of(checks[0])))
    yield Paragraph(
        "Each statement is tested by running it on small examples. The effect of rounding is bounded, not guessed. "
        'Where it says "proved for", the model\'s own code also ran on symbols in place of numbers. The two sides of '
        "an inequality then differ by a sum of terms that are not negative."
    )
    false = [check for check in checks if check.counterexample]
    if false:
        yield Heading("False as printed", 3)
        yield List(tuple(_false_statement(check, findings) for check in false))
    rest = [check for check in checks if not check.counterexample]
    if rest:
        header = ("statement", "place", "form", "verdict", "what was found")
        table = Table(header, tuple((_with_name(c.statement, c), c.place or "", *_form(c, findings)) for c in rest))
        yield Fold(f"{count_of(len(rest), 'statement')} not found false", (table,))
    for check in checks:
        if check.figure is not None:
            yield Plot(figure_file(check.id), check.figure.title, check.figure)


def _form(check: EquationCheck, findings: Findings) -> tuple[Inline, ...]:
    return (_formula(check), _verdict(check, findings), check.reason)


def _formula(check: EquationCheck) -> Span:
    return Span(printed_form(check) or "")


def _hint(text: str) -> tuple[Span, ...]:
    """Return a hint; what stands behind its colon may be a formula."""
    words, colon, form = text.partition(": ")
    return (Span(f"{words}{colon}"), Span(form))


def _false_statement(check: EquationCheck, findings: Findings) -> Item:
    below = (
        Item(check.place or "", label="place"),
        Item(_formula(check), label="as printed"),
        Item("; ".join(check.counterexample), label="counterexample"),
        Item(join(map(_hint, check.hint_texts), "; "), label="hint"),
    )
    return Item((*_verdict(check, findings), " ", *_with_name(check.statement, check)), below)


def others(kind: CheckKind, checks: Sequence[Check], findings: Findings) -> Iterator[Block]:
    """Yield checks of a kind that has a table and nothing else."""
    if not checks:
        return
    yield Heading(HEADINGS[kind])
    header = ("check", "printed", "verdict", "what was found")
    failing = [check for check in checks if check.verdict not in PASSES]
    passing = [check for check in checks if check.verdict in PASSES]
    if failing:
        yield Table(header, tuple(_other(check, findings) for check in failing))
    if passing:
        yield _fold_passing(len(passing), Table(header, tuple(_other(check, findings) for check in passing)))


def _fold_passing(count: int, table: Table) -> Fold:
    return Fold(f"{count_of(count, 'check')} that {'passes' if count == 1 else 'pass'}", (table,))


def _other(check: Check, findings: Findings) -> tuple[Inline, ...]:
    return (_named(check, check.id), check.printed or "", _verdict(check, findings), check.reason)


def _named(check: Check, name: str) -> Span:
    """Return a name of a check that links to the check lead to."""
    return Span(name, Style.CODE, anchor=check.id)


def _with_name(text: str | None, check: Check) -> tuple[str | Span, ...]:
    return (text or "", " ", _named(check, name_of(check)))


def name_of(check: Check) -> str:
    """Return the last part of a check's id."""
    return check.id.rpartition("/")[2]


def open_claims(checks: Sequence[Check]) -> Iterator[Block]:
    """Yield, for a terminal, the claims that don't pass."""
    failing = [check for check in checks if check.verdict not in PASSES]
    if failing:
        yield Heading("Claims about the numbers that do not pass", 3)
        yield List(tuple((write_verdict(c), " ", code(name_of(c)), ": ", c.reason) for c in failing))


def open_equations(checks: Sequence[EquationCheck], *, all_: bool) -> Iterator[Block]:
    """Yield, for a terminal, the statements about functions that don't pass, or all of them."""
    listed = [check for check in checks if all_ or check.verdict not in PASSES]
    if listed:
        yield Heading("Statements about functions" if all_ else "Statements about functions that do not pass", 3)
        yield List(tuple(map(_equation, listed)))


def _equation(check: EquationCheck) -> Item:
    """Return a statement; for an acknowledged one also its words, the printed form, and the form that holds."""
    known = check.acknowledged is True
    among_findings = check.verdict in (*FAILS, Verdict.ERROR) and not known
    reason = "" if among_findings else f": {check.reason}"
    below = (check.statement or "", f"printed, {check.place}: {check.printed}", *check.hint_texts) if known else ()
    return Item((write_verdict(check), " ", code(name_of(check)), reason), below)
