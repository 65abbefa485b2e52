"""Reading the files of a paper, without what is known to be wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from imlp_audit.equations.catalogue import read_claims
from imlp_audit.equations.trust import trusted_folder
from imlp_audit.errors import Problem
from imlp_audit.spec.findings import read_findings_file
from imlp_audit.spec.folders import declares, display_path, spec_files
from imlp_audit.spec.paper import Paper, SpecFile, join, read_spec
from imlp_audit.spec.schema import PaperFile


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
        folder = _own_folder(files)
        holder = next((path for path, spec in zip(files, specs, strict=True) if _has_findings(spec)), None)
        path = holder or (folder / "findings.yaml" if folder else _describing_file(files, specs))
        paper, found = join(name, specs, read_findings_file(path, display_path(path), name, target))
        self.problems += [] if paper is None and (self.problems or self.wrong) else found
        if paper is None:
            return None
        paper = replace(paper, files=tuple((path, display_path(path)) for path in files))
        if folder is None or not whole:
            return paper
        code = codes[folder]
        equations = read_claims(paper.id, code or folder, display_path(folder))
        return replace(paper, folder=folder, code=code, equations=equations)

    def _find_code(self, folder: Path) -> Path | None:
        """Return the folder whose Python may be run for the papers of a folder."""
        return trusted_folder(folder) or (folder.resolve() if self.trust_code else None)


def _own_folder(files: Sequence[Path]) -> Path | None:
    """Return the folder of a paper's files; None where it shares the folder with other specs."""
    (folder, *others) = {path.parent for path in files}
    return None if others or set(spec_files(folder)) != set(files) else folder


def _has_findings(spec: SpecFile) -> bool:
    return isinstance(spec.record, PaperFile) and bool(spec.record.findings)


def _describing_file(files: Sequence[Path], specs: Sequence[SpecFile]) -> Path:
    """Return the file that describes the paper; the first where none does, which is a problem of its own."""
    described = (
        path
        for path, spec in zip(files, specs, strict=True)
        if isinstance(spec.record, PaperFile) and spec.record.about is not None
    )
    return next(described, files[0])
