"""BERT by its sizes (arXiv 1810.04805)."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from imlp_audit.models.hosts.host import Count, Host, Layers, divides


class Bert(Host):
    """BERT's encoder; vocabulary, sequence length, pooler and output layer are for the paper's reading to say.

    `positions` is the number of rows of the table of positions: 512 in the released models, whatever the length of
    the texts.
    """

    layers: Layers
    width: Count = 768
    heads: Count = 12
    hidden: Count = 3072
    positions: Count = 512

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        divides(self.heads, self.width, "heads and width")
        return self
