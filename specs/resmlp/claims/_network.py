"""Whole ResMLP networks with drawn weights, and what they compute as it is printed. Patches are the rows of x."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from torch import Tensor, cat, einsum, nn

from imlp_audit.claims import Side, modules, tensors
from imlp_audit.models.available_hosts import ResMlp
from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.readings import Presence, ResMlpForm, ResMlpReading

ACTIVATIONS: dict[Nonlinearity, Callable[[Tensor], Tensor]] = {
    Nonlinearity.GELU: F.gelu,
    Nonlinearity.SILU: F.silu,
    Nonlinearity.HARD_SWISH: F.hardswish,
    Nonlinearity.RELU: F.relu,
}

WEIGHTS = tuple(sign * eighths / 8 for eighths in (8, 4, 2, 1, 3, 5, 6, 7) for sign in (1, -1))
"""What weights are drawn from: none is 0, and none so large that another would be lost beside it."""
SMALL_WEIGHTS = tuple(weight / 8 for weight in WEIGHTS)  # sums of hundreds of products stay small


@dataclass(frozen=True)
class Parts:
    """What a recipe and a reading say of a network; `grid` is how many patches there are down and across."""

    form: ResMlpForm = ResMlpForm.EQUATIONS
    pooling: Pooling = Pooling.AVERAGE
    norm: Norm = Norm.AFF
    nonlinearity: Nonlinearity = Nonlinearity.GELU
    communication: Communication = Communication.LINEAR
    expansion: float | None = None
    scales_stay: bool = False
    grid: tuple[int, int] = (2, 3)
    patch: int = 1
    layers: int = 2
    width: int = 2
    classes: int = 2

    @property
    def size(self) -> tuple[int, int]:
        """The images' height and width."""
        return self.grid[0] * self.patch, self.grid[1] * self.patch

    @property
    def as_in_code(self) -> bool:
        """Whether A, B and C have biases, and LayerScale follows a sublayer: in Algorithm 1."""
        return self.form is ResMlpForm.ALGORITHM

    def build(self) -> nn.Module:
        """Return the package's network as it starts."""
        own = ("pooling", "norm", "nonlinearity", "communication", "expansion", "patch", "layers", "width")
        reading = ResMlpReading(self.form, Presence.YES if self.scales_stay else Presence.NO)
        by_recipe = self.layers == 1 and not self.scales_stay
        given = {name: getattr(self, name) for name in own}
        if not by_recipe:  # a recipe leaves out what is usual, as it is above
            given = {name: value for name, value in given.items() if name == "patch" or value != getattr(Parts, name)}
        host = ResMlp(form=self.form if by_recipe else None, **{"layers": 2, "width": 2, **given})
        return host.build(BuildRequest(image=self.size, classes=self.classes, reading=None if by_recipe else reading))


@dataclass(frozen=True)
class Network:
    """A network with drawn weights, two images, and the parts that it was built of."""

    parts: Parts
    module: nn.Module
    images: Tensor


def networks(parts: SearchStrategy[Parts], *, training: bool | SearchStrategy[bool] = False) -> SearchStrategy[Network]:
    """Networks of these parts."""

    def of(drawn: Parts) -> SearchStrategy[Network]:
        values = WEIGHTS if drawn.width < 10 else SMALL_WEIGHTS
        module = modules(drawn.build, training=training, values=values)
        return st.builds(Network, st.just(drawn), module, tensors(2, 3, *drawn.size, values=WEIGHTS))

    return parts.flatmap(of)


