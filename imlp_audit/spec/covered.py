"""The rows that a sentence speaks of: each is checked by a claim with that text, or left out with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from imlp_audit.errors import Problem
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.references import find_rows
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


def rows_not_covered(paper: Paper, known: Sequence[Paper]) -> Iterator[Problem]:
    """Yield a problem for each row that a sentence covers and no claim is about, and for each glob of no row."""
    for claim in (claim for claim in paper.claims if claim.value.covers or claim.value.left_out):
        yield from _globs_of_nothing(claim, known)
        stated = _rows_stated(claim.value.text, paper, known)
        for index, glob in enumerate(claim.value.covers):
            for row in find_rows(known, glob):
                if row.id not in stated:
                    message = (
                        f"the sentence covers {row.id}, but no claim with its text is about that row: make one, or add"
                        " the row under left_out with the reason"
                    )
                    yield claim.problem(message, "covers", index)


def _globs_of_nothing(claim: Located[ClaimEntry], known: Sequence[Paper]) -> Iterator[Problem]:
    for index, glob in enumerate(claim.value.covers):
        if not find_rows(known, glob):
            yield claim.problem(f"no row {glob!r}", "covers", index)
    own = _ids(claim.value.rows, known)
    for index, left in enumerate(claim.value.left_out):
        for position, glob in enumerate(left.rows):
            rows = {row.id for row in find_rows(known, glob)}
            if not rows:
                yield claim.problem(f"no row {glob!r}", "left_out", index, "rows", position)
            elif rows & own:
                message = f"the claim is about {sorted(rows & own)[0]}, which it says it leaves out"
                yield claim.problem(message, "left_out", index, "rows", position)


def _rows_stated(text: str, paper: Paper, known: Sequence[Paper]) -> set[str]:
    """Return the ids of the rows that claims with this text are about, or say they leave out."""
    claims = [claim.value for claim in paper.claims if claim.value.text == text]
    left = [glob for claim in claims for one in claim.left_out for glob in one.rows]
    return _ids([glob for claim in claims for glob in claim.ids_named] + left, known)


def _ids(globs: Sequence[str], known: Sequence[Paper]) -> set[str]:
    return {row.id for glob in globs for row in find_rows(known, glob)}
