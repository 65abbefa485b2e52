"""The bundled papers, loaded once a process: many tests are made from their rows and claims."""

from __future__ import annotations

from functools import cache

from imlp_audit.processes.code import bundled_folder
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.targets import paper_folders


def bundled_papers() -> dict[str, str]:
    """Return the folders of the bundled papers by id, whatever the current folder holds."""
    return {folder.name: str(folder) for folder in paper_folders(bundled_folder())}


@cache
def bundled_selection() -> Selection:
    """Return all bundled papers, those on request included."""
    return load(list(bundled_papers().values()))


def bundled_paper(name: str) -> Paper:
    """Return a bundled paper by its id."""
    (paper,) = (paper for paper in bundled_selection().papers if paper.id == name)
    return paper
