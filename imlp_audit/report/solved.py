"""What the numbers say the model was: a section of a report, and the same for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.numbers.interval import readable
from imlp_audit.records.solution import Answered, Solved, SolvedFirst, SolvedRow, SolvedWeights

_WAYS = 4  # of as many ways that a row might differ are written out
COLUMNS = {"parameters": "parameters", "flops": "FLOPs", "both": "both"}


_INTRODUCTION = (
    "A paper's text leaves questions about its models open. A reading is one answer to each of them, and a counter "
    "says how much each kind of work counts as FLOPs (a whole number from 0 to 6). All combinations of the two and of "
    "the usual rounding rules were searched, without sampling, for those that explain most printed numbers of {}."
)


@dataclass(frozen=True)
class Block:
    """Sentences, and a table below them."""

    sentences: tuple[str, ...]
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def as_text(solved: Solved) -> str:
    """Write an answer for a terminal."""
    lines: list[str] = []
    for block in blocks(solved):
        lines += [*block.sentences, *_aligned((block.header, *block.rows) if block.rows else ()), ""]
    return "\n".join(lines[:-1]) + "\n"


def as_markdown(solved: Solved, figure: str | None) -> Iterator[str]:
    """Yield an answer as a section of a report; `figure` is the file of its drawing."""
    yield from ("", "## What the numbers say the model was", "")
    if figure is not None:
        yield from (f"![How many readings explain how many sizes]({figure})", "")
    for block in blocks(solved):
        yield from block.sentences
        if block.rows:
            yield from ("", "| " + " | ".join(block.header) + " |", "|" + " --- |" * len(block.header))
            yield from ("| " + " | ".join(row) + " |" for row in block.rows)
        yield ""


def blocks(solved: Solved) -> Iterator[Block]:
    """Yield what an answer says, in the order that a reader needs it."""
    last = solved.last
    yield Block((_INTRODUCTION.format(", ".join(solved.selection)),))
    yield Block(tuple(_score(answer) for answer in solved.answers))
    yield Block(tuple(_words(last)))
    yield Block(("The first of the best solutions:", *_first(last.first)))
    if last.axes:
        yield Block(("What the numbers decide about each open question:",), *_axes(solved))
    if last.weights:
        yield Block(("What they decide about the counter (weights of classes of work):",), *_weights(last.weights))
    if last.contradicted:
        rows = tuple((c.id, "" if c.value is None else readable(c.value), c.gap or "") for c in last.contradicted)
        told = "Printed numbers that no best solution gives, with the nearest value of any and its gap in last digits:"
        yield Block((told,), ("cell", "nearest", "gap"), rows)
    if last.disputed:
        told = "Printed numbers that some of the best solutions give and others do not; not all of them are right:"
        yield Block((told, *(f"- {cell}" for cell in last.disputed)))
    if last.rows:
        told = (
            "Rows of which the first solution leaves a number unexplained, and the least change of the row alone that"
        )
        yield Block((f"{told} would explain all its numbers:", *(f"- {row.id}: {_ways(row)}" for row in last.rows)))
    yield from _evidence(last)
    if solved.left_out:
        yield Block(("Left out:", *(f"- {name}: {why}" for name, why in solved.left_out.items())))
    yield Block((f"Order: {solved.order}",))


def _score(answer: Answered) -> str:
    """Say how much is explained, by how many."""
    told = f"{COLUMNS[answer.what]}: {answer.score} of {answer.of} numbers explained, by {answer.solutions:,} solutions"
    readings = ", ".join(f"{n:,} of the {family} readings" for family, n in answer.readings.items())
    named = f"; among them {' and '.join(answer.named)}" if answer.named else "; no named reading is among them"
    cut = (
        ""
        if answer.exhaustive
        else f"; NOT exhaustive: the budget ended the search, at most {answer.bound} are possible"
    )
    return f"- {told}{f' ({readings})' if readings else ''}{named if answer.axes else ''}{cut}"


def _words(answer: Answered) -> Iterator[str]:
    """Say how sure it is."""
    if answer.reading is not None:
        yield f"The reading is {_told(answer.reading)}."
    if answer.counter is not None:
        yield f"The counter of FLOPs is {_told(answer.counter)}."
    if answer.conventions:
        scores = ", ".join(f"{name} {score}" for name, score in answer.conventions.items())
        yield f"By named counters the best scores are: {scores} of {answer.of}."
    for families in answer.families:
        own = "its own" if len(families) == 1 else "their own"
        yield f"If {' and '.join(families)} had a reading of {own}, more would be explained."


def _told(word: str) -> str:
    return f"not identified: {word} that are equally good" if word.startswith("one of") else word


def _first(first: SolvedFirst) -> Iterator[str]:
    for family, axes in first.reading.items():
        near = (
            f" ({first.apart} {'axis' if first.apart == 1 else 'axes'} from `{first.nearest}`)" if first.nearest else ""
        )
        yield f"- {family}{near}: {', '.join(f'{axis} {value}' for axis, value in axes.items())}"
    if first.parameters is not None:
        yield f"- parameters: {first.parameters}, rounded {first.parameter_rounding}"
    if first.flops_rounding is not None:
        weights = ", ".join(f"{name} {weight}" for name, weight in first.weights.items())
        yield f"- FLOPs: {weights}, rounded {first.flops_rounding}"


def _axes(solved: Solved) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a row an axis: what each search leaves of it."""
    names = list(solved.last.axes[0].named)
    header = ("question", *(COLUMNS[answer.what] for answer in solved.answers), "", *names)
    rows = []
    for axis in solved.last.axes:
        left = []
        for answer in solved.answers:
            found = next((a for a in answer.axes if (a.family, a.axis) == (axis.family, axis.axis)), None)
            left.append("" if found is None else "any" if found.state == "free" else ", ".join(found.values))
        rows.append((axis.axis, *left, axis.state, *(axis.named.get(name, "") for name in names)))
    return header, tuple(rows)


def _weights(weights: Sequence[SolvedWeights]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a row a sum of weights: its values, and how far it could be moved over the reals."""
    rows = []
    for one in weights:
        terms = (name if f == 1 else f"{f} {name}" for name, f in zip(one.classes, one.factors, strict=True))
        high = "no limit" if one.high is None else f"{one.high:g}"
        rows.append((" + ".join(terms), ", ".join(map(str, one.values)), f"{one.low:g} to {high}"))
    return ("weight of", "in the best solutions", "over the reals"), tuple(rows)


def _ways(row: SolvedRow) -> str:
    """Say how a row would have to differ."""
    if not row.ways:
        return "none of those tried (one or two places of its reading or its recipe)"
    told = [" and ".join(f"{one.axis} {one.becomes} (not {one.was})" for one in way) for way in row.ways[:_WAYS]]
    more = f"; or one of {len(row.ways) - _WAYS} other ways" if len(row.ways) > _WAYS else ""
    return "; or ".join(told) + more


def _evidence(answer: Answered) -> Iterator[Block]:
    """Yield the same search where there is nothing to find, and the cells that it did not see."""
    if answer.null:
        most = max(bound for _, bound in answer.null)
        told = (
            f"The same search on {len(answer.null)} tables with shifted digits explains at most {most} of {answer.of}"
        )
        yield Block((f"{told}, here {answer.score}.",))
    if answer.held:
        rows = tuple((one.name, str(one.of), str(one.chosen), one.mean or "") for one in answer.held)
        header = ("left out", "numbers", "explained by the first solution for the rest", "by all on average")
        yield Block(("Numbers that the search did not see:",), header, rows)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows as columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        yield "  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
