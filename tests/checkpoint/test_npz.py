"""Numpy archives: arrays as numpy writes them, and Mixer's weights as its authors published them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import timm
import torch
from numpy.typing import NDArray

from imlp_audit.checkpoint.fitting import fit
from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.weights import compute_as_published
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from tests.checkpoint.reading import load_into, parse, read_state

Array: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
RANDOM = np.random.default_rng(0)
WIDTH, TOKENS, BLOCKS, PATCH, SIDE, CLASSES = 12, 16, 2, 8, 32, 5


def save(path: Path, arrays: dict[str, Array]) -> Path:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return path


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path, dtype: str) -> None:
    shapes: tuple[tuple[int, ...], ...] = ((), (0,), (3,), (2, 3), (2, 3, 4), (2, 3, 4, 5))
    made = {f"a{len(shape)}{np.prod(shape):.0f}": (10 * RANDOM.random(shape)).astype(dtype) for shape in shapes}
    made |= {f"f{name}": np.asfortranarray(value) for name, value in made.items()}
    path = save(tmp_path / "w.npz", made)
    found = read_state(path)
    assert str(parse(path).container) == "numpy"
    with np.load(path) as theirs:
        assert found.keys() == set(theirs.files)
        for name in theirs.files:
            assert torch.equal(found[name], torch.from_numpy(theirs[name]))


def flax() -> dict[str, Array]:
    """Mixer's weights by the names of vit_jax/models_mixer.py (google-research/vision_transformer)."""

    def draw(*shape: int) -> Array:
        return RANDOM.normal(0, 0.3, shape).astype(np.float32)

    made = {"stem/kernel": draw(PATCH, PATCH, 3, WIDTH), "stem/bias": draw(WIDTH)}
    for at in range(BLOCKS):
        for part, inner, hidden in (("token_mixing", TOKENS, 6), ("channel_mixing", WIDTH, 20)):
            for layer, (held, given) in enumerate(((inner, hidden), (hidden, inner))):
                name = f"MixerBlock_{at}/{part}/Dense_{layer}"
                made |= {f"{name}/kernel": draw(held, given), f"{name}/bias": draw(given)}
        for norm in (0, 1):
            name = f"MixerBlock_{at}/LayerNorm_{norm}"
            made |= {f"{name}/scale": 1 + draw(WIDTH), f"{name}/bias": draw(WIDTH)}
    last = {"pre_head_layer_norm/scale": 1 + draw(WIDTH), "pre_head_layer_norm/bias": draw(WIDTH)}
    return {**made, **last, "head/kernel": draw(WIDTH, CLASSES), "head/bias": draw(CLASSES)}


def run(w: dict[str, Array], images: Array) -> Array:
    """Compute what that code does, in numpy, for images of shape (batch, height, width, 3)."""

    def norm(x: Array, name: str) -> Array:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        made: Array = (x - mean) / np.sqrt(variance + 1e-6) * w[f"{name}/scale"] + w[f"{name}/bias"]
        return made

    def dense(x: Array, name: str) -> Array:
        made: Array = x @ w[f"{name}/kernel"] + w[f"{name}/bias"]
        return made

    def mlp(x: Array, name: str) -> Array:
        y = dense(x, f"{name}/Dense_0")
        gelu = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))  # Flax's default
        return dense(gelu, f"{name}/Dense_1")

    grid = SIDE // PATCH
    patches = (
        images.reshape(-1, grid, PATCH, grid, PATCH, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, TOKENS, PATCH**2 * 3)
    )
    x = patches @ w["stem/kernel"].reshape(-1, WIDTH) + w["stem/bias"]
    for at in range(BLOCKS):
        block = f"MixerBlock_{at}"
        x = x + mlp(norm(x, f"{block}/LayerNorm_0").swapaxes(1, 2), f"{block}/token_mixing").swapaxes(1, 2)
        x = x + mlp(norm(x, f"{block}/LayerNorm_1"), f"{block}/channel_mixing")
    return dense(norm(x, "pre_head_layer_norm").mean(1), "head")


OURS = Recipe.model_validate(
    {
        "mixer": {"layers": BLOCKS, "patch": PATCH, "width": WIDTH, "tokens_hidden": 6, "channels_hidden": 20},
        "image": SIDE,
        "classes": CLASSES,
    }
)


def build(code: str) -> torch.nn.Module:
    if code == "ours":
        with Builder("cpu").variant(OURS, None) as variant:
            return variant.model
    ratio = (6 / WIDTH, 20 / WIDTH)
    sizes = {"img_size": SIDE, "patch_size": PATCH, "embed_dim": WIDTH, "num_blocks": BLOCKS, "mlp_ratio": ratio}
    model: torch.nn.Module = timm.models.mlp_mixer.MlpMixer(num_classes=CLASSES, **sizes)
    return model.eval()


@pytest.mark.parametrize("code", ["timm", "ours"])
def test_mixers_published_weights_compute_what_its_code_does(tmp_path: Path, code: str) -> None:
    weights = flax()
    parsed = parse(save(tmp_path / "w.npz", weights))
    model = build(code)
    found = fit(parsed.shapes, model)
    load_into(model, parsed)
    model.double()
    images = RANDOM.normal(size=(8, SIDE, SIDE, 3))
    expected = torch.from_numpy(run({name: value.astype(np.float64) for name, value in weights.items()}, images))
    x = torch.from_numpy(images).permute(0, 3, 1, 2)
    with torch.inference_mode():
        exact = model(x)
        computed = compute_as_published(model, found.layout)
        torch.testing.assert_close(model(x), expected, rtol=0, atol=1e-10)
        assert (exact - expected).abs().max() > 1e-5  # by GELU itself
    assert "GELU by its tanh approximation" in computed.notes[0]


def damage(path: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.npy", content)
    return path


def header(text: str, numbers: bytes = bytes(8)) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + numbers


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not begin as an array"),
        (b"\x93NUMPY\x01\x00\xff\xff{}", "does not begin as an array"),
        (header("__import__('os').mkdir('executed')"), "has a header that is no table"),
        (header("[" * 4000), "has a header that is no table"),
        (header("{'descr': '<f4'}"), "is not described by descr, fortran_order and shape"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "in the unsupported type |O"),
        (header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "in the unsupported type"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "an impossible shape"),
        (header("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}"), "an impossible shape"),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000,)}"),
            "claims 10000000000 numbers in 8",
        ),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"), "claims 1 numbers in 8 bytes"),
    ],
)
def test_damaged_and_hostile_arrays_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(CheckpointError) as refused:
        read_state(damage(tmp_path / "w.npz", "a", content))
    assert words in str(refused.value)
    assert str(refused.value).isprintable()
    assert not Path("executed").exists()
