"""A model and a block of one's own, as a spec writes them; their Python is read, and not run. Torch-free."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Annotated, Self, TypeAlias, final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from imlp_audit.errors import did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python, read_text
from imlp_audit.models.host import Count, FrozenMap, Host, Inputs, Name, Reads, Tries, Values
from imlp_audit.models.readings import MOST_COMBINATIONS, BlockReading, Family, OwnFamily, axis_of, word_of
from imlp_audit.processes.code import bundled_folder

_BY_CODE = re.compile(r"\b(?:globals|vars|exec|setattr|__getattr__|modules)\b")  # may bind names that no line shows


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a file binds outside its functions and classes, and "*" if it imports all of another."""
    inside: deque[ast.AST] = deque(tree.body)
    while inside:
        node = inside.popleft()
        name = _name_bound(node)
        if name is not None:
            yield name
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inside.extend(ast.iter_child_nodes(node))


def _name_bound(node: ast.AST) -> str | None:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.alias(name=name, asname=other):
            return (other or name).partition(".")[0]
        case _:
            return None


def find_missing_name(folder: Path, file: str, name: str) -> str | None:
    """Say that a file is not there, is not Python, or lacks a class or function of this name; None where it is well.

    None too for a file that may bind names by code.
    """
    try:
        path = find_beside(folder, file)
    except ValueError as error:
        return str(error)
    try:
        tree = _parse(path)
    except FileError as error:
        return f"{file}:{error.place[0]}: it {error.reason}"
    except OSError:
        return None  # which is said when the file is run
    names = tuple(names_in(tree))
    if name in names or "*" in names or _BY_CODE.search(read_text(path, MAX_SPEC_BYTES)):
        return None
    own = [node.name for node in tree.body if isinstance(node, _Maker)]
    return f"{file} defines no {name!r}; {did_you_mean(name, own or names, 'it has')}"


def _parse(path: Path) -> ast.Module:
    """Return what is written in a file, which is parsed once for each of its versions."""
    stat = path.stat()
    return _parse_version(path, stat.st_mtime_ns, stat.st_size)


@cache
def _parse_version(path: Path, _time: int, _size: int) -> ast.Module:
    return parse_python(path, path.name)


def find_beside(folder: Path, name: str, *, is_folder: bool = False) -> Path:
    """Return the path of a file, or folder, below that of a spec. Raises ValueError where there is none."""
    path = (folder / name).resolve()
    if path.is_relative_to(folder.resolve()) and (path.is_dir() if is_folder else path.is_file()):
        return path
    if path.exists() and not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name}: it leads out of the folder of the spec; copy it there")
    missing = f"path: there is no folder {name}" if is_folder else f"{name}: there is no such file"
    raise ValueError(f"{missing} beside the spec")


_Maker: TypeAlias = ast.ClassDef | ast.FunctionDef


def find_wrong_argument(folder: Path, file: str, name: str, given: Collection[str], may: Collection[str]) -> str | None:
    """Say which argument `name` in a file does not take, or lacks, None if there is none.

    It is `given` these by the spec, and by us those of `may` that it takes. None too if its signature is not plain: it
    is not of this file, it is decorated, its `__init__` is inherited, or it takes any arguments.
    """
    path = (folder / file).resolve()
    try:
        taken = _signature(name, _parse(path)) if path.is_relative_to(folder.resolve()) else None
    except (OSError, FileError):
        return None  # which is said when the file is read for its axes, or run
    if taken is None:
        return None
    known, needed = taken
    unknown = next((one for one in given if one not in known), None)
    if unknown is not None:
        return f"{name} in {file} takes no {unknown!r}; {did_you_mean(unknown, known, 'it takes')}"
    lacking = next((one for one in needed if one not in given and one not in may), None)
    return None if lacking is None else f"{name} in {file} needs {lacking!r}"


