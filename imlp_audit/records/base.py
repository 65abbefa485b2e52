"""The base of every record, and values in records: numbers as decimal text, counts, digests, names of files."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Record(BaseModel):
    """A frozen record that refuses unknown keys.

    Its validator is built when it is first used: `list` and `lint` import many records and make few.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)


_NUMBER = re.compile(r"-?\d{1,100}(\.\d{1,100})?", re.ASCII)  # Fraction would read 1e40000000, and take for ever
_SHOWN = 40  # characters of a value that is refused


def check_number(text: str) -> str:
    """Return the text of a number in plain decimal digits. Raises PydanticCustomError for any other text."""
    if not _NUMBER.fullmatch(text):
        shown = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        raise PydanticCustomError(
            "number", "{shown} is not a number in plain decimal digits, such as -12.6", {"shown": shown}
        )
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


def _sort(values: dict[str, V]) -> dict[str, V]:
    return dict(sorted(values.items()))


ByName: TypeAlias = Annotated[dict[str, V], AfterValidator(_sort)]
"""Values by name, in the order of JSON's keys: a report reads the same whether it is made from memory or a file."""
