"""Reading the files of a paper and joining them, without what is known to be wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from imlp_audit.claims.catalogue import read_claims
from imlp_audit.errors import Problem
from imlp_audit.files import MAX_SPEC_BYTES
from imlp_audit.models.own import SpecFolder
from imlp_audit.processes.trust import trusted_folder
from imlp_audit.records.base import Record
from imlp_audit.spec.findings import read_findings_file
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.parse_yaml import read_tree
from imlp_audit.spec.schema import About, PaperFile, PrintedTable, TableFile
from imlp_audit.spec.targets import declares, display_path, spec_files
from imlp_audit.spec.tree import Located, MapNode, SpecText, prune, respell
from imlp_audit.spec.validate import validate

Entry = TypeVar("Entry", bound=Record)

_MOST_BYTES = 2 * MAX_SPEC_BYTES  # of a paper's specs; no paper of ours has 0.1 MiB


@dataclass(frozen=True)
class SpecFile:
    """A file that was read and validated: a whole table, or anything else of a paper.

    `lost` are the words of what was wrong with it and taken out.
    """

    text: SpecText
    record: TableFile | PaperFile
    lost: frozenset[str] = frozenset()

    @property
    def rest(self) -> PaperFile | None:
        """The record, unless it is a table."""
        return self.record if isinstance(self.record, PaperFile) else None

    def tables(self) -> list[Located[PrintedTable]]:
        """Return the file's tables."""
        if isinstance(self.record, TableFile):
            return [Located(self.record, self.text)]
        return list(self.locate("tables", self.record.tables))

    def locate(self, key: str, entries: Sequence[Entry]) -> tuple[Located[Entry], ...]:
        """Return the entries under a key, each with its place."""
        return tuple(Located(entry, self.text, (key, index)) for index, entry in enumerate(entries))


def read_spec(
    path: Path, shown_as: str, *, code: Path | None = None, wrong: Collection[Problem] = ()
) -> tuple[SpecFile | None, list[Problem]]:
    """Read one file; a mapping with the key `table` is a table, any other a part of a paper.

    With problems come what is left of the file without them, if anything is; a required key that is misspelt is read as
    it is meant. What is known to be `wrong` is taken out too. The Python in the folder `code` may build its models.
    """
    folder = SpecFolder(code or path.parent.resolve(), trusted=code is not None)
    tree, problems = read_tree(path, shown_as)
    if tree is None:
        return None, problems
    record, found = _validate(SpecText(shown_as, tree), folder)
    while meant := {one.at: one.meant for one in found if one.meant is not None}:
        problems += [one for one in found if one.meant is not None]
        tree = respell(tree, meant)
        record, found = _validate(SpecText(shown_as, tree), folder)
    problems = [*problems, *found]
    lost: frozenset[str] = frozenset()
    taken = [*found, *(one for one in wrong if one.file == shown_as)]
    while taken:
        rest, words = prune(tree, [one.at for one in taken])
        if rest is None:
            return None, problems
        tree, lost = rest, lost | words
        record, taken = _validate(SpecText(shown_as, tree), folder)
    return (SpecFile(SpecText(shown_as, tree), record, lost) if record is not None else None), problems


def _validate(text: SpecText, folder: SpecFolder) -> tuple[TableFile | PaperFile | None, list[Problem]]:
    is_table = isinstance(text.tree, MapNode) and any(key.text == "table" for key, _ in text.tree.entries)
    return validate(text, TableFile, folder) if is_table else validate(text, PaperFile, folder)


