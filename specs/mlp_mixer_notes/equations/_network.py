"""A Mixer of one layer, from the image on, and its multiply-accumulates."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.counts import macs
from imlp_audit.equations.draw import Strategy
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding


@dataclass(frozen=True)
class Network:
    """A Mixer for images of rows x columns patches of P x P pixels, with hidden widths D_S and D_C."""

    patch: int
    rows: int
    columns: int
    d_s: int
    d_c: int
    channels: int = 2

    @property
    def patches(self) -> int:
        """S."""
        return self.rows * self.columns

    @property
    def pixels(self) -> int:
        """HW."""
        return self.patches * self.patch**2

    def macs(self) -> int:
        """Return the multiply-accumulates for one image."""
        return macs(self._build, 1, 3, self.rows * self.patch, self.columns * self.patch)

    def _build(self) -> nn.Module:
        layer = MixerLayer(self.patches, self.channels, self.d_s, self.d_c)
        return nn.Sequential(PatchEmbedding(self.patch, self.channels), layer)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"P": self.patch, "S": self.patches, "HW": self.pixels, "D_S": self.d_s, "D_C": self.d_c}


def networks() -> Strategy[Network]:
    """Networks for images of up to 2 x 2 patches."""
    size = st.integers(1, 2)
    return st.builds(Network, patch=size, rows=size, columns=size, d_s=size, d_c=st.just(3))
