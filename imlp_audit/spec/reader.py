"""Reading the files of a paper and joining them; every error at its place in words an author can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from imlp_audit.claims.catalogue import read_claims
from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.models.available_hosts import ARCHITECTURE, CLASSIFIER, HOSTS
from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.own import SpecFolder
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.code import trusted_folder
from imlp_audit.records.base import write_complaint
from imlp_audit.spec.fields import FORMS, MAPPING, TEXT
from imlp_audit.spec.findings import read_findings_file
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.schema import About, PaperFile, TableFile
from imlp_audit.spec.targets import display_path, spec_files
from imlp_audit.spec.tree import Located, MapNode, SpecText, mark_at, plain, read_tree

Model = TypeVar("Model", bound=BaseModel)

_NOT_IN_THE_TREE = frozenset({"[key]", TEXT, MAPPING})  # steps of pydantic's own
_OF_RECIPES = frozenset({"host", "architecture"})  # fields of records that a spec does not write as keys
_NAMED_BY = {ARCHITECTURE: Library.TIMM, CLASSIFIER: Library.TORCHVISION}
_MOST_BYTES = 2 * MAX_SPEC_BYTES  # of a paper's specs; no paper of ours has 0.1 MiB


def validate(
    file: SpecText, model: type[Model], folder: SpecFolder | None = None
) -> tuple[Model | None, list[Problem]]:
    """Return the file's record, or its problems; models of one's own are in the folder."""
    try:
        return model.model_validate(plain(file.tree), context=folder), []
    except ValidationError as error:
        details = [_as_in_the_tree(detail) for detail in error.errors(include_url=False)]
        problems = [_problem(file, model, detail) for detail in details if not _follows(detail, details)]
        return None, list(dict.fromkeys(problems))


def _as_in_the_tree(detail: ErrorDetails) -> ErrorDetails:
    """Return the error at its place in the file, where a recipe's host stands under a key of its own."""
    above, last = detail["loc"][:-1], detail["loc"][-1:]
    kept = last if detail["type"] == "missing" else tuple(step for step in last if step not in _OF_RECIPES)
    return {**detail, "loc": (*(step for step in above if step not in _OF_RECIPES), *kept)}


