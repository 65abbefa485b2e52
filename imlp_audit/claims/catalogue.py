"""Which claims a paper's folder holds, read from its `claims/*.py` without running them.

A claim is a function with the decorator `@claim(...)`; its name is the claim's, its docstring states it in words, and
files whose names begin with `_` hold none. The decorator has these texts, as plain strings:

- `place`: where in the paper it stands.
- `printed`: the literal form, symbol by symbol; or `corrected`: the nearest form that is true, or an exact form of
  something that is printed in vaguer words.
- `nearest`: of a literal form that is false, the claim that holds instead.
- `needs`: what only `properties` does for it, such as solving a semidefinite program.
- `because`: why its two sides may differ by another `tolerance` than the usual one.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias, TypeGuard

from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python

FOLDER = "claims"
KIND = "equations"  # in ids of checks
TEXTS = ("place", "printed", "corrected", "nearest", "needs", "because")
SETTINGS = (*TEXTS, "tolerance", "examples", "infinite", "share")  # other keywords draw arguments
_MOST_FILES = 100


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
    tolerance: str | None
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
    for claim in _read_folder(paper, folder, shown_as):
        by_name[claim.name].append(claim)
    return tuple(_check_nearest(_one_of(by_name[name]), by_name) for name in sorted(by_name))


def _read_folder(paper: str, folder: Path, shown_as: str) -> Iterator[AnyClaim]:
    files = sorted((folder / FOLDER).glob("[!_]*.py"))
    read = files[:_MOST_FILES]
    if len(files) > _MOST_FILES:
        problem = f"holds {len(files)} files of claims, and at most {_MOST_FILES} are read: join some"
        yield BrokenClaim(paper, FOLDER, f"{shown_as}/{FOLDER}", 1, problem)
    sizes = (path.stat().st_size for path in read if path.is_file())
    if sum(size for size in sizes if size <= MAX_SPEC_BYTES) > MAX_SPEC_BYTES:
        problem = f"holds files of claims of more than {MAX_SPEC_BYTES // 2**20} MiB together, which are not read"
        yield BrokenClaim(paper, FOLDER, f"{shown_as}/{FOLDER}", 1, problem)
    else:
        yield from chain.from_iterable(_read_module(paper, path, folder.resolve(), shown_as) for path in read)


def _one_of(claims: Sequence[AnyClaim]) -> AnyClaim:
    first, *others = claims
    if not others:
        return first
    places = ", ".join(f"{other.file}:{other.line}" for other in others)
    return _make_broken(first, f"the claim {first.name} is defined again in {places}; give each a name of its own")


def _check_nearest(claim: AnyClaim, names: dict[str, list[AnyClaim]]) -> AnyClaim:
    if isinstance(claim, BrokenClaim) or claim.nearest is None or claim.nearest in names:
        return claim
    return _make_broken(claim, f"its text `nearest` names {claim.nearest}, but the paper has no such claim")


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
            yield _read_claim(paper, function, ClaimCode(folder, shown_as, path.stem, function.name))


@dataclass(frozen=True)
class _Function:
    name: str
    line: int
    docstring: str | None
    arguments: tuple[str, ...]
    keywords: Mapping[str, str | None]  # of the decorator: the text of each that is one
    names: frozenset[str]  # in its body


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
            frozenset(one.id for line in node.body for one in ast.walk(line) if isinstance(one, ast.Name)),
        )
        for node in parse_python(path, path.name).body
        if isinstance(node, ast.FunctionDef)
        for decorator in filter(_is_claim, node.decorator_list[:1])
    )


def _text(keyword: ast.keyword) -> str | None:
    """Return a keyword's value if it is a plain string with words, or a number that may be a tolerance."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if keyword.arg == "tolerance":
        return f"{value:g}" if isinstance(value, float) and 0 < value < 1 else None
    return " ".join(value.split()) or None if isinstance(value, str) else None


def _is_claim(decorator: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "claim"


def _read_claim(paper: str, function: _Function, code: ClaimCode) -> AnyClaim:
    fault = next(_list_faults(function), None)
    if fault is not None:
        problem = f"the claim {function.name} {fault}"
        return BrokenClaim(paper, function.name, code.file, function.line, problem)
    given = function.keywords
    return ClaimText(
        paper=paper,
        name=function.name,
        statement=" ".join((function.docstring or "").split()),
        place=given["place"] or "",
        form=given.get("printed") or given.get("corrected") or "",
        literal="printed" in given,
        nearest=given.get("nearest"),
        tolerance=f"{given['tolerance']}: {given['because']}" if "because" in given else None,
        needs=given.get("needs"),
        file=code.file,
        line=function.line,
        code=code,
    )


def _list_faults(function: _Function) -> Iterator[str]:
    """Yield what a claim lacks, or has too much of."""
    given, arguments = function.keywords, function.arguments
    drawn = [one for one in given if one not in SETTINGS]
    if not (function.docstring or "").split():
        yield "has no docstring; state the claim there, in words"
    yield from (
        f"has no text in `{one}`; write it there as a plain string" for one in TEXTS if given.get(one, "-") is None
    )
    if "place" not in given:
        yield "lacks `place`, where in the paper it stands"
    if ("printed" in given) == ("corrected" in given):
        yield "needs either `printed` or `corrected`"
    if ("tolerance" in given) != ("because" in given):
        yield "needs both `tolerance` and `because`, or neither"
    if given.get("tolerance", "-") is None:
        yield "needs a number between 0 and 1 as its `tolerance`"
    yield from (f"takes {one}, but its decorator has no strategy for it" for one in arguments if one not in drawn)
    yield from (f"does not take {one}, which its decorator draws" for one in drawn if one not in arguments)
    yield from (f"takes {one} and does not use it" for one in arguments if one not in function.names)
