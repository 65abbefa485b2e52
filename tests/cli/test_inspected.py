"""`imlp-audit inspect --draw`, and its results in reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import save_file

from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe

from .running import Outcome, call

MIXER = """\
paper: mixing
about: {title: A small mixer, authors: An author, version: v1}
tables:
  - table: "1"
    title: A table
    source: {section: "1"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
    rows:
      - id: small
        label: Small
        model: {resmlp: {layers: 2, width: 24, form: algorithm}, image: 96, classes: 10}
        printed: {params: 0.1}
"""


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """A folder with a paper, a ResMLP of 6 x 6 patches that fits its row, and what `inspect` found and drew."""
    folder = tmp_path_factory.mktemp("looked")
    (folder / "mixing.yaml").write_text(MIXER, encoding="utf-8")
    recipe = Recipe.model_validate(
        {"resmlp": {"layers": 2, "width": 24, "form": "algorithm"}, "image": 96, "classes": 10}
    )
    with Builder("cpu").variant(recipe, None) as variant:
        save_file(variant.model.state_dict(), folder / "small.safetensors")
    paths = [str(folder / name) for name in ("small.safetensors", "mixing.yaml", "drawn")]
    done = call("inspect", *paths[:2], "resmlp", "--draw", paths[2], "-f", "json")
    (folder / "looked.json").write_text(done.out, encoding="utf-8")
    return folder, done


def test_pictures_are_drawn_and_listed(looked: tuple[Path, Outcome]) -> None:
    folder, done = looked
    assert (done.code, done.err) == (0, "")
    pictures = json.loads(done.out)["pictures"]
    assert pictures
    page = (folder / "drawn" / "weights.md").read_text(encoding="utf-8")
    digest = json.loads(done.out)["file"]["sha256"]
    assert page.startswith(f"Weights of small.safetensors, SHA-256 {digest[:16]}\n")
    for file in pictures:
        assert (folder / "drawn" / file).stat().st_size > 1000
        assert f"]({file})" in page


def test_a_report_has_a_section_on_the_weights(looked: tuple[Path, Outcome]) -> None:
    folder, done = looked
    told = json.loads(done.out)
    report = call("report", str(folder / "mixing.yaml"), "--with", str(folder / "looked.json"))
    assert report.code == 0
    assert "\n## What the weights show\n" in report.out
    assert f"`{told['file']['sha256']}`" in report.out
    assert "](" not in report.out  # there is no folder that pictures could lie in
    plain = call("report", str(folder / "mixing.yaml")).out
    assert report.out.startswith(plain)


def test_a_report_shows_the_pictures_that_lie_beside_it(looked: tuple[Path, Outcome]) -> None:
    folder, done = looked
    asked = ("report", str(folder / "mixing.yaml"), "--with", str(folder / "looked.json"), "--dir")
    pictures = json.loads(done.out)["pictures"]
    assert call(*asked, str(folder / "drawn")).code == 0
    page = (folder / "drawn" / "mixing.md").read_text(encoding="utf-8")
    assert all(f"]({file})" in page for file in pictures)
    (folder / "bare").mkdir()
    bare = call(*asked, str(folder / "bare"))
    assert all(file in bare.err for file in pictures)
    assert "_cross_patch_rows.png)" not in (folder / "bare" / "mixing.md").read_text(encoding="utf-8")


def test_the_report_of_another_paper_has_none(looked: tuple[Path, Outcome]) -> None:
    folder, done = looked
    told = json.loads(done.out)
    told["exact"][0]["places"] = ["other/1/small"]
    (folder / "other.json").write_text(json.dumps(told), encoding="utf-8")
    report = call("report", str(folder / "mixing.yaml"), "--with", str(folder / "other.json"))
    assert "weights show" not in report.out


@pytest.mark.parametrize(
    "change", [{"weights": 3}, {"file": {}}, {"exact": [1]}, {"pictures": []}, {"file": {"sha256": "<b>"}}]
)
def test_a_broken_result_of_inspect_is_refused(looked: tuple[Path, Outcome], change: dict[str, object]) -> None:
    folder, done = looked
    (folder / "broken.json").write_text(json.dumps(json.loads(done.out) | change), encoding="utf-8")
    report = call("report", str(folder / "mixing.yaml"), "--with", str(folder / "broken.json"))
    assert report.code == 2
    assert "broken.json: " in report.err
    assert "give a file written by `imlp-audit inspect --format json`" in report.err


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_it_goes_only_into_what_people_read(looked: tuple[Path, Outcome], form: str) -> None:
    folder, _ = looked
    report = call("report", str(folder / "mixing.yaml"), "--with", str(folder / "looked.json"), "-f", form)
    assert (report.code, report.err.count(f"--with: {form} has no place for a result of inspect")) == (2, 1)