def _signature(name: str, tree: ast.Module) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the arguments that a class or function takes and those it needs, None if its signature is not plain."""
    makers = [node for node in ast.walk(tree) if name == _name_bound(node)]
    if len(makers) != 1 or makers[0] not in tree.body or not isinstance(makers[0], _Maker):
        return None
    maker = makers[0]
    if isinstance(maker, ast.FunctionDef):
        return _arguments_of(maker, skip=0)
    own = {node.name: node for node in maker.body if isinstance(node, ast.FunctionDef)}
    if maker.decorator_list or maker.keywords or "__new__" in own or "__init__" not in own:
        return None
    return _arguments_of(own["__init__"], skip=1)


def _arguments_of(function: ast.FunctionDef, skip: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    found = function.args
    if function.decorator_list or found.vararg or found.kwarg or found.posonlyargs or len(found.args) < skip:
        return None
    places = [one.arg for one in found.args]
    needed = places[skip : len(places) - len(found.defaults)]
    needed += [one.arg for one, default in zip(found.kwonlyargs, found.kw_defaults, strict=True) if default is None]
    return (*places[skip:], *(one.arg for one in found.kwonlyargs)), tuple(needed)


AxisValue: TypeAlias = bool | int | str
"""A value of an axis as the class is given it."""
DeclaredAxes: TypeAlias = dict[str, tuple[AxisValue, ...]]

ATTRIBUTE = "axes"
DECIDED = ("in_features", "out_features", "use_conv")
"""What the MLP that a block replaces decides, so that neither an axis nor an argument can."""
_LARGEST = 1_000_000
_EXAMPLE = 'axes = {"gate_norm": ("none", "layer"), "bias": (True, False)}'


def read_axes(path: Path, shown_as: str, name: str) -> DeclaredAxes:
    """Return the axes of the class `name`, none for a class or function that declares none.

    Raises ValueError, with file and line, for a file that is not Python, lacks the name, or declares axes in another
    form.
    """
    try:
        tree = _parse(path)
    except FileError as error:
        raise ValueError(f"{shown_as}:{error.place[0]}: it {error.reason}") from error
    except (OSError, RecursionError) as error:
        raise ValueError(f"{shown_as}: it cannot be read: {error}") from error
    known = list(names_in(tree))
    if name not in known and "*" not in known:
        raise ValueError(f"{shown_as} defines no {name!r}; {did_you_mean(name, known, 'it has')}")
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    declared = [value for node in found[-1:] for value in _values_of_attribute(node)]
    if not declared:
        return {}
    where = f"{shown_as}:{declared[-1].lineno}: axes of {name}"
    axes = _axes_in(declared[-1], where)
    if prod(map(len, axes.values())) > MOST_COMBINATIONS:
        raise ValueError(
            f"{where} have more than {MOST_COMBINATIONS} combinations of values; solve counts each, so declare fewer"
        )
    return axes


def _values_of_attribute(node: ast.ClassDef) -> Iterator[ast.expr]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == ATTRIBUTE:
                yield value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name == ATTRIBUTE:
                yield value


def _axes_in(node: ast.expr, where: str) -> DeclaredAxes:
    """Return the axes that a literal declares. Raises ValueError for any other form."""
    try:
        written = ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where} must be written out, because the file is not run: {_EXAMPLE}") from error
    if not isinstance(written, dict) or not isinstance(node, ast.Dict) or not written:
        raise ValueError(f"{where} must map names to their values: {_EXAMPLE}")
    if len(written) < len(node.keys):
        raise ValueError(f"{where} name one axis twice")
    for name, values in written.items():
        complaint = _complaint(name, values)
        if complaint is not None:
            raise ValueError(f"{where}: {complaint}")
    return {name: tuple(values) for name, values in written.items()}


def _complaint(name: object, values: object) -> str | None:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        return f"{name!r} is not the name of an argument"
    if name in DECIDED:
        return f"{name} is what the MLP that is replaced decides, so it cannot be an axis"
    if not isinstance(values, tuple | list) or len(values) < 2:
        return f"{name} needs at least two values, such as (True, False); the first is the default"
    if len({type(value) for value in values}) > 1 or not isinstance(values[0], bool | int | str):
        return f"{name}: give words only, whole numbers only, or True and False"
    if len(set(values)) < len(values):
        return f"{name} has a value twice"
    for value in values:
        if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", value):
            return f"{name}: {value[:50]!r} is not a word of at most 40 letters, digits, _, . and -"
        if isinstance(value, int) and abs(value) > _LARGEST:
            return f"{name}: {value} is larger than {_LARGEST}"
    return None


PYTHON_FILE = r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.py$"
FOLDER = r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$"
PACKAGE = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"


@dataclass(frozen=True)
class SpecFolder:
    """Where the Python of a spec that is being read lies, and whether it may be run."""

    path: Path
    trusted: bool


class OwnCode(BaseModel):
    """The class or function `name` of the Python `file`, which is called with `arguments`.

    `beside` is the folder of the file, and `folder` too; None where its code may not be run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, Field(pattern=PYTHON_FILE)]
    name: Name
    arguments: Values = Field(default_factory=FrozenMap)
    folder: Annotated[Path | None, Field(repr=False, strict=True)] = None  # none that a spec can write
    beside: Annotated[Path | None, Field(repr=False, strict=True)] = None  # nor this one

    @model_validator(mode="before")
    @classmethod
    def _take_the_folder_of_the_spec(cls, written: object, info: ValidationInfo) -> object:
        if not isinstance(written, dict) or not isinstance(info.context, SpecFolder):
            return written  # a host or block that was read before
        for name in ("folder", "beside"):
            if name in written:
                raise ValueError(f"{name}: the file is looked for beside the spec")
        beside, trusted = info.context.path, info.context.trusted
        if (paper := written.get("paper")) is not None:
            beside, trusted = bundled_folder() / str(paper), True
            if beside.parent != bundled_folder() or not beside.is_dir():
                raise ValueError(f"paper: no paper {paper!r} comes with this package")
        return {**written, "beside": beside, **({"folder": beside} if trusted else {})}


