"""Which claims a paper's folder holds, read from its `claims/*.py` without running them.

A claim is a function with the decorator `@claim(...)`; its name is the claim's, its docstring states it in words, and
files whose names begin with `_` hold none. Of the decorator the texts are read, which stand there as plain strings:

- `place`: where in the paper it stands.
- `printed`: the literal form, symbol by symbol; or `corrected`: the nearest form that is true, or an exact form of
  something that is printed in vaguer words.
- `nearest`: of a literal form that is false, the claim that holds instead.
- `needs`: what only `properties` does for it, such as solving a semidefinite program.
- `because`: why its two sides may differ by another `tolerance` than the usual one.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeGuard

from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python

FOLDER = "claims"
KIND = "equations"  # in ids of checks
TEXTS = ("place", "printed", "corrected", "nearest", "needs", "because")
SETTINGS = (*TEXTS, "tolerance", "examples", "infinite", "share")  # other keywords draw arguments
_OLD_FOLDER = "equations"
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
    inner: str = FOLDER

    @property
    def file(self) -> str:
        """Return its file as reports show it."""
        return f"{self.shown_as}/{self.inner}/{self.module}.py"


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
        return f"{self.paper}/{KIND}/{self.name}"


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
        return f"{self.paper}/{KIND}/{self.name}"


AnyClaim: TypeAlias = ClaimText | BrokenClaim


def read_claims(paper: str, folder: Path, shown_as: str) -> tuple[AnyClaim, ...]:
    """Return the claims in a paper's folder, by name. A name that two functions have is broken."""
    by_name: dict[str, list[AnyClaim]] = defaultdict(list)
    for inner in (FOLDER, _OLD_FOLDER):
        for claim in _read_folder(paper, folder, shown_as, inner):
            by_name[claim.name].append(claim)
    return tuple(_check_nearest(_one_of(by_name[name]), by_name) for name in sorted(by_name))


def _read_folder(paper: str, folder: Path, shown_as: str, inner: str) -> Iterator[AnyClaim]:
    files = sorted((folder / inner).glob("[!_]*.py"))
    sizes = (path.stat().st_size for path in files[:_MOST_FILES] if path.is_file())
    if len(files) > _MOST_FILES:
        problem = f"holds {len(files)} files of claims, and at most {_MOST_FILES} are read: join some"
        yield BrokenClaim(paper, inner, f"{shown_as}/{inner}", 1, problem)
    elif sum(size for size in sizes if size <= MAX_SPEC_BYTES) > MAX_SPEC_BYTES:
        problem = f"holds files of claims of more than {MAX_SPEC_BYTES // 2**20} MiB together, which are not read"
        yield BrokenClaim(paper, inner, f"{shown_as}/{inner}", 1, problem)
        return
    for path in files[:_MOST_FILES]:
        yield from _read_module(paper, path, folder.resolve(), f"{shown_as}/{inner}/{path.name}", shown_as, inner)


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
    return _make_broken(claim, f"its text `nearest` names {claim.nearest}, but the paper has no such claim")


def _make_broken(claim: AnyClaim, problem: str) -> BrokenClaim:
    column = claim.column if isinstance(claim, BrokenClaim) else 1
    return BrokenClaim(claim.paper, claim.name, claim.file, claim.line, problem, column)


def _read_module(paper: str, path: Path, folder: Path, shown: str, shown_as: str, inner: str) -> Iterator[AnyClaim]:
    try:
        functions = _functions(path, path.stat().st_mtime_ns)
    except FileError as error:
        yield BrokenClaim(paper, path.stem, shown, error.place[0], error.reason, error.place[1])
    except OSError as error:
        yield BrokenClaim(paper, path.stem, shown, 1, f"cannot be read ({error.strerror or error})")
    else:
        for function in functions:
            code = ClaimCode(folder, shown_as, path.stem, function.name, inner)
            read = _read_claim if inner == FOLDER else _read_old_claim
            yield read(paper, function, shown, code)


@dataclass(frozen=True)
class _Function:
    name: str
    line: int
    docstring: str | None
    arguments: tuple[str, ...]
    keywords: Mapping[str, str | None]  # of the decorator: the text of each that is one


@cache
def _functions(path: Path, _: int) -> tuple[_Function, ...]:
    """Return the functions of a file that are claims; the second argument is the file's time, for the cache."""
    return tuple(
        _Function(
            node.name,
            node.lineno,
            ast.get_docstring(node),
            tuple(one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)),
            {one.arg: _text(one) for one in decorator.keywords if one.arg is not None},
        )
        for node in parse_python(path, path.name).body
        if isinstance(node, ast.FunctionDef)
        for decorator in filter(_is_claim, node.decorator_list[:1])
    )


def _text(keyword: ast.keyword) -> str | None:
    """Return a keyword's value if it is a plain string, or the number of a tolerance."""
    value = keyword.value
    if keyword.arg == "tolerance":
        return ast.unparse(value)
    return " ".join(value.value.split()) if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _is_claim(decorator: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "claim"


def _read_claim(paper: str, function: _Function, shown: str, code: ClaimCode) -> AnyClaim:
    problem = _explain_lack(function)
    if problem is not None:
        return BrokenClaim(paper, function.name, shown, function.line, problem)
    given = function.keywords
    return ClaimText(
        paper=paper,
        name=function.name,
        statement=" ".join((function.docstring or "").split()),
        place=given["place"] or "",
        form=given.get("printed") or given.get("corrected") or "",
        literal="printed" in given,
        nearest=given.get("nearest"),
        bound=f"{given['tolerance']}: {given['because']}" if "because" in given else "",
        needs=given.get("needs"),
        file=shown,
        line=function.line,
        code=code,
    )


def _explain_lack(function: _Function) -> str | None:
    """Return what a claim lacks, or has too much of."""
    name, given = function.name, function.keywords
    if not (function.docstring or "").split():
        return f"the claim {name} has no docstring; state the claim there, in words"
    bare = [one for one in TEXTS if one in given and not given[one]]
    if bare:
        return f"the claim {name} has no text in `{bare[0]}`; write it there as a plain string"
    if "place" not in given:
        return f"the claim {name} lacks `place`, where in the paper it stands"
    if ("printed" in given) == ("corrected" in given):
        return f"the claim {name} needs either `printed` or `corrected`"
    if ("tolerance" in given) != ("because" in given):
        return f"the claim {name} needs both `tolerance` and `because`, or neither"
    drawn = [one for one in given if one not in SETTINGS]
    for one in function.arguments:
        if one not in drawn:
            return f"the claim {name} takes {one}, but its decorator has no strategy for it"
    for one in drawn:
        if one not in function.arguments:
            return f"the claim {name} does not take {one}, which its decorator draws"
    return None


def _read_old_claim(paper: str, function: _Function, shown: str, code: ClaimCode) -> AnyClaim:
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
