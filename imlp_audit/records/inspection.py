"""What is found in a checkpoint's weights, as records: to and from JSON."""

from __future__ import annotations

from imlp_audit.records.base import Record
from imlp_audit.records.check import Verdict


class Quantiles(Record):
    """How numbers are spread: the least, five quantiles and the largest."""

    least: float
    q05: float
    q25: float
    median: float
    q75: float
    q95: float
    largest: float


class AgeluCoefficients(Record):
    """The AGeLUs of one place: beta GeLU(alpha x + gamma) + theta for each of `units` units.

    `mirrored` units have alpha < 0, `reflected` ones beta < 0, and `flat` ones alpha beta = 0. The slopes of all units
    lie in `slopes`, its lower and its upper end.
    """

    name: str
    units: int
    alpha: Quantiles
    beta: Quantiles
    gamma: Quantiles
    theta: Quantiles
    mirrored: int
    reflected: int
    flat: int
    slopes: tuple[float, float]


class AmlpModule(Record):
    """An AMLP module of width C with two branches of `hidden` units.

    `different` units have two AGeLUs that differ; the slopes of all units of each lie in `slopes`. The module's
    Lipschitz constant is at most `norms`, by the spectral norms of its weights and GeLU's steepest slope, and at least
    `gradient`, the norm of its Jacobian at 0.
    """

    name: str
    width: int
    hidden: int
    different: int
    slopes: tuple[tuple[float, float], tuple[float, float]]
    norms: float
    gradient: float


class Sparsity(Record):
    """How many of a matrix's numbers are below 5 % of its largest by absolute value, and how many are exactly 0.

    `normal` is the rate below 5 % that as many normal numbers would have.
    """

    matrix: str
    name: str
    below: int
    zeros: int
    of: int
    normal: float

    @property
    def rate(self) -> float:
        """The share that is below."""
        return self.below / self.of


class Pattern(Record):
    """Where a cross-patch matrix has its weights, on a square grid of patches; None where it has none to say it of.

    For the meaning of each number see where it is computed, imlp_audit/inspect/cross_patch.py.
    """

    side: int
    radius: int | None
    local: float | None
    local_by_chance: float | None
    shifted: float | None
    shifted_by_chance: float | None
    axes: float | None
    spiked: float
    reach: float | None
    far: float | None
    far_in_few: float | None = None


class CrossPatchLayer(Record):
    """A block: `across` is what mixes patches, ResMLP's A or the W1 and W2 of an MLP; `channels` is B, C or W3, W4."""

    name: str
    patches: int
    across: tuple[Sparsity, ...]
    channels: tuple[Sparsity, ...]
    pattern: Pattern | None
    why_no_pattern: str | None = None

    @property
    def mlp(self) -> bool:
        """Whether an MLP mixes the patches."""
        return len(self.across) > 1

    @property
    def sparsity(self) -> tuple[Sparsity, ...]:
        """All matrices."""
        return self.across + self.channels


class GateMatrix(Record):
    """The matrix W of a spatial gating unit, and the share of its squared weight that a Toeplitz matrix has.

    `toeplitz` is that of the nearest Toeplitz matrix, `blocks` that of the nearest one of Toeplitz blocks in Toeplitz
    order, for patches on a square grid; `..._by_chance` what independent numbers give. A tMLP's is `constrained`.
    """

    name: str
    tokens: int
    constrained: bool
    toeplitz: float | None
    toeplitz_by_chance: float
    blocks: float | None = None
    blocks_by_chance: float | None = None


class LayerValue(Record):
    """A number of one layer; None where it has none."""

    layer: str
    value: float | None


class Statement(Record):
    """A sentence of a paper about learned weights, and whether it is true of these.

    `measured` says what was measured in each layer (`values`), and `judged` when the sentence counts as true, and why.
    """

    id: str
    paper: str
    place: str
    sentence: str
    measured: str
    judged: str
    verdict: Verdict
    reason: str
    values: tuple[LayerValue, ...] = ()


class Inspection(Record):
    """All that is found in the weights of a checkpoint.

    `left_out` names what could not be looked at, and why; `untrained` says why the weights look untrained, if they do.
    """

    agelus: tuple[AgeluCoefficients, ...] = ()
    blocks: tuple[AmlpModule, ...] = ()
    cross_patch: tuple[CrossPatchLayer, ...] = ()
    gates: tuple[GateMatrix, ...] = ()
    statements: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()
    untrained: str | None = None
