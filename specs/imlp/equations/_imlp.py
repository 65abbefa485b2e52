"""The package's IMLP block with the numbers of an AMLP: its channel part alone, without biases and norms."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import ChannelPart, Imlp
from imlp_audit.models.reading import PRINTED

from ._amlp import Amlp


def block(case: Amlp, arithmetic: Arithmetic) -> Imlp:
    """Return the block of Eq. 5."""
    imlp = Imlp(len(case.wd), len(case.wd[0]), bias=False, reading=PRINTED, part=Part.CHANNEL)
    arithmetic.place(imlp)
    assert isinstance(imlp.act, ChannelPart)
    case.first.load_into(imlp.act.agelu1, arithmetic)
    case.second.load_into(imlp.act.agelu2, arithmetic)
    for name, weight in (("fc1.weight", case.wd), ("fc2.weight", case.we)):
        arithmetic.put(imlp, name, tuple(zip(*weight, strict=True)))
    return imlp
