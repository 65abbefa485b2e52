"""`imlp-audit init`: from a printed table to a spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.models.names.known import Library, current_models
from imlp_audit.spec.load import load
from tests.transcribe.pdfs import Put, make_pdf, put_table

from .light import make_light, run_light
from .running import call

PAPER = r"""\documentclass{article}
\title{Two models}
\author{A. Author}
\begin{document}
\begin{table}
\caption{Classification on ImageNet-1k at $224^2$.}
\label{tab:main}
\begin{tabular}{lccc}
\toprule
Model & \#Params (M) & GFLOPs & Top-1 (\%) \\
\midrule
DeiT-S~\cite{deit} & 22.1 & 4.6 & 79.8$_{\pm0.1}$ \\
\quad + SE & 22.4 (+1.4\%) & 4.6 & \textbf{80.1} (+0.3) \\
Swin-T$^\dagger$ & 28.3 & 4.5 & 81.3 \\
OurNet & 5.0 & -- & 77 \\
\bottomrule
\end{tabular}
\end{table}
\begin{table}\caption{Other}\begin{tabular}{ll}a & b \\ 1 & 2\end{tabular}\end{table}
\end{document}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a paper, which is the current one."""
    (tmp_path / "main.tex").write_text(PAPER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_becomes_a_spec_without_mistakes(folder: Path) -> None:
    done = call("init", "main.tex", "--table", "tab:main", "--paper", "two", "-o", "spec.yaml")
    assert (done.code, done.err) == (0, "")
    made = "4 rows, 12 numbers; 2 labels are exactly one model's name, 3 rows have candidates"
    assert made in " ".join(done.out.split())
    assert "imlp-audit lint spec.yaml\nimlp-audit verify spec.yaml" in done.out
    assert call("lint", "spec.yaml").code == 0
    (paper,) = load(["spec.yaml"]).papers
    (table,) = (located.value for located in paper.tables)
    assert paper.about.value.title == "Two models"
    assert {name: (column.measure, column.unit) for name, column in table.columns.items()} == {
        "params": ("parameters", "M"),
        "flops": ("flops", "G"),
        "top1": ("score", "%"),
    }
    rows = {row.id: row for row in table.rows}
    assert [row.model for row in rows.values()] == [None] * 4
    assert [str(row.candidates[0]) for row in rows.values() if row.candidates] == [
        "timm: deit_small_patch16_224", "timm: deit_small_patch16_224", "timm: swin_tiny_patch4_window7_224"
    ]  # fmt: skip
    assert [row.named for row in rows.values()] == [True, False, True, False]
    assert (table.images, paper.about.value.parameters) == ((224,), ("all", "no_head", "with_buffers"))
    assert rows["deit_s"].printed == {"params": "22.1", "flops": "4.6", "top1": "79.8 ±0.1"}
    assert (rows["deit_s_se"].baseline, rows["deit_s_se"].delta) == ("deit_s", {"params": "+1.4%"})
    assert rows["swin_t"].label == "Swin-T†"
    assert rows["ournet"].printed == {"params": "5.0", "top1": "77"}


def test_what_was_guessed_or_left_out_is_a_comment(folder: Path) -> None:
    done = call("init", "main.tex", "--table", "1", "--print")
    assert done.code == 0
    assert "# top1 '80.1 (+0.3)': the change +0.3 is in points, and a spec holds" in done.out
    assert sorted(path.name for path in folder.iterdir()) == ["main.tex"]


def test_characters_that_a_spec_refuses_do_not_reach_it(folder: Path) -> None:
    (folder / "a.csv").write_text("Model,Params (M)\nDeiT\u202e-S,22.1\nA\x07b\ufeff,5\n\u202e,6\n", encoding="utf-8")
    assert call("init", "a.csv").code == 0
    assert call("lint", "a.yaml").code == 0


def test_headings_of_two_rows_and_columns_left_out_are_told_and_damage_is_a_field(folder: Path) -> None:
    head = "| Model | Params (M) | Test | | Size |\n|--|--|--|--|--|\n| | | MACs (G) | Acc (%) | (MB) |\n"
    (folder / "a.md").write_text(
        f"{head}| Swin-T | 28 | 4.5 | 81.3 | 7 |\n| Swin-S | 50 50 | 8.7 | 83.0 | 8 |\n", "utf-8"
    )
    done = call("init", "a.md")
    assert "flops (flops in G), acc (score in %) (left out: Size (MB)); 2 rows" in " ".join(done.out.split())
    (table,) = load(["a.yaml"]).papers[0].tables
    assert (table.value.rows[0].printed["flops"], table.value.uncertain) == ("4.5", "two numbers in one cell: 50 50")


def test_all_tables_with_a_number_to_count_are_one_spec(folder: Path) -> None:
    other = PAPER.replace("a & b", "Model & Params (M)").replace("1 & 2", "ResNet-50 & 25.6")
    third = r"\begin{table}\begin{tabular}{ll}Model & Top-1 (\%) \\ Swin-T & 81.3\end{tabular}\end{table}"
    (folder / "main.tex").write_text(other.replace(r"\end{document}", third + r"\end{document}"), "utf-8")
    assert call("init", "main.tex").out.startswith("Wrote main.yaml: table 1, 2\n")
    text = (folder / "main.yaml").read_text("utf-8")
    assert (
        "# main.tex, line 20: table 3 has no readable number of parameters or FLOPs in 1 row with the headings" in text
    )
    assert call("lint", "main.yaml").code == 0
    (paper,) = load(["main.yaml"]).papers
    assert [one.value.table for one in paper.tables] == ["1", "2"]
    assert 'table: "3"' in call("init", "main.tex", "--table", "3", "--print").out  # its scores, where it is asked for
    both = call("init", "main.tex", "--table", "2", "--table", "tab:main", "--print").out
    assert [line for line in both.splitlines() if "- table:" in line] == ['  - table: "1"', '  - table: "2"']


def test_tables_of_one_number_are_called_differently(folder: Path) -> None:
    page = "# A\n\nTable 1: Small\n\n| Model | Params (M) |\n|--|--|\n| DeiT-S | 22.1 |\n"
    (folder / "zoo.md").write_text(page + page.replace("Small", "More"), "utf-8")
    assert call("init", "zoo.md").code == 0
    (paper,) = load(["zoo.yaml"]).papers
    assert [one.value.table for one in paper.tables] == ["1", "2"]


def test_a_table_of_thousands_of_rows_is_one_spec_below_its_limit(folder: Path) -> None:
    names = sorted(current_models(Library.TIMM))
    rows = "".join(f"{names[n % len(names)]},{n / 7 + 1:.2f},{n / 9 + 1:.2f}\n" for n in range(1600))
    (folder / "big.csv").write_text(f"model,param_count,gmacs\n{rows}", "utf-8")
    assert call("init", "big.csv").code == 0
    assert (folder / "big.yaml").stat().st_size <= MAX_SPEC_BYTES


@pytest.mark.parametrize("wanted", ["1", "Table 1", "tab:main", "main", "imagenet classification"])
def test_a_table_is_chosen_by_number_label_or_words_of_its_caption(folder: Path, wanted: str) -> None:
    assert call("init", "main.tex", "--table", wanted).out.startswith("Wrote main.yaml: table 1: ")


def test_an_existing_file_stays(folder: Path) -> None:
    (folder / "main.yaml").write_text("mine", encoding="utf-8")
    done = call("init", "main.tex", "--table", "1")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "imlp-audit: main.yaml is there already and is not overwritten; delete it, or give another file with -o\n"
    )
    assert (folder / "main.yaml").read_text(encoding="utf-8") == "mine"
    assert "--table: no table of main.tex with the number" in call("init", "main.tex", "--table", "9").err


def test_a_paper_that_another_file_of_the_folder_has_is_not_written_a_second_time(folder: Path) -> None:
    (folder / "a.csv").write_text("Model,Params (M)\nDeiT-S,22.1\n", "utf-8")
    assert call("init", "a.csv").code == 0
    second = call("init", "a.csv", "-o", "b.yaml")
    assert (second.code, second.out) == (2, "")
    assert second.err == (
        "imlp-audit: a.yaml is of the paper 'a' already: delete it to write the paper anew, or give --paper for "
        "another\n"
    )
    assert not (folder / "b.yaml").exists()
    assert call("init", "a.csv", "--paper", "a", "--print").code == 0
    assert call("init", "a.csv", "-o", "b.yaml", "--paper", "other").code == 0


def test_a_table_of_a_pdf_is_read_with_what_is_uncertain(folder: Path) -> None:
    rows = [["Model", "Params (M)", "FLOPs (G)"], ["DeiT-S", "22.1", "4.6"], ["Swin-T", "28.3", "4.5"]]
    rows.append(["PVT", "61.4", "9.8"])
    page = [Put(60, 700, "Table 3: ImageNet-1k"), *put_table(rows, [60, 160, 260], 695), Put(215, 667, "?")]
    (folder / "paper.pdf").write_bytes(make_pdf([Put(60, 700, "Text")], page))
    assert "2 labels are exactly one model's name" in " ".join(call("init", "paper.pdf").out.split())
    text = (folder / "paper.yaml").read_text(encoding="utf-8")
    assert "# Table 3 of paper.pdf, written by" in text
    assert "compare every number with page 2 of paper.pdf" in text
    assert "# uncertain: '?' stands between two columns" in text
    assert call("lint", "paper.yaml").code == 0


def test_lint_says_that_nothing_can_be_counted_where_no_row_has_a_model(folder: Path) -> None:
    (folder / "a.csv").write_text("Model,Params (M)\nFooNet,5\n", "utf-8")
    assert call("init", "a.csv").code == 0
    assert "but no row has `model:` or `candidates:`, so no number can be counted yet" in call("lint", "a.yaml").out
    (folder / "b.csv").write_text("Model,Params (M)\nFooNet,5\nDeiT-S,22.1\n", "utf-8")
    assert call("init", "b.csv").code == 0
    assert call("lint", "b.yaml").out.endswith("0 findings: no problems\n")


@pytest.mark.slow
def test_no_framework_is_needed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    light = make_light(tmp_path_factory.mktemp("light") / "site")
    done = run_light(light, "init", "main.tex", "--table", "1", cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert run_light(light, "lint", "main.yaml", cwd=folder).code == 0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tex", b"", "a.tex is empty"),
        ("a.tex", b"no table here", "a.tex has no table that init can read"),
        ("a.pdf", b"%PDF-1.7", "a.pdf cannot be read: it is not a sound PDF"),
        ("a.pdf", make_pdf([Put(60, 700, "Text")]), "a.pdf has no table that init can read"),
        ("a.csv", "Model,Params (M)\nDeiT-S,５.７\n".encode(), "params '５.７': its digits are not those of ASCII"),
        ("a.csv", b'Model,Params (M)\n"DeiT-S,5.7\n', "a.csv:2: not comma-separated values"),
        ("a.yaml", b"paper: x\n", "if it is a spec already, run `imlp-audit lint` on it"),
        ("own.py", b"class Net: ...\n", "own.py: no table is seen in it; init reads LaTeX"),
        ("a", b"\x89PNG\r\n\x1a\n\x00\x00", "a is not text; give a file with a table in it: LaTeX"),
        ("a.tar.gz", b"\x1f\x8b\x08broken", "a.tar.gz cannot be unpacked"),
        ("a.zip", b"PK\x03\x04broken", "a.zip cannot be unpacked"),
        (
            "a.tex",
            rb"\begin{tabular}{l} a & b \\ c & d \end{tabular}",
            "table 1 has no readable number of parameters or FLOPs in 1 row",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_answered(folder: Path, name: str, content: bytes, message: str) -> None:
    (folder / name).write_bytes(content)
    done = call("init", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("imlp-audit: ")
    assert message in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.tex",), "gone.tex does not exist; give a file"),
        (("https://arxiv.org/abs/2201.03545",), "files are read, not addresses; download it first"),
        ((".",), ". is a folder; give the file in it"),
        (("main.tex", "--table", "9"), "--table: no table of main.tex with the number, the label or the caption '9'"),
        (("main.tex", "--table", "1", "-o", "x.txt"), "x.txt: the name of a spec ends in .yaml"),
        (("main.tex", "--table", "1", "-o", "gone/x.yaml"), "gone is not a folder"),
        (("main.tex", "--table", "1", "--paper", "My Paper"), "--paper: 'My Paper' is not a slug"),
    ],
)
def test_a_command_that_cannot_be_done_is_answered(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = call("init", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"imlp-audit: {message}")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("a.tex", "; look for a begin or an end that is missing"),
        ("a.md", "; a table in markdown has a line such as | --- | --- | under its headings"),
    ],
)
def test_a_file_without_a_table_says_what_to_look_for_in_it(folder: Path, name: str, advice: str) -> None:
    (folder / name).write_text("Nothing here\n", "utf-8")
    done = call("init", name)
    assert (done.code, done.out) == (2, "")
    assert f"{name} has no table that init can read{advice}" in done.err
