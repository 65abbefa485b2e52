"""Which lines of the package's models the claims of all papers run, found by running every claim and tracing it."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

from imlp_audit.equations.catalogue import ClaimText, read_claims
from imlp_audit.equations.settings import Limits, Settings
from imlp_audit.equations.testing import run_claim
from imlp_audit.equations.trust import PACKAGE, bundled_folder

MODELS = PACKAGE / "models"
EXAMPLES = 100  # as `properties` does
_NAMED = 4
_INTRODUCTION = (
    "# Which claims run which lines of the models",
    "",
    "A mistake in a module can only show in a claim that runs it. `python docs/update.py` runs every claim of the",
    "bundled papers, notes which lines of `imlp_audit/models/` each runs, and writes this page. It counts lines inside",
    "functions, but not `assert_never`, which is never reached. The table names the claims that run the least else.",
    "",
)
_OTHERS = (
    "They read recipes, find names and build hosts whose equations no paper here states. Tests compare them with other",
    "libraries and with published counts.",
)
_NOR_TESTS = (
    "Nor did a test run these lines on 2026-11-23, by `coverage run` on the daily tests and on the slow ones of",
    "models, counts and equations. Most refuse what a programmer would have to get wrong first.",
)
_UNTESTED = (  # module, start of the line
    ("declared_arguments.py", "return None"),
    ("hosts/__init__.py", 'raise TypeError(f"the hosts '),
    ("names/match.py", 'return _Name(name, name, "", "", size)'),
    ("nets/inputs.py", "raise"),
    ("nets/python.py", "return maker"),
    ("nets/python.py", 'return ""'),
    ("nets/transformers.py", "return height, width"),
    ("own_block.py", "return written"),
    ("own_block.py", "return self.folder"),
    ("reading.py", 'raise TypeError(f"{field.name} of {family.kind.__name__} is not an axis'),
    ("reading.py", 'raise TypeError(f"{field.name}: the default'),
    ("reading.py", 'raise TypeError(f"{field.name} meets'),
)
Lines = Mapping[Path, set[int]]


@dataclass(frozen=True)
class Function:
    """A function of a module: its name with its class, and the lines of its body that hold code."""

    name: str
    lines: tuple[int, ...]


def all_claims() -> list[ClaimText]:
    """Return the claims of the bundled papers that have a function of their own."""
    folders = sorted(folder for folder in bundled_folder().iterdir() if folder.is_dir())
    found = (claim for folder in folders for claim in read_claims(folder.name, folder, f"specs/{folder.name}"))
    return [claim for claim in found if isinstance(claim, ClaimText)]


def lines_run(claims: Sequence[ClaimText], folder: Path = MODELS, examples: int = EXAMPLES) -> dict[str, Lines]:
    """Return, by claim id, which lines of the modules in a folder each claim runs."""
    settings = Settings(Limits(examples))
    for claim in claims:  # what runs once in a process, such as an import, is no claim's
        run_claim(claim.code, Settings(Limits(1)))
    return {claim.id: _traced(claim, settings, str(folder)) for claim in claims}


def _traced(claim: ClaimText, settings: Settings, folder: str) -> Lines:
    seen: dict[str, set[int]] = defaultdict(set)

    def in_function(frame: FrameType, event: str, _: object) -> object:
        if event == "line":
            seen[frame.f_code.co_filename].add(frame.f_lineno)
        return in_function

    def on_call(frame: FrameType, _event: str, _: object) -> object:
        return in_function if frame.f_code.co_filename.startswith(folder) else None

    before = sys.gettrace()
    sys.settrace(on_call)  # type: ignore[arg-type]  # a trace function returns the next one, which has no finite type
    try:
        run_claim(claim.code, settings)
    finally:
        sys.settrace(before)
    return {Path(name): lines for name, lines in seen.items()}


def functions(path: Path) -> list[Function]:
    """Return the functions of a module that have code, in its order; those inside others are part of them."""
    source = path.read_text(encoding="utf-8")
    codes = {code.co_firstlineno: code for code in _codes(compile(source, str(path), "exec"))}
    unreachable = {at for at, line in enumerate(source.splitlines(), 1) if re.search(r"case _:|assert_never\(", line)}
    found = []
    for name, node in _named(ast.parse(source)):
        begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines = _lines(codes[begin], node.lineno) - unreachable
        found += [Function(name, tuple(sorted(lines)))] if lines else []
    return found


def _named(tree: ast.Module | ast.ClassDef, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield f"{inside}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _named(node, f"{inside}{node.name}.")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _lines(code: CodeType, header: int) -> set[int]:
    """Return the lines of a function's body, those of the functions inside included."""
    found = {line for part in (code, *_codes(code)) for _, _, line in part.co_lines() if line}
    return {line for line in found if line > header}


def executed_page() -> str:
    """Return the page that says, for each module of the models, which claims run its lines, and which lines none."""
    return write_page(lines_run(all_claims()))


def write_page(runs: Mapping[str, Lines]) -> str:
    """Write the page from the lines that each claim runs. Claims that run the fewest lines are named first."""
    ordered = dict(sorted(runs.items(), key=lambda one: (sum(map(len, one[1].values())), one[0])))
    paths = [path for path in sorted(MODELS.rglob("*.py")) if functions(path)]
    run = [path for path in paths if any(path in lines for lines in ordered.values())]
    others = ", ".join(f"`{_name(path)}`" for path in paths if path not in run)
    tables = [
        line for path in run for line in _table(path, {one: lines.get(path, set()) for one, lines in ordered.items()})
    ]
    no_claim = ["## Modules that no claim runs", "", *_OTHERS, "", others, ""]
    no_test = ["## Lines that no claim and no test runs", "", *_NOR_TESTS, "", "```text", *_untested(), "```", ""]
    return "\n".join([*_INTRODUCTION, *tables, *no_claim, *no_test])


def _untested() -> Iterator[str]:
    """Yield the lines that no test runs. Raises LookupError for one that is no longer there."""
    for name, begin in _UNTESTED:
        lines = (MODELS / name).read_text(encoding="utf-8").splitlines()
        found = [line.strip() for line in lines if line.strip().startswith(begin)]
        if not found:
            raise LookupError(f"models/{name} has no line {begin!r} any more: take it out of _UNTESTED")
        yield f"{name}: {min(found, key=len)}"


def _table(path: Path, runs: Mapping[str, set[int]]) -> Iterator[str]:
    everything = set[int]().union(*runs.values())
    found, source = functions(path), path.read_text(encoding="utf-8").splitlines()
    code = {line for function in found for line in function.lines}
    yield from (f"## {_name(path)}", "", f"{len(code & everything)} of {len(code)} lines.", "")
    yield from ("| function | lines run | by claims | such as |", "| --- | --- | --- | --- |")
    for function in found:
        lines = set(function.lines)
        claims = [name for name, ran in runs.items() if lines & ran]
        some = ", ".join(f"`{name.replace('/equations/', '/')}`" for name in claims[:_NAMED])
        yield f"| `{function.name}` | {len(lines & everything)} of {len(lines)} | {len(claims)} | {some} |"
    never = sorted(code - everything)
    if never:
        yield from ("", "Lines that no claim runs:", "", "```text")
        yield from (f"{number}: {source[number - 1].strip()}" for number in never)
        yield "```"
    yield ""


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()
