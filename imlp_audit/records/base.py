"""What every record is made of: plain values, and JSON documents, which `report` and `diff` read back or refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_core import from_json as parse_json

from imlp_audit.errors import DocumentError, did_you_mean


class Record(BaseModel):
    """A frozen record that refuses unknown keys.

    Its validator is built when it is first used: `list` and `lint` import many records and make few.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)


_NUMBER = re.compile(r"-?\d{1,100}(\.\d{1,100})?", re.ASCII)  # Fraction would read 1e40000000, and take for ever


def check_number(text: str) -> str:
    """Return the text of a number in plain decimal digits. Raises PydanticCustomError for any other text."""
    if not is_number(text):
        message = "{shown} is not a number in plain decimal digits, such as -12.6"
        raise PydanticCustomError("number", message, {"shown": quote(text)})
    return text


def is_number(text: str) -> bool:
    """Return whether a text is a number in plain decimal digits, which is safe to compute with."""
    return _NUMBER.fullmatch(text) is not None


Number: TypeAlias = Annotated[str, AfterValidator(check_number)]
"""A number as text in plain decimal digits: exact, and as long as it looks."""

Count: TypeAlias = Annotated[int, Field(ge=0)]
Digest: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A file's SHA-256."""


def _refuse_index(name: str) -> str:
    if name == "index":
        raise ValueError("'index' cannot be a paper's id: reports have an overview of that name; choose another id")
    return name


PaperId: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_\-]*$"), AfterValidator(_refuse_index)]
"""A paper's id, which its reports' files are named after; without capitals no two names differ in case alone."""

V = TypeVar("V")

ByName: TypeAlias = Annotated[dict[str, V], AfterValidator(lambda values: dict(sorted(values.items())))]
"""Values by name, in the order of JSON's keys: a report reads the same whether it is made from memory or a file."""


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


class JsonDocument(Record):
    """A record that is written as a JSON document of its own.

    The document's key `format` is FORMAT, which names its kind and version. WRITTEN_BY is the command that writes it.
    Keys in COMPUTED follow from the others: they are written for readers and not read back.
    """

    FORMAT: ClassVar[str]
    WRITTEN_BY: ClassVar[str]
    COMPUTED: ClassVar[tuple[str, ...]] = ()

    def body(self) -> dict[str, object]:
        """Return the document without its format, as plain values."""
        return self.model_dump(mode="json", exclude_none=True)


_MOST_VALUES = 400_000  # the papers of this package have 1 700 checks and 65 000 values
_SHOWN = 200  # characters of a name in a message

D = TypeVar("D", bound=JsonDocument)


def to_json(document: JsonDocument) -> str:
    """Write a document: sorted keys, so equal documents are equal bytes."""
    return dump_json({"format": document.FORMAT, **document.body()})


# characters that would change what a terminal shows, half of a surrogate pair, which UTF-8 cannot hold (a tensor's
# name may), and `##[`, which begins a command in a log of GitHub's
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]|(?<=##)\\[")


def dump_json(value: object) -> str:
    """Write plain values as JSON with sorted keys; characters that could do harm where it is shown are escapes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def from_json(kind: type[D], text: str, shown_as: str, *, written_by: str | None = None) -> D:
    """Read a document of one kind. Raises DocumentError, which names the file and the command that writes such files.

    `written_by` replaces the kind's own command in that advice.
    """
    writer = written_by or f"`{kind.WRITTEN_BY} --format json`"
    advice = f"give a file written by {writer}"
    if sum(map(text.count, "[{,")) > _MOST_VALUES:
        raise DocumentError(f"{shown_as}: more than {_MOST_VALUES} values; {advice}")
    try:
        document = parse_json(text, allow_inf_nan=False)
    except ValueError as error:
        line = int(str(error).rpartition(" at line ")[2].partition(" ")[0])
        raise DocumentError(f"{shown_as}: not JSON ({error}); {advice}", line=line) from error
    other = document.pop("format", None) if isinstance(document, dict) else None
    if isinstance(other, str) and other != kind.FORMAT and other.rpartition("/")[0] == kind.FORMAT.rpartition("/")[0]:
        raise DocumentError(
            f"{shown_as}: format {_shorten(other)} was written by another version of imlp-audit, and this one reads "
            f"{kind.FORMAT}; run {writer} again",
            ("format",),
        )
    if other != kind.FORMAT:
        given = f", but of {_shorten(other)}" if isinstance(other, str) else ""
        raise DocumentError(f"{shown_as}: not a result of format {kind.FORMAT}{given}; {advice}", ("format",))
    for name in kind.COMPUTED:
        document.pop(name, None)
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place_of(first, document)
        problem = write_complaint(first, "it" if place else "the document")
        raise DocumentError(f"{shown_as}: {_at(place)}{problem}; {advice}", place) from error


Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: names of keys and places in lists."""


def _place_of(detail: ErrorDetails, document: object) -> Place:
    """Return where a value stands that a record refuses, without the steps that name a kind among several."""
    found: list[str | int] = []
    for step in detail["loc"]:
        match document, step:
            case (dict() as values, str()) if step in values:
                document = values[step]
            case (list() as entries, int()):
                document = entries[step]
            case _:
                continue
        found.append(step)
    if detail["type"] == "missing":
        found.append(detail["loc"][-1])
    if detail["type"].startswith("union_tag"):
        found.append(detail["ctx"]["discriminator"].strip("'"))
    return tuple(found)


def _at(place: Place) -> str:
    """Write a place, as it stands before what is wrong there; nothing for the document itself."""
    return f"{_shorten('.'.join(map(str, place)))}: " if place else ""


def _shorten(text: str) -> str:
    """Return the beginning of a text on one line; control characters are visible."""
    return (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...").encode("unicode_escape").decode()
