"""JSON documents: what commands write with `--format json`, and what `report` and `diff` read back."""

from __future__ import annotations

import json
import re
from typing import ClassVar, TypeVar

from pydantic import ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.records.base import Record


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


def format_of(text: str) -> str | None:
    """Return the format that a JSON document names; None where it is not JSON or names none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    name = document.get("format") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def from_json(kind: type[D], text: str, shown_as: str, *, written_by: str | None = None) -> D:
    """Read a document of one kind. Raises UsageError, which names the file and the command that writes such files.

    `written_by` replaces the kind's own command in that advice.
    """
    writer = written_by or f"`{kind.WRITTEN_BY} --format json`"
    advice = f"give a file written by {writer}"
    try:
        document = json.loads(text)
        json.dumps(document, ensure_ascii=False).encode()  # half of a surrogate pair could not be written again
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown_as}: not JSON ({error}); {advice}") from error
    other = document.pop("format", None) if isinstance(document, dict) else None
    if isinstance(other, str) and other != kind.FORMAT and other.rpartition("/")[0] == kind.FORMAT.rpartition("/")[0]:
        raise UsageError(
            f"{shown_as}: format {other} was written by another version of imlp-audit, and this one reads "
            f"{kind.FORMAT}; run {writer} again"
        )
    if other != kind.FORMAT:
        given = f", but of {other}" if isinstance(other, str) else ""
        raise UsageError(f"{shown_as}: not a result of format {kind.FORMAT}{given}; {advice}")
    for name in kind.COMPUTED:
        document.pop(name, None)
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{shown_as}: {place}: {first['msg']}; {advice}") from error
