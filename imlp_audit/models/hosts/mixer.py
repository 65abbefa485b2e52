"""MLP-Mixer by its sizes (arXiv 2105.01601, Table 1)."""

from __future__ import annotations

from imlp_audit.models.hosts.host import Count, Host, Layers


class Mixer(Host):
    """`width` is C, `tokens_hidden` D_S and `channels_hidden` D_C; S follows from the image and the patch."""

    layers: Layers
    patch: Count
    width: Count
    tokens_hidden: Count
    channels_hidden: Count
