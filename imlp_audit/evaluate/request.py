"""What is to be evaluated, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from imlp_audit.evaluate.data.open import Labelling
from imlp_audit.evaluate.function import Function
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.evaluate.verdict import MOST_UNREADABLE
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import RowRef


@dataclass(frozen=True)
class Weights:
    """A row's model under a reading (None: the paper's default), and the file with its weights.

    `state` chooses among several states in the file; only names that begin with `prefix` are used, without it.
    `function` says whose function is computed where timm's and the publisher's code differ.
    """

    row: RowRef
    checkpoint: Path
    reading: str | None = None
    state: str | None = None
    prefix: str = ""
    function: Function | None = None


@dataclass(frozen=True)
class Data:
    """Images and their labels, as `open_images` takes them.

    `limit` is how many images are used (None: all); `on` names the data set of the table's columns that they are, for
    images that do not show it themselves.
    """

    source: str
    split: str = "validation"
    labelling: Labelling = field(default_factory=Labelling)
    allow_download: bool = False
    limit: int | None = None
    on: str | None = None


@dataclass(frozen=True)
class Running:
    """How the model is run; `workers` processes read the images, `threads` batches are computed at a time on a CPU."""

    device: str = "cpu"
    batch_size: int = 32
    amp: bool = False
    channels_last: bool = False
    workers: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Request:
    """An evaluation.

    `predictions` is the file for the model's answers; the parts of an unfinished run lie beside it, and `resume`
    continues from them. `against` is the result of an earlier run and the name to show for it. `most_unreadable` is the
    share of images that may be unreadable before an accuracy is no longer judged.
    """

    weights: Weights
    data: Data
    overrides: Overrides = field(default_factory=Overrides)
    running: Running = field(default_factory=Running)
    predictions: Path | None = None
    resume: bool = False
    against: tuple[AuditResult, str] | None = None
    most_unreadable: Fraction = MOST_UNREADABLE
