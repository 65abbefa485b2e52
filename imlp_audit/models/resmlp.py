"""ResMLP (arXiv 2105.03404): layers by its equations and by its Algorithm 1, class-MLP, and the whole for images."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, assert_never

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.imlp import TokenBatchNorm
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.readings import Presence, ResMlpForm, ResMlpReading

PreNorm: TypeAlias = Callable[[int], nn.Module]
"""Makes what stands before a sublayer of so many channels."""

SMALL_START = 1e-4
"""What LayerScale starts with in a layer of no network of known depth: timm's value."""


class Aff(nn.Module):
    """Computes Diag(alpha) x + beta (Eq. 1) along the channels, the last axis.

    Starts with every alpha as given: 1 before a sublayer, a small value after it (Sec. 2).
    """

    def __init__(self, channels: int, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((channels,), alpha))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return self.alpha * x + self.beta


class LayerScale(nn.Module):
    """Computes Diag(alpha) x along the channels: Aff without its bias (CaiT; Algorithm 1)."""

    def __init__(self, channels: int, alpha: float) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((channels,), alpha))

    def forward(self, x: Tensor) -> Tensor:
        return self.alpha * x


class CrossPatch(nn.Module):
    """Computes A X^T (Eq. 2): one linear layer across the patches, shared by all channels.

    `a.weight` is A, a row for each patch of the output. `causal` takes its lower triangle alone, so that no token
    sees a later one. An input of fewer than `patches` patches takes the submatrix of the first ones (Sec. 2,
    sequence-to-sequence ResMLP).
    """

    def __init__(self, patches: int, *, bias: bool, causal: bool = False) -> None:
        super().__init__()
        self.a = nn.Linear(patches, patches, bias=bias)
        self.causal = causal

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        patches = x.shape[1]
        weight = self.a.weight[:patches, :patches]
        bias = None if self.a.bias is None else self.a.bias[:patches]
        return F.linear(x.transpose(1, 2), weight.tril() if self.causal else weight, bias).transpose(1, 2)


