"""The systems of papers: each model once, with its size and every place that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from imlp_audit.count.facts import Facts, ModelKey, Need
from imlp_audit.errors import UsageError
from imlp_audit.explain.systems import Measurer, list_systems
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.listing import ListedModel
from imlp_audit.spec.library import Selection, load
from tests.checks.papers import Count, Counts, Spec, counted, name, write

ROWS = (
    "{id: a, label: A, model: {timm: small}, printed: {params: 1.00}}",
    "{id: b, label: + IMLP, baseline: a, model: {timm: small, mlp: {imlp: {kernel: 3}}}, printed: {params: 1.00}}",
    "{id: c, label: C, printed: {params: 1.00}}",
    "{id: d, label: D, model: {timm: large}, printed: {params: 1.00}}",
)
MORE = ("{id: again, label: A again, model: {timm: small}, printed: {params: 1.00}}",)
SYSTEMS = """\
systems:
  - {id: e, label: E, model: {timm: other}, source: {section: "2"}}
  - {id: f, label: F, model: {timm: large}, source: {section: "2"}}
"""
COUNTS: Counts = {
    "small": Count(10, macs=100, norms=7),
    "small+3": Count(20, macs=200),
    "small+3@skip": Count(21, macs=201),
    "large": Count(30, macs=300, head=5),
    "other": None,
}
Measured = dict[str, Need]


def count(asked: Measured, counts: Counts = COUNTS) -> Measurer:
    """Return what gives counts in place of measured models, and notes what it was asked for, by name."""

    def measure(needed: Mapping[ModelKey, Need], progress: Callable[[str], None]) -> Facts:
        asked.update({name(key): need for key, need in needed.items()})
        for key in needed:
            progress(key.recipe.name)
        return {key: counted(counts, key, need) for key, need in needed.items()}

    return measure


@pytest.fixture
def measured() -> Measured:
    """What was asked to be measured."""
    return {}


def papers(root: Path) -> Selection:
    first = Spec(ROWS, MORE, end=SYSTEMS)
    return write(root, first, Spec(("{id: x, label: X, model: {timm: small}, printed: {params: 1.00}}",), id="q"))


def found(
    selection: Selection, measurer: Measurer | None, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()
) -> Sequence[ListedModel]:
    return list_systems(selection, only, skip, lambda number: lambda name: None, measurer).models


def places(listed: Sequence[ListedModel]) -> list[tuple[str, ...]]:
    return [model.places for model in listed]


def listed(label: str, recipe: Recipe, *places: str, sizes: tuple[int, int] | None = None) -> ListedModel:
    parameters, macs = sizes or (None, None)
    failure = None if sizes else "no model other"
    return ListedModel(
        label=label, recipe=str(recipe), places=places, parameters=parameters, macs=macs, failure=failure
    )


def test_each_model_is_listed_once_with_its_size_and_all_its_places(tmp_path: Path, measured: Measured) -> None:
    block = Recipe.model_validate({"timm": "small", "mlp": {"imlp": {"kernel": 3}}})
    small, large, other = (Recipe.of(timm=name) for name in ("small", "large", "other"))
    assert list(found(papers(tmp_path), count(measured))) == [
        listed("A", small, "p/1/a", "p/2/again", "q/1/x", sizes=(10, 100)),
        listed("A + IMLP", block, "p/1/b", sizes=(20, 200)),
        listed("D", large, "p/1/d", "p/systems/f", sizes=(30, 300)),
        listed("E", other, "p/systems/e"),
    ]
    assert measured == dict.fromkeys(["small", "small+3", "large", "other"], Need(work=True))


def test_the_default_reading_is_listed(tmp_path: Path, measured: Measured) -> None:
    """The first that the paper's file names: the other way round it is the other model."""
    spec = Spec(ROWS)
    swapped = (
        spec.text().replace("    plain:", "    x:").replace("    skip:", "    plain:").replace("    x:", "    skip:")
    )
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "paper.yaml").write_text(swapped.replace("value: no,", "value: yes,"), encoding="utf-8")
    assert [system.parameters for system in found(load([str(tmp_path / "p")]), count(measured))] == [10, 21, 30]
    assert [system.parameters for system in found(write(tmp_path / "as_it_was", spec), count(measured))] == [10, 20, 30]


