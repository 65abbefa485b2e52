from __future__ import annotations

from collections import Counter

import pytest
import torch

from imlp_audit.count.ledger import measure
from imlp_audit.count.sites import Site, site_of

from .counters import host


@pytest.mark.parametrize(
    ("path", "site"),
    [
        ("", Site.BLOCK),
        ("patch_embed.proj", Site.STEM),
        ("stem.0", Site.STEM),
        ("blocks.3.norm1", Site.BLOCK),
        ("layers.1.downsample.norm", Site.DOWNSAMPLE),
        ("stages.2.downsample.norm", Site.DOWNSAMPLE),
        ("layer2.0.downsample.1", Site.DOWNSAMPLE),
        ("norm", Site.HEAD),
        ("head.fc", Site.HEAD),
        ("classifier", Site.HEAD),
        ("blocks.0.head", Site.BLOCK),
        ("normals.0", Site.BLOCK),
    ],
)
def test_site_of_a_path(path: str, site: Site) -> None:
    assert site_of(path) is site


@pytest.mark.parametrize(
    ("name", "norms"),
    [
        # Two norms a block, and one before the classifier; Swin and PoolFormer have three changes of resolution,
        # of which Swin's alone are normalised. Swin normalises its patches too.
        ("deit_tiny_patch16_224", {Site.BLOCK: 24, Site.HEAD: 1}),
        ("swin_tiny_patch4_window7_224", {Site.STEM: 1, Site.DOWNSAMPLE: 3, Site.BLOCK: 24, Site.HEAD: 1}),
        ("poolformer_s12", {Site.BLOCK: 24, Site.HEAD: 1}),
    ],
)
def test_norms_of_the_hosts_fall_at_their_sites(name: str, norms: dict[Site, int]) -> None:
    ledger = measure(host(name, "meta"), torch.empty(1, 3, 224, 224, device="meta"))
    paths = {path for path, operation in ledger.work if operation.endswith("_norm")}
    assert Counter(map(site_of, paths)) == norms
