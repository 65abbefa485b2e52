"""The networks on the way from CaiT to ResMLP (Appendix A), and what only CaiT computes."""

from dataclasses import dataclass
from math import sqrt

from torch import Tensor, einsum, nn

from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.readings import ResMlpForm

from ..models import CaitChain, CaitStage
from ._network import Formula, Parts, affine


@dataclass(frozen=True)
class Chain(Parts):
    """A stage of the chain."""

    stage: CaitStage = CaitStage.ATTENTION
    heads: int = 2

    def build(self) -> nn.Module:
        """Return the package's network as it starts."""
        own = ("stage", "layers", "width", "heads", "patch", "expansion", "norm", "nonlinearity", "size", "classes")
        pooling = Pooling.AVERAGE if self.pooling is Pooling.AVERAGE else None
        return CaitChain(**{name: getattr(self, name) for name in own}, pooling=pooling)


def at_stage(stage: CaitStage, parts: Parts, heads: int = 2) -> Chain:
    """Return a stage; all have Algorithm 1's biases and scales, and an MLP or a linear layer for self-attention."""
    own = {
        "form": ResMlpForm.ALGORITHM,
        "communication": Communication.LINEAR if stage is CaitStage.LINEAR else Communication.MLP,
        "expansion": 2 if stage in (CaitStage.PATCH_MLP, CaitStage.CLASS_MLP) else None,
    }
    return Chain(**{**vars(parts), **own}, stage=stage, heads=heads)


@dataclass(frozen=True)
class ChainFormula(Formula):
    """The formulas of a stage."""

    parts: Chain

    def embedded(self, images: Tensor, net: nn.Module) -> Tensor:
        """Add the positions to the projected patches."""
        return super().embedded(images, net) + net.get_parameter("positions")

    def exchanged(self, x: Tensor, across: nn.Module) -> Tensor:
        """Self-attention whose heads are mixed before the softmax and after it; or what replaces it."""
        if self.parts.stage is not CaitStage.ATTENTION:
            return super().exchanged(x, across)
        q, k, v = (self._by_head(part) for part in affine(x, across.get_submodule("qkv"), bias=True).chunk(3, dim=-1))
        scores = q @ k.mT / sqrt(q.shape[-1])
        weights = _across_heads(
            _across_heads(scores, across.get_submodule("proj_l")).softmax(dim=-1), across.get_submodule("proj_w")
        )
        return affine((weights @ v).transpose(1, 2).flatten(2), across.get_submodule("proj"), bias=True)

    def aggregated(self, tokens: Tensor, aggregate: nn.Module) -> Tensor:
        """Attention of the class token to all tokens; or what replaces it."""
        if self.parts.stage not in (CaitStage.ATTENTION, CaitStage.PATCH_MLP):
            return super().aggregated(tokens, aggregate)
        q = self._by_head(affine(tokens[:, :1], aggregate.get_submodule("q"), bias=True))
        k, v = (self._by_head(affine(tokens, aggregate.get_submodule(name), bias=True)) for name in ("k", "v"))
        mixed = (q @ k.mT / sqrt(q.shape[-1])).softmax(dim=-1) @ v
        return affine(mixed.transpose(1, 2).flatten(2), aggregate.get_submodule("proj"), bias=True)

    def _by_head(self, x: Tensor) -> Tensor:
        """Map (batch, tokens, channels) to (batch, heads, tokens, channels / heads)."""
        return x.reshape(*x.shape[:2], self.parts.heads, -1).transpose(1, 2)


def _across_heads(x: Tensor, linear: nn.Module) -> Tensor:
    """Apply a linear layer across the heads of (batch, heads, tokens, tokens)."""
    return einsum("gh,bhnm->bgnm", linear.get_parameter("weight"), x) + linear.get_parameter("bias")[:, None, None]
