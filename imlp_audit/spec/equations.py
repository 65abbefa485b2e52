"""Statements about functions in a paper's specs: those that its folder holds, and those that it shares with another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from imlp_audit.equations.catalogue import AnyClaim, BrokenClaim, ClaimText
from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import EQUATION_ID, Sentence, Slug, exactly_one
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


class EquationEntry(Record):
    """A statement about functions that another paper makes too: in this paper's words, tested as that one's claim.

    `bound` is the other claim's where none is given.
    """

    id: Slug
    same_as: Annotated[str, Field(pattern=EQUATION_ID)]
    text: Sentence
    place: Sentence
    printed: Sentence | None = None
    corrected: Sentence | None = None
    nearest: Slug | None = None
    bound: Sentence | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        exactly_one(self, ("printed", "corrected"))
        return self


def claims_of(paper: Paper, known: Sequence[Paper]) -> dict[str, AnyClaim]:
    """Return a paper's claims about functions by name; `known` are the papers that it may share them with."""
    own = {claim.name: claim for claim in paper.equations}
    shared = {entry.value.id: _shared_claim(paper, entry, known) for entry in paper.shared}
    return dict(sorted({**own, **shared}.items()))


def broken_claims(paper: Paper) -> Iterator[Problem]:
    """Yield the mistakes in a paper's equations that can be seen without running them."""
    for claim in paper.equations:
        if isinstance(claim, BrokenClaim):
            yield Problem(claim.file, claim.line, claim.column, claim.problem)


def broken_entries(paper: Paper, known: Sequence[Paper]) -> Iterator[Problem]:
    """Yield what is wrong with the statements that a paper shares with another."""
    own = {claim.name for claim in paper.equations}
    for entry in paper.shared:
        words = entry.value
        if words.id in own:
            yield entry.problem(f"a function of the paper's equations is called {words.id!r} already", "id")
        if _find(words.same_as, known) is None:
            hint = did_you_mean(words.same_as, [claim.id for other in known for claim in other.equations])
            yield entry.problem(f"no equation is called {words.same_as!r}; {hint}", "same_as")
        others = sorted({*own, *(other.value.id for other in paper.shared)} - {words.id})
        if words.nearest is not None and words.nearest not in others:
            hint = did_you_mean(words.nearest, others)
            yield entry.problem(f"the paper has no equation called {words.nearest!r}; {hint}", "nearest")


def _shared_claim(paper: Paper, entry: Located[EquationEntry], known: Sequence[Paper]) -> AnyClaim:
    """Return another paper's claim in this paper's words."""
    words, place = entry.value, entry.source()
    other = _find(words.same_as, known)
    if not isinstance(other, ClaimText):
        problem = f"{words.same_as} cannot be read"
        return BrokenClaim(paper.id, words.id, place.file, place.line, problem)
    return replace(
        other,
        paper=paper.id,
        name=words.id,
        statement=words.text,
        place=words.place,
        form=words.printed or words.corrected or "",
        literal=words.printed is not None,
        nearest=words.nearest,
        bound=words.bound or other.bound,
        file=place.file,
        line=place.line,
    )


def _find(equation_id: str, papers: Sequence[Paper]) -> AnyClaim | None:
    return next((claim for paper in papers for claim in paper.equations if claim.id == equation_id), None)
