"""Specs with mistakes in them, drawn at random: every one is answered, in our words, and never with a crash."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.errors import Problem, SpecError
from imlp_audit.spec.library import load

ROOT = Path(__file__).parents[1] / "examples" / "good"
WHOLE = [ROOT / name / "paper.yaml" for name in ("every_printed_form", "every_claim", "every_host", "footnote_marks")]
STRANGE = ["", "x", "-1", "0", "1e9", "Ünïcode", "a/b/c", "null", "12.6", "p/1/*", [], {}, ["x"], {"x": "y"}, [["x"]]]
FOREIGN = re.compile(
    r"[Ii]nput should|[Ff]ield required|[Ee]xtra inputs|[Vv]alue error|valid (string|integer|boolean|list|dict|tuple)"
    r"|pydantic|type=|NoneType|Traceback|model_type|Unable to"
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    if isinstance(value, list):
        inside = list(enumerate(value))
    return [path, *(place for key, one in inside for place in places(one, (*path, key)))]


def mutate(tree: object, path: tuple[str | int, ...], how: str, new: object) -> object:
    """Return the tree with the value at a path replaced, removed, or with a key beside it misspelt."""
    if not path:
        return new
    (key, *rest), copy = path, (dict(tree) if isinstance(tree, dict) else list(tree))  # type: ignore[call-overload]
    if rest:
        copy[key] = mutate(copy[key], tuple(rest), how, new)
    elif how == "remove":
        del copy[key]
    elif how == "rename" and isinstance(copy, dict):
        copy[f"{key}s"] = copy.pop(key)
    else:
        copy[key] = new
    return copy


@settings(max_examples=20)  # 50 ms each
@given(st.data())
def test_every_mistake_is_answered_in_our_words(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(WHOLE))
    tree: object = yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # text alone
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(tree)))
        how = data.draw(st.sampled_from(["remove", "rename", "replace"]))
        tree = mutate(tree, path, how, data.draw(st.sampled_from(STRANGE)))
    with TemporaryDirectory() as folder:
        file = Path(folder, "p.yaml")
        file.write_text(yaml.safe_dump(tree, default_style='"', allow_unicode=True), encoding="utf-8")
        problems = problems_of(file)
    assert [one for one in problems if FOREIGN.search(one.message)] == []


def problems_of(file: Path) -> tuple[Problem, ...]:
    try:
        load([str(file)])
    except SpecError as error:
        return error.problems
    return ()


def test_what_follows_from_another_mistake_is_not_reported(tmp_path: Path) -> None:
    """A column that cannot be read hides its numbers; a baseline that is misspelt, what its changes are from."""
    source = (ROOT / "every_printed_form" / "paper.yaml").read_text(encoding="utf-8")
    source = source.replace("measure: parameters, unit: K", "measure: parameters, unit: X")
    (tmp_path / "p.yaml").write_text(source.replace("baseline: all", "baseline: al"), encoding="utf-8")
    assert [problem.message.partition(";")[0] for problem in problems_of(tmp_path / "p.yaml")] == [
        "a column of parameters needs a unit of k, K, M, G, B, T, or \"\" for all digits, not 'X'",
        "no other row 'al' in this table",
        "no other row 'al' in this table",
    ]


@pytest.mark.parametrize(
    ("right", "misspelt"),
    [
        ("id: a,", "idd: a,"),
        ("label: A", "lebel: A"),
        ("printed:", "prnted:"),
        ("measure:", "mesure:"),
        ("title: Two", "titel: Two"),
        ("columns:", "colums:"),
        ("rows:", "rwos:"),
    ],
)
def test_a_misspelt_required_key_hides_nothing_else(tmp_path: Path, right: str, misspelt: str) -> None:
    lines = (
        "paper: x",
        "about: {title: T, authors: A, version: v}",
        "tables:",
        '  - table: "1"',
        "    title: Two models",
        '    source: {section: "1"}',
        "    columns: {params: {measure: parameters, unit: M, heading: P}}",
        "    rows:",
        "      - {id: a, label: A, printed: {params: x1}}",
        "      - {id: b, label: B, baseline: a, model: {timm: resnet50}, printed: {parms: 2}, delta: {params: 1%}}",
        "      - {id: c, label: C, baseline: nothing, printed: {params: 3}}",
        "      - {id: d, label: D, lable: D, labl: D, printed: {params: 3}}",
    )
    source = "\n".join(lines)
    (tmp_path / "x.yaml").write_text(source, encoding="utf-8")
    usual = {problem.message for problem in problems_of(tmp_path / "x.yaml")}
    assert usual >= {"unknown key 'lable'; did you mean 'label'?", "unknown key 'labl'; did you mean 'label'?"}
    assert {message.partition(";")[0] for message in usual} >= {
        "'x1' is not a printed number",
        "the table has no column 'parms'",
        "no other row 'nothing' in this table",
    }
    (tmp_path / "x.yaml").write_text(source.replace(right, misspelt, 1), encoding="utf-8")
    wrong, meant = misspelt.partition(":")[0], right.partition(":")[0]
    key = f"unknown key {wrong!r}; did you mean {meant!r}?"
    assert [problem.message for problem in problems_of(tmp_path / "x.yaml")].count(key) == 1
    assert {problem.message for problem in problems_of(tmp_path / "x.yaml")} == {*usual, key}


@pytest.mark.parametrize(("nearest", "other"), [("labell", "labe"), ("labl", "lable")])
@pytest.mark.parametrize("order", [1, -1])
def test_of_two_misspelt_keys_the_nearest_is_read_as_the_missing_one(
    tmp_path: Path, nearest: str, other: str, order: int
) -> None:
    """What stands under the other one, a list, is not judged."""
    keys = dict([(nearest, "A"), (other, ["A"])][::order])
    rows = [{"id": "a", **keys, "printed": {"params": "5"}}]
    columns = {"params": {"measure": "parameters", "unit": "M", "heading": "P"}}
    table = {"table": "1", "title": "T", "source": {"section": "1"}, "columns": columns, "rows": rows}
    about = {"title": "T", "authors": "A", "version": "v"}
    spec = {"paper": "p", "about": about, "tables": [table]}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    unknown = {f"unknown key {key!r}; did you mean 'label'?" for key in (nearest, other)}
    assert {problem.message for problem in problems_of(tmp_path / "p.yaml")} == unknown


@pytest.mark.parametrize(("key", "hints"), [("model", 1), ("printed", 0), ("label", 0)])
def test_only_a_model_is_written_under_its_library(tmp_path: Path, key: str, hints: int) -> None:
    row = {"id": "a", "label": "A", key: "resnet50"}
    table = {"table": "1", "title": "T", "source": {"section": "1"}, "columns": {}, "rows": [row]}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"paper": "p", **table}), encoding="utf-8")
    messages = [problem.message for problem in problems_of(tmp_path / "p.yaml")]
    assert sum("write {timm: resnet50}" in message for message in messages) == hints
