"""The coursework's rows "+ BERT": what its text allows them to be, counted; its Table 8 has the sums."""

from __future__ import annotations

import pytest

WORDS, POSITIONS, HIDDEN, TOKENS = 30_000, 512, 3072, 128


def bert(layers: int = 12, width: int = 768) -> int:
    """BERT's tables of words, positions and segments with a norm, and its layers, without a head or a pooler."""
    layer = 4 * width**2 + 2 * width * HIDDEN + 9 * width + HIDDEN
    return (WORDS + POSITIONS + 2) * width + 2 * width + layers * layer


def gmlp(width: int, gate: str, layers: int = 18) -> int:
    """The classifier of two classes without its table of words: blocks, a last norm, a linear layer."""
    gated = HIDDEN // 2 if "split" in gate else HIDDEN
    matrix = 2 * TOKENS - 1 if "toeplitz" in gate else TOKENS**2
    block = 2 * width + width * HIDDEN + HIDDEN + 2 * gated + matrix + TOKENS + gated * width + width
    return layers * block + 2 * width + 2 * width + 2


@pytest.mark.parametrize(
    ("gate", "table", "projected", "whole"),
    [
        ("product", "108.5", "80.5", "193.9"),
        ("split", "87.2", "66.3", "172.6"),
        ("split toeplitz", "86.9", "66.0", "172.4"),
    ],
)
def test_what_the_text_allows(gate: str, table: str, projected: str, whole: str) -> None:
    rows = [
        WORDS * 768 + gmlp(768, gate),
        WORDS * 768 + 768 * 512 + 512 + gmlp(512, gate),
        bert() + gmlp(768, gate),
    ]
    assert [f"{one / 1e6:.1f}" for one in rows] == [table, projected, whole]
