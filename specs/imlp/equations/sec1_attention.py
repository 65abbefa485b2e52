"""Sec. 1: what efficient self-attention operations cost."""

from __future__ import annotations

from functools import cmp_to_key
from math import ceil, log2

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim

from ._blocks import multiply_accumulates
from ._efficient import ChunkedAttention, ProjectedAttention


@claim(st.tuples(st.integers(1, 16), st.integers(1, 8), st.integers(1, 8)))
def complexity_attention_linear(case: tuple[int, int, int], _: Arithmetic) -> Trial:
    """Self-attention whose keys and values are projected to k tokens does 4 n C^2 + 4 n k C multiply-accumulates on n
    tokens of width C: linear in n for every k that does not grow with n.

    Read as: the attention of Linformer (Wang et al., 2020), with one head.

    Place: Sec. 1
    Printed: Efficient self-attention operations reduce computational complexity of previous self-attention operation
        from O(n^2) to O(n)
    Bound: none: multiply-accumulates are counted
    """
    # Hold what the ledger tells against the polynomial.
    n, c, k = case
    with torch.device("meta"):
        attention = ProjectedAttention(n, c, k)
    counted, linear = multiply_accumulates(attention, 1, n, c), 4 * n * c * c + 4 * n * k * c
    return Trial(counted == linear, {"n": n, "C": c, "k": k, "counted": counted, "4 n C^2 + 4 n k C": linear})


_CHUNKS = st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))


@claim(_CHUNKS.flatmap(lambda sizes: st.tuples(st.just(sizes), st.permutations(range(sizes[0] * sizes[1])))))
def complexity_attention_sorted(case: tuple[tuple[int, int, int], list[int]], _: Arithmetic) -> Trial:
    """Self-attention within chunks of m tokens, sorted by their hash, does 3 n C^2 + 4 n m C multiply-accumulates on n
    tokens of width C, and the sort takes at most n log2(n) comparisons, rounded up: O(n log n) for every m that does
    not grow with n.

    Read as: the attention of Reformer (Kitaev et al., 2020), with one head and one round of hashes; what the hashes
    themselves cost is left out.

    Place: Sec. 1
    Printed: Efficient self-attention operations reduce computational complexity of previous self-attention operation
        from O(n^2) to O(n log(n))
    Bound: none: multiply-accumulates and comparisons are counted
    """
    # Hold what the ledger tells against the polynomial, and the comparisons of a sort against n log2(n).
    (chunks, m, c), hashes = case
    n = chunks * m
    with torch.device("meta"):
        attention = ChunkedAttention(c, m)
    counted, linear = multiply_accumulates(attention, 1, n, c), 3 * n * c * c + 4 * n * m * c
    comparisons, most = _comparisons(hashes), n * ceil(log2(n))
    shown = {"n": n, "C": c, "m": m, "counted": counted, "3 n C^2 + 4 n m C": linear, "comparisons": comparisons}
    return Trial(counted == linear and comparisons <= most, shown)


def _comparisons(hashes: list[int]) -> int:
    """Return how often two hashes are compared to sort them all."""
    compared: list[int] = []

    def compare(one: int, other: int) -> int:
        compared.append(one)
        return one - other

    sorted(hashes, key=cmp_to_key(compare))
    return len(compared)
