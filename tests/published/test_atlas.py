"""The atlas: its specs are sound and large enough, its pages say what its audit says, and its errors are recounted."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest
import timm
import torch
import torchvision
import transformers
import yaml

from docs.atlas import DOCS, SPECS, pages
from imlp_audit.models.available_hosts import Timm, Torchvision, Transformers
from imlp_audit.models.recipe import Form, Recipe
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.check import PASSES, CellCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.load import load


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    return audit(load([str(SPECS)]), Options(jobs=2), lambda _: lambda _: None)


def test_it_has_the_extent_that_its_page_says() -> None:
    papers = load(["atlas"]).papers
    rows = [row for paper in papers for row in paper.rows]
    assert (len(papers) >= 25, sum(len(one.tables) for one in papers) >= 30, len(rows) >= 500) == (True, True, True)
    assert all(row.row.model is not None for row in rows)
    for paper in papers:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/tree/[0-9a-f]{40}", paper.about.value.url or "")


def test_what_authors_code_gave_is_kept_for_each_number_of_its_specs() -> None:
    """Their code is not here: whoever clones it counts anew."""
    folder = SPECS.parent / "atlas_code"
    with (folder / "counted.csv").open(encoding="utf-8", newline="") as file:
        kept = [*csv.DictReader(file)]
    printed: Counter[tuple[str, str, str]] = Counter()
    for path in sorted(folder.glob("*/table_*.yaml")):
        (table,) = yaml.safe_load(path.read_text(encoding="utf-8"))["tables"]
        for row in table["rows"]:
            printed.update((path.parent.name, row["label"], _with_unit(n)) for n in row["printed"].values())
    assert printed == Counter((row["source"], row["model"], row["printed"]) for row in kept)
    for row in kept:
        follows = int(row["counted"]) in parse_printed(row["printed"], row["printed"][-1]).interval()
        assert follows is (row["verdict"] in PASSES), row


def _with_unit(printed: str | float) -> str:
    return printed if isinstance(printed, str) else f"{printed}M"


@pytest.mark.slow
def test_its_pages_say_what_its_audit_says(audited: AuditResult) -> None:
    assert {name: text == (DOCS / name).read_text(encoding="utf-8") for name, text in pages(audited).items()} == {
        "atlas.md": True, "atlas.html": True, "atlas.svg": True,
    }  # fmt: skip


@pytest.mark.slow
def test_what_does_not_follow_is_explained_and_has_been_recounted(audited: AuditResult) -> None:
    """The parameters of each listed error, summed over the library's model without a line of ours."""
    listed = {name for finding in audited.findings for name in finding.checks}
    failing = {one.id: one for one in audited.of_kind(CellCheck) if one.verdict is Verdict.DIFFERS}
    assert failing.keys() <= listed
    models = {row.id: row.row.model for paper in load([str(SPECS)]).papers for row in paper.rows}
    for name, check in failing.items():
        model = models[name.rpartition("/")[0]]
        if check.convention == "all" and model is not None and model.form is Form.TRAINING:
            assert check.measured == str(_size(model)), name


def _size(recipe: Recipe) -> int:
    with torch.device("meta"):
        match recipe.host:
            case Torchvision(architecture=name):
                return _sum(torchvision.models.get_model(name))
            case Transformers(architecture=name, config=config):
                kind = getattr(transformers, name)
                return _sum(kind(kind.config_class(**config)))
            case Timm(architecture=name):
                extra = {"img_size": recipe.image} if recipe.image is not None else {}
                classes = recipe.classes or 1000  # as a recipe without classes means, whatever weights timm has
                try:
                    return _sum(timm.create_model(name, num_classes=classes, **extra))
                except TypeError:  # a convolutional net has no size
                    return _sum(timm.create_model(name, num_classes=classes))
        raise ValueError(f"{recipe} is of no library")


def _sum(model: torch.nn.Module) -> int:
    return sum(one.numel() for one in model.parameters())
