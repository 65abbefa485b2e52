"""Detectors and segmenters on a timm backbone (imlp Tables 6 and 7)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from imlp_audit.models.hosts.host import Count, Host

# A bare architecture name: timm would take "hf-hub:..." as an order to download.
ARCHITECTURE = r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?$"
Architecture = Annotated[str, Field(pattern=ARCHITECTURE)]


class MaskRcnn(Host):
    """Mask R-CNN with a feature pyramid on a timm backbone; COCO has 80 classes."""

    backbone: Architecture
    classes: Count = 80


class UperNet(Host):
    """UperNet with its auxiliary head on a timm backbone; ADE20K has 150 classes."""

    backbone: Architecture
    classes: Count = 150
