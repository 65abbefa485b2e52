"""Which claims a paper's folder holds, read from its `equations/*.py` without running them.

A claim is a function with the decorator `@claim(...)`; its name is the claim's, and files whose names begin with `_`
hold none. The docstring states the claim in words; after it come fields `Key: text`, each of which may go on indented
below:

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
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python

FOLDER = "equations"
FIELDS = ("Place", "Printed", "Corrected", "Nearest", "Bound", "Needs")
_MOST_FILES = 100
_KEY = re.compile(rf"^({'|'.join(FIELDS)}):\s*")


@dataclass(frozen=True)
class ClaimCode:
    """The function of a claim: the folder of its paper, how reports show that folder, the module and the name in it."""

    folder: Path
    shown_as: str
    module: str
    function: str

    @property
    def file(self) -> str:
        """Return its file as reports show it."""
        return f"{self.shown_as}/{FOLDER}/{self.module}.py"


@dataclass(frozen=True)
class ClaimText:
    """A claim as its paper states it, where it is stated, and the function that tests it."""

    paper: str
    name: str
    statement: str
    place: str
    form: str
    literal: bool
    nearest: str | None
    bound: str
    needs: str | None
    file: str
    line: int
    code: ClaimCode

    @property
    def id(self) -> str:
        """Return the id of its check."""
        return f"{self.paper}/{FOLDER}/{self.name}"


@dataclass(frozen=True)
class BrokenClaim:
    """A claim, or a module of claims, that cannot be read, and why."""

    paper: str
    name: str
    file: str
    line: int
    problem: str
    column: int = 1

    @property
    def id(self) -> str:
        """Return the id of its check."""
        return f"{self.paper}/{FOLDER}/{self.name}"


AnyClaim: TypeAlias = ClaimText | BrokenClaim


def read_claims(paper: str, folder: Path, shown_as: str) -> tuple[AnyClaim, ...]:
    """Return the claims in a paper's folder, by name. A name that two functions have is broken."""
    files = sorted((folder / FOLDER).glob("[!_]*.py"))
    read = files[:_MOST_FILES]
    found: list[AnyClaim] = []
    if len(files) > _MOST_FILES:
        problem = f"holds {len(files)} files of claims, and at most {_MOST_FILES} are read: join some"
        found.append(BrokenClaim(paper, FOLDER, f"{shown_as}/{FOLDER}", 1, problem))
    elif (
        sum(size for path in read if path.is_file() and (size := path.stat().st_size) <= MAX_SPEC_BYTES)
        > MAX_SPEC_BYTES
    ):
        problem = f"holds files of claims of more than {MAX_SPEC_BYTES // 2**20} MiB together, which are not read"
        found.append(BrokenClaim(paper, FOLDER, f"{shown_as}/{FOLDER}", 1, problem))
        read = []
    found += [claim for path in read for claim in _read_module(paper, path, folder.resolve(), shown_as)]
    by_name: dict[str, list[AnyClaim]] = defaultdict(list)
    for claim in found:
        by_name[claim.name].append(claim)
    return tuple(_check_nearest(_one_of(by_name[name]), by_name) for name in sorted(by_name))


def _one_of(claims: Sequence[AnyClaim]) -> AnyClaim:
    first, *others = claims
    if not others:
        return first
    places = ", ".join(f"{other.file}:{other.line}" for other in others)
    return _make_broken(
        first, f"the claim {first.name} is defined again in {places}; give each claim a name of its own"
    )


def _check_nearest(claim: AnyClaim, names: dict[str, list[AnyClaim]]) -> AnyClaim:
    if isinstance(claim, BrokenClaim) or claim.nearest is None or claim.nearest in names:
        return claim
    return _make_broken(claim, f"its field Nearest names {claim.nearest}, but the paper has no such claim")


def _make_broken(claim: AnyClaim, problem: str) -> BrokenClaim:
    column = claim.column if isinstance(claim, BrokenClaim) else 1
    return BrokenClaim(claim.paper, claim.name, claim.file, claim.line, problem, column)


def _read_module(paper: str, path: Path, folder: Path, shown_as: str) -> Iterator[AnyClaim]:
    shown = f"{shown_as}/{FOLDER}/{path.name}"
    try:
        functions = _functions(path, path.stat().st_mtime_ns)
    except FileError as error:
        yield BrokenClaim(paper, path.stem, shown, error.place[0], error.reason, error.place[1])
    except OSError as error:
        yield BrokenClaim(paper, path.stem, shown, 1, f"cannot be read ({error.strerror or error})")
    else:
        for function in functions:
            yield _read_claim(paper, function, shown, ClaimCode(folder, shown_as, path.stem, function.name))


@dataclass(frozen=True)
class _Function:
    name: str
    line: int
    docstring: str | None


@cache
def _functions(path: Path, _: int) -> tuple[_Function, ...]:
    """Return the functions of a file that are claims; the second argument is the file's time, for the cache."""
    return tuple(
        _Function(node.name, node.lineno, ast.get_docstring(node))
        for node in parse_python(path, path.name).body
        if isinstance(node, ast.FunctionDef) and any(map(_is_claim, node.decorator_list))
    )


def _is_claim(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "claim"


def _read_claim(paper: str, function: _Function, shown: str, code: ClaimCode) -> AnyClaim:
    if not function.docstring:
        problem = f"the claim {function.name} has no docstring; state the claim there, with its fields"
        return BrokenClaim(paper, function.name, shown, function.line, problem)
    words, fields = _split(function.docstring)
    lacking = [name for name in ("Place", "Bound") if not fields.get(name)]
    if bool(fields.get("Printed")) == bool(fields.get("Corrected")):
        lacking.append("either Printed or Corrected")
    if not words or lacking:
        missing = " and ".join(lacking or ["a statement in words"])
        problem = f"the docstring of {function.name} lacks {missing}"
        return BrokenClaim(paper, function.name, shown, function.line, problem)
    return ClaimText(
        paper=paper,
        name=function.name,
        statement=words,
        place=fields["Place"],
        form=fields.get("Printed") or fields["Corrected"],
        literal="Printed" in fields,
        nearest=fields.get("Nearest"),
        bound=fields["Bound"],
        needs=fields.get("Needs"),
        file=shown,
        line=function.line,
        code=code,
    )


def _split(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the words before the first field, and the text of each field, each on one line."""
    parts: dict[str, list[str]] = {"": []}
    key = ""
    for line in docstring.splitlines():
        found = _KEY.match(line)
        if found:
            key = found.group(1)
        parts.setdefault(key, []).append(line[found.end() :] if found else line)
    joined = {name: " ".join(" ".join(lines).split()) for name, lines in parts.items()}
    return joined.pop(""), joined