@final
class PythonModule(OwnCode, Host):
    """A torch module that a class or function of one's own makes.

    It reads one image or feature map of the size `input`, (channels, height, width), or so many `tokens`, or the
    `inputs` that are named. With `paper`, the file is that of a paper that comes with this package. `path` are folders
    below the spec's that it imports from, `stubs` packages that it imports and does not need, and `try` values of
    arguments that may be what a number that differs was counted with.
    """

    key = "python"
    reads = Reads.OWN
    classified = False
    replaceable = True
    foldable = True

    paper: Name | None = None
    input: tuple[Count, Count, Count] | None = None
    tokens: Count | None = None
    inputs: Inputs | None = None
    path: Annotated[tuple[Annotated[str, Field(pattern=FOLDER)], ...], Field(max_length=8)] = ()
    stubs: Annotated[tuple[Annotated[str, Field(pattern=PACKAGE)], ...], Field(max_length=20)] = ()
    tries: Annotated[Tries, Field(alias="try")] = Field(default_factory=FrozenMap)

    @model_validator(mode="after")
    def _holds_what_it_names(self) -> Self:
        if self.folder is not None:
            find_beside(self.folder, self.file)
            for one in self.path:
                find_beside(self.folder, one, is_folder=True)
        return self

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        if sum(given is not None for given in (self.input, self.tokens, self.inputs)) != 1:
            raise ValueError("give exactly one of input: [channels, height, width], tokens: how many, and inputs")
        return self


class OwnBlock(OwnCode):
    """A block of one's own in the place of an MLP, which is made for its sizes.

    Its class may declare `axes`: what the paper's text leaves open about the block. `arguments` fix some of them.
    """

    @cached_property
    def axes(self) -> DeclaredAxes:
        """The axes that its class declares, as its file has them when the block is read."""
        return {} if self.beside is None else read_axes(find_beside(self.beside, self.file), self.file, self.name)

    @model_validator(mode="after")
    def _takes_what_it_is_given(self) -> Self:
        _ = self.axes  # read now, so that what is wrong with them is the spec's error
        for name in DECIDED:
            if name in self.arguments:
                raise ValueError(f"arguments: {name} is that of the MLP that is replaced")
        if self.name in set(Family):
            raise ValueError(f"name: {self.name} is what a family of bundled models is called; rename the class")
        return self

    @property
    def family(self) -> OwnFamily | None:
        """The family of the axes that its class declares, None without any."""
        axes = tuple((axis_of(self.name, axis), tuple(map(word_of, self.axes[axis]))) for axis in self.axes)
        return OwnFamily(self.name, self.file, axes) if axes else None

    def answers(self, reading: BlockReading | None) -> dict[str, AxisValue]:
        """Return the arguments that a reading gives to the class; without a reading, the default on each axis."""
        if self.family is None:
            return {}
        words = dict((reading or self.family.reading({})).answers)
        return {
            axis: next(value for value in values if word_of(value) == words[axis_of(self.name, axis)])
            for axis, values in self.axes.items()
        }