@dataclass(frozen=True)
class Formula:
    """The printed formulas; `statistics` are those of the batch that BatchNorm has seen so far, in training."""

    parts: Parts
    training: bool = False
    statistics: list[Tensor] = field(default_factory=list)

    def logits(self, images: Tensor, net: nn.Module) -> Tensor:
        """Return the logits of images."""
        x = self.embedded(images, net)
        for layer in children(net, "blocks", self.parts.layers):
            x = self.layer(x, layer)
        x = self.pooled(x, net.get_submodule("pool"))
        return affine(x, net.get_submodule("head"), bias=True)

    def embedded(self, images: Tensor, net: nn.Module) -> Tensor:
        """Project the pixels of each patch, the grid row by row."""
        p, proj = self.parts.patch, net.get_submodule("stem.proj")
        pixels = images.unfold(2, p, p).unfold(3, p, p).flatten(2, 3)  # batch, colors, patches, p, p
        return einsum("dkij,bknij->bnd", proj.get_parameter("weight"), pixels) + proj.get_parameter("bias")

    def layer(self, x: Tensor, layer: nn.Module) -> Tensor:
        """Apply Eq. 2, unless nothing exchanges information between patches, and then Eq. 3."""
        if self.parts.communication is Communication.NONE and not self.parts.scales_stay:
            z = x
        else:
            z = self.residual(x, layer, "1", lambda y: self.exchanged(y, layer.get_submodule("across_patches")))
        return self.residual(z, layer, "2", lambda y: self.mlp(y, layer.get_submodule("across_channels")))

    def residual(self, x: Tensor, layer: nn.Module, place: str, part: Callable[[Tensor], Tensor]) -> Tensor:
        """X + post(part(pre(X)))."""
        post = layer.get_submodule(f"post{place}")
        y = post.get_parameter("alpha") * part(self.normal(x, layer.get_submodule(f"pre{place}")))
        return x + (y if self.parts.as_in_code else y + post.get_parameter("beta"))

    def mlp(self, x: Tensor, mlp: nn.Module, *, bias: bool | None = None, expansion: float = 4) -> Tensor:
        """C GELU(B x + b) + c of each row, with four times as many hidden units unless an expansion is given."""
        bias = self.parts.as_in_code if bias is None else bias
        hidden = ACTIVATIONS[self.parts.nonlinearity](affine(x, mlp.get_submodule("b"), bias=bias))
        assert hidden.shape[-1] == int(expansion * x.shape[-1])
        return affine(hidden, mlp.get_submodule("c"), bias=bias)

    def exchanged(self, x: Tensor, across: nn.Module) -> Tensor:
        """Exchange information between patches."""
        bias = self.parts.as_in_code
        match self.parts.communication:
            case Communication.LINEAR:
                return affine(x.mT, across.get_submodule("a"), bias=bias).mT
            case Communication.MLP:
                expansion = 4 if self.parts.expansion is None else self.parts.expansion
                return self.mlp(x.mT, across.get_submodule("mlp"), expansion=expansion).mT
            case Communication.NONE:
                return x
            case Communication.CONV:
                return self.convolved(x, across.get_submodule("convolutions.0"), groups=1)
            case Communication.DEPTHWISE:
                return self.convolved(x, across.get_submodule("convolutions.0"), groups=x.shape[-1])
            case Communication.SEPARABLE:
                depthwise = self.convolved(x, across.get_submodule("convolutions.0"), groups=x.shape[-1])
                return affine(depthwise, across.get_submodule("convolutions.1"), bias=bias)

    def convolved(self, x: Tensor, convolution: nn.Module, *, groups: int) -> Tensor:
        """Convolve the grid of patches with a kernel of 3 x 3, zeros beyond its borders."""
        bias = convolution.get_parameter("bias") if self.parts.as_in_code else None
        grid = x.mT.reshape(len(x), -1, *self.parts.grid)
        return F.conv2d(grid, convolution.get_parameter("weight"), bias, padding=1, groups=groups).flatten(2).mT

    def pooled(self, x: Tensor, pool: nn.Module) -> Tensor:
        """Average the patches, or update a class token from them; before or after that, Algorithm 1 has an Aff."""
        if self.parts.pooling is Pooling.AVERAGE:
            return (self.normal(x, pool.get_submodule("0")) if self.parts.as_in_code else x).mean(dim=1)
        tokens = self.class_token(x, pool)
        return (self.normal(tokens, pool.get_submodule("layers.2")) if self.parts.as_in_code else tokens)[:, 0]

    def class_token(self, x: Tensor, pool: nn.Module, depth: int = 2) -> Tensor:
        """Put a class token before the patches, and update it in each layer."""
        tokens = cat([pool.get_parameter("token").expand(len(x), 1, -1), x], dim=1)
        for layer in children(pool, "layers", depth):
            tokens = self.class_layer(tokens, layer)
        return tokens

    def class_layer(self, tokens: Tensor, layer: nn.Module) -> Tensor:
        """Update the class token, the first row, by one token made of all rows and then by an MLP of it alone."""
        token, patches = tokens[:, :1], tokens[:, 1:]
        read = self.normal(tokens, layer.get_submodule("pre1"))
        token = token + layer.get_parameter("post1.alpha") * self.aggregated(read, layer.get_submodule("aggregate"))
        mlp = self.mlp(self.normal(token, layer.get_submodule("pre2")), layer.get_submodule("mlp"), bias=True)
        return cat([token + layer.get_parameter("post2.alpha") * mlp, patches], dim=1)

    def aggregated(self, tokens: Tensor, aggregate: nn.Module) -> Tensor:
        """Make one token of all: one linear layer for each channel."""
        return affine(tokens.mT, aggregate, bias=True).mT

    def normal(self, x: Tensor, norm: nn.Module) -> Tensor:
        """Apply what stands before a sublayer: Aff, or what is tried in its place."""
        match self.parts.norm:
            case Norm.AFF:
                return norm.get_parameter("alpha") * x + norm.get_parameter("beta")
            case Norm.LAYER:
                return F.layer_norm(x, x.shape[-1:], norm.get_parameter("weight"), norm.get_parameter("bias"), eps=1e-6)
            case Norm.L2:
                return x / x.square().sum(dim=-1, keepdim=True).sqrt()
            case Norm.BATCH:
                mean, variance = norm.get_buffer("running_mean"), norm.get_buffer("running_var")
                if self.training:
                    mean, variance = x.mean(dim=(0, 1)), x.var(dim=(0, 1), correction=0)
                    self.statistics.append(torch.stack([mean, x.var(dim=(0, 1))]).detach())
                normal = (x - mean) / (variance + 1e-5).sqrt()
                return normal * norm.get_parameter("weight") + norm.get_parameter("bias")


def compare(net: Network, formula: Formula | None = None) -> list[Side]:
    """Hold the logits of both images, and of one alone, against the formula's; no two layers share a weight."""
    printed = (formula or Formula(net.parts)).logits(net.images, net.module)
    alone = net.module(net.images[1:])
    return [(net.module(net.images), printed), (alone, printed[1:]), has_own_weights(net.module)]


def has_own_weights(module: nn.Module) -> bool:
    """Whether no two names are of one weight, and nothing else is stored but the statistics of BatchNorm."""
    names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    statistics = [
        name for part in module.modules() if isinstance(part, nn.BatchNorm1d) for name, _ in part.named_buffers()
    ]
    return len(names) == len([*module.parameters()]) and len(module.state_dict()) == len(names) + len(statistics)


def affine(x: Tensor, linear: nn.Module, *, bias: bool) -> Tensor:
    """W x + b of each row, or W x."""
    y = x @ linear.get_parameter("weight").flatten(1).T  # that of a 1 x 1 convolution too
    return y + linear.get_parameter("bias") if bias else y


def children(module: nn.Module, name: str, count: int) -> Iterator[nn.Module]:
    """Yield the first modules of a list."""
    return (module.get_submodule(f"{name}.{place}") for place in range(count))
