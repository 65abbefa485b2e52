"""The forms of ids and globs in a spec, and what its records share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Annotated

from pydantic import BaseModel, Field

from imlp_audit.errors import UsageError
from imlp_audit.models.available_hosts import ARCHITECTURE, CLASS_NAME, CLASSIFIER
from imlp_audit.models.host import PYTHON_NAME
from imlp_audit.models.own import PYTHON_FILE
from imlp_audit.records.base import Record

_MOST_COMPARED = 500_000  # by all globs of a paper for one kind, in half a second; no paper of ours comes to 60 000
_SHOWN = 100  # characters of a glob
_SPECIAL = re.compile(r"[*?\[]")
_SLUG, _GLOB = r"[a-z0-9][a-z0-9_\-]*", r"[a-z0-9_\-*?\[\]!]+"
SLUG = rf"^{_SLUG}$"
TABLE_NAME = r"^[a-z0-9][a-z0-9_.\-]*$"
TABLE_ID = rf"^{_SLUG}/{_SLUG}$"
ROW_ID = rf"^{_SLUG}/{_SLUG}/{_SLUG}$"
EQUATION_ID = rf"^{_SLUG}/equations/{_SLUG}$"
CELL_ID = rf"^{_SLUG}/{_SLUG}/{_SLUG}/{_SLUG}$"
ROW_GLOB = rf"^{_SLUG}/{_GLOB}/{_GLOB}$"
HOLDS_FOR = r"^(all|at least (100|[1-9][0-9]?)%)$"
ITEM = r"^(Section|Equation|Table|Figure|Algorithm|Definition|Lemma|Theorem|Corollary|Sentence) .+$"
FORMS = {  # what each pattern asks for, in words
    SLUG: "a slug: lower-case letters, digits, '-' and '_', with a letter or a digit first",
    TABLE_NAME: "a table's slug, or the number of a table that is not there, such as 3.2",
    TABLE_ID: "a table's id: paper/table",
    ROW_ID: "a row's id: paper/table/row",
    EQUATION_ID: "the id of a statement about functions: paper/equations/name",
    CELL_ID: "a cell's id: paper/table/row/column",
    ROW_GLOB: "a row's id or a glob of them: paper/table/row, with * in table or row",
    HOLDS_FOR: "'all' or 'at least N%', with N from 1 to 100",
    ITEM: "a part of the document, such as 'Table 1', 'Equation 3' or 'Sentence 5.1: ...'",
    ARCHITECTURE: "an architecture of timm by its bare name, such as deit_tiny_patch16_224",
    CLASSIFIER: "a model of torchvision: a name has only a-z, 0-9 and '_', such as resnet50",
    PYTHON_FILE: "a Python file beside the spec or in a folder there, such as nets/small.py, without '..'",
    CLASS_NAME: "the name of a class of transformers, such as ViTForImageClassification",
    PYTHON_NAME: "a name in Python: letters, digits and '_', without a digit first",
}
Slug = Annotated[str, Field(pattern=SLUG)]
RowId = Annotated[str, Field(pattern=ROW_ID)]
RowGlob = Annotated[str, Field(pattern=ROW_GLOB)]
CellId = Annotated[str, Field(pattern=CELL_ID)]
Sentence = Annotated[str, Field(min_length=1)]
TEXT, MAPPING = "[text]", "[mapping]"  # which of the two is written; steps of pydantic's own


def text_or_mapping(written: object) -> str:
    """Say which of the two a value is that may be either."""
    return TEXT if isinstance(written, str) else MAPPING


class Place(Record):
    """Where in the paper it stands."""

    section: str
    file: str | None = None


def exactly_one(record: BaseModel, names: tuple[str, ...]) -> str:
    """Return the one of the fields that is given; raise ValueError where none or several are."""
    given = [name for name in names if getattr(record, name) is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}; given: {', '.join(given) or 'none'}")
    return given[0]


class Names(dict[str, None]):
    """Distinct names in order, which globs are matched with."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(names))
        self._compared = 0

    def matching(self, glob: str) -> list[str]:
        """Return the names that a glob matches, in their order. Raises UsageError for globs of endless work."""
        if _SPECIAL.search(glob) is None:
            return [glob] if glob in self else []
        self._compared += len(self) + len(glob)  # to compile a glob takes time by its length
        if self._compared > _MOST_COMPARED:
            raise UsageError(
                f"globs of {next(iter(self)).partition('/')[0]!r} are compared with more than {_MOST_COMPARED} ids in "
                f"all, up to {glob[:_SHOWN]!r}: name rows and checks by their ids"
            )
        matches = re.compile(translate(glob)).match
        return [name for name in self if matches(name)]
