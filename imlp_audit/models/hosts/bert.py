"""BERT by its sizes (arXiv 1810.04805)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

from pydantic import model_validator

from imlp_audit.models.hosts.host import (
    BuildRequest,
    ClassCount,
    Count,
    NamedParts,
    Stack,
    TokenInput,
    Traits,
    divides,
    text_reading,
)
from imlp_audit.models.reading import Family

if TYPE_CHECKING:
    from torch import nn


@final
class Bert(Stack):
    """BERT's encoder; vocabulary, sequence length, pooler and output layer are for the paper's reading to say.

    `positions` is the number of rows of the table of positions: 512 in the released models, whatever the length of
    the texts.
    """

    width: Count = 768
    heads: Count = 12
    hidden: Count = 3072
    positions: Count = 512

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        divides(self.heads, self.width, "heads and width")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="bert",
            reads=TokenInput(),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset({"head"}),
            body=frozenset({"bert", "output"}),
            parts=(
                (r"\bposition_embeddings\b", "positions"),
                (r"\bword_embeddings\b", "token embedding"),
                (r"\btoken_type_embeddings\b", "segment embedding"),
                (r"\bembeddings\b", "norm of the embedding"),
                (r"\battention\b", "attention"),
                (r"\bintermediate\b", "MLP: FC1"),
                (r"\blayer\.output\.dense\b", "MLP: FC2"),
                (r"\bpooler\b", "pooler"),
                (r"^output\b", "output layer"),
                (r"\bLayerNorm\b", "norms of the blocks"),
            ),
        )

    def family(self) -> Family:
        """Return the axes of models of language."""
        return Family.TEXT

    def patch_side(self) -> None:
        """Return None: it reads no images."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"word_embeddings"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build a language model, or a classifier of texts where the recipe gives classes."""
        from imlp_audit.models.nets.bert import build_bert

        return build_bert(self, text_reading(request, "bert"), request.classes)
