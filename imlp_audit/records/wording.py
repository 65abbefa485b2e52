"""What is wrong with a value of a record, in words that its author can use."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic_core import ErrorDetails

from imlp_audit.errors import did_you_mean

_LONGEST = 40  # characters of a value that a message quotes


def write_complaint(detail: ErrorDetails, name: str, forms: Mapping[str, str] | None = None) -> str:
    """Say what is wrong with the value called `name`; `forms` are the words for patterns."""
    context, given = detail.get("ctx", {}), quote(detail["input"])
    match detail["type"]:
        case "missing" | "union_tag_not_found":
            return f"{name} is missing"
        case "value_error":
            return str(context["error"])
        case "number":  # of `check_number`
            return detail["msg"]
        case "enum" | "literal_error":
            expected = re.sub(r"<\w+\.\w+: ('[^']*')>", r"\1", str(context["expected"]))  # of an enum
            allowed = [value.strip("'") for value in expected.replace(" or ", ", ").split(", ")]
            return f"{name} cannot be {given}; {did_you_mean(str(detail['input']), allowed, 'write one of')}"
        case "union_tag_invalid":
            tag, allowed = context["tag"], re.findall("'([^']*)'", context["expected_tags"])
            return f"{name} cannot be {quote(tag)}; {did_you_mean(tag, allowed, 'write one of')}"
        case "string_pattern_mismatch":
            form = (forms or {}).get(context["pattern"], context["pattern"])
            slug = re.sub("[^a-z0-9]+", "_", str(detail["input"]).lower()).strip("_")
            near = f"; write {slug}" if slug and "slug" in form and slug != detail["input"] else ""
            return f"{given} is not {form}{near}"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"{name} must be a mapping of keys to values, not {given}"
        case "too_short" if context["min_length"] > 1:
            return f"{name} needs {context['min_length']} entries, not {context['actual_length']}"
        case "too_short" | "string_too_short":
            return f"{name} is empty; {'write a text' if detail['input'] == '' else 'give at least one entry'}"
        case "too_long":
            return f"{name} takes {context['max_length']} entries, not {context['actual_length']}"
        case "string_too_long":
            return f"{name} takes at most {context['max_length']} characters, not {given}"
        case "extra_forbidden":
            return f"{name} is not a known key"
        case kind:
            return f"{name} must be {_KINDS.get(kind) or _limit(context) or 'another kind of value'}, not {given}"


_KINDS = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "a text",
}


def _limit(context: Mapping[str, object]) -> str | None:
    """Return the end of a range that a number lies beyond."""
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    return next((f"{words[key]} {limit}" for key, limit in context.items() if key in words), None)


def quote(value: object) -> str:
    """Write a value in a message: a text as it is, in short."""
    match value:
        case str():
            return repr(value if len(value) <= _LONGEST else value[:_LONGEST] + "...")
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return repr(value)
