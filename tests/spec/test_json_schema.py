"""The JSON Schema of a spec: what ships validates by it, what is misspelt does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import plain
from imlp_audit.spec.validate import spec_schema
from tests.cli.running import call

SPECS = Path(__file__).parents[2] / "specs"
SCHEMA = Draft202012Validator(spec_schema())
SMALL: dict[str, Any] = {
    "paper": "x",
    "table": "1",
    "title": "T",
    "source": {"section": "1"},
    "columns": {"params": {"measure": "parameters", "unit": "M", "heading": "Params"}},
    "rows": [{"id": "a", "label": "A", "model": {"timm": "resnet50"}, "printed": {"params": 25.6}}],
}


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(spec_schema())


@pytest.mark.parametrize("path", sorted(SPECS.glob("*/*.yaml")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_bundled_spec_is_valid(path: Path) -> None:
    tree, problems = parse_tree(path.read_text(encoding="utf-8"), path.name)
    assert tree is not None
    assert problems == []
    assert [error.message for error in SCHEMA.iter_errors(plain(tree))] == []


def test_numbers_are_taken_as_readers_of_yaml_take_them() -> None:
    assert SCHEMA.is_valid(SMALL)


@pytest.mark.parametrize(
    ("value", "valid"), [("yes", True), ("no", True), (True, True), (False, True), ("maybe", False), (0, False)]
)
def test_yes_and_no_are_taken_as_readers_of_yaml_take_them(value: object, valid: bool) -> None:
    readings = {"as_written": {"pooler": {"value": value, "because": "the text"}}}
    about = {"title": "T", "authors": "A", "version": "v1", "readings": readings}
    assert SCHEMA.is_valid({"paper": "x", "about": about}) is valid


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("rows", 0, "lable"), "A"),
        (("rows", 0, "model"), {"tim": "resnet50"}),
        (("rows", 0, "model"), {"timm": "resnet50", "torchvision": "resnet50"}),
        (("rows", 0, "model"), {"mixer": {"layer": 8}}),
        (("rows", 0, "printed"), {}),
        (("columns", "params", "measure"), "param"),
        (("source",), {}),
    ],
)
def test_a_mistake_is_found(place: tuple[str | int, ...], value: object) -> None:
    spec = json.loads(json.dumps(SMALL))
    inner = spec
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    assert not SCHEMA.is_valid(spec)


def test_the_command_prints_it() -> None:
    done = call("schema")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == spec_schema()