class FeedForward(nn.Module):
    """Computes C GELU(B x) (Eq. 3) along the last axis; B is 4d x d and C is d x 4d where `expansion` is 4.

    `activation` makes what stands in GELU's place (Appendix A).
    """

    def __init__(
        self, channels: int, expansion: float = 4, *, bias: bool, activation: Callable[[], nn.Module] = nn.GELU
    ) -> None:
        super().__init__()
        hidden = int(expansion * channels)
        self.b = nn.Linear(channels, hidden, bias=bias)
        self.activation = activation()
        self.c = nn.Linear(hidden, channels, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.c(self.activation(self.b(x)))
        return y


class CrossPatchMlp(nn.Module):
    """The transposed MLP that the linear layer A replaced (Appendix A; Table 3, "linear -> MLP").

    Raises BuildError for an expansion that leaves no hidden unit.
    """

    def __init__(
        self, patches: int, expansion: float = 4, *, bias: bool = True, activation: Callable[[], nn.Module] = nn.GELU
    ) -> None:
        super().__init__()
        if int(expansion * patches) == 0:
            raise BuildError(f"expansion: {expansion:g} times {patches} patches is less than one hidden unit")
        self.mlp = FeedForward(patches, expansion, bias=bias, activation=activation)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        y: Tensor = self.mlp(x.transpose(1, 2))
        return y.transpose(1, 2)


class OnGrid(nn.Module):
    """Convolutions of the grid of patches (Table 3, "patch communication"); `grid` is its height and width."""

    def __init__(self, grid: tuple[int, int], *convolutions: nn.Module) -> None:
        super().__init__()
        self.grid = grid
        self.convolutions = nn.Sequential(*convolutions)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        y: Tensor = self.convolutions(x.transpose(1, 2).reshape(len(x), -1, *self.grid))
        return y.flatten(2).transpose(1, 2)


class ResMlpLayer(nn.Module):
    """A cross-patch and a cross-channel sublayer, each between what comes before and after it, beside a skip.

    `pre` and `post` make what comes before and after them. Without `across_patches` there is no cross-patch sublayer,
    and no patch sees another (Table 3, "linear -> none").
    """

    def __init__(
        self,
        channels: int,
        across_patches: nn.Module | None,
        across_channels: nn.Module,
        post: Callable[[], nn.Module],
        *,
        pre: PreNorm = Aff,
    ) -> None:
        super().__init__()
        if across_patches is None:
            self.across_patches: nn.Module | None = None
        else:
            self.pre1, self.across_patches, self.post1 = pre(channels), across_patches, post()
        self.pre2 = pre(channels)
        self.across_channels = across_channels
        self.post2 = post()

    def cross_patch(self, x: Tensor) -> Tensor:
        """Return Z of X (Eq. 2); keeps the shape (batch, patches, channels)."""
        if self.across_patches is None:
            return x
        z: Tensor = x + self.post1(self.across_patches(self.pre1(x)))
        return z

    def cross_channel(self, z: Tensor) -> Tensor:
        """Return Y of Z (Eq. 3); keeps the shape (batch, patches, channels)."""
        y: Tensor = z + self.post2(self.across_channels(self.pre2(z)))
        return y

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        return self.cross_channel(self.cross_patch(x))


class Aggregate(nn.Linear):
    """One linear layer from all tokens to one, shared by all channels; `weight` is (1, tokens)."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, tokens, channels) to (batch, 1, channels)."""
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class ClassLayer(nn.Module):
    """Updates the class token, and it alone, from all tokens (CaiT, arXiv 2103.17239, Sec. 3).

    `aggregate` makes one token of all, the MLP acts on the class token; each stands between `pre` and a LayerScale,
    beside a skip. Maps (batch, 1 + patches, channels), the class token first, to the same shape.
    """

    def __init__(
        self, channels: int, aggregate: nn.Module, mlp: nn.Module, scale: float, *, pre: PreNorm = Aff
    ) -> None:
        super().__init__()
        self.pre1 = pre(channels)
        self.aggregate = aggregate
        self.post1 = LayerScale(channels, scale)
        self.pre2 = pre(channels)
        self.mlp = mlp
        self.post2 = LayerScale(channels, scale)

    def forward(self, tokens: Tensor) -> Tensor:
        """Keep the shape (batch, 1 + patches, channels), and the patches."""
        token, patches = tokens[:, :1], tokens[:, 1:]
        token = token + self.post1(self.aggregate(self.pre1(tokens)))
        token = token + self.post2(self.mlp(self.pre2(token)))
        return torch.cat((token, patches), dim=1)


class ClassMlpLayer(ClassLayer):
    """A layer of class-MLP (Sec. 2): simple linear layers in place of class-attention.

    `aggregate` is one linear layer from the class token and all patches to one, shared by all channels.
    """

    def __init__(
        self,
        channels: int,
        patches: int,
        *,
        scale: float,
        expansion: float = 4,
        pre: PreNorm = Aff,
        activation: Callable[[], nn.Module] = nn.GELU,
    ) -> None:
        mlp = FeedForward(channels, expansion, bias=True, activation=activation)
        super().__init__(channels, Aggregate(1 + patches), mlp, scale, pre=pre)


class ClassPooling(nn.Module):
    """Pools by a learned class token: layers update it from the frozen patch embeddings, and it alone is kept.

    Maps (batch, patches, channels) to (batch, channels).
    """

    def __init__(self, channels: int, *layers: nn.Module) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(channels))
        self.layers = nn.Sequential(*layers)

    def forward(self, patches: Tensor) -> Tensor:
        token = self.token.expand(len(patches), 1, -1)
        tokens: Tensor = self.layers(torch.cat((token, patches), dim=1))
        return tokens[:, 0]


class AveragePooling(nn.Module):
    """Averages the patches: (batch, patches, channels) to (batch, channels)."""

    def forward(self, patches: Tensor) -> Tensor:
        return patches.mean(dim=1)


KERNEL = 3
CLASS_LAYERS = 2


