"""How the images of a row are prepared: as its spec says with a source, as the user says, or as the model has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import nn

from imlp_audit.evaluate.loop import Pipeline, resolve_pipeline
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.spec.paper import RowRef, preprocessing_of
from imlp_audit.spec.schema import Preprocessing

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
    stated: tuple[Preprocessing, ...]

    @property
    def overrides(self) -> Overrides:
        """What replaces the model's own settings."""
        return self.asked.over(self.stated[0]) if self.stated else self.asked

    def pipeline(self, model: nn.Module, size: tuple[int, int]) -> Pipeline:
        """Return the settings for a model whose own images are of a size."""
        return resolve_pipeline(model, size, self.overrides)

    def notes(self, model: nn.Module, size: tuple[int, int]) -> Iterator[str]:
        """Yield which source was followed, and what others say that differs."""
        used = self.pipeline(model, size)
        if not self.stated:
            yield from self._say_unstated(model, used)
            return
        first, *others = self.stated
        changed = _differences(resolve_pipeline(model, size, Overrides().over(first)), used, _said(first))
        followed = f"images prepared as {first.because} says ({', '.join(_said(first))})"
        yield f"{followed}; you set {changed}" if changed else followed
        offered = [(one.because, self.asked.over(one), _said(one)) for one in others]
        if getattr(model, "pretrained_cfg", None):
            offered.append(("timm's configuration of the model", self.asked, tuple(_OPTIONS)))
        for because, overrides, said in offered:
            differences = _differences(used, resolve_pipeline(model, size, overrides), said)
            if differences:
                yield f"{because} says otherwise: pass {differences} to evaluate with that"

    def _say_unstated(self, model: nn.Module, used: Pipeline) -> Iterator[str]:
        """Say what is taken from timm, where neither the spec nor the user says it."""
        fields = {"crop_pct": self.asked.crop_pct, "interpolation": self.asked.interpolation, "mean": self.asked.mean}
        values = used.settings()
        taken = [f"{name} {values[name]}" for name, asked in fields.items() if asked is None]
        if taken:
            source = "configuration of the model" if getattr(model, "pretrained_cfg", None) else "default"
            yield (
                f"the spec does not say how images are prepared, so timm's {source} decides ({'; '.join(taken)}); "
                "whoever published the weights may prepare them otherwise"
            )


def prepare_images(row: RowRef, asked: Overrides) -> Preparation:
    """Return how a row's images are prepared."""
    return Preparation(asked, preprocessing_of(row))


def _said(source: Preprocessing) -> tuple[str, ...]:
    """Return the settings that a source speaks of, by the names that a pipeline has for them."""
    return tuple(name for name in _OPTIONS if getattr(source, "size" if name == "input size" else name) is not None)


def _differences(used: Pipeline, other: Pipeline, names: Sequence[str]) -> str:
    """Return the options that turn some settings of one pipeline into another's."""
    ours, theirs = used.settings(), other.settings()
    changed = {name: theirs[name] for name in names if ours[name] != theirs[name]}
    return " ".join(f"{_OPTIONS[name]} {value.replace(' ', '')}" for name, value in changed.items())
