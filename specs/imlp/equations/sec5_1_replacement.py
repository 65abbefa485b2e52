"""Sec. 5.1 and 5.2: what takes the place of a host's MLPs where a spec names its hyper-parameters, or none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import torch
from pydantic import ValidationError

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part, Sums
from imlp_audit.models.imlp import sums_for, with_activation
from imlp_audit.models.recipe import Replacement

from ._agelu import Coefficients, coefficients, start
from ._block_formula import Filled, filled
from ._replaced import PHIS, HostMlp, replaced


@claim(filled(replaced()))
def replaced_mlp(case: Filled, arithmetic: Arithmetic) -> Trial:
    """Where nothing else is specified, an MLP is replaced by the IMLP with r = 2, n = 3 and both parts.

    Also with the r, n and part of the rows of Tables 1, 2, 3 and 5, in every reading and layout. The block has the
    biases, dropout and output width of the MLP, and is in training where the MLP is. An r of less than one hidden unit
    is refused.

    Place: Sec. 5.1, Implementation details
    Printed: We use r = 2 and n = 3 in the following experiments if not specified
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py and of
        layer normalisation as functions_norm.py derives them
    """
    # Hold the block that replaces an MLP against its formula.
    trial = case.trial(arithmetic)
    if not (trial.holds and case.block.fits):
        return trial
    training = case.block.make().training
    return Trial(training == case.block.dropping, {**case.shown(), "in training": training})


@dataclass(frozen=True)
class Written:
    """What a spec writes about an IMLP, None where it writes nothing."""

    ratio: float | None
    kernel: int | None
    part: Part | None
    plain: bool | None

    @property
    def allowed(self) -> bool:
        """Whether r is above 0, n is odd and above 0, and AGeLU is only replaced where there is one."""
        ratio, kernel = self.ratio is None or self.ratio > 0, self.kernel is None or self.kernel in (1, 3, 5)
        return ratio and kernel and not (self.plain and self.part is Part.SPATIAL)


_RATIOS, _KERNELS = (None, 1.0, 4.0, 0.0, -1.0), (None, 1, 5, 2, 0, -1)
_WRITTEN = tuple(Written(*each) for each in product(_RATIOS, _KERNELS, (None, *Part), (None, True, False)))


@claim(st.sampled_from(_WRITTEN))
def replaced_hyperparameters(case: Written, _: Arithmetic) -> Trial:
    """A spec can set r and n of an IMLP, the part that is used and whether AGeLU is GeLU, each by itself; what it does
    not set is 2, 3, both parts and AGeLU.

    Read as: an even n is refused, because a window of n x n has no middle then; and so is GeLU in place of AGeLU where
    there is none, in the spatial part alone.

    Place: Sec. 5.1, Implementation details
    Printed: There are two hyper-parameters that can be tuned in the IMLP module. The first is the expansion ratio r of
        the first FC layer, and the second is the kernel size n of the depthwise convolution operation
    Bound: none: settings are compared
    """
    # Hold what a spec's record reads against what is written.
    given = {name: value for name, value in vars(case).items() if value is not None}
    try:
        block = Replacement.model_validate({"imlp": given}).block
    except ValidationError:
        return Trial(not case.allowed, {**given, "refused": True})
    printed = ImlpRecipe.model_construct(
        ratio=case.ratio or 2, kernel=case.kernel or 3, part=case.part or Part.CHANNEL_AND_SPATIAL,
        plain=case.plain or False,
    )  # fmt: skip
    return Trial(case.allowed and block == printed, {**given, "read as": repr(block)})


@dataclass(frozen=True)
class Table4:
    """A row of Table 4 in place of an MLP of C = len(x): channels last or first, in training or not."""

    agelu: bool
    channels_first: bool
    training: bool
    x: Vector


def _table4() -> st.Strategy[Table4]:
    x = st.integers(1, 3).flatmap(vectors)
    return st.builds(Table4, st.booleans(), st.booleans(), st.booleans(), x)


@claim(_table4(), share=0.5)
def table4_functions(case: Table4, arithmetic: Arithmetic) -> Trial:
    """In Table 4 an MLP is replaced by the sum of 4 C functions, which all start as GeLU; AGeLUs have coefficients for
    each of C channels.

    Read as: the text does not say with which coefficients AGeLUs start.

    Place: Sec. 5.2 on Table 4
    Printed: In Tab. 4 we empirically show the results of adding 4C number of nonlinear functions
    Bound: gamma_{4C-1} times the sum of the magnitudes, and GeLU's own error for each term, in a sum and a product
    """
    # Hold the module in the place of an MLP against the sum, and its coefficients against their number.
    c = len(case.x)
    host = HostMlp(c, 4 * c, c, (True, True), (0.0, 0.0), conv=case.channels_first).train(case.training)
    block = Replacement.model_validate({"sums": {"agelu": True} if case.agelu else {}}).block
    if not isinstance(block, Sums) or block.agelu != case.agelu:
        return Trial(False, {"read as": repr(block)})
    module = sums_for(host, block)
    shown = {**vars(case), "in training": module.training, "coefficients": [p.numel() for p in module.parameters()]}
    if module.training != case.training or shown["coefficients"] != ([4 * c * c] * 4 if case.agelu else []):
        return Trial(False, shown)
    arithmetic.place(module)
    x = arithmetic.tensor(case.x)
    batch = torch.stack((x + 1, x))[:, :, None, None] if case.channels_first else torch.stack((x + 1, x))
    printed = [total(gelu(arithmetic.number(x_c)) + 0.0 for _ in range(4 * c)) for x_c in case.x]
    return equal(module(batch)[1].flatten(), printed, **shown)


@claim(st.sampled_from(((), ("imlp",), ("sums",), ("imlp", "sums"))))
def replaced_by_one(case: tuple[str, ...], _: Arithmetic) -> Trial:
    """One kind of block replaces the MLPs, and it replaces all of them where a spec does not name some.

    Place: Sec. 5.1, Experimental results
    Printed: We replace all the MLP modules in each baseline method with the proposed IMLP module
    Bound: none: settings are compared
    """
    # Hold what a spec's record reads against what is written.
    try:
        replacement = Replacement.model_validate({name: {} for name in case})
    except ValidationError:
        return Trial(len(case) != 1, {"written": case, "refused": True})
    kind = {ImlpRecipe: "imlp", Sums: "sums"}.get(type(replacement.block))
    shown = {"written": case, "read as": repr(replacement)}
    return Trial(case == (kind,) and replacement.sites == ("*",), shown)


@dataclass(frozen=True)
class Table3:
    """An MLP of C to C' to C and AGeLU's coefficients, or None for the activation alone; a table of two tokens."""

    activation: Activation | None
    agelu: Coefficients | None
    channels_first: bool
    x: Matrix
    wa: Matrix
    wb: Matrix


def _table3() -> st.Strategy[Table3]:
    def of(width: int, hidden: int) -> st.Strategy[Table3]:
        agelus = st.one_of(coefficients(hidden), st.just(None))
        weights = matrices(hidden, width, nonzero()), matrices(width, hidden, nonzero())
        phis, tables = st.sampled_from(tuple(PHIS)), matrices(2, width)
        return st.builds(Table3, phis, agelus, st.booleans(), tables, *weights)

    return st.tuples(st.integers(1, 2), st.integers(1, 3)).flatmap(lambda sizes: of(*sizes))


@claim(_table3(), share=0.5)
def table3_activation(case: Table3, arithmetic: Arithmetic) -> Trial:
    """Without concatenation, only the activation of an MLP changes: to AGeLU with coefficients for each of C' channels,
    or to another base activation (Table 8). Its layers stay, and the MLP itself keeps its GeLU.

    Place: Sec. 5.2 on Table 3
    Printed: The first line is the baseline DeiT-Ti model, and the second line changes GeLU in MLP modules to AGeLU
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py
        derives them
    """
    # Hold the changed MLP against Eq. 1 with another activation.
    width, hidden = len(case.x[0]), len(case.wa)
    host = HostMlp(width, hidden, width, (False, False), (0.0, 0.0), conv=case.channels_first)
    arithmetic.place(host)
    ends = (1, 1) if case.channels_first else ()
    for name, weight in (("fc1.weight", case.wa), ("fc2.weight", case.wb)):
        arithmetic.put(host, name, arithmetic.tensor(weight).reshape(len(weight), -1, *ends).tolist())
    before, phi = host.act, PHIS[case.activation].rounded
    changed = with_activation(host, case.activation, agelu=case.agelu is not None)
    if isinstance(changed.act, AGeLU) != (case.agelu is not None):
        return Trial(False, {**vars(case), "activation": str(changed.act)})
    if case.agelu is not None and isinstance(changed.act, AGeLU):
        case.agelu.load_into(changed.act, arithmetic)
    if host.act is not before or changed.fc1 is not host.fc1 or changed.training != host.training:
        return Trial(False, {**vars(case), "layers": "changed"})
    arithmetic.place(changed)
    x = arithmetic.tensor(case.x)
    y = changed(x.T[None, :, :, None])[0, :, :, 0].T if case.channels_first else changed(x)
    t = arithmetic.matrix(case.x) @ arithmetic.matrix(case.wa).T
    agelu = case.agelu or start(hidden)
    bent = t.map_rows(lambda row: agelu.written(row, phi))
    return equal(y, bent @ arithmetic.matrix(case.wb).T, **vars(case))
