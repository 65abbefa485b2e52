"""How the images of a row are prepared: as its spec says with a source, as the user says, or as the model has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from imlp_audit.evaluate.loop import Pipeline, resolve_pipeline
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.spec.pictures import Pictures, pictures_of
from imlp_audit.spec.references import RowRef

_OPTIONS = {
    "input size": "--input-size",
    "crop_pct": "--crop-pct",
    "interpolation": "--interpolation",
    "mean": "--mean",
    "std": "--std",
}


@dataclass(frozen=True)
class Preparation:
    """How a row's images are prepared: what the user sets, over what each source in the spec says, the first first."""

    asked: Overrides
    stated: tuple[Pictures, ...]

    @property
    def overrides(self) -> Overrides:
        """What replaces the model's own settings."""
        return self.asked.over(self.stated[0]) if self.stated else self.asked

    def pipeline(self, model: nn.Module, size: tuple[int, int]) -> Pipeline:
        """Return the settings for a model whose own images are of a size."""
        return resolve_pipeline(model, size, self.overrides)

    def notes(self, model: nn.Module, size: tuple[int, int]) -> Iterator[str]:
        """Yield which source was followed, and what others say that differs."""
        if not self.stated:
            return
        used = self.pipeline(model, size)
        stated = resolve_pipeline(model, size, Overrides().over(self.stated[0]))
        changed = _differences(stated, used)
        yield f"images prepared as {self.stated[0].because} says" + (f", but for your {changed}" if changed else "")
        others = [(one.because, resolve_pipeline(model, size, self.asked.over(one))) for one in self.stated[1:]]
        if getattr(model, "pretrained_cfg", None):
            others.append(("timm's configuration of the model", resolve_pipeline(model, size, self.asked)))
        for because, other in others:
            differences = _differences(used, other)
            if differences:
                yield f"{because} says otherwise: pass {differences} to evaluate with that"


def prepare_pictures(row: RowRef, asked: Overrides) -> Preparation:
    """Return how a row's images are prepared."""
    return Preparation(asked, pictures_of(row))


def _differences(used: Pipeline, other: Pipeline) -> str:
    """Return the options that turn one pipeline into another."""
    ours, theirs = used.settings(), other.settings()
    changed = {name: value for name, value in theirs.items() if name in _OPTIONS and ours[name] != value}
    return " ".join(f"{_OPTIONS[name]} {value.replace(' ', '')}" for name, value in changed.items())
