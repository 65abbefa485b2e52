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
from imlp_audit.spec.load import load

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


@pytest.mark.parametrize("misspelt", ["labell", "labl", "lable"])
def test_a_required_key_that_is_misspelt_is_not_missing_too(tmp_path: Path, misspelt: str) -> None:
    rows = [{"id": "a", misspelt: "A", "printed": {"params": "5"}}]
    columns = {"params": {"measure": "parameters", "unit": "M", "heading": "P"}}
    table = {"table": "1", "title": "T", "source": {"section": "1"}, "columns": columns, "rows": rows}
    spec = {"paper": "p", "about": {"title": "T", "authors": "A", "version": "v"}, "tables": [table]}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    (problem,) = problems_of(tmp_path / "p.yaml")
    assert problem.message == f"unknown key {misspelt!r}; did you mean 'label'?"


@pytest.mark.parametrize(("key", "hints"), [("model", 1), ("printed", 0), ("label", 0)])
def test_only_a_model_is_written_under_its_library(tmp_path: Path, key: str, hints: int) -> None:
    row = {"id": "a", "label": "A", key: "resnet50"}
    table = {"table": "1", "title": "T", "source": {"section": "1"}, "columns": {}, "rows": [row]}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"paper": "p", **table}), encoding="utf-8")
    messages = [problem.message for problem in problems_of(tmp_path / "p.yaml")]
    assert sum("write {timm: resnet50}" in message for message in messages) == hints
