"""Tables in CSV, TSV, markdown and HTML: the cells that were written are the cells that are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.grid import SourceDocument, SourceTable
from imlp_audit.transcribe.sources import SourceKind, kind_of, read_separated
from imlp_audit.transcribe.web import read_markdown, read_web

from .writers import Cells, grids, markdown, separated, web_page


def cells(table: SourceTable) -> list[list[str]]:
    return [list(table.headings), *(list(row.cells) for row in table.rows)]


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda grid: separated(grid, ","), lambda text: read_separated(text, "x", ",")),
        (lambda grid: separated(grid, "\t"), lambda text: read_separated(text, "x", "\t")),
        (markdown, lambda text: read_markdown(text, "x")),
        (web_page, lambda text: read_web(text, "x")),
    ],
    ids=["csv", "tsv", "markdown", "html"],
)
@settings(max_examples=25)
@given(data=st.data())
def test_what_was_written_is_read(
    write: Callable[[Cells], str], read: Callable[[str], SourceDocument], data: st.DataObject
) -> None:
    grid = data.draw(grids())
    (table,) = read(write(grid)).tables
    assert cells(table) == grid


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_of_a_file_is_found_and_lines_are_kept(delimiter: str) -> None:
    text = delimiter.join(["Model", "Params (M)"]) + "\n\n" + delimiter.join(['"a\nb"', "22.1"]) + "\n"
    (table,) = read_separated(text, "x.csv").tables
    assert cells(table) == [["Model", "Params (M)"], ["a b", "22.1"]]
    assert table.rows[0].line == 3


def test_a_quote_that_is_not_closed_is_named_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"x\.csv:2: not comma-separated values"):
        read_separated('a,b\n"c,1\n', "x.csv")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**79.8**", "79.8"),
        ("[model](https://x.y/a_(b).pth)", "model"),
        ("[[Google]](https://x.y) [[GitHub]](https://z)", "[Google] [GitHub]"),
        ("![badge](x.svg) DeiT-S", "DeiT-S"),
        ("`pvt_v2_b0`", "pvt_v2_b0"),
        ("pvt_v2_b0", "pvt_v2_b0"),
        ("_DeiT_ and *Swin*", "DeiT and Swin"),
        ("DeiT-S*", "DeiT-S*"),
        ("224<sup>2</sup>", "224^2"),
        ("$224^2$", "224^2"),
        ("4.6&plusmn;0.1<br>G", "4.6±0.1 G"),
        (r"a \| b \* c", "a | b * c"),
        ("~~1.0~~ 2.0", "1.0 2.0"),
    ],
)
def test_markdown_is_what_it_prints(line: str, text: str) -> None:
    (table,) = read_markdown(f"| Model | x |\n|--|--|\n| {line} | 1 |\n", "a.md").tables
    assert table.rows[0].cells[0] == text


PAGE = """# Zoo

```
| not | a table |
| --- | --- |
```
## Results
- trained on ImageNet-1K

| Model | Params (M) |
|:--|--:|
| DeiT-S | 22.1 |

