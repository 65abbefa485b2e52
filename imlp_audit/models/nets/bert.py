"""BERT (arXiv 1810.04805) with the pooler and the output layer that a reading says."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.nets.bert_encoder import BertModel
from imlp_audit.models.nets.text_heads import output_layer
from imlp_audit.models.reading import TextReading


class BertEncoder(nn.Module):
    """The encoder, with a pooler or without: ids (batch, S) to states (batch, S, C) and (batch, C) for the text."""

    def __init__(self, host: Bert, reading: TextReading) -> None:
        super().__init__()
        self.tokens = reading.sequence_length
        self.bert = BertModel(host, reading.vocabulary, bool(reading.pooler))

    @property
    def blocks(self) -> nn.ModuleList:
        """The encoder's layers, by the name that models of equal blocks have for them."""
        layers: nn.ModuleList = self.bert.encoder.layer
        return layers

    def states(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states of the tokens, and the pooler's vector of each text where there is a pooler."""
        states: tuple[Tensor, Tensor | None] = self.bert(ids)
        return states

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return texts of the reading's length."""
        return (torch.zeros(batch, self.tokens, dtype=torch.long),)


class BertLanguageModel(BertEncoder):
    """Scores the vocabulary at each token: ids (batch, S) to (batch, S, vocabulary), or states without output layer.

    With a pooler, its vector of each text comes second, as pre-training reads both (Sec. 3.1).
    """

    def __init__(self, host: Bert, reading: TextReading) -> None:
        super().__init__(host, reading)
        self.output = output_layer(reading.output_layer, self.bert.embeddings.word_embeddings)

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores."""
        states, pooled = self.states(ids)
        scores: Tensor = self.output(states)
        return scores if pooled is None else (scores, pooled)

    def get_classifier(self) -> nn.Module:
        """Return the output layer."""
        return self.output


class BertClassifier(BertEncoder):
    """Ids (batch, S) to logits (batch, classes), from the pooler, or from the first token where there is none.

    The output layer of pre-training is not part of it (Sec. 4.1).
    """

    def __init__(self, host: Bert, reading: TextReading, classes: int) -> None:
        super().__init__(host, reading)
        self.head = nn.Linear(host.width, classes)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits."""
        states, pooled = self.states(ids)
        logits: Tensor = self.head(states[:, 0] if pooled is None else pooled)
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the linear layer that makes the logits."""
        return self.head


def build_bert(host: Bert, reading: TextReading, classes: int | None) -> BertLanguageModel | BertClassifier:
    """Build a language model with fresh weights, or a classifier of texts where `classes` is given.

    Nothing is downloaded. Raises BuildError for texts that are longer than the table of positions.
    """
    if reading.sequence_length > host.positions:
        raise BuildError(f"sequence_length: {reading.sequence_length} tokens, but only {host.positions} positions")
    return BertLanguageModel(host, reading) if classes is None else BertClassifier(host, reading, classes)
