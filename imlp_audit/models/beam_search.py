"""Beam search over token ids (arXiv 2105.03404, translation: "a beam of size 4")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from imlp_audit.models.resmlp_translation import END, PADDING

Memory = TypeVar("Memory")


class Translator(Protocol[Memory]):
    """A model of translation; `tokens` is the length of the longest sequence that it decodes."""

    tokens: int

    def encode(self, source_ids: Tensor, /) -> Memory:
        """Return what `decode` reads of (1, length) token ids."""

    def decode(self, target_ids: Tensor, memory: Memory, /) -> Tensor:
        """Return the logits (hypotheses, length, vocabulary) of the tokens after each of (hypotheses, length) ids."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation: its token ids, END the last of them, and its score."""

    tokens: tuple[int, ...]
    score: float


@torch.inference_mode()
def beam_search(
    model: Translator[Memory], source: Tensor, beam: int = 4, *, longest: int | None = None, alpha: float = 0.6
) -> tuple[Hypothesis, ...]:
    """Return up to `beam` translations of one sentence of (length,) token ids, best first.

    The score is the sum of the tokens' log probabilities over ((5 + length) / 6)^alpha (Wu et al., arXiv 1609.08144,
    Eq. 14), with alpha 0.6, and the longest translation has 50 tokens more than the source, END included, where the
    model allows: Vaswani et al. (arXiv 1706.03762, Sec. 6.1); ResMLP's text gives the beam alone. As in fairseq, a
    hypothesis is finished where END makes one of the `beam` best continuations, the `beam` best others go on, and the
    search ends with `beam` finished ones. Of equal scores the earlier hypothesis and the lower id come first.
    """
    if beam < 1:
        raise ValueError(f"beam: a search needs at least one hypothesis, not {beam}")
    memory = model.encode(source[None])
    longest = min(int((source != PADDING).sum()) + 50 if longest is None else longest, model.tokens)
    ids, scores = torch.full((1, 1), END, device=source.device), torch.zeros(1, device=source.device)
    finished: list[Hypothesis] = []
    for length in range(1, longest + 1):
        logits = model.decode(ids, memory)[:, -1]
        scores = scores[:, None] + _allowed(logits.log_softmax(dim=-1), last=length == longest)
        ids, scores = _best(ids, scores, 2 * beam)  # each hypothesis can end once: as many others remain
        ended = ids[:, -1] == END
        penalty = ((5 + length) / 6) ** alpha
        for place in ended[:beam].nonzero()[:, 0]:
            finished.append(Hypothesis(tuple(ids[place, 1:].tolist()), scores[place].item() / penalty))
        if len(finished) >= beam:
            break
        ids, scores = ids[~ended][:beam], scores[~ended][:beam]
    return tuple(sorted(finished[:beam], key=lambda hypothesis: -hypothesis.score))


def _allowed(log_probabilities: Tensor, *, last: bool) -> Tensor:
    """Forbid padding, and everything but END where nothing can follow; (hypotheses, vocabulary)."""
    forbidden = log_probabilities.new_full(log_probabilities.shape[1:], -math.inf if last else 0)
    forbidden[END], forbidden[PADDING] = 0, -math.inf
    return log_probabilities + forbidden


def _best(ids: Tensor, scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the best continuations (candidates, length + 1) of hypotheses (hypotheses, length), and their scores.

    `scores` are (hypotheses, vocabulary), minus infinity where a token is forbidden.
    """
    ranked, order = scores.flatten().sort(descending=True, stable=True)
    ranked, order = ranked[:count], order[:count]
    possible = ranked.isfinite()
    rows, tokens = order[possible] // scores.shape[1], order[possible] % scores.shape[1]
    return torch.cat((ids[rows], tokens[:, None]), dim=1), ranked[possible]
