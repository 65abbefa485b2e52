"""LVT (CVPR 2022) by the number of its recursions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from imlp_audit.models.hosts.host import Host


class Lvt(Host):
    """`recursions` is r_num of the recursive atrous self-attention: LVT-R1 to R4. Each is a pass over its layers."""

    recursions: Annotated[int, Field(gt=0, le=100)]
