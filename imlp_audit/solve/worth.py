"""What an answer is worth, by searches on other numbers: shifted digits, cells left out, families apart."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.records.solution import SolvedHeld
from imlp_audit.solve.controls import by_family, null_scores
from imlp_audit.solve.heldout import held_out
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import Rules


@dataclass(frozen=True)
class Worth:
    """What tables with shifted digits score, what is explained unseen, and which families would have to differ."""

    null: tuple[tuple[int, int], ...]
    held: tuple[SolvedHeld, ...]
    families: tuple[tuple[str, ...], ...]


def find_worth(problem: SearchProblem, score: int, rules: Rules, budget: int) -> Worth:
    """Return what an answer with this score is worth. It needs no model, so it can be found in another process."""
    return Worth(
        null=tuple((one.found, one.at_most) for one in null_scores(problem, rules)),
        held=tuple(held_out(problem, rules, budget=budget)),
        families=tuple(one.families for one in by_family(problem, score, rules, budget=budget)),
    )


def get_ready() -> None:
    """Do nothing: what a process asks for first, while there is no problem yet, is to import this module."""
