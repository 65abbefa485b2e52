"""torchvision's own published numbers: the spec has what the package prints, and the model of each weight.

`python -m tests.test_zoo` writes the rows anew from the installed torchvision.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torchvision
from torchvision import models

from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import Verdict
from imlp_audit.spec.load import load
from tests.measured import STORE

FILE = Path(__file__).parent.parent / "specs" / "torchvision_zoo" / "classifiers.yaml"
HEAD = """\
# What torchvision {version} prints of its classifiers' weights: `num_params` and `_ops` of each `meta`.
# `python -m tests.test_zoo` writes this file anew from the installed package.
paper: torchvision_zoo
table: "1"
title: Weights of torchvision's classifiers
source: {{section: torchvision.models}}
columns:
  params: {{measure: parameters, unit: "", heading: num_params}}
  flops: {{measure: flops, unit: G, heading: _ops}}
rows:
"""


def written() -> str:
    """Return the file for the installed torchvision."""
    return HEAD.format(version=torchvision.__version__.partition("+")[0]) + "".join(_rows())


# With weights, googlenet drops its auxiliary classifiers once they are read; inception_v3 keeps its own.
HOSTS = {"googlenet": "{architecture: googlenet, arguments: {aux_logits: false}}"}


def _rows() -> Iterator[str]:
    for name in models.list_models(module=models):
        for weights in models.get_model_weights(name):
            yield (
                f"  - id: {name}_{weights.name.lower()}\n"
                f"    label: {type(weights).__name__}.{weights.name}\n"
                f"    model: {{torchvision: {HOSTS.get(name, name)}, image: {weights.transforms().crop_size[0]}}}\n"
                f"    printed: {{params: {weights.meta['num_params']}, flops: {weights.meta['_ops']:.3f}}}\n"
            )


def test_the_rows_are_what_the_package_prints() -> None:
    if f"torchvision {torchvision.__version__.partition('+')[0]} " not in FILE.read_text(encoding="utf-8"):
        pytest.skip(f"the rows are of another version than the installed {torchvision.__version__}")
    assert FILE.read_text(encoding="utf-8") == written()


@pytest.mark.slow
def test_every_printed_number_follows() -> None:
    options = Options(only=("torchvision_zoo/1/*",), store=STORE)
    result = audit(load(["torchvision_zoo"]), options, lambda _: lambda name: None)
    assert [check.id for check in result.checks if check.verdict is not Verdict.REPRODUCED] == []
    assert len(result.checks) == 230


def test_a_model_that_computes_its_widths_with_tensors_has_the_published_size() -> None:
    """RegNet does; tensors on the meta device hold no numbers."""
    with Builder().variant(Recipe.of(torchvision="regnet_x_400mf"), None) as variant:
        published = models.RegNet_X_400MF_Weights.IMAGENET1K_V1.meta["num_params"]
        assert sum(parameter.numel() for parameter in variant.model.parameters()) == published == 5_495_976


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"torchvision": "resnet51"}, "torchvision has no classifier 'resnet51'; did you mean 'resnet50'"),
        ({"torchvision": "vit_b_16", "image": [224, 384]}, "takes square images, not 224 x 384"),
    ],
)
def test_what_cannot_be_built_is_named(recipe: dict[str, object], message: str) -> None:
    with pytest.raises(BuildError, match=message), Builder().variant(Recipe.of(**recipe), None):
        pass


def test_it_is_audited_only_where_it_is_named() -> None:
    assert "torchvision_zoo" not in {paper.id for paper in load().papers}
    (paper,) = load(["torchvision_zoo"]).papers
    assert sum(1 for _ in paper.rows) == sum(
        len(models.get_model_weights(name)) for name in models.list_models(module=models)
    )


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
