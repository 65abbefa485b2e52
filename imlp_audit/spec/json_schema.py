"""The JSON Schema of a spec, with which editors complete and check it as it is typed."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from imlp_audit.models.hosts import HOSTS
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.columns import ColumnEntry
from imlp_audit.spec.schema import PaperFile
from imlp_audit.spec.tables import PrintedTable, TableFile

JsonSchema: TypeAlias = dict[str, Any]
"""A JSON Schema: a tree of plain values, as pydantic writes it."""

_SCALARS = ("string", "integer", "number", "boolean")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format")


def spec_schema() -> JsonSchema:
    """Return the JSON Schema of any file of a spec: of a table where it has the key `table`, else of the rest.

    A spec's scalars are text, but other readers of YAML take 5.00 for a number: wherever a text may stand, the schema
    allows every scalar.
    """
    records: tuple[type[BaseModel], ...] = (PaperFile, TableFile, ColumnEntry, *HOSTS.values())
    _, schema = models_json_schema([(record, "validation") for record in records], ref_template="#/$defs/{model}")
    definitions = schema["$defs"]
    definitions[Recipe.__name__] = _recipe(definitions)
    for table in (PrintedTable, TableFile):
        columns = definitions[table.__name__]["properties"]["columns"]
        columns["patternProperties"] = dict.fromkeys(columns["patternProperties"], _reference(ColumnEntry))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A spec of imlp-audit",
        "type": "object",
        "if": {"required": ["table"]},
        "then": _reference(TableFile),
        "else": _reference(PaperFile),
        "$defs": {name: _as_text(one) for name, one in sorted(definitions.items())},
    }


def _reference(record: type) -> JsonSchema:
    return {"$ref": f"#/$defs/{record.__name__}"}


def _recipe(definitions: JsonSchema) -> JsonSchema:
    """Return the schema of a recipe as a spec writes it: a host under a key of its own, and what is changed of it."""
    written = definitions[Recipe.__name__]
    rest = {name: one for name, one in written["properties"].items() if name != "host"}
    hosts = {key: {"anyOf": [{"type": "string"}, _reference(host)]} for key, host in HOSTS.items()}
    one_host = [{"required": [key]} for key in HOSTS]
    return {**written, "properties": {**hosts, **rest}, "required": [], "oneOf": one_host}


def _as_text(schema: Any) -> Any:  # noqa: ANN401  # a tree of plain values
    """Return a schema that takes any scalar where it took one kind."""
    if isinstance(schema, list):
        return [_as_text(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {key: _as_text(value) for key, value in schema.items()}
    if schema.get("type") not in _SCALARS:
        return inside
    loose = {key: value for key, value in inside.items() if key not in _LIMITS}
    if {"yes", "no"} <= set(loose.get("enum", ())):
        loose["enum"] = [*loose["enum"], True, False]  # what YAML 1.1 takes them for
    return {**loose, "type": ["string", "number", "boolean"]}
