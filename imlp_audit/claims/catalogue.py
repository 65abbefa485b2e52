"""Which claims a paper's folder holds, read from its `claims/*.py` without running them.

A claim is a function with the decorator `@claim(...)` (see there what stands in it); its name is the claim's, its
docstring states it in words, and files whose names begin with `_` hold none. Its texts are plain strings. A file may
draw the symbols of its section alike in all of its claims, by `claim = claim_about(...)`.

A claim about learned weights has `learned`: tables of names, one for each code base, of a tensor's letter in the paper
its name after the layer's path. A name that ends in "?" may be missing. A path with all other names is a layer; the
first such table counts. Such a claim takes `layers` alone.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, TypeAlias, TypeGuard

from pydantic import Field, TypeAdapter

from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python

FOLDER = "claims"
KIND = "equations"  # in ids of checks
TEXTS = ("place", "printed", "corrected", "nearest", "needs", "because")
SETTINGS = (*TEXTS, "tolerance", "examples", "share")  # other keywords draw arguments
WEIGHT_TEXTS = ("place", "printed", "measured", "judged")
_MOST_FILES = 100
_MOST_TABLES = 64
_TABLES = TypeAdapter[tuple[dict[str, str], ...]](Annotated[tuple[dict[str, str], ...], Field(max_length=_MOST_TABLES)])


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
class _Named:
    paper: str
    name: str
    file: str
    line: int

    @property
    def id(self) -> str:
        """Return the id of its check."""
        return f"{self.paper}/{KIND}/{self.name}"


@dataclass(frozen=True)
class ClaimText(_Named):
    """A claim as its paper states it, where it is stated, and the function that tests it; `long` if by its `share`."""

    statement: str
    place: str
    form: str
    literal: bool
    nearest: str | None
    tolerance: str | None
    needs: str | None
    long: bool
    code: ClaimCode


@dataclass(frozen=True)
class WeightClaim(_Named):
    """A claim about learned weights: its texts, the names of the tensors of its layers, and the function."""

    place: str
    printed: str
    measured: str
    judged: str
    layers: tuple[Mapping[str, str], ...]
    code: ClaimCode


@dataclass(frozen=True)
class BrokenClaim(_Named):
    """A claim, or a module of claims, that cannot be read, and why."""

    problem: str
    column: int = 1


AnyClaim: TypeAlias = ClaimText | BrokenClaim
_Found: TypeAlias = AnyClaim | WeightClaim


def read_claims(paper: str, folder: Path, shown_as: str) -> tuple[AnyClaim, ...]:
    """Return the claims about functions in a paper's folder, by name, and the broken ones.

    A name that two functions have is broken.
    """
    found = sorted(_read_folder(paper, folder, shown_as), key=lambda one: one.name)
    return tuple(one for one in found if not isinstance(one, WeightClaim))


def read_weight_claims(paper: str, folder: Path, shown_as: str) -> tuple[WeightClaim, ...]:
    """Return the claims about learned weights in a paper's folder, in the order of the files."""
    found = [one for one in _read_folder(paper, folder, shown_as) if isinstance(one, WeightClaim)]
    return tuple(sorted(found, key=lambda one: (one.file, one.line)))


def _read_folder(paper: str, folder: Path, shown_as: str) -> list[_Found]:
    by_name: dict[str, list[_Found]] = defaultdict(list)
    for claim in _read_files(paper, folder, shown_as):
        by_name[claim.name].append(claim)
    return [_check_name(claims, by_name) for claims in by_name.values()]


def _read_files(paper: str, folder: Path, shown_as: str) -> Iterator[_Found]:
    files = sorted((folder / FOLDER).glob("[!_]*.py"))
    sizes = [path.stat().st_size for path in files if path.is_file()]
    whole = sum(size for size in sizes if size <= MAX_SPEC_BYTES)  # larger ones are refused one by one
    if len(files) > _MOST_FILES or whole > MAX_SPEC_BYTES:
        limits = f"{MAX_SPEC_BYTES // 2**20} MiB together, or more than {_MOST_FILES}"
        problem = f"holds files of claims of more than {limits}, which are not read: join or shorten some"
        yield BrokenClaim(paper, FOLDER, f"{shown_as}/{FOLDER}", 1, problem)
        return
    for path in files:
        module = ClaimCode(folder.resolve(), shown_as, path.stem, "")
        yield from _read_module(paper, path, module, path.lstat().st_mtime_ns)