class L2Norm(nn.Module):
    """Divides each token by the l2 norm of its channels, the last axis; it has no parameters."""

    def __init__(self, _channels: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (..., channels)."""
        return F.normalize(x, dim=-1)


PRE_NORMS: dict[Norm, PreNorm] = {
    Norm.AFF: Aff,
    Norm.LAYER: partial(nn.LayerNorm, eps=1e-6),  # CaiT's and timm's epsilon
    Norm.BATCH: TokenBatchNorm,
    Norm.L2: L2Norm,
}

ACTIVATIONS: dict[Nonlinearity, type[nn.Module]] = {
    Nonlinearity.GELU: nn.GELU,
    Nonlinearity.SILU: nn.SiLU,
    Nonlinearity.HARD_SWISH: nn.Hardswish,
    Nonlinearity.RELU: nn.ReLU,
}


class ResMlpClassifier(nn.Module):
    """Patches, a linear layer for each, the layers, a pool and a linear classifier.

    Maps images (batch, 3, height, width) to logits (batch, classes). The reading's form decides on biases in A, B and
    C, on what follows a sublayer and on a last Aff before the mean; class-MLP is one and the same under both. Raises
    BuildError for an expansion or a grid that is too small.
    """

    def __init__(
        self,
        request: BuildRequest,
        *,
        layers: int,
        width: int,
        patch: int,
        form: ResMlpForm | None,
        norm: Norm,
        pooling: Pooling,
        communication: Communication,
        expansion: float | None,
        nonlinearity: Nonlinearity,
    ) -> None:
        super().__init__()
        self.size, self.width, reading = request.size, width, _reading_under(request, form)
        self.grid = (self.size[0] // patch, self.size[1] // patch)
        self.as_in_code, self.scales_stay = reading.resmlp_form is ResMlpForm.ALGORITHM, bool(reading.scales_stay)
        self.pre, self.activation, self.scale = PRE_NORMS[norm], ACTIVATIONS[nonlinearity], initial_scale(layers)
        self.stem = PatchEmbedding(patch, width)
        self.blocks = nn.Sequential(*(self._layer(communication, expansion) for _ in range(layers)))
        self.pool = self._pool(pooling)
        self.head = nn.Linear(width, request.labels)

    def forward(self, image: Tensor) -> Tensor:
        x = self.embed(image)
        for block in self.blocks:  # as the authors' code does: nothing holds on to what came before
            x = block(x)
        logits: Tensor = self.head(self.pool(x))
        return logits

    def get_classifier(self) -> nn.Module:
        return self.head

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        return (torch.zeros(batch, 3, *self.size),)

    def embed(self, image: Tensor) -> Tensor:
        """Return the patches (batch, patches, channels) that the first layer gets."""
        patches: Tensor = self.stem(image)
        return patches

    def _layer(self, communication: Communication, expansion: float | None) -> ResMlpLayer:
        """Return the layer of Eq. 2 and 3 (Aff after a sublayer, no biases), or of Algorithm 1 (LayerScale, biases).

        Without communication the layer has only its second sublayer; the first leaves its scales if they stay.
        """
        width = self.width
        post = partial(LayerScale if self.as_in_code else Aff, width, self.scale)
        across_channels = FeedForward(width, bias=self.as_in_code, activation=self.activation)
        across_patches = self.communication(communication, expansion)
        return ResMlpLayer(width, across_patches, across_channels, post, pre=self.pre)

    def communication(self, kind: Communication, expansion: float | None) -> nn.Module | None:
        """Return what exchanges information between patches (Table 3)."""
        bias, width, patches = self.as_in_code, self.width, self.grid[0] * self.grid[1]
        match kind:
            case Communication.LINEAR:
                return CrossPatch(patches, bias=bias)
            case Communication.NONE:
                return nn.Identity() if self.scales_stay else None
            case Communication.MLP:
                times = 4 if expansion is None else expansion
                return CrossPatchMlp(patches, times, bias=bias, activation=self.activation)
            case Communication.CONV:
                return OnGrid(self.grid, self._convolution())
            case Communication.DEPTHWISE:
                return OnGrid(self.grid, self._convolution(groups=width))
            case Communication.SEPARABLE:
                return OnGrid(self.grid, self._convolution(groups=width), nn.Conv2d(width, width, 1, bias=bias))
            case _:
                assert_never(kind)

    def _convolution(self, groups: int = 1) -> nn.Conv2d:
        """Return a 3 x 3 convolution that keeps the grid."""
        if min(self.grid) < KERNEL:
            height, width = self.grid
            raise BuildError(f"communication: a {KERNEL} x {KERNEL} kernel is larger than the grid, {height} x {width}")
        width, bias = self.width, self.as_in_code
        return nn.Conv2d(width, width, KERNEL, padding=KERNEL // 2, groups=groups, bias=bias)

    def _pool(self, pooling: Pooling) -> nn.Module:
        """Return average pooling, or class-MLP; Algorithm 1 has an Aff before the mean, CaiT a norm after its layers.

        Eq. 2 and 3 end with the last layer.
        """
        last = self.pre(self.width) if self.as_in_code else nn.Identity()
        match pooling:
            case Pooling.AVERAGE:
                return nn.Sequential(last, AveragePooling())
            case Pooling.CLASS_MLP:
                return ClassPooling(self.width, *(self.class_layer() for _ in range(CLASS_LAYERS)), last)
            case _:
                assert_never(pooling)

    def class_layer(self) -> ClassLayer:
        """Return a layer that updates the class token."""
        patches = self.grid[0] * self.grid[1]
        return ClassMlpLayer(self.width, patches, scale=self.scale, pre=self.pre, activation=self.activation)


def _reading_under(request: BuildRequest, form: ResMlpForm | None) -> ResMlpReading:
    """Return the paper's reading, or for a recipe that gives the form one that is silent on the other axis."""
    if isinstance(request.reading, ResMlpReading):
        return request.reading
    if form is None:
        raise BuildError("resmlp: its model needs a reading of its form, and the paper has none")
    return ResMlpReading(form, Presence.NO)


def initial_scale(layers: int) -> float:
    """Return what LayerScale starts with in a network of so many layers, as in CaiT (arXiv 2103.17239, Sec. 2)."""
    if layers <= 18:
        return 0.1
    return 1e-5 if layers <= 24 else 1e-6
