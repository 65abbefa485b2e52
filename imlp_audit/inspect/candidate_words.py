"""What a checkpoint is and which models it fits, in words and as a record."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.checkpoint.contents import Checkpoint
from imlp_audit.inspect.candidate_readings import Allowed
from imlp_audit.inspect.candidates import Candidate, Candidates
from imlp_audit.records.checkpoint import CheckpointFile, CheckpointReport, FittingModel, Misfit, ModelsCompared
from imlp_audit.records.inspection import Inspection


def about(contents: Checkpoint, sha256: str) -> Iterator[str]:
    """Yield what the file is, line by line."""
    count = len(contents.state.tensors)
    counts = contents.dtypes
    types = ", ".join(dtype if len(counts) == 1 else f"{n:,} of {dtype}" for dtype, n in counts.items())
    yield f"a {contents.container} file of {contents.size:,} bytes, SHA-256 {sha256}"
    tensors = f"{count:,} {'tensor' if count == 1 else 'tensors'}"
    yield f"{tensors} ({types}) with {contents.parameters:,} parameters"
    yield from contents.state.notes


def fitting(found: Candidates) -> Iterator[str]:
    """Yield which models it fits, or which are nearest and what does not fit, line by line."""
    if found.exact:
        yield "Fits exactly"
    elif found.nearest:
        yield f"Fits none of the papers' {found.known} models. Nearest, of {found.compared} with names like its own:"
    else:
        yield f"Fits none of the papers' {found.known} models: they have no tensors of its names and widths."
    for candidate in (*found.exact, *found.nearest):
        yield f"  {candidate.label}  {{{candidate.recipe}}}"
        yield f"    {', '.join(candidate.places)}"
        yield from (f"    {line}" for line in (*_readings(candidate), *candidate.fit.notes))
        yield from (f"    {problem}" for problem in candidate.fit.problems)


def _readings(candidate: Candidate) -> Iterator[str]:
    if candidate.readings:
        several = "readings" if len(candidate.readings) > 1 else "reading"
        yield f"under the {several} {', '.join(candidate.readings)}"
    if candidate.allowed is not None:
        yield from _allowed(candidate.allowed, declared=bool(candidate.readings))


def _allowed(allowed: Allowed, *, declared: bool) -> Iterator[str]:
    if not declared:
        decided = [f"{axis} {vs[0]}" for axis, vs in allowed.values.items() if len(vs) == 1]
        yield f"under no reading that the papers declare, but with {', '.join(decided)}"
    if allowed.open:
        either = " and ".join(f"{axis} ({' or '.join(map(str, vs))})" for axis, vs in allowed.open.items())
        yield f"shapes leave open {either}: {allowed.count} readings fit"


def checkpoint_report(
    contents: Checkpoint, sha256: str, found: Candidates, weights: Inspection, pictures: dict[str, str]
) -> CheckpointReport:
    """Return all of it as a record."""
    return CheckpointReport(
        file=CheckpointFile(
            container=str(contents.container),
            bytes=contents.size,
            sha256=sha256,
            state=contents.state.name,
            notes=contents.state.notes,
            tensors=len(contents.state.tensors),
            parameters=contents.parameters,
            dtypes=dict(contents.dtypes),
        ),
        models=ModelsCompared(known=found.known, compared=found.compared),
        exact=tuple(map(_record, found.exact)),
        nearest=tuple(map(_record, found.nearest)),
        weights=weights,
        pictures=pictures,
    )


def _record(candidate: Candidate) -> FittingModel:
    allowed = candidate.allowed
    return FittingModel(
        label=candidate.label,
        model=str(candidate.recipe),
        places=candidate.places,
        readings=candidate.readings,
        notes=tuple(candidate.fit.notes),
        problems=tuple(
            Misfit(kind=str(p.kind), reason=p.reason, details=p.details, tensors=p.names)
            for p in candidate.fit.problems
        ),
        axes=None if allowed is None else {axis: tuple(map(str, values)) for axis, values in allowed.values.items()},
    )
