"""The published tables that the tool is judged on: where each is from, and which models its rows mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

HERE = Path(__file__).parent
TABLES = HERE / "tables"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Table(_Record):
    """One cut table: lines `lines[0]` to `lines[1]` of a file at a commit."""

    file: Annotated[str, Field(pattern=r"^[a-z0-9-]+-\d+\.(md|csv|rst)$")]
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    path: str
    lines: tuple[int, int]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    kind: Literal["classifier", "mobile", "mlp", "mamba", "clip", "detection", "segmentation", "text"]
    libraries: Literal["timm", "torchvision", "transformers", "none"]
    note: str = ""


class Row(_Record):
    """One row of a table; `models` is None if no library has its model."""

    line: int
    row: str
    models: list[str] | None
    near: list[str] = []


class TimmNames(_Record):
    """A table whose labels are timm's own names, up to the first dot."""

    rule: Literal["timm"]
    unknown: list[str]


class Truth(_Record):
    """The models that rows mean, and the names that mean the same architecture."""

    same: list[list[str]]
    tables: dict[str, list[Row] | TimmNames]


def read_sources() -> list[Table]:
    """Return all tables, in the file's order."""
    return TypeAdapter(list[Table]).validate_python(_read("SOURCES.yaml"))


def read_truth() -> Truth:
    """Return what is known of their rows."""
    return Truth.model_validate(_read("truth.yaml"))


def _read(name: str) -> object:
    return yaml.load((HERE / name).read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
