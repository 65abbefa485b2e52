"""Operations that do no arithmetic: they move, view, create or describe data."""

from __future__ import annotations

from imlp_audit.measure.call import Call
from imlp_audit.measure.operations import Work
from imlp_audit.measure.tables import Table, each, join


def nothing(_: Call) -> Work:
    """No work."""
    return {}


MOVEMENT: Table = join(
    each(
        "view reshape view_as reshape_as _unsafe_view _reshape_alias flatten unflatten squeeze"
        " unsqueeze expand expand_as permute transpose t numpy_T mT movedim swapaxes swapdims moveaxis"
        " select slice narrow split split_with_sizes tensor_split chunk unbind unfold diagonal"
        " as_strided alias detach real imag view_as_real view_as_complex",
        nothing,
    ),
    each(
        "cat concat concatenate stack hstack vstack contiguous clone copy _to_copy to type_as"
        " lift_fresh lift pad constant_pad_nd reflection_pad1d reflection_pad2d replication_pad1d"
        " replication_pad2d _pad_circular roll flip rot90 repeat tile repeat_interleave broadcast_to"
        " broadcast_tensors meshgrid pixel_shuffle pixel_unshuffle channel_shuffle"
        " native_channel_shuffle im2col",
        nothing,
    ),
    each(
        "index index_select index_put _unsafe_index gather take take_along_dim scatter select_scatter"
        " slice_scatter masked_select embedding one_hot tril triu",
        nothing,
    ),
    each(
        "empty empty_like empty_strided new_empty zeros zeros_like new_zeros ones ones_like new_ones"
        " full full_like new_full arange linspace eye scalar_tensor fill zero tril_indices triu_indices",
        nothing,
    ),
    each("size stride numel dim is_complex is_floating_point is_same_size", nothing),
)
