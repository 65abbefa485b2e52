"""Whatever a paper or a file says stays text, in every format and in every place that has a text."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.numbers.parsing import SCALES
from imlp_audit.report.document import (
    Code,
    Document,
    Fold,
    Heading,
    Item,
    List,
    MarkedTable,
    Paragraph,
    PrintedCell,
    Span,
    Stamped,
    Style,
    Table,
    code,
)
from imlp_audit.report.formats import AuditFormat, Format, render_audit, render_document
from imlp_audit.report.paper import report_document

from .inert import CHECKS
from .results import BENIGN, HOSTILE, everywhere

MARKUP = (
    *HOSTILE,
    '" onmouseover="alert(1)',
    "' onload='alert(1)",
    "</script><script>alert(1)</script>",
    "</style>",
    "javascript:alert(1)",
    "::error::text",
    "one\n\xa0::error::text",
    "one\n  ::set-output name=x::y",
    "##[error]text",
    "%0A::error::text",
    "a%2Cline=1%3A:b",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\u202egnp.exe",
    "\u2028::error::text",
    "\ufffe\uffff\x00",
    "{page} {0} %s",
    "[a](http://example.org) {0}",
    "=1+1",
    "@SUM(A1)",
    "]]> <![CDATA[ <!DOCTYPE x [<!ENTITY a 'b'>]> &a;",
    "\\input{x} \\write18{ls} \\end{longtable} \\\\",
    "*[1cm] & % $x^2$ {",
    "-- `` '' ?` \" ,, <<",
)
SPECIAL = st.text(
    st.sampled_from("<>&\"'/=#:;[]{}()!?|*_`~^%$@,-\\ \n\r\t\0\x1b\x85\u2028\ufffeab1"), min_size=1, max_size=30
)
MEANINGFUL = {*SCALES, "%", "MB", "id"}  # a unit that is one changes what is drawn, and a key of JSON is one
ANY = (st.text(min_size=1, max_size=60) | SPECIAL).filter(lambda text: text.strip() and text.strip() not in MEANINGFUL)


def every_block(text: str) -> Document:
    """A document with a text in every place where a block may have one."""
    stamped = Stamped(text, "✗", text, Style.BAD, (text, text))
    cell = PrintedCell((stamped,), (Paragraph(text),), text)
    links = tuple(Span(text, style, link=link, anchor=text) for style in Style for link in (text, f"#{text}"))
    return (
        Heading(text, 1, text),
        Heading((text, code(text)), 2),
        Paragraph((text, *links)),
        Table((text, code(text)), ((text, text),)),
        Table((), ((text,),)),
        List((text, Item(text, (text, Item(text, label=text)), label=text))),
        Code(text, ""),
        MarkedTable((text, text), ((text, (cell,)), (text, (None,))), Table((text,), ((text,),))),
        Fold(text, (Paragraph(text),)),
    )


@cache
def report_of(text: str, form: AuditFormat) -> str:
    """A report in a format of a result that has a text wherever one may have one."""
    result = everywhere(text)
    if form in (AuditFormat.JSON, AuditFormat.SARIF, AuditFormat.GITHUB):
        return render_audit(result, form)
    return render_document(after_the_first_screen(report_document(result)), Format(form.value))


def after_the_first_screen(document: Document) -> Document:
    """The first screen has as many entries as fit, and so other ones for long texts."""
    start = next(
        at for at, block in enumerate(document) if isinstance(block, Heading) and block.text == "Ask the authors"
    )
    return document[start:]


@cache
def blocks_of(text: str, form: Format) -> str:
    return render_document(every_block(text), form)


def test_every_format_is_checked() -> None:
    assert set(CHECKS) == set(AuditFormat)
    assert {form.value for form in Format} < set(AuditFormat)


@pytest.mark.parametrize("form", [Format.RICH, Format.MARKDOWN, Format.HTML])
@given(text=ANY)
def test_no_text_in_a_block_is_more_than_text(form: Format, text: str) -> None:
    CHECKS[AuditFormat(form.value)](blocks_of(text, form), blocks_of("plain", form))


@pytest.mark.parametrize("form", [Format.RICH, Format.MARKDOWN, Format.HTML])
@pytest.mark.parametrize("text", MARKUP)
def test_no_text_in_a_block_that_is_made_to_be_more_is(form: Format, text: str) -> None:
    CHECKS[AuditFormat(form.value)](blocks_of(text, form), blocks_of("plain", form))


@pytest.mark.parametrize("form", AuditFormat)
@given(text=ANY)
@settings(max_examples=4)
def test_no_text_in_a_result_is_more_than_text(form: AuditFormat, text: str) -> None:
    CHECKS[form](report_of(text, form), report_of(BENIGN, form))


@pytest.mark.daily(len(AuditFormat))
@pytest.mark.parametrize("form", AuditFormat)
@pytest.mark.parametrize("text", ["[" + " ".join(MARKUP), "::*" + "\n".join(reversed(MARKUP)), *MARKUP])
def test_no_text_in_a_result_that_is_made_to_be_more_is(form: AuditFormat, text: str) -> None:
    CHECKS[form](report_of(text, form), report_of(BENIGN, form))
