"""The text layer of a PDF is read as it is printed."""

from __future__ import annotations

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.pdf import join_words, read_pages
from tests.transcribe.pdfs import Draw, Put, make_pdf


def _texts(*content: list[Put | Draw]) -> tuple[str, ...]:
    return tuple("\n".join(map(join_words, page.lines)) for page in read_pages(make_pdf(*content), "paper.pdf"))


def test_what_is_raised_or_lowered_is_not_read_as_digits_of_the_number() -> None:
    """224² is printed with a small 2 above the baseline; 2242 would be another number."""
    lines: list[Put | Draw] = [
        Put(50, 712, "22.1"),
        Put(50, 700, "224"), Put(66.8, 703.6, "2", 7), Put(120, 700, "80.1"), Put(139.6, 698.2, "±0.1", 7),
    ]  # fmt: skip
    assert _texts(lines) == ("22.1\n224^2" + " " * 10 + "80.1 ±0.1",)


def test_two_columns_are_read_one_after_the_other() -> None:
    words = "the text of a column fills all of its width here"
    both: list[Put | Draw] = [Put(x, 600 - 12 * n, words) for n in range(6) for x in (50, 310)]
    text = _texts([Put(150, 700, "A title that stands over both of the columns"), *both, Put(50, 400, "1.25")])
    assert text[0].split("\n") == [
        "A title that stands over both of the columns", *[words] * 6, "1.25", *[words] * 6
    ]  # fmt: skip


def test_pages_words_and_rules_have_places() -> None:
    first, second = read_pages(
        make_pdf([Put(50, 700, "a b")], [Draw(50, 90, 650), Draw(91, 150, 650), Draw(50, 55, 600), Put(50, 655, "c")]),
        "paper.pdf",
    )
    assert [(word.text, word.x0, word.base) for line in first.lines for word in line] == [
        ("a", 50, 100), ("b", pytest.approx(50 + 5.56 + 2.78), 100)
    ]  # fmt: skip
    assert [(rule.x0, rule.x1, rule.y) for rule in second.rules] == [(50, 150, 150)]
    assert (first.number, second.number) == (1, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (make_pdf([Draw(50, 90, 650)]), "paper.pdf has no text layer (a scan?): give the paper's LaTeX source"),
        (b"%PDF-1.4\nnothing", "paper.pdf cannot be read: it is not a sound PDF"),
        (make_pdf([Put(50, 700, "x")])[:300], "paper.pdf cannot be read: it is not a sound PDF"),
    ],
    ids=["scanned", "empty", "cut off"],
)
def test_a_pdf_without_text_is_named_with_what_to_do(data: bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_pages(data, "paper.pdf")
    assert str(caught.value).startswith(message)
    assert "LaTeX source" in str(caught.value)
