"""Problems of a folder, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind


def by_kind(findings: Sequence[FolderProblem]) -> dict[ProblemKind, FolderProblem]:
    """Return the only problem of each kind."""
    assert all(one.what and one.then for one in findings)
    assert len({one.kind for one in findings}) == len(findings)
    return {one.kind: one for one in findings}