def _check_name(claims: Sequence[_Found], names: Collection[str]) -> _Found:
    """Return the claim of a name, a broken one if the name is given twice, or if it names a claim that is not there."""
    claim, *others = claims
    if others:
        places = ", ".join(f"{other.file}:{other.line}" for other in others)
        problem = f"the claim {claim.name} is defined again in {places}; give each a name of its own"
    elif isinstance(claim, ClaimText) and claim.nearest is not None and claim.nearest not in names:
        problem = f"its text `nearest` names {claim.nearest}, but the paper has no such claim"
    else:
        return claim
    return BrokenClaim(claim.paper, claim.name, claim.file, claim.line, problem)


@cache
def _read_module(paper: str, path: Path, module: ClaimCode, _changed: int) -> tuple[_Found, ...]:
    """Return the claims of a file; the last argument is the time of its last change, for the cache."""
    try:
        tree = parse_python(path, path.name).body
    except FileError as error:
        return (BrokenClaim(paper, path.stem, module.file, error.place[0], error.reason, error.place[1]),)
    constants = {
        target.id: node.value
        for node in tree
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(
        _read_claim(paper, node, decorator, constants, replace(module, function=node.name))
        for node in tree
        if isinstance(node, ast.FunctionDef)
        for decorator in filter(_is_claim, node.decorator_list[:1])
    )


def _is_claim(decorator: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "claim"


def _read_claim(
    paper: str, node: ast.FunctionDef, decorator: ast.Call, constants: Mapping[str, ast.expr], code: ClaimCode
) -> _Found:
    about = constants.get("claim")
    symbols = {one.arg for one in about.keywords} if isinstance(about, ast.Call) else set()
    arguments = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    drawn = dict.fromkeys(one for one in arguments if one in symbols)
    given = drawn | {one.arg: _text(one) for one in decorator.keywords if one.arg is not None}
    learned = next((one.value for one in decorator.keywords if one.arg == "learned"), None)
    layers = _read_tables(learned, constants) if learned is not None else ()
    statement = " ".join((ast.get_docstring(node) or "").split())
    used = {one.id for line in node.body for one in ast.walk(line) if isinstance(one, ast.Name)}
    faults = _list_weight_faults(given, arguments, layers) if learned else _list_faults(given, arguments, used)
    fault = next(faults, None) if statement else "has no docstring; state the claim there, in words"
    if fault is not None:
        return BrokenClaim(paper, node.name, code.file, node.lineno, f"the claim {node.name} {fault}")
    if learned is not None:
        texts = {one: given[one] or "" for one in WEIGHT_TEXTS}
        return WeightClaim(paper, node.name, **texts, layers=layers, file=code.file, line=node.lineno, code=code)
    return ClaimText(
        paper=paper,
        name=node.name,
        statement=statement,
        place=given["place"] or "",
        form=given.get("printed") or given.get("corrected") or "",
        literal="printed" in given,
        nearest=given.get("nearest"),
        tolerance=f"{given['tolerance']}: {given['because']}" if "because" in given else None,
        needs=given.get("needs"),
        long="share" in given,
        file=code.file,
        line=node.lineno,
        code=code,
    )


def _text(keyword: ast.keyword) -> str | None:
    """Return a keyword's value if it is a plain string with words, or a number that may be a tolerance."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if keyword.arg == "tolerance":
        return f"{value:g}" if isinstance(value, float) and 0 < value < 1 else None
    return " ".join(value.split()) or None if isinstance(value, str) else None


def _read_tables(node: ast.expr, constants: Mapping[str, ast.expr]) -> tuple[Mapping[str, str], ...]:
    """Return tables of names that are written out, there or under a name of the file; none for anything else."""
    written = constants.get(node.id, node) if isinstance(node, ast.Name) else node
    try:
        tables = _TABLES.validate_python(ast.literal_eval(written))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return ()
    return () if any(all(name.endswith("?") for name in one.values()) for one in tables) else tables


def _list_weight_faults(
    given: Mapping[str, str | None], arguments: Sequence[str], layers: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    yield from (f"needs a text in `{one}`, as a plain string" for one in WEIGHT_TEXTS if not given.get(one))
    if not layers:
        least = "each mapping letters to names of which one at least does not end in ?"
        yield f"needs in `learned` tables of names, written out, {least}, and at most {_MOST_TABLES}"
    if arguments != ["layers"]:
        yield "must take `layers` alone"


def _list_faults(given: Mapping[str, str | None], arguments: Sequence[str], used: Collection[str]) -> Iterator[str]:
    """Yield what a claim lacks, or has too much of."""
    drawn = [one for one in given if one not in SETTINGS]
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
    yield from (f"takes {one} and does not use it" for one in arguments if one not in used)
