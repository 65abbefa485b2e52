"""What the numbers say the model was: the answer of `imlp-audit solve`, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.solution import Answered, Solved, SolvedAxis, SolvedCell, SolvedFirst, SolvedWeights
from imlp_audit.report.document import (
    Block,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Table,
    code,
    join,
    number_columns,
    spans,
)

_CELLS = 3  # cells that are written out for each decided value
_NO_NAMED = "; no named reading among them"
COLUMNS = {"parameters": "parameters", "flops": "FLOPs", "both": "both"}


def solved_document(solved: Solved) -> Document:
    """Return an answer as a document."""
    last = solved.last
    return (
        Heading("What the numbers say the model was", 2),
        Paragraph(_introduction(solved.selection)),
        *_failed(solved.failed),
        List(tuple(map(_score, solved.answers))),
        *_by_column(solved.answers),
        *_conclusions(last),
        Heading("The first of the best solutions", 3),
        List(tuple(_first(last.first))),
        *_decisions(solved),
        *_exceptions(last),
        *_controls(last),
        *_left_out(solved.left_out),
        Heading("The order of the solutions", 3),
        Paragraph(solved.order),
    )


def _by_column(answers: Sequence[Answered]) -> Iterator[Paragraph]:
    """Say that the search for both had one rounding rule, where the first solutions of each alone have two."""
    *parts, last = answers
    rules = {one.first.parameter_rounding or one.first.flops_rounding for one in parts}
    if len(rules) > 1 and last.score < sum(one.score for one in parts):
        yield Paragraph(
            (
                "The first solutions of parameters alone and of FLOPs alone have different rounding rules; both were "
                "searched with one. ",
                code("--by-column"),
                " allows each its own.",
            )
        )


def _failed(rows: Sequence[str]) -> Iterator[Paragraph]:
    """Name the rows that could not be searched, before any answer."""
    if rows:
        count = f"{count_of(len(rows), 'row')} {'is' if len(rows) == 1 else 'are'} not part of the search"
        yield Paragraph((Span(f"{count}, for the reasons under Left out: "), *join(map(code, rows)), Span(".")))


def _introduction(selection: Sequence[str]) -> Inline:
    return (
        "The text of a paper leaves questions about its models open. A reading answers all of them; a counter says how "
        "much each class of work counts as FLOPs (a whole number from 0 to 6). The search covers every combination of "
        "readings, counters and usual rounding rules, without sampling, and finds those that explain the most printed "
        "numbers of ",
        *join(map(code, selection)),
        ".",
    )


def _score(answer: Answered) -> Inline:
    """Say how many numbers are explained, and by how many solutions."""
    solutions = count_of(answer.solutions, "solution")
    families = join(count_of(n, f"{family} reading") for family, n in answer.readings.items())
    named: tuple[Inline, ...] = ()
    if answer.axes:
        named = ("; ", *join(map(code, answer.named), " and "), " among them") if answer.named else (_NO_NAMED,)
    cut = f"; NOT exhaustive: the budget ended the search, at most {answer.bound} possible"
    numbers = f"{answer.score} of {count_of(answer.of, 'number')}"
    return _flat(
        f"{COLUMNS[answer.what]}: {numbers} explained by {solutions}",
        *((" (", families, ")") if families else ()),
        *named,
        *(() if answer.exhaustive else (cut,)),
    )


def _conclusions(answer: Answered) -> Iterator[Block]:
    """Yield how well the reading and the counter are known."""
    said = []
    if answer.reading is not None:
        said.append(_certainty(answer.reading, answer))
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
        yield List(tuple(said))


def _certainty(word: str, answer: Answered) -> str:
    """Say how well a reading is known; a number without explanation may have been explained by another."""
    if word == "agreed":
        return f"The best solutions agree on the reading, but {_doubt(answer)}."
    several = f"not identified: {word} that are equally good" if word.startswith("one of") else word
    return f"The reading is {several}."


def _doubt(answer: Answered) -> str:
    """Say why what the best solutions agree on is not decided by the numbers."""
    if not answer.unexplained:
        return "the search was not exhaustive"
    return f"{count_of(answer.unexplained, 'number')} {'is' if answer.unexplained == 1 else 'are'} unexplained"


def _first(first: SolvedFirst) -> Iterator[Item]:
    for family, axes in first.reading.items():
        values = ", ".join(f"{axis} {value}" for axis, value in axes.items())
        near: Inline = ""
        if first.nearest:
            apart = f"{first.apart} {'axis' if first.apart == 1 else 'axes'}"
            near = (f" ({apart} from ", code(first.nearest), ")")
        yield Item(_flat(values, near), label=family)
    if first.parameters is not None:
        yield Item(f"{first.parameters}, rounded {first.parameter_rounding}", label="parameters")
    if first.flops_rounding is not None:
        weights = ", ".join(f"{name} {weight}" for name, weight in first.weights.items())
        yield Item(f"{weights}, rounded {first.flops_rounding}", label="FLOPs")


def _decisions(solved: Solved) -> Iterator[Block]:
    """Yield what the numbers decide about the reading and the counter."""
    if solved.last.axes:
        yield Heading("What the numbers decide about each open question", 3)
        yield _axes(solved)
        yield from _grounds(solved.last)
    if solved.last.weights:
        yield Heading("What they decide about the counter", 3)
        yield Table(("weight of", "in the best solutions"), tuple(map(_weights, solved.last.weights)))


def _grounds(answer: Answered) -> Iterator[Block]:
    """Yield the numbers that each value rests on, by the value; those that rest on none are left out."""
    decided = {f"{one.axis} {one.values[0]}": one.rests_on for one in answer.axes if one.rests_on}
    if decided:
        agreed = "" if answer.exhaustive and not answer.unexplained else f", and {_doubt(answer)}"
        yield Paragraph(f"The best solutions agree on these{agreed}. With another value the first would not explain:")
        yield List(tuple(Item(_some(rests_on), label=value) for value, rests_on in decided.items()))


def _some(cells: Sequence[str]) -> Inline:
    """Return the first of some cells, and how many more there are."""
    rest = len(cells) - _CELLS
    return _flat(*join(map(code, cells[:_CELLS])), f" and {readable(rest)} more" if rest > 0 else "")


def _axes(solved: Solved) -> Table:
    """Return a table with a row for each axis: what each search leaves of it, and what the named readings have."""
    names = list(solved.last.axes[0].named)
    header = ("question", *(COLUMNS[answer.what] for answer in solved.answers), "", *names)
    rows = tuple(
        (
            axis.axis,
            *(_left_of(axis, answer) for answer in solved.answers),
            solved.last.state_of(axis),
            *(axis.named.get(name, "") for name in names),
        )
        for axis in solved.last.axes
    )
    return Table(header, rows)


def _left_of(axis: SolvedAxis, answer: Answered) -> str:
    """Return the values of an axis in the best solutions of an answer."""
    same = [one for one in answer.axes if (one.family, one.axis) == (axis.family, axis.axis)]
    return ", ".join("any" if one.is_free else ", ".join(one.values) for one in same)


def _weights(one: SolvedWeights) -> tuple[str, ...]:
    terms = (name if f == 1 else f"{f} {name}" for name, f in zip(one.classes, one.factors, strict=True))
    return " + ".join(terms), ", ".join(map(str, one.values))


def _exceptions(answer: Answered) -> Iterator[Block]:
    """Yield the numbers that the best solutions leave unexplained."""
    if answer.contradicted:
        yield Heading("Printed numbers that no best solution gives", 3)
        yield Paragraph(
            "The nearest value is that of any best solution. The last column says how far it lies outside the values "
            "that print as the number does, in units of the last printed digit."
        )
        header = ("cell", "nearest", "outside by")
        yield Table(header, tuple(map(_contradicted_row, answer.contradicted)), number_columns(header))
    if answer.disputed:
        yield Heading("Printed numbers that only some of the best solutions give", 3)
        yield Paragraph("They cannot all be right.")
        yield List(tuple(map(code, answer.disputed)))


def _contradicted_row(cell: SolvedCell) -> tuple[Inline, ...]:
    return code(cell.id), "" if cell.value is None else readable(cell.value), cell.gap or ""


def _controls(answer: Answered) -> Iterator[Block]:
    """Yield what the same search explains where there is nothing to find."""
    if answer.null:
        most = max(bound for _, bound in answer.null)
        yield Heading("What the score is worth", 3)
        yield Paragraph(
            f"The same search explains {answer.score} of {answer.of} numbers here, and at most {most} in any of "
            f"{len(answer.null)} copies with shifted digits."
        )


def _left_out(reasons: dict[str, str]) -> Iterator[Block]:
    if reasons:
        yield Heading("Left out", 3)
        yield List(tuple(_flat(code(name), f": {why}") for name, why in reasons.items()))


def _flat(*parts: Inline) -> Inline:
    """Return parts as one inline text."""
    return tuple(span for part in parts if part for span in spans(part))