def _follows(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Say whether a list is only too short because something in it is wrong, or a key missing that is misspelt."""
    place = detail["loc"]
    if detail["type"] == "missing":
        unknown = [one["loc"] for one in details if one["type"] == "extra_forbidden"]
        beside = [str(path[-1]) for path in unknown if path[:-1] == place[:-1]]
        return bool(beside if place[-1] == "host" else get_close_matches(str(place[-1]), beside))
    return detail["type"] == "too_short" and any(
        other["loc"][: len(place)] == place and other is not detail for other in details
    )


def _problem(file: SpecText, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path = tuple(step for step in detail["loc"] if step not in _NOT_IN_THE_TREE)
    is_key = detail["type"] == "extra_forbidden" or "[key]" in detail["loc"]
    return Problem(file.shown_as, *mark_at(file.tree, path, key=is_key), _message(model, detail))


def _message(model: type[BaseModel], detail: ErrorDetails) -> str:
    named = [step for step in detail["loc"] if step not in _NOT_IN_THE_TREE]
    name = str(named[-1]) if named else "the file"
    if named and isinstance(named[-1], int):
        name = f"an entry of {named[-2]}"
    if detail["type"] == "extra_forbidden":
        known = list(_fields_at(model, detail["loc"][:-1]))
        if "model" in known and name in list(Recipe.keys()):
            return f"unknown key {name!r}; it belongs in model: {{..., {name}: ...}}"
        if name in known:
            return f"{name!r} does not go with what else is given here"
        if len(detail["loc"]) == 1 and name in About.model_fields:
            return f"unknown key {name!r}; it belongs under about:"
        return f"unknown key {name!r}; {did_you_mean(name, known, 'known here')}"
    return f"{write_complaint(detail, name, FORMS)}{_host_hint(detail, name)}{_name_hint(detail)}"


def _host_hint(detail: ErrorDetails, name: str) -> str:
    """Say how a model is written whose name stands alone, if a library has it."""
    given = detail["input"]
    if name != "model" or not isinstance(given, str):
        return ""
    found = next((one for one in (Library.TIMM, Library.TORCHVISION) if given in known_models(one)), None)
    return f"; write {{{found}: {given}}}" if found is not None else ""


def _name_hint(detail: ErrorDetails) -> str:
    """Say which model of a library was meant by a label of a paper, such as DeiT-S, that is written as its name."""
    library = _NAMED_BY.get(detail.get("ctx", {}).get("pattern", ""))
    if library is None:
        return ""
    from imlp_audit.models.names.match import suggest  # a file that is right needs no hint

    hint = suggest(str(detail["input"]), library)
    return f"; {hint}" if hint is not None else ""


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield the keys that the record at a path may have, whichever of its kinds it is."""
    inside: Sequence[type[BaseModel]] = [model]
    for step in map(str, path):
        if step in HOSTS and any(issubclass(record, Recipe) for record in inside):
            inside = [HOSTS[step]]
            continue
        fields = [record.model_fields[step] for record in inside if step in record.model_fields]
        inside = list(dict.fromkeys(one for field in fields for one in _records_in(field.annotation))) or inside
    keys = (Recipe.keys() if issubclass(record, Recipe) else record.model_fields for record in inside)
    yield from dict.fromkeys(chain.from_iterable(keys))


def _records_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _records_in(argument)


@dataclass(frozen=True)
class SpecFile:
    """A file that was read and validated: `table` if it is a whole table, `record` what else of a paper it has."""

    text: SpecText
    record: PaperFile
    table: TableFile | None = None

    def locate(self, key: str) -> tuple[Located[Any], ...]:
        """Return the entries under a key, each with its place; a file that is one table has that under `tables`."""
        if key == "tables" and self.table is not None:
            return (Located(self.table, self.text),)
        return tuple(Located(entry, self.text, (key, index)) for index, entry in enumerate(getattr(self.record, key)))

    @property
    def about(self) -> Located[About] | None:
        """What the file says about the paper, if it describes it."""
        about = self.record.about
        return None if about is None else Located(about, self.text, ("about",))


def read_spec(path: Path, shown_as: str, *, code: Path | None = None) -> tuple[SpecFile | None, list[Problem]]:
    """Read one file; a mapping with the key `table` is a table, any other a part of a paper.

    The Python in the folder `code` may build its models.
    """
    tree, problems = read_tree(path, shown_as)
    if tree is None:
        return None, problems
    text, folder = SpecText(shown_as, tree), SpecFolder(code or path.parent.resolve(), trusted=code is not None)
    if isinstance(tree, MapNode) and any(key.text == "table" for key, _ in tree.entries):
        table, found = validate(text, TableFile, folder)
        spec = None if table is None else SpecFile(text, PaperFile.model_construct(paper=table.paper), table)
    else:
        record, found = validate(text, PaperFile, folder)
        spec = None if record is None else SpecFile(text, record)
    problems += found
    return (None if problems else spec), problems


@dataclass
class PaperReader:
    """Reads papers and collects their problems; a file with problems hides its whole paper."""

    trust_code: bool
    problems: list[Problem] = field(default_factory=list)

    def read(self, files: Sequence[Path], target: str, *, whole: bool = True) -> Paper | None:
        """Return a paper and, with `whole`, what else its folder holds; None where a file of it has problems.

        `target` names the paper on a command line.
        """
        codes = {
            folder: trusted_folder(folder) or (folder.resolve() if self.trust_code else None)
            for folder in {path.parent for path in files}
        }
        specs = self._read_files(files, codes)
        if len(specs) < len(files):
            return None
        ids = [spec.record.paper for spec in specs]
        name = max(sorted(set(ids)), key=ids.count)
        self.problems += _check_files(name, specs)
        about = next((spec.about for spec in specs if spec.about is not None), None)
        if about is None:
            first = Located(None, specs[0].text)
            self.problems.append(first.problem(f"no file of {name} has the key 'about', which describes the paper"))
            return None
        folder = _own_folder(files)
        code = codes[folder] if folder is not None and whole else None
        findings = _findings_path(files, specs, folder)

        def every(key: str) -> tuple[Located[Any], ...]:
            return tuple(one for spec in specs for one in spec.locate(key))

        return Paper(
            id=name,
            about=about,
            tables=every("tables"),
            claims=every("claims"),
            findings=every("findings"),
            findings_file=read_findings_file(findings, display_path(findings), name, target),
            coverage=tuple(Located(s.record.coverage, s.text, ("coverage",)) for s in specs if s.record.coverage),
            systems=every("systems"),
            preprocessing=every("preprocessing"),
            shared=every("equations"),
            equations=read_claims(name, code or folder, display_path(folder)) if folder is not None and whole else (),
            folder=folder if whole else None,
            code=code,
            files=tuple((path, display_path(path)) for path in files),
        )

    def _read_files(self, files: Sequence[Path], codes: Mapping[Path, Path | None]) -> list[SpecFile]:
        """Return the files without problems; none of a paper that is too large."""
        sizes = [path.stat().st_size for path in files if path.is_file()]
        if sum(size for size in sizes if size <= MAX_SPEC_BYTES) > _MOST_BYTES:
            message = f"the files of this paper have more than {_MOST_BYTES // 2**20} MiB together: split the paper"
            self.problems.append(Problem(display_path(files[0]), 1, 1, message))
            return []
        specs: list[SpecFile] = []
        for path in files:
            spec, found = read_spec(path, display_path(path), code=codes[path.parent])
            self.problems += found
            specs += [spec] if spec is not None else []
        return specs


def _check_files(paper: str, specs: Sequence[SpecFile]) -> list[Problem]:
    problems = [
        Located(None, spec.text).problem(
            f"this file is of paper {spec.record.paper!r}, but lies among the files of {paper!r}", "paper"
        )
        for spec in specs
        if spec.record.paper != paper
    ]
    about = [spec.about for spec in specs if spec.about is not None]
    problems += [extra.problem(f"{paper} is described in {about[0].file.shown_as} already") for extra in about[1:]]
    holders = [Located(None, spec.text, ("findings",)) for spec in specs if spec.record.findings]
    problems += [extra.problem(f"{paper} has its findings in {holders[0].file.shown_as}") for extra in holders[1:]]
    return problems


def _own_folder(files: Sequence[Path]) -> Path | None:
    """Return the folder of a paper's files; None where it shares the folder with other specs."""
    (folder, *others) = {path.parent for path in files}
    return None if others or set(spec_files(folder)) != set(files) else folder


def _findings_path(files: Sequence[Path], specs: Sequence[SpecFile], folder: Path | None) -> Path:
    """Return the file that holds a paper's findings, or would hold them: in a folder that it shares, its own file."""
    holders = [path for path, spec in zip(files, specs, strict=True) if spec.record.findings]
    described = [path for path, spec in zip(files, specs, strict=True) if spec.about is not None]
    return next(iter(holders), folder / "findings.yaml" if folder is not None else described[0])