@pytest.mark.parametrize(
    ("only", "skip", "expected"),
    [
        (("p/1/*",), (), [("p/1/a",), ("p/1/b",), ("p/1/d",)]),
        (("q/*", "p/2/*"), (), [("p/2/again", "q/1/x")]),
        (("p/systems/*",), (), [("p/systems/e",), ("p/systems/f",)]),
        ((), ("*/a", "p/systems/*"), [("p/1/b",), ("p/1/d",), ("p/2/again", "q/1/x")]),
        (("p/1/c", "p/1/a"), (), [("p/1/a",)]),  # c has no model
    ],
)
def test_only_and_skip_choose_by_globs_of_rows_and_systems(
    tmp_path: Path, measured: Measured, only: tuple[str, ...], skip: tuple[str, ...], expected: list[tuple[str, ...]]
) -> None:
    models = found(papers(tmp_path), count(measured), only, skip)
    assert sorted(places(models)) == expected
    assert len(measured) == len(expected), "models that are not listed are not measured"


@pytest.mark.parametrize(
    ("only", "skip"),
    [(("r/*",), ()), (("p/1/*",), ("p/1/?",)), (("p/1/c",), ())],
)
def test_selecting_nothing_is_an_error(
    tmp_path: Path, measured: Measured, only: tuple[str, ...], skip: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match="no model is left"):
        found(papers(tmp_path), count(measured), only, skip)
    assert not measured


def test_a_single_file_lists_only_its_own_systems(tmp_path: Path, measured: Measured) -> None:
    """As it has its own checks; its siblings say what its readings are."""
    write(tmp_path, Spec(ROWS))
    table = ("{id: g, label: G, model: {timm: large}, printed: {params: 1.00}}",)
    columns = "columns:\n  params: {measure: parameters, unit: M, heading: Parameters (M)}\n"
    head = 'paper: p\ntable: "3"\ntitle: Table 3\nsource: {section: "1"}\n'
    file = tmp_path / "p" / "table3.yaml"
    file.write_text(f"{head}{columns}rows:\n  - {table[0]}\n", encoding="utf-8")
    assert places(found(load([str(tmp_path / "p")]), count(measured)))[-1] == ("p/1/d", "p/3/g")
    assert places(found(load([str(file)]), count(measured))) == [("p/3/g",)]


def test_work_that_no_formula_counts_is_reported(tmp_path: Path, measured: Measured) -> None:
    counts: Counts = {**COUNTS, "large": Count(30, macs=300, unknown=("fft",))}
    models = found(papers(tmp_path), count(measured, counts), only=("p/1/d",))
    assert [model.failure for model in models] == ["no formula counts fft"]


def test_real_models_are_counted(tmp_path: Path) -> None:
    """A ViT, and the smallest of ours, by closed formulas."""
    rows = (
        "{id: deit_ti, label: DeiT-Ti, model: {timm: deit_tiny_patch16_224}, printed: {params: 5.72}}",
        "{id: mixer, label: Mixer, printed: {params: 5.72}, model: {image: 16, classes: 7,"
        " mixer: {layers: 1, patch: 8, width: 2, tokens_hidden: 3, channels_hidden: 5}}}",
        "{id: typo, label: Typo, model: {timm: deit_tinny}, printed: {params: 5.72}}",
    )
    deit, mixer, typo = found(write(tmp_path, Spec(rows)), None)
    assert (deit.parameters, deit.macs) == (5_717_416, 1_253_683_200)
    stem, tokens, channels, norms, head = 192 * 2 + 2, 2 * 4 * 3 + 3 + 4, 2 * 2 * 5 + 5 + 2, 3 * 2 * 2, 2 * 7 + 7
    assert mixer.parameters == stem + tokens + channels + norms + head
    assert mixer.macs == 4 * 192 * 2 + 2 * (2 * 4 * 3) + 4 * (2 * 2 * 5) + 2 * 7
    assert typo.failure is not None
    assert "timm has no model 'deit_tinny'" in typo.failure
    assert (typo.parameters, typo.macs) == (None, None)