@dataclass
class PaperReader:
    """Reads papers and collects their problems; what is known to be `wrong` is left out.

    `lost` are words of what was left out. A file that cannot be read at all hides its whole paper.
    """

    trust_code: bool
    wrong: Sequence[Problem] = ()
    problems: list[Problem] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    def read(self, files: Sequence[Path], target: str, *, whole: bool = True) -> Paper | None:
        """Return a paper and, with `whole`, what else its folder holds; None where too much of it is wrong.

        `target` names the paper on a command line.
        """
        sizes = [path.stat().st_size for path in files if path.is_file()]
        if sum(size for size in sizes if size <= MAX_SPEC_BYTES) > _MOST_BYTES:
            message = f"the files of this paper have more than {_MOST_BYTES // 2**20} MiB together: split the paper"
            self.problems.append(Problem(display_path(files[0]), 1, 1, message))
            return None
        specs: list[SpecFile] = []
        codes = {folder: self._find_code(folder) for folder in {path.parent for path in files}}
        for path in files:
            spec, found = read_spec(path, display_path(path), code=codes[path.parent], wrong=self.wrong)
            self.problems += found
            self.lost |= spec.lost if spec is not None else {str(declares(path).paper)}
            specs += [spec] if spec is not None else []
        if len(specs) < len(files):
            return None
        ids = [spec.record.paper for spec in specs]
        name = max(sorted(set(ids)), key=ids.count)
        problems, about = _check_files(name, specs), _described(specs)
        if about is None:
            first = Located(None, specs[0].text)
            problems.append(first.problem(f"no file of {name} has the key 'about', which describes the paper"))
            self.problems += [] if self.problems or self.wrong else problems
            return None
        self.problems += problems
        folder = _own_folder(files)
        code = codes[folder] if folder is not None and whole else None
        findings = _findings_path(files, specs, folder)
        rest = [(spec, spec.rest) for spec in specs if spec.rest is not None]
        return Paper(
            id=name,
            about=about,
            tables=tuple(chain.from_iterable(spec.tables() for spec in specs)),
            claims=tuple(chain.from_iterable(spec.locate("claims", r.claims) for spec, r in rest)),
            findings=tuple(chain.from_iterable(spec.locate("findings", r.findings) for spec, r in rest)),
            findings_file=read_findings_file(findings, display_path(findings), name, target),
            coverage=tuple(Located(r.coverage, s.text, ("coverage",)) for s, r in rest if r.coverage is not None),
            systems=tuple(chain.from_iterable(spec.locate("systems", r.systems) for spec, r in rest)),
            preprocessing=tuple(chain.from_iterable(spec.locate("preprocessing", r.preprocessing) for spec, r in rest)),
            shared=tuple(chain.from_iterable(spec.locate("equations", r.equations) for spec, r in rest)),
            equations=read_claims(name, code or folder, display_path(folder)) if folder is not None and whole else (),
            folder=folder if whole else None,
            code=code,
            files=tuple((path, display_path(path)) for path in files),
        )

    def _find_code(self, folder: Path) -> Path | None:
        """Return the folder whose Python may be run for the papers of a folder."""
        return trusted_folder(folder) or (folder.resolve() if self.trust_code else None)


def _described(specs: Sequence[SpecFile]) -> Located[About] | None:
    """Return what describes the paper."""
    found = (Located(r.about, spec.text, ("about",)) for spec in specs if (r := spec.rest) and r.about is not None)
    return next(found, None)


def _check_files(paper: str, specs: Sequence[SpecFile]) -> list[Problem]:
    """Return the problems of files of another paper, and of what two files of a paper cannot both have."""
    problems = [
        Located(None, spec.text).problem(
            f"this file is of paper {spec.record.paper!r}, but lies among the files of {paper!r}", "paper"
        )
        for spec in specs
        if spec.record.paper != paper
    ]
    rest = [(spec, spec.rest) for spec in specs if spec.rest is not None]
    about = [Located(None, spec.text, ("about",)) for spec, record in rest if record.about is not None]
    problems += [extra.problem(f"{paper} is described in {about[0].file.shown_as} already") for extra in about[1:]]
    holders = [Located(None, spec.text, ("findings",)) for spec, record in rest if record.findings]
    problems += [extra.problem(f"{paper} has its findings in {holders[0].file.shown_as}") for extra in holders[1:]]
    return problems


def _own_folder(files: Sequence[Path]) -> Path | None:
    """Return the folder of a paper's files; None where it shares the folder with other specs."""
    (folder, *others) = {path.parent for path in files}
    return None if others or set(spec_files(folder)) != set(files) else folder


def _findings_path(files: Sequence[Path], specs: Sequence[SpecFile], folder: Path | None) -> Path:
    """Return the file that holds a paper's findings, or would hold them: in a folder that it shares, its own file."""
    records = [(path, spec.rest) for path, spec in zip(files, specs, strict=True) if spec.rest is not None]
    holders = [path for path, record in records if record.findings]
    described = [path for path, record in records if record.about is not None]
    return next(iter(holders), folder / "findings.yaml" if folder is not None else described[0])
