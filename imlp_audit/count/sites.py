"""Where in a host a module sits, by the names that the hosts declare."""

from __future__ import annotations

from enum import StrEnum

from imlp_audit.models.hosts import HOSTS


class Site(StrEnum):
    """A part of a classifier that a counting convention may weigh apart."""

    STEM = "stem"
    DOWNSAMPLE = "downsample"
    BLOCK = "block"
    HEAD = "head"


_STEMS = frozenset().union(*(host.stem for host in HOSTS.values()))
_HEADS = frozenset().union(*(host.head for host in HOSTS.values()))


def site_of(module_path: str) -> Site:
    """Return the site of a dotted module path such as `layers.1.downsample.norm`: a block if nothing else."""
    names = module_path.split(".")
    if "downsample" in names:
        return Site.DOWNSAMPLE
    if names[0] in _STEMS:
        return Site.STEM
    return Site.HEAD if names[0] in _HEADS else Site.BLOCK
