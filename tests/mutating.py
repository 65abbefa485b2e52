"""Plants small errors in the package and says which of them no test notices.

    python -m tests.mutating [PART ...] [--mutants N] [--seed TEXT] [--only NUMBER]

A mutant is a copy of the repository with one change in one module of a part (`numbers`, `checks`, `count`, `models`,
`spec`): another comparison, another operator, a condition turned round, a constant that is off by one, a statement left
out. The daily tests of its part, and those of whole audits, run on it until one fails, and then all the others. What it
is follows from the seed and its number, so `--only` makes one again. A survivor is a missing test or an equivalent
change; a person decides which.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("numbers", "checks", "count", "models", "spec")
PATIENCE = 1800  # seconds after which a mutant counts as noticed: it hangs
WHOLE = ("tests/test_audit.py", "tests/test_planted_papers.py")

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_REPLACED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the line, what stood there and what stands there now, and the file's new text."""

    path: Path
    line: int
    before: str
    after: str
    text: str


def mutate(path: Path, chance: Random) -> Mutant | None:
    """Return a change of a module, or None where it has nothing to change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = [node for node in _executed(tree) if _may_change(node)]
    if not places:
        return None
    node = chance.choice(places)
    line, before = getattr(node, "lineno", 0), ast.unparse(node)
    _change(node, chance)
    ast.fix_missing_locations(tree)
    return Mutant(path.relative_to(ROOT), line, before, ast.unparse(node), ast.unparse(tree))


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts that a test can notice: no types, no imports, no texts of errors."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "exc", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr):
                yield child
                yield from _executed(child)


def _may_change(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[one]):
            return type(one) in _COMPARED
        case ast.BinOp(op=one):
            return type(one) in _REPLACED
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Expr(value=ast.Call()):
            return True
        case _:
            return isinstance(node, ast.BoolOp | ast.IfExp | ast.If | ast.While)


def _change(node: ast.AST, chance: Random) -> None:
    match node:
        case ast.Compare():
            node.ops = [_COMPARED[type(node.ops[0])]()]
        case ast.BinOp():
            node.op = _REPLACED[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + chance.choice([-1, 1])
        case ast.IfExp() | ast.If() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Expr():
            node.value = ast.Constant(None)
        case _:
            raise TypeError(f"{node} cannot be changed")


def is_noticed(mutant: Mutant, tree: Path, tests: Sequence[str]) -> bool:
    """Run tests on a mutant, in a process that has torch already, until one fails."""
    changed = tree / mutant.path
    original = changed.read_bytes()
    changed.write_text(mutant.text, encoding="utf-8")
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for name in [one for one in sys.modules if one.partition(".")[0] in ("tests", "imlp_audit")]:
            del sys.modules[name]  # those of the copy are meant
        os.environ["PYTHONPATH"] = str(tree)
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        shared = "ignore::pytest.PytestAssertRewriteWarning"  # plugins that torch or timm have imported already
        options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-W", shared]
        os._exit(pytest.main([*options, *tests]))
    code = _wait(child)
    changed.write_bytes(original)
    return code != 0


def _tests(path: Path) -> list[str]:
    part, own = path.parts[1], Path("tests", path.parts[1], f"test_{path.name}")
    return [*([str(own)] if (ROOT / own).exists() else []), f"tests/{part}", *WHOLE]


def _wait(child: int) -> int:
    """Return the exit code of a process, or 1 where it takes too long."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 1


def main() -> int:
    """Plant errors, print the survivors, and fail where there are more than 5 %."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutating")
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--mutants", type=int, default=120)
    parser.add_argument("--seed", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    paths = sorted(path for part in given.parts for path in (ROOT / "imlp_audit" / part).rglob("*.py"))
    weights = [path.stat().st_size for path in paths]
    import timm  # noqa: F401  the processes below share what it brings

    survivors = 0
    numbers = range(given.mutants) if given.only is None else [given.only]
    folder = mkdtemp()  # removed below: a TemporaryDirectory goes as soon as one of the processes made here ends
    tree = Path(folder, "tree")
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".*_cache", "__pycache__"))
    for part in given.parts:
        path = next(path for path in paths if path.relative_to(ROOT).parts[1] == part)
        unchanged = Mutant(path.relative_to(ROOT), 0, "", "", path.read_text(encoding="utf-8"))
        if is_noticed(unchanged, tree, _tests(unchanged.path)):
            sys.exit(f"the tests of {part} fail without any change")
    for number in numbers:
        chance = Random(f"{given.seed}/{number}")
        mutant = next(filter(None, (mutate(path, chance) for path in chance.choices(paths, weights, k=100))))
        begun = time.monotonic()
        noticed = is_noticed(mutant, tree, _tests(mutant.path)) or is_noticed(mutant, tree, ["tests"])
        survivors += not noticed
        said = "noticed" if noticed else "SURVIVES"
        took = time.monotonic() - begun
        print(f"{number} {said} ({took:.0f} s) {mutant.path}:{mutant.line}: {mutant.before[:90]} -> "
              f"{mutant.after[:90]}".replace("\n", " "), flush=True)  # fmt: skip
    shutil.rmtree(folder)
    print(f"{len(numbers)} mutants with --seed {given.seed}, {survivors} survive")
    return int(survivors > 0.05 * len(numbers))


if __name__ == "__main__":
    sys.exit(main())
