from __future__ import annotations

from collections import Counter

import pytest
import torch

from imlp_audit.count.call import Operation
from imlp_audit.count.ledger import measure
from imlp_audit.count.record import Ledger, Site, site_of

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


def test_a_condensed_ledger_has_the_same_work_at_each_site_and_within_each_part() -> None:
    linear, conv = Operation.LINEAR, Operation.CONV
    work = {
        ("stem.0", conv): 1, ("stem.1", conv): 2, ("blocks.0.mlp.fc1", linear): 10, ("blocks.0.mlp.fc2", linear): 20,
        ("blocks.0.mlps", linear): 100, ("blocks.1.mlp", linear): 200, ("blocks.1.attn", conv): 400,
        ("head.mlp", linear): 1000, ("head", linear): 2000,
    }  # fmt: skip
    mlps = ("blocks.0.mlp", "blocks.1.mlp", "head.mlp")
    whole = Ledger(work, {"aten::odd": 3})
    found = whole.condensed(mlps)
    assert found.work == {
        ("stem.0", conv): 3, ("blocks.0.mlp.fc1", linear): 230, ("blocks.0.mlps", linear): 100,
        ("blocks.0.mlps", conv): 400, ("head.mlp", linear): 1000, ("head", linear): 2000,
    }  # fmt: skip
    assert found.unknown == whole.unknown
    assert found.by_site == whole.by_site
    assert found.within(mlps).by_site == whole.within(mlps).by_site