<table id="t2"><tr><th>Model</th><th>FLOPs</th></tr><tr><td>DeiT-S</td><td>4.6G</td></tr></table>
"""


def test_tables_of_markdown_have_captions_and_lines_also_those_in_html() -> None:
    document = read_markdown(PAGE, "x.md")
    one, two = document.tables
    assert document.title == "Zoo"
    assert (one.number, one.caption, one.line) == ("1", "Results. trained on ImageNet-1K", 10)
    assert (two.number, two.label, two.line, cells(two)) == ("2", "t2", 14, [["Model", "FLOPs"], ["DeiT-S", "4.6G"]])


@pytest.mark.parametrize(
    "page",
    [
        "<table><th>Model<th>Params<tr><td>DeiT-S<td>22.1</table>",
        "<table><thead><th>Model</th><th>Params</th></thead><tbody><td>DeiT-S</td><td>22.1</td></tbody></table>",
        "<TABLE><TR><TH>Model</TH><TH>Params</TH></TR><TR><TD>DeiT-S<TD>22.1",
    ],
)
def test_a_row_is_read_as_a_browser_shows_it(page: str) -> None:
    for document in (read_web(page, "x.html"), read_markdown(page, "x.md")):
        assert [cells(table) for table in document.tables] == [[["Model", "Params"], ["DeiT-S", "22.1"]]]


def test_the_text_of_a_section_is_read_for_sizes_of_images() -> None:
    page = (
        "# A\n\nAt 192x192.\n\n## B\n\nTested at resolution 288.\n\n| a | b |\n|--|--|\n| c | 1 |\n\nAlso at 320^2.\n"
    )
    (table,) = read_markdown(page, "x.md").tables
    assert table.around == "Tested at resolution 288. Also at 320^2."


def test_markdown_in_cells_of_html_is_read_as_it_is_shown() -> None:
    page = "<table>\n<th>Model</th><th>Params</th>\n\n<tr><td>\n\n**DeiT-S**\n\n</td><td>22.1</td></tr>\n</table>\n"
    (table,) = read_markdown(page, "x.md").tables
    assert cells(table) == [["Model", "Params"], ["DeiT-S", "22.1"]]


def test_cells_of_a_page_over_rows_and_columns_are_in_each() -> None:
    page = """<figure id="S4.T1"><figcaption>Table 2 : <b>ImageNet</b></figcaption><table>
        <thead><tr><th rowspan="2">Model</th><th colspan=2>Cost</th></tr>
        <tr><th>Params</th><th>FLOPs</th></tr></thead>
        <tr><td rowspan=2>DeiT-S<sup>&dagger;</sup><td>22.1M<td><math alttext="4.6_{\\pm 0.1}"><mn>4.6</mn></math>
        <tr><td>5<script>1</script><td><table><tr><td>4.0</td></tr></table></td></tr></table></figure>"""
    (table,) = read_web(page, "x.html").tables
    assert cells(table) == [
        ["Model", "Cost Params", "Cost FLOPs"],
        ["DeiT-S†", "22.1M", "4.6 ±0.1"],
        ["DeiT-S†", "5", "4.0"],
    ]
    assert (table.number, table.caption, table.label) == ("2", "ImageNet", "S4.T1")
    assert [row.line for row in table.rows] == [4, 5]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"\begin{tabular}{ll}", SourceKind.LATEX),
        ("<p><TABLE border=1>", SourceKind.HTML),
        ("| a | b |\n| -- | -- |", SourceKind.MARKDOWN),
        ("a\tb\n1\t2", SourceKind.TSV),
        ("a,b\n1,2", SourceKind.CSV),
        ("nothing", None),
    ],
)
def test_a_file_without_a_known_ending_is_known_by_what_is_in_it(text: str, kind: SourceKind | None) -> None:
    assert kind_of(Path("source"), text) is kind


def test_headings_between_the_rows_are_no_rows_and_other_headings_end_the_table() -> None:
    rows = "a,1,70\nModel,Params (M),Top-1\nb,2,71\nModel,Top-1,FLOPs\nc,72,3\n"
    (table,) = read_separated(f"Model,Params,Top-1\n{rows}", "x.csv").tables
    assert cells(table)[1:] == [["a", "1", "70"], ["b", "2", "71"]]
    assert table.notes == ("other headings follow (Model, Top-1, FLOPs): what is below them is not read",)


@pytest.mark.parametrize(
    ("above", "number", "caption"),
    [
        ("## CIFAR-10\n\n**Table 7.** Results on\nall of it.\n\n", "7", "CIFAR-10. Results on all of it."),
        ("## CIFAR-10\nTable 8: More\n", "8", "CIFAR-10. More"),
        ("Table 7: Two\nlines\n\n", "7", "Two lines"),
        ("## CIFAR-10\n\nSo it is, as one sees in\nTable 7. It is so.\n\n", "1", "CIFAR-10. Table 7. It is so."),
        ("## CIFAR-10\n\nAs table 7 shows.\n\n", "1", "CIFAR-10. As table 7 shows."),
        ("Text\n### Table 3\n\n", "3", "Table 3"),
        ("", "1", ""),
    ],
)
def test_a_caption_of_markdown_gives_the_number_of_its_table(above: str, number: str, caption: str) -> None:
    """The heading stays: it may say that the models are not those of ImageNet."""
    (table,) = read_markdown(f"{above}| Model | Params (M) |\n|---|---|\n| DeiT-S | 22.1 |\n", "x.md").tables
    assert (table.number, table.caption) == (number, caption)
