"""Results on the meta device are stored as on the processor."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.count.ledger import run_on_meta

ATEN = torch.ops.aten


@given(sizes=st.lists(st.integers(1, 4), min_size=5, max_size=5), side=st.sampled_from([1, 3]), depthwise=st.booleans())
def test_a_convolution_stores_its_images_as_on_the_processor(sizes: list[int], side: int, depthwise: bool) -> None:
    """Torch's meta device does not: a linear layer that follows then adds its bias apart, which ptflops leaves out."""
    batch, channels, out, *image = sizes
    images = torch.zeros(batch, *image, channels).movedim(-1, 1)
    weight = torch.zeros((channels, 1, side, side) if depthwise else (out, channels, side, side))
    rest: tuple[object, ...] = (None, [1, 1], [side // 2] * 2, [1, 1], channels if depthwise else 1)
    ours = run_on_meta(ATEN.conv2d.default, (images.to("meta"), weight.to("meta"), *rest), {})
    real = ATEN.conv2d.default(images, weight, *rest)
    assert isinstance(ours, Tensor)
    assert (ours.shape, ours.is_contiguous()) == (real.shape, real.is_contiguous())
