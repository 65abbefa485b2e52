"""Blocks of a paper's own in a spec: their axes are read without running anything, and readings are held to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import SpecError
from imlp_audit.models.own import OwnBlock, read_axes
from imlp_audit.models.readings import BlockReading, Reading
from imlp_audit.spec.load import digest_selection, load
from imlp_audit.spec.paper import paper_head

CODE = """\
raise SystemExit("this file must not be run")


class GatedMlp:
    axes = {"gate_norm": ("none", "layer"), "bias": [True, False], "branch": (2, 3)}


def plain(): ...
"""
SPEC = """\
paper: own
about:
  title: A title
  authors: An author
  version: v1
  readings:
    one:
      fc1_bias: {value: yes, because: the text}
      blocks:
        GatedMlp:
          gate_norm: {value: layer, because: Eq. 2}
          branch: {value: 3, because: Eq. 3}
    silent:
      fc1_bias: {value: yes, because: the text}
tables:
  - table: "1"
    title: A table
    source: {section: "1"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
    rows:
      - {id: gated, label: A, model: {timm: deit_tiny_patch16_224, mlp: {python: {file: blocks.py, name: GatedMlp}, sites: ["blocks.0.*"]}}, printed: {params: 5.72}}
      - {id: plain, label: B, model: {timm: deit_tiny_patch16_224, mlp: {python: {file: blocks.py, name: plain}}}, printed: {params: 5.72}}
      - {id: imlp, label: C, model: {timm: deit_tiny_patch16_224, mlp: {imlp: {kernel: 3}}}, printed: {params: 5.72}}
"""  # noqa: E501
MANY = "{" + ", ".join(f"'a{i}': (1, 2)" for i in range(5000)) + "}"
BROKEN = ("def b(:", "x = " + "(" * 10_000, "\0", "x = 'a\n", "x = " + "+" * 90_000, "#" * 300_000)
GATED = "{file: blocks.py, name: GatedMlp}"


def written(folder: Path, *changes: tuple[str, str], code: str = CODE) -> str:
    text = SPEC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "blocks.py").write_text(code, encoding="utf-8")
    (folder / "own.yaml").write_text(text, encoding="utf-8")
    return str(folder / "own.yaml")


def problems(path: str, *, trust_code: bool = False) -> list[str]:
    """The problems of a spec: line, column and message."""
    with pytest.raises(SpecError) as caught:
        load([path], trust_code=trust_code)
    return [f"{one.line}:{one.column}: {one.message}" for one in caught.value.problems]


@pytest.mark.parametrize("trust_code", [True, False])
def test_rows_have_the_axes_that_the_class_declares_and_nothing_is_run(tmp_path: Path, trust_code: bool) -> None:
    paper = load([written(tmp_path)], trust_code=trust_code).papers[0]
    gated, plain, imlp = (row.row.model for row in paper.rows)
    assert gated is not None
    assert plain is not None
    assert imlp is not None
    assert (gated.family_name, plain.family, imlp.family_name) == ("GatedMlp", None, "imlp")
    assert gated.runs_code is trust_code
    readings = {name: named.reading() for name, named in paper.about.value.readings.items()}
    answers = (("GatedMlp.gate_norm", "layer"), ("GatedMlp.bias", "true"), ("GatedMlp.branch", "3"))
    assert gated.part_of(readings["one"]) == BlockReading(answers)
    defaults = (("GatedMlp.gate_norm", "none"), ("GatedMlp.bias", "true"), ("GatedMlp.branch", "2"))
    assert gated.part_of(readings["silent"]) == BlockReading(defaults)
    assert isinstance(imlp.part_of(readings["one"]), Reading)
    block = gated.mlp.python if gated.mlp is not None else None
    assert isinstance(block, OwnBlock)
    assert block.answers(BlockReading(answers)) == {"gate_norm": "layer", "bias": True, "branch": 3}


def test_reports_list_every_axis_with_its_reason(tmp_path: Path) -> None:
    heads = {head.name: head for head in paper_head(load([written(tmp_path)]).papers[0]).readings}
    own = {
        name: [(axis.axis, axis.value, axis.because) for axis in head.axes if axis.axis.startswith("GatedMlp")]
        for name, head in heads.items()
    }
    default = "not stated: the default"
    bias = ("GatedMlp.bias", "true", default)
    assert own["one"] == [("GatedMlp.gate_norm", "layer", "Eq. 2"), bias, ("GatedMlp.branch", "3", "Eq. 3")]
    assert own["silent"] == [("GatedMlp.gate_norm", "none", default), bias, ("GatedMlp.branch", "2", default)]


def test_a_paper_without_readings_has_the_defaults_and_says_so(tmp_path: Path) -> None:
    path = written(tmp_path)
    before, rest = SPEC.split("  readings:\n")[0], SPEC[SPEC.index("tables:") :]
    without_imlp = "\n".join(line for line in rest.splitlines() if "id: imlp" not in line)
    Path(path).write_text(before + without_imlp + "\n", encoding="utf-8")
    (head,) = paper_head(load([path]).papers[0]).readings
    assert head.name == "defaults"
    assert [axis.value for axis in head.axes] == ["none", "true", "2"]


def test_an_edit_of_the_file_is_seen_and_nothing_is_kept_of_such_a_paper(tmp_path: Path) -> None:
    def axes() -> object:
        selection = load([path])
        assert digest_selection(selection) is None
        model = selection.papers[0].rows[0].row.model
        return model.family if model is not None else None

    path = written(tmp_path)
    first = axes()
    written(tmp_path, code=CODE.replace('"none", "layer"', '"layer", "none"'))  # of the same length
    assert axes() != first


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("gate_norm: {v", "gate_nrom: {v", "11:22: GatedMlp has no axis 'gate_nrom'; did you mean 'gate_norm'?"),
        ("value: 3", "value: 4", "12:27: branch is never '4'; known: 2, 3"),
        ("value: layer", "value: layers", "11:30: gate_norm is never 'layers'; did you mean 'layer'?"),
        ("        GatedMlp:", "        GatedMpl:", "11:11: no model has a block 'GatedMpl' with axes; did you mean"),
        ("name: plain}", "name: plane}", "23:82: blocks.py defines no 'plane'; did you mean 'plain'?"),
        (GATED, GATED.replace("blocks.py", "absent.py"), "22:82: absent.py: there is no such file beside the spec"),
        (
            GATED,
            GATED.replace("blocks.py", "../blocks.py"),
            "22:89: '../blocks.py' is not a Python file beside the spec",
        ),
        (GATED, GATED.replace("}", ", axes: {bias: [1]}}"), "22:116: unknown key 'axes'; known here: file, name"),
        (GATED, GATED.replace("}", ", trusted: true}"), "22:116: unknown key 'trusted'"),
        (GATED, GATED.replace("}", ", beside: /tmp}"), "beside: the file is looked for beside the spec"),
        (GATED, GATED.replace("}", ", argument: {}}"), "unknown key 'argument'; did you mean 'arguments'?"),
        (GATED, GATED + ", imlp: {}", "give exactly one of imlp, python"),
    ],
)
def test_what_is_wrong_is_named_at_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    found = problems(written(tmp_path, (old, new)), trust_code=True)
    assert len(found) == 1
    assert problem in found[0]


@pytest.mark.parametrize("other", ["about.py", "other.py"])
def test_two_blocks_of_one_name_are_refused(tmp_path: Path, other: str) -> None:
    (tmp_path / other).write_text("class GatedMlp: ...\n", encoding="utf-8")
    path = written(tmp_path, ("{file: blocks.py, name: plain}", f"{{file: {other}, name: GatedMlp}}"))
    assert problems(path) == [
        "23:105: the block of blocks.py is called GatedMlp too, and readings go by the name; rename one"
    ]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ("dict(bias=(True, False))", "must be written out, because the file is not run"),
        ("{'bias': (True, len('ab'))}", "must be written out"),
        ("('bias', 'norm')", "must map names to their values"),
        ("{}", "must map names to their values"),
        ("{'bias': (True, 'no')}", "bias: give words only, whole numbers only, or True and False"),
        ("{'bias': (True, 1)}", "bias: give words only"),
        ("{'ratio': (0.5, 1.5)}", "ratio: give words only"),
        ("{'bias': (True,)}", "bias needs at least two values"),
        ("{'bias': 'yes no'}", "bias needs at least two values"),
        ("{'norm': ('a', 'b', 'a')}", "norm has a value twice"),
        ("{'norm': ('a', 'b c')}", "norm: 'b c' is not a word"),
        ("{'norm': ('a', 'b'), 'norm': ('a', 'c')}", "name one axis twice"),
        ("{'a-b': (1, 2)}", "'a-b' is not the name of an argument"),
        ("{1: (1, 2)}", "1 is not the name of an argument"),
        ("{'in_features': (1, 2)}", "in_features is what the MLP that is replaced decides"),
        ("{'width': (1, 10**9)}", "must be written out"),
        ("{'width': (1, 1000000000)}", "width: 1000000000 is larger than 1000000"),
        pytest.param("{'a': (" + "1, " * 9000 + "2)}", "a has a value twice", id="many values"),
        pytest.param(MANY, "have more than 64 combinations", id="many axes"),
        ("{name: (1, 2) for name in 'ab'}", "must be written out"),
        ("{'a': (1, 2, 3, 4, 5), 'b': (1, 2, 3, 4, 5), 'c': (1, 2, 3)}", "have more than 64 combinations of values"),
    ],
)
def test_axes_of_another_form_are_refused_with_their_line(tmp_path: Path, axes: str, message: str) -> None:
    path = tmp_path / "b.py"
    path.write_text(f"class B:\n    axes = {axes}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^b\.py:2: axes of B") as caught:
        read_axes(path, "b.py", "B")
    assert message in str(caught.value)


@pytest.mark.parametrize("code", BROKEN, ids=range(len(BROKEN)))
def test_a_file_that_is_not_python_is_refused(tmp_path: Path, code: str) -> None:
    path = tmp_path / "b.py"
    path.write_text(code, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^b\.py:\d+: it (is not Python|is nested|has)"):
        read_axes(path, "b.py", "B")


@pytest.mark.parametrize(
    "code", ["from .c import B\n", "from .c import *\n", "if True:\n    def B(): ...\n", "B = 3\n"]
)
def test_names_that_are_bound_in_another_way_have_no_axes(tmp_path: Path, code: str) -> None:
    path = tmp_path / "b.py"
    path.write_text(code, encoding="utf-8")
    assert read_axes(path, "b.py", "B") == {}
