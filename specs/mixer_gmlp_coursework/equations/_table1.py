"""Table 1: the specification of MLP-Mixer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A column of the table: layers, P, C, S, D_C and D_S."""

    layers: int
    patch: int
    c: int
    s: int
    d_c: int
    d_s: int


TABLE_1 = {
    "S/16": Row(8, 16, 512, 196, 2048, 256),
    "B/32": Row(12, 32, 768, 49, 3072, 384),
    "B/16": Row(12, 16, 768, 196, 3072, 384),
    "L/32": Row(24, 32, 1024, 49, 4096, 512),
    "L/16": Row(24, 16, 1024, 196, 4096, 512),
    "H/14": Row(32, 14, 1280, 256, 5120, 640),
}
