"""What IMLP says about its learned weights."""

from __future__ import annotations

from imlp_audit.inspect.sentences import Judgement, sentence
from imlp_audit.records.inspection import Inspection


@sentence(about="blocks")
def two_agelus_differ(inspection: Inspection) -> Judgement:
    """AGeLU(·) and AGeLU'(·) are two nonlinear functions proposed in Eq. 4 with different parameters

    Place: Sec. 4.1, after Eq. 5

    Measured: share of the units whose two AGeLUs differ in alpha, beta, gamma or theta

    True if: Above 0 in every block. Both start as GeLU (all 1 and 0), so equal ones have learned nothing.
    """
    shares = [block.different / block.hidden for block in inspection.blocks]
    reason = f"{sum(share > 0 for share in shares)} of {len(shares)} blocks; the least share {min(shares):.1%}"
    return Judgement(all(shares), reason, shares)
