"""Drawings: what is drawn of what, that their words and images are right, and that their bytes repeat."""

from __future__ import annotations

from io import BytesIO
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.image import imread
from torch import Tensor

from imlp_audit.inspect import plot_matrices
from imlp_audit.inspect.parts import find_parts
from imlp_audit.inspect.plot_matrices import mosaic
from imlp_audit.inspect.plot_page import Drawing, page_file, pages, shorten
from imlp_audit.inspect.weights import draw, measure_parts
from imlp_audit.models.imlp import amlp

from .planted import resmlp, spike, stem, toeplitz

State = dict[str, Tensor]
LABEL = "mine.pth, SHA-256 0123456789abcdef"


def drawn(state: State) -> dict[str, Drawing]:
    found = find_parts(state)
    return {one.file: one for one in draw(found, measure_parts(found, state), LABEL)}


def words(drawing: Drawing) -> str:
    return " ".join(text for text in ElementTree.fromstring(drawing.content).itertext())


def imlp(layers: int) -> State:
    torch.manual_seed(1)
    state = {f"blocks.{at}.mlp.{n}": v for at in range(layers) for n, v in amlp(3, 4).state_dict().items()}
    return {name: value + torch.randn_like(value) / 3 for name, value in state.items()}


def mixer() -> State:
    shapes = {
        "mlp_tokens.fc1": (7, 16),
        "mlp_tokens.fc2": (16, 7),
        "mlp_channels.fc1": (6, 2),
        "mlp_channels.fc2": (2, 6),
    }
    return stem() | {f"b.{at}.{n}.weight": torch.randn(s) for at in range(2) for n, s in shapes.items()}


@pytest.mark.slow
def test_imlp_has_pictures_of_shapes_histograms_and_slopes() -> None:
    found = drawn(imlp(3))
    assert list(found) == ["agelu_shapes.svg", "agelu_histograms.svg", "slopes.svg"]
    told = words(found["agelu_histograms.svg"])
    for word in ("layer 3: blocks.2.mlp", "units, %", "α, scale of the input", "θ, offset", "AGeLU'"):
        assert word in told
    assert all(LABEL in words(one) for one in found.values())
    assert "x, the input of AGeLU" in words(found["agelu_shapes.svg"])
    assert "at most: product of spectral norms" in words(found["slopes.svg"])


@pytest.mark.slow
def test_resmlp_has_pictures_of_rows_sparsity_and_patterns() -> None:
    found = drawn(resmlp([spike(9, own=3, seed=at) for at in range(4)]))
    assert list(found) == ["cross_patch_rows.png", "sparsity.svg", "cross_patch_patterns.svg"]
    assert "weights below 5 % of the maximum, %" in words(found["sparsity.svg"])
    assert "share within 2 patches" in words(found["cross_patch_patterns.svg"])
    pixels = imread(BytesIO(found["cross_patch_rows.png"].content))
    assert pixels.shape[0] > 300
    assert pixels.std() > 0.05


def test_a_mixer_has_pictures_of_its_units_too() -> None:
    found = drawn(mixer())
    assert list(found) == ["cross_patch_rows.png", "token_mixing_units.png", "sparsity.svg", "cross_patch_patterns.svg"]
    assert "derivative at 0" in found["cross_patch_rows.png"].caption


def test_without_a_grid_there_are_no_images() -> None:
    assert list(drawn(resmlp([spike(3, own=1, seed=0)], image=False))) == ["sparsity.svg"]
    assert list(drawn(resmlp([np.eye(8)]))) == ["sparsity.svg"]


@pytest.mark.slow
def test_gmlp_has_pictures_of_its_gates() -> None:
    state = {"blocks.0.sgu.proj.weight": torch.from_numpy(toeplitz(9, seed=0))}
    assert list(drawn(state)) == ["gates.png", "toeplitz.svg"]
    assert "Toeplitz on the grid of patches" not in words(drawn(state)["toeplitz.svg"])
    assert "Toeplitz on the grid of patches" in words(drawn(state | stem())["toeplitz.svg"])


@pytest.mark.slow
def test_the_same_weights_give_the_same_bytes_whatever_the_users_style() -> None:
    state = imlp(1) | resmlp([spike(4, own=3, seed=0)])
    once = drawn(state)
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 20, "svg.fonttype": "path"}):
        twice = drawn(state)
        assert mpl.rcParams["font.size"] == 20
    assert once == twice
    assert len(once) == 6


@pytest.mark.slow
def test_weights_of_zero_and_single_numbers_are_drawn() -> None:
    zeros = {name: torch.zeros_like(value) for name, value in (imlp(1) | mixer() | resmlp([np.eye(16)])).items()}
    assert len(drawn(zeros)) == 7
    single = resmlp([np.ones((1, 1))], width=1) | {"blocks.0.sgu.proj.weight": torch.ones(1, 1)}
    assert len(drawn(single)) == 5
    assert drawn({}) == {}


def test_coefficients_as_large_as_they_may_be_are_drawn() -> None:
    state = {name: value * 1e29 for name, value in imlp(1).items()}
    assert len(drawn(state)) == 3


def test_rows_stand_where_their_patches_stand() -> None:
    """Of a grid of 8 x 8 the central 6 x 6 are those of rows and columns 1 to 6."""
    side = 8
    matrix = np.arange(float(side**4)).reshape(side**2, side**2)
    image = mosaic(matrix, side)
    assert image.shape == (6 * 9 + 1, 6 * 9 + 1)
    for down in range(6):
        for right in range(6):
            small = image[down * 9 + 1 : down * 9 + 9, right * 9 + 1 : right * 9 + 9]
            np.testing.assert_array_equal(small, matrix[(down + 1) * side + right + 1].reshape(side, side))
    assert np.isnan(image[::9]).all()
    assert np.isnan(image[:, ::9]).all()
    assert np.isfinite(image).sum() == 36 * 64
    assert mosaic(np.eye(4), 2).shape == (7, 7)


@pytest.mark.slow
def test_many_layers_take_several_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_matrices, "_PANELS", 2)
    files = list(drawn(resmlp([spike(2, own=1, seed=at) for at in range(3)], width=1)))
    assert files[:2] == ["cross_patch_rows.png", "cross_patch_rows_2.png"]
    assert [first for first, _ in pages(range(25), 12)] == [1, 13, 25]
    assert page_file("a", 25, 12, "png") == "a_3.png"


@pytest.mark.parametrize("name", ["a", "x" * 300])
def test_titles_are_shorten(name: str) -> None:
    assert len(shorten(name)) <= 26
    assert shorten(name)[-1] == name[-1]


def test_dollars_and_brackets_in_names_are_not_formulas() -> None:
    state = {f"a$\\frac{{$.{name}": value for name, value in resmlp([np.eye(4)]).items()}
    assert len(drawn(stem() | state)) == 3
