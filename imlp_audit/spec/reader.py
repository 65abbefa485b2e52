"""Reading the files of a paper and joining them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imlp_audit.claims.catalogue import read_claims
from imlp_audit.errors import Problem
from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.models.own import SpecFolder
from imlp_audit.processes.code import trusted_folder
from imlp_audit.spec.findings import read_findings_file
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.parse_yaml import read_tree
from imlp_audit.spec.schema import About, PaperFile, TableFile
from imlp_audit.spec.targets import display_path, spec_files
from imlp_audit.spec.tree import Located, MapNode, SpecText
from imlp_audit.spec.validate import validate

_MOST_BYTES = 2 * MAX_SPEC_BYTES  # of a paper's specs; no paper of ours has 0.1 MiB


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
        codes = {folder: self._find_code(folder) for folder in {path.parent for path in files}}
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

    def _find_code(self, folder: Path) -> Path | None:
        return trusted_folder(folder) or (folder.resolve() if self.trust_code else None)


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
