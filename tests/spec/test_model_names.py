"""Names of models that no library has, and the ones that are offered instead."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from imlp_audit.models.names.known import Library, version_of
from imlp_audit.models.names.match import suggest
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec import rules
from imlp_audit.spec.rules import complaint_about


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("swin_tiny", "swin_tiny_patch4_window7_224"),  # not swin_s3_tiny_224, which is as similar
        ("deit_small", "deit_small_patch16_224"),
        ("deit_tinny_patch16_224", "deit_tiny_patch16_224"),
        ("resnet5O", "resnet50"),
        ("Swin_T", "swin_tiny_patch4_window7_224"),
        ("MobileNet", "mobilenetv1_100"),
    ],
)
def test_the_model_that_was_meant_is_offered(name: str, meant: str) -> None:
    assert f"did you mean {meant!r}?" in str(complaint_about(Recipe.model_validate({"timm": name})))


@pytest.mark.parametrize(
    ("library", "name", "other"),
    [("torchvision", "deit_tiny_patch16_224", "timm"), ("timm", "vit_b_16", "torchvision")],
)
def test_a_model_of_the_other_library_is_offered_with_it(
    library: str, name: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "version", lambda name: version_of(Library(name)))  # as our list is of
    complaint = str(complaint_about(Recipe.model_validate({library: name})))
    assert complaint.endswith(f"has no model {name!r}; {other} has it: {{{other}: {name}}}")


@pytest.mark.parametrize(
    ("library", "label", "hint"),
    [
        (Library.TIMM, "DeiT-S", "did you mean 'deit_small_patch16_224'?"),
        (Library.TIMM, "ViT-B/16", "did you mean 'vit_base_patch16_224'?"),
        (Library.TIMM, "AlexNet", "torchvision may have it: {torchvision: alexnet}"),
        (Library.TIMM, "PVT-Small", None),  # timm has pvt_v2 alone
        (Library.TORCHVISION, "ResNet-50", "did you mean 'resnet50'?"),
        (Library.TORCHVISION, "DeiT-S", "timm may have it: {timm: deit_small_patch16_224}"),
        (Library.TIMM, "ResNet-50" + "-" * 100, None),  # no name, and not to be searched for
    ],
)
def test_a_label_of_a_paper_is_answered_with_the_name_in_a_library(
    library: Library, label: str, hint: str | None
) -> None:
    assert suggest(label, library) == hint


def test_a_name_is_judged_by_the_list_where_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(rules, "version", missing)
    assert "did you mean 'resnet50'?" in str(complaint_about(Recipe.model_validate({"timm": "resnet5O"})))
    assert complaint_about(Recipe.model_validate({"timm": "resnet50"})) is None


@pytest.mark.parametrize(
    ("installed", "known"), [("0.0.1", False), ("999", False), ("{}", True), ("{}+cpu", True), ("{}.1", False)]
)
def test_a_name_is_judged_by_the_list_where_the_library_is_of_its_version(
    monkeypatch: pytest.MonkeyPatch, installed: str, known: bool
) -> None:
    monkeypatch.setattr(rules, "version", lambda name: installed.format(version_of(Library(name)).split("+")[0]))
    for library in (Library.TIMM, Library.TORCHVISION):
        assert (complaint_about(Recipe.model_validate({str(library): "no_such_net"})) is not None) == known
