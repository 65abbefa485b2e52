"""Which claims there are, read from their files without running them.

A paper's claims are the files of the folder of its id; a file's name is the claim's. The docstring states the
claim in words; after it come lines `Key: text`, each of which may go on indented below:

- `Place`: where in the paper it stands.
- `Printed`: the literal form, symbol by symbol; or `Corrected`: the nearest form that is true, or an exact form of
  something that is printed in vaguer words.
- `Nearest`: of a literal form that is false, the claim that holds instead.
- `Bound`: what rounding alone may make of it.
- `Needs`: what only `properties` does for it, such as solving a semidefinite program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_KEYS = ("Place", "Printed", "Corrected", "Nearest", "Bound", "Needs")
_KEY = re.compile(rf"^({'|'.join(_KEYS)}):\s*")


@dataclass(frozen=True)
class ClaimText:
    """A claim as its file tells it."""

    paper: str
    name: str
    statement: str
    place: str
    form: str
    literal: bool
    nearest: str | None
    bound: str
    needs: str | None

    @property
    def id(self) -> str:
        """The id of its check."""
        return f"{self.paper}/equations/{self.name}"

    @property
    def module(self) -> str:
        """The module that holds it."""
        return f"imlp_audit.equations.{self.paper}.{self.name}"

    @property
    def file(self) -> str:
        """Its file, from the folder that holds the package."""
        return f"imlp_audit/equations/{self.paper}/{self.name}.py"


@cache
def claims_of(paper: str) -> tuple[ClaimText, ...]:
    """Return a paper's claims, by name."""
    return tuple(_read(paper, path) for path in _files(paper))


def papers_with_claims() -> list[str]:
    """Return the ids of the papers that claims are about."""
    return sorted(path.name for path in _HERE.iterdir() if path.is_dir() and any(_files(path.name)))


def _files(paper: str) -> Iterator[Path]:
    folder = _HERE / paper
    if folder in _HERE.iterdir() and folder.is_dir():
        yield from sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def _read(paper: str, path: Path) -> ClaimText:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    words, keys = _split(docstring)
    return ClaimText(
        paper=paper,
        name=path.stem,
        statement=words,
        place=keys["Place"],
        form=keys.get("Printed") or keys["Corrected"],
        literal="Printed" in keys,
        nearest=keys.get("Nearest"),
        bound=keys["Bound"],
        needs=keys.get("Needs"),
    )


def _split(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the words before the first key, and the text of each key, each on one line."""
    parts: dict[str, list[str]] = {"": []}
    key = ""
    for line in docstring.splitlines():
        found = _KEY.match(line)
        if found:
            key = found.group(1)
        parts.setdefault(key, []).append(line[found.end() :] if found else line)
    joined = {name: " ".join(" ".join(lines).split()) for name, lines in parts.items()}
    return joined.pop(""), joined
