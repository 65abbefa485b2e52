"""The errors that are planted in the demo's paper, and the folder that it is written to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imlp_audit.errors import OutputError, UsageError

_PAPER = Path(__file__).parent / "paper"


@dataclass(frozen=True)
class Edit:
    """A text that stands once in a file of the paper, and what it becomes."""

    wrong: str
    right: str

    def line_in(self, text: str) -> int:
        """Return the line of a file that the text stands in, from 1."""
        return text[: text.index(self.wrong)].count("\n") + 1


@dataclass(frozen=True)
class PlantedError:
    """An error, the check that catches it, why in plain words, and the edits of one file that mend it."""

    title: str
    check: str
    why: str
    file: str
    edits: tuple[Edit, ...]


PLANTED = (
    PlantedError(
        "A wrong parameter count",
        "demo/1/deit_s/params",
        "The model was built and counted: it has another size. Two digits changed places.",
        "paper.yaml",
        (Edit("22.50", "22.05"),),
    ),
    PlantedError(
        "A percentage that does not follow from its two cells",
        "demo/1/deit_s/speed.delta",
        "The two speeds need the authors' hardware, but the change between them is arithmetic.",
        "paper.yaml",
        (Edit("-69.2%", "-62.9%"),),
    ),
    PlantedError(
        "An equation that does not do what the text says",
        "demo/equations/relu_loses_nothing",
        "The equation was run on examples, and this is the simplest that it fails on: the sign of x is lost.",
        "equations/sec2.py",
        (Edit("+ ReLU(-x)", "- ReLU(-x)"), Edit("+ relu(", "- relu(")),
    ),
)


def templates() -> Iterator[tuple[str, str]]:
    """Yield the files of the paper: their names, and what they hold."""
    for name in ("paper.tex", "paper.yaml", "equations/sec2.py"):
        yield name, (_PAPER / name).read_text(encoding="utf-8")


def write_paper(folder: Path) -> None:
    """Write the paper into an empty or new folder. Raises UsageError for any other, OutputError where it cannot."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a new folder")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(_not_empty(folder))
        for name, text in templates():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: the demo could not be written: {error.strerror or error}") from error


def _not_empty(folder: Path) -> str:
    """Say what to do about a folder that holds something, which may be the demo itself."""
    if all((folder / name).is_file() for name, _ in templates()):
        return f"{folder} holds the demo already; audit it with: imlp-audit verify {folder} --trust-code"
    return f"{folder} is not empty; name a new folder, for example: imlp-audit demo {folder / 'demo'}"
