"""What the commands take as targets, and what they say of other files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .running import MODULE, call, spawn

MINE = """\
paper: mine
about: {title: T, authors: A, version: v1}
tables:
  - table: "1"
    title: Two models
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
    rows:
      - {id: a, label: A, printed: {params: 22.1}}
      - {id: b, label: B, printed: {params: 5.8}}
"""
A, B = "mine/1/a/params", "mine/1/b/params"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a paper in one file, and files of other kinds."""
    (tmp_path / "mine.yaml").write_text(MINE, encoding="utf-8")
    for name in ("paper.tex", "table.csv", "notes.md", "result.json", "model.pth", "words.txt", "a.doc"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "compose.yml").write_text("services: &all\n  web: {image: a}\nmore: *all\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "ids"),
    [
        ("mine.yaml", [A, B]),
        ("mine", [A, B]),
        (".", [A, B]),
        ("mine.yaml/1", [A, B]),
        ("mine/1/b", [B]),
        (A, [A]),
        ("mine.yaml/1/a/params", [A]),
        ("mine/*/b", [B]),
    ],
)
def test_a_target_is_a_file_a_paper_or_an_id(own: Path, target: str, ids: list[str]) -> None:
    assert [line.split()[0] for line in call("list", target).out.splitlines()] == ids


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("paper.tex", "paper.tex is not a spec; make a spec of it: imlp-audit init paper.tex"),
        ("table.csv", "table.csv is not a spec; make a spec of it: imlp-audit init table.csv"),
        ("notes.md", "notes.md is not a spec; make a spec of it: imlp-audit init notes.md"),
        ("result.json", "if it is a result of verify: imlp-audit report --from result.json"),
        ("model.pth", "if it is a checkpoint: imlp-audit inspect model.pth"),
        ("a.doc", "a.doc is not a spec: a spec is a YAML file (.yaml or .yml) with the key `paper`"),
        ("words.txt", "words.txt is not a spec: a spec is a YAML file (.yaml or .yml) with the key `paper`"),
        ("mien", "mien: no spec file, folder or paper of that name; did you mean 'mine'?"),
        ("pycls/1", "pycls/1: no spec file, folder or paper of that name; did you mean 'atlas/pycls/1'?"),
        ("mine.yml", "mine.yml: no spec file, folder or paper of that name; did you mean 'mine.yaml'?"),
        ("./mein.yaml", "did you mean 'mine.yaml'?"),
        ("gone/mine.yaml", "gone/mine.yaml: no spec file, folder or paper of that name; papers here: "),
        ("empty", "empty is a folder without specs; a spec is a YAML file with the key `paper`"),
        ("mine/2", "no check 'mine/2'; did you mean 'mine/1'?"),
        ("mine/1/A/params", "no check 'mine/1/A/params'; did you mean 'mine/1/a/params'?"),
    ],
)
def test_what_is_no_target_is_answered_with_what_to_do(own: Path, target: str, message: str) -> None:
    for command in ("verify", "list", "lint", "report"):
        if command != "lint" or "no check" not in message:
            done = call(command, target)
            assert (done.code, done.out) == (2, "")
            assert message in done.err


@pytest.mark.parametrize(
    ("library", "name", "hint"),
    [
        ("timm", "DeiT-S", "such as deit_tiny_patch16_224; did you mean 'deit_small_patch16_224'?"),
        ("torchvision", "ResNet-50", "such as resnet50; did you mean 'resnet50'?"),
        ("timm", "hf-hub:x/y", "such as deit_tiny_patch16_224\n"),
    ],
)
def test_a_label_in_place_of_a_librarys_name_is_answered(own: Path, library: str, name: str, hint: str) -> None:
    model = f"label: A, model: {{{library}: '{name}'}}, printed"
    (own / "mine.yaml").write_text(MINE.replace("label: A, printed", model), encoding="utf-8")
    assert hint in call("lint", "mine.yaml").err


def test_specs_that_are_not_taken_without_a_target_are_named(own: Path) -> None:
    note = "imlp-audit: took the bundled papers, not mine.yaml; name it (or .) to take it\n"
    assert call("lint").err == note
    assert call("lint", "mine.yaml").err == ""
    (own / "specs").mkdir()
    (own / "specs" / "mine.yaml").write_text(MINE, encoding="utf-8")
    assert call("lint").err == ""


def test_yaml_of_other_kinds_is_skipped_and_listed_once(own: Path) -> None:
    assert call("lint", ".").err == "imlp-audit: skipped compose.yml: no key of a spec\n"
    assert call("list", "mine.yaml").err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="has no links")
def test_what_is_no_file_is_skipped(own: Path) -> None:
    (own / "a.yaml").mkdir()
    (own / "l.yaml").symlink_to("l.yaml")
    assert call("list", ".").err == "imlp-audit: skipped a.yaml, compose.yml, l.yaml: no key of a spec\n"


@pytest.mark.parametrize("given", [(A,), ("mine.yaml/1/a/params",), (A, "mine.yaml"), (A, ".")])
def test_a_check_is_explained_by_its_id_from_this_folder(own: Path, given: tuple[str, ...]) -> None:
    assert call("explain", *given).out.startswith(f"{A}: unverifiable")


def test_an_id_of_a_paper_that_is_not_here_names_those_that_are(own: Path) -> None:
    done = call("explain", "yours/1/a/params")
    assert done.code == 2
    assert "yours: no spec file, folder or paper of that name; papers here: " in done.err


@pytest.mark.slow
def test_targets_are_checked_before_torch_is_imported(own: Path) -> None:
    code = (
        "import sys; from imlp_audit.cli.main import make_app; from imlp_audit.errors import UsageError\n"
        "for words in (['verify', '--device', 'cuda'], ['report'], ['solve'], ['explain'], ['baseline'], ['inspect', "
        "'model.pth'], ['bench', '--table'], ['properties', '--device', 'cuda']):\n"
        "    try: make_app()([*words, 'nobody/1'], standalone_mode=False); sys.exit(words[0])\n"
        "    except Exception: pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert spawn("-c", code, cwd=own, command=MODULE[:1]).code == 0
