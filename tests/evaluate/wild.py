"""Checkpoints as people have them, made of one model's weights, and the table of what becomes of them.

`python -m tests.evaluate.wild` writes the table into docs/checkpoints.md.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from imlp_audit.checkpoint.contents import parse_states
from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.weights import Weights, with_weights
from imlp_audit.inspect.matching_rows import choose_candidates
from imlp_audit.models.build import Builder
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.paper import RowRef, find_row
from tests.evaluate.digits import write_spec

PAGE = Path(__file__).parents[2] / "docs" / "checkpoints.md"
ROW = "digits/1/deit"
Make = Callable[[Path, nn.Module], Path]


class Config(dict[str, object]):
    """A configuration as yacs has it; its class is unknown where the file is read."""


def unknown_class() -> type[Config]:
    """Return the class under a name that only pickling knows."""
    Config.__module__, Config.__qualname__ = "yacs.config", "CfgNode"
    return Config


def saved(content: Callable[[nn.Module], object], *, zipped: bool = True, protocol: int = 2) -> Make:
    def make(folder: Path, model: nn.Module) -> Path:
        modules = {"yacs": ModuleType("yacs"), "yacs.config": ModuleType("yacs.config")}
        modules["yacs.config"].__dict__["CfgNode"] = unknown_class()
        held = {name: sys.modules.get(name) for name in modules}
        sys.modules.update(modules)
        try:
            written = content(model)
            torch.save(written, folder / "c.pth", _use_new_zipfile_serialization=zipped, pickle_protocol=protocol)
        finally:
            for name, one in held.items():
                sys.modules.pop(name) if one is None else sys.modules.update({name: one})
        return folder / "c.pth"

    return make


def prefixed(prefix: str, model: nn.Module) -> dict[str, Tensor]:
    return {f"{prefix}{name}": value for name, value in model.state_dict().items()}


def optimizer(model: nn.Module) -> dict[str, object]:
    return {"state": {0: {"exp_avg": next(model.parameters()).data, "step": torch.tensor(1.0)}}, "param_groups": []}


def average(model: nn.Module) -> dict[str, Tensor]:
    return {name: value + 1 for name, value in model.state_dict().items()}


def submitit(model: nn.Module) -> object:
    options = argparse.Namespace(output_dir=Path("/runs"), lr=0.1)
    return {"model": model.state_dict(), "optimizer": optimizer(model), "epoch": 299, "args": options}


def swin(model: nn.Module) -> object:
    config = Config(MODEL=Config(DEPTHS=[2, 2]))
    return {"model": model.state_dict(), "optimizer": optimizer(model), "max_accuracy": 81.2, "config": config}


def timm_run(model: nn.Module) -> object:
    options = argparse.Namespace(model="x")
    return {"epoch": 1, "arch": "x", "state_dict": model.state_dict(), "args": options, "metric": numpy.float64(72.2)}


def lightning(model: nn.Module) -> object:
    kept: dict[str, object] = {"hyper_parameters": {"at": datetime(2026, 1, 1, tzinfo=UTC)}, "loops": {"fit_loop": {}}}
    callbacks = {"ModelCheckpoint": {"best_model_score": torch.tensor(0.7)}}
    return {"state_dict": prefixed("model.", model), "epoch": 1, "callbacks": callbacks, **kept}


def safetensors(folder: Path, model: nn.Module) -> Path:
    save_file(model.state_dict(), folder / "model.safetensors")
    return folder / "model.safetensors"


def sharded(folder: Path, model: nn.Module) -> Path:
    state = model.state_dict()
    files = {name: f"model-{1 + (at > 40):05}-of-00002.safetensors" for at, name in enumerate(state)}
    for file in {*files.values()}:
        save_file({name: state[name] for name in state if files[name] == file}, folder / file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": files}), encoding="utf-8")
    return index


def folder_of(folder: Path, model: nn.Module) -> Path:
    return safetensors(folder, model).parent


def script(folder: Path, model: nn.Module) -> Path:
    del model
    torch.jit.save(torch.jit.script(nn.Linear(2, 3)), str(folder / "c.pt"))
    return folder / "c.pt"


def arrays(folder: Path, model: nn.Module) -> Path:
    numpy.savez(str(folder / "c.npz"), allow_pickle=False, **{k: v.numpy() for k, v in model.state_dict().items()})
    return folder / "c.npz"


def tarred(folder: Path, model: nn.Module) -> Path:
    with tarfile.open(folder / "c.tar", "w") as file:
        file.add(safetensors(folder, model), "model.safetensors")
    return folder / "c.tar"


def zipped(folder: Path, model: nn.Module) -> Path:
    with zipfile.ZipFile(folder / "c.zip", "w") as file:
        file.write(safetensors(folder, model), "model.safetensors")
    return folder / "c.zip"


WILD: dict[str, Make] = {
    "`torch.save(model.state_dict())`": saved(lambda model: model.state_dict()),
    "the same before torch 1.6": saved(lambda model: model.state_dict(), zipped=False),
    "pickle protocol 4": saved(lambda model: model.state_dict(), protocol=4),
    "DeiT's training (`model`, `args` with paths)": saved(submitit),
    "Swin's training (`model`, `config` of yacs)": saved(swin),
    "timm's training (`state_dict`, numpy metrics)": saved(timm_run),
    "weights beside another average (`state_dict`, `state_dict_ema`)": saved(
        lambda model: {"state_dict": model.state_dict(), "state_dict_ema": average(model)}
    ),
    "a state of any name (`net`)": saved(lambda model: {"net": model.state_dict(), "epoch": 1}),
    "a state in a state in a state": saved(lambda model: {"a": {"b": {"c": model.state_dict()}}}),
    "the state beside another model's": saved(
        lambda model: {"generator": model.state_dict(), "discriminator": {"w": torch.ones(3)}}
    ),
    "Lightning (`state_dict` with `model.`)": saved(lightning),
    "DistributedDataParallel (`module.`)": saved(partial(prefixed, "module.")),
    "torch.compile (`_orig_mod.`)": saved(partial(prefixed, "_orig_mod.")),
    "swa_utils (`module.`, `n_averaged`)": saved(lambda model: AveragedModel(model).state_dict()),
    "student and teacher in one state": saved(
        lambda model: {**prefixed("student.", model), **{f"teacher.{k}": v for k, v in average(model).items()}}
    ),
    "safetensors": safetensors,
    "sharded safetensors (the index)": sharded,
    "a folder": folder_of,
    "a whole model (`torch.save(model)`)": saved(lambda model: {"model": model}),
    "TorchScript": script,
    "numpy (`.npz`)": arrays,
    "a tar archive": tarred,
    "a zip archive": zipped,
}


@dataclass(frozen=True)
class Fate:
    """What becomes of a checkpoint: whether `inspect` names the row, and what `eval` does with it.

    `refusal` is empty where `eval` takes it; then `settings` say which weights were used.
    """

    layout: str
    inspected: bool
    refusal: str = ""
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        used = "loads" + "".join(f", {name} `{value}`" for name, value in self.settings)
        return f"| {self.layout} | {'yes' if self.inspected else 'no'} | {self.refusal or used} |"


def find_fate(layout: str, folder: Path, row: RowRef, selection: Selection, model: nn.Module) -> Fate:
    """Make a checkpoint and try both commands on it; the weights that are loaded must be the model's, to the bit."""
    path = WILD[layout](folder, model)
    try:
        states = [one.shapes for one in parse_states(path)]
        inspected = bool(choose_candidates(states, selection, lambda _: lambda _: None)[1].exact)
    except CheckpointError:
        inspected = False
    try:
        with with_weights(Weights(row, path)) as found:
            wanted = model.state_dict()
            assert all(torch.equal(value, wanted[name]) for name, value in found.model.state_dict().items())
            return Fate(layout, inspected, settings=tuple(found.settings.items()))
    except CheckpointError as error:
        return Fate(layout, inspected, shorten(str(error).removeprefix(str(path)).strip()))


def shorten(refusal: str) -> str:
    """Return the part of a refusal that says what to do, for a cell of a table."""
    lines = [line.strip().partition(" (80 tensors")[0] for line in refusal.splitlines()]
    return " ".join(lines[1:] or lines).replace("|", "\\|")


def prepare(folder: Path) -> tuple[RowRef, Selection, nn.Module]:
    """Write the spec, and return a row of it and that row's model with random weights."""
    selection = load([str(write_spec(folder))])
    row = find_row(selection.papers, ROW)
    assert row is not None
    assert row.row.model is not None
    torch.manual_seed(0)
    with Builder("cpu").variant(row.row.model, None) as variant:
        return row, selection, copy.deepcopy(variant.model)


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| checkpoint | `inspect` | `eval` |"
    yield "| --- | --- | --- |"
    with TemporaryDirectory() as name:
        row, selection, model = prepare(Path(name))
        for number, layout in enumerate(WILD):
            folder = Path(name) / str(number)
            folder.mkdir()
            yield str(find_fate(layout, folder, row, selection, model))


def main() -> None:
    """Write the table."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split("| checkpoint |")[0], text.partition("\n\n## With the publishers' code")[2]
    page = before + "\n".join(table()) + "\n\n## With the publishers' code" + after
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
