"""All that a selection of papers holds, as a short text: equal texts, equal papers."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.cache.store import digest_of, fingerprint_folder
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.trust import is_bundled
from imlp_audit.files import MAX_SPEC_BYTES, FileError, read_bytes
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import rows_of


def digest_selection(selection: Selection, *asked: object) -> str | None:
    """Return a digest of the files of all papers that a result may depend on, and of what is asked of them.

    None where code from outside has a say, or a file cannot be read: what that depends on is not known.
    """
    papers = (*selection.papers, *selection.repeating)
    if any(map(_has_code_from_outside, papers)):
        return None
    parts = {paper.id: selection.part(paper.id) for paper in selection.papers}
    chosen = [f"{name} {sorted(part.files)} {sorted(part.ids)}" for name, part in parts.items()]
    try:
        return digest_of([*map(repr, asked), *chosen, *(part for paper in papers for part in _contents(paper))])
    except FileError:
        return None


def _has_code_from_outside(paper: Paper) -> bool:
    recipes = [row.row.model for row in rows_of(paper)] + [system.value.model for system in paper.systems]
    claims = [claim for claim in paper.equations if isinstance(claim, ClaimText)]
    outside = any(recipe is not None and recipe.code is not None for recipe in recipes)
    return outside or not all(is_bundled(claim.code.folder) for claim in claims)


def _contents(paper: Paper) -> Iterator[str | bytes]:
    lock = paper.findings_file.lock_path
    for path, shown_as in paper.files:
        yield shown_as
        yield read_bytes(path, MAX_SPEC_BYTES)
    yield read_bytes(lock, MAX_SPEC_BYTES) if lock.is_file() else b""
    if paper.folder is not None:
        yield fingerprint_folder(paper.code or paper.folder)
