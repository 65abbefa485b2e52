"""What the counted numbers of a paper support when they are judged together."""

from __future__ import annotations

from typing import Literal

from imlp_audit.records.base import Record


class GroupScore(Record):
    """Cells that share an option: the one chosen for them, and how many of the `votes` each declared option explains.

    `name` is a family of models for a reading, and table/column for a convention. `chance` is the best score on copies
    of the numbers with shifted digits. The choice is `clear`, `weak`, or the `only` one that could be made.
    """

    name: str
    winner: str | None
    votes: int
    scores: dict[str, int]
    chance: int
    choice: Literal["only", "clear", "weak"]


class PaperHypothesis(Record):
    """The best hypothesis: a rounding rule, a reading for each family of models, a convention for each column."""

    rounding: str
    explained: int
    votes: int
    readings: tuple[GroupScore, ...]
    conventions: tuple[GroupScore, ...]
