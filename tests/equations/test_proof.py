"""Proofs: what holds for every number is proved by running the modules on symbols, and what does not is refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.claim import Claim, Judge, Proof, Trial, equal
from imlp_audit.equations.functions import prelu
from imlp_audit.equations.proof import RefutedError, draw_all, prove, write_sizes
from imlp_audit.equations.settings import Limits, Settings
from imlp_audit.equations.strategies import Vector, numbers, positive, vectors
from imlp_audit.equations.testing import run_claim
from tests.equations.papers import all_claims, proved_claims, runnable

Case = TypeVar("Case")


def square_of_a_sum(middle: float) -> Claim[Vector]:
    """Claims that (a + b)^2 = a^2 + middle a b + b^2."""

    def judge(case: Vector, arithmetic: Arithmetic) -> Trial:
        a, b = arithmetic.vector(case)
        return equal([(a + b) * (a + b)], [a * a + middle * a * b + b * b], a=case[0], b=case[1])

    return provable(vectors(2), judge)


def provable(cases: st.Strategy[Case], judge: Judge[Case]) -> Claim[Case]:
    """Return a claim that is to be proved for whatever its examples are."""
    return Claim(cases, judge, proof=Proof("all numbers", lambda _: {"n": 1}))


@pytest.mark.parametrize("claim", proved_claims(), ids=lambda claim: claim.id)
def test_nothing_but_the_sizes_tells_examples_of_a_proof_apart(claim: ClaimText) -> None:
    """What is said to be proved for all numbers is not tried on some that a strategy lists."""
    proof = runnable(claim).proof
    assert proof is not None
    sizes = [tuple(proof.sizes(case).items()) for case in draw_all(proof.cases or runnable(claim).cases)]
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize(
    ("sizes", "written"),
    [
        ([{"C": 1}, {"C": 2}], "C up to 2"),
        ([{"d": 1}], "d = 1"),
        ([{"N": 3}, {"N": 1}], "N of 1 and 3"),
        ([{"channel": 1}], "1 channel"),
        ([{"N": n, "channel": c} for n in (1, 2) for c in (1, 2)], "N up to 2 and up to 2 channels"),
        ([{"n": 1, "H": 3, "W": 1}, {"n": 2, "H": 5, "W": 1}], "n = 1, H = 3 and W = 1; n = 2, H = 5 and W = 1"),
        ([{"S": 1, "D_S": 2}, {"S": 1, "D_C": 2}], "S = 1 and D_S = 2; S = 1 and D_C = 2"),
        ([{"layout": "tokens"}], "layout = tokens"),
    ],
)
def test_sizes_are_written_as_they_were_judged(sizes: list[dict[str, int | str]], written: str) -> None:
    assert write_sizes(sizes) == written


@pytest.mark.parametrize("claim", proved_claims(), ids=lambda claim: claim.id)
def test_a_claim_that_says_it_is_proved_is(claim: ClaimText) -> None:
    assert prove(runnable(claim))


def test_the_outcome_says_for_what_a_claim_is_proved() -> None:
    (claim,) = (claim for claim in proved_claims() if claim.name == "eq10_index_set_corrected")
    sides = "up to 2 channels, H of {0} and W of {0}"
    expected = f"n = 1, {sides.format('3 and 4')}; n = 2, {sides.format('5 and 6')}"
    assert run_claim(claim.code, Settings(Limits(5))).proved == f"all numbers and any phi, for {expected}"


def test_an_identity_is_proved_and_a_wrong_one_refuted() -> None:
    assert prove(square_of_a_sum(2.0)) == "all numbers, for n = 1"
    with pytest.raises(RefutedError, match=r"a = s1; b = s2; left\[1\] = .*; right\[1\] = "):
        prove(square_of_a_sum(2.0000001))


def test_nothing_is_known_about_an_activation() -> None:
    """GELU(x) - GELU(-x) = x holds for GELU, and not for every function."""

    def judge(x: float, arithmetic: Arithmetic) -> Trial:
        there, back = (nn.GELU()(arithmetic.tensor([sign * x])) for sign in (1, -1))
        return equal([there[0] + back[0] * -1], [arithmetic.number(x)], x=x)

    with pytest.raises(RefutedError):
        prove(provable(positive(), judge))


def test_functions_of_one_name_with_other_slopes_are_not_taken_for_one() -> None:
    def judge(x: float, arithmetic: Arithmetic) -> Trial:
        number = arithmetic.number(x)
        return equal([prelu(number, 0.25)], [prelu(number, 0.5)], x=x)

    with pytest.raises(
        RefutedError, match=r"left\[1\] = prelu_value\[1/4\]\(s1\); right\[1\] = prelu_value\[1/2\]\(s1\)"
    ):
        prove(provable(numbers(), judge))


def test_functions_that_cannot_be_told_apart_are_refused() -> None:
    def judge(x: float, arithmetic: Arithmetic) -> Trial:
        number = arithmetic.number(x)
        return equal(
            [number.through(lambda value: value + 1, 1.0, 0.0)], [number.through(lambda value: value * 2, 1.0, 0.0)]
        )

    with pytest.raises(NotImplementedError, match="lambda> has no name of its own"):
        prove(provable(numbers(), judge))


def test_an_unknown_operation_and_examples_without_symbols_prove_nothing() -> None:
    def sine(x: float, arithmetic: Arithmetic) -> Trial:
        return equal(torch.sin(arithmetic.tensor([x])), arithmetic.vector([0.0]))

    def itself(x: float, arithmetic: Arithmetic) -> Trial:
        return equal([arithmetic.number(x)], arithmetic.vector([x]))

    with pytest.raises(NotImplementedError, match="sin is not known for symbols"):
        prove(provable(numbers(), sine))
    with pytest.raises(ValueError, match="no symbols"):
        prove(provable(st.sampled_from((1.0, 2.0)), itself))


@pytest.mark.parametrize(
    "name",
    [
        "eq6_inner", "eq6_output", "eq6_scale_and_bias", "eq6_t1_prime", "eq6_t2", "eq10_index_set", "eq17_g",
        "aff_absorbed_by_a_after_it", "aff_absorbed_by_a_before_it", "mixer_token_mixing_columns",
        "positional_invariance",
    ],
)  # fmt: skip
def test_what_is_false_as_printed_is_refuted_on_symbols(name: str) -> None:
    claim = next(runnable(claim) for claim in all_claims() if claim.name == name)
    with pytest.raises(RefutedError):
        prove(replace(claim, proof=Proof("all numbers", lambda _: {"n": 1})))
