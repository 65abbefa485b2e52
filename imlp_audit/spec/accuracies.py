"""Columns of accuracies whose numbers are none: a share of images is at most 100 %."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.errors import Problem
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.spec.columns import AccuracyColumn
from imlp_audit.spec.number_forms import form_of
from imlp_audit.spec.paper import Paper


def broken_accuracies(paper: Paper) -> Iterator[Problem]:
    """Yield the columns of accuracies in which more than half of the numbers are above 100; one may be a misprint."""
    for located in paper.tables:
        for name, column in located.value.columns.items():
            if not isinstance(column, AccuracyColumn):
                continue
            texts = [row.printed[name] for row in located.value.rows if name in row.printed]
            form = form_of(column, paper.about.value.decimal)
            above = [text for text in texts if _is_above(text, form)]
            if 2 * len(above) > len(texts):
                message = f"this is no accuracy in %: {len(above)} of its {len(texts)} numbers are above 100, such as "
                advice = f"{above[0]}; check the column's measure and heading"
                yield located.problem(message + advice, "columns", name)


def _is_above(text: str, form: NumberForm) -> bool:
    try:
        return parse_printed(text, form).value > 100
    except ValueError:  # a problem of its own
        return False
