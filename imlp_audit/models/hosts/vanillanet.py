"""VanillaNet's block (arXiv 2305.12972)."""

from __future__ import annotations

from imlp_audit.models.hosts.host import Count, Host


class VanillaBlock(Host):
    """A block of VanillaNet on a feature map of `width` channels, which it doubles, and of the recipe's `image` size.

    `act_num` is n of its series activation (imlp, Eq. 10).
    """

    width: Count
    act_num: Count = 3
