"""PDFs written by hand: text at places, and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH, HEIGHT = 600, 800


@dataclass(frozen=True)
class Put:
    """A text in Helvetica at a place, in points from the lower left corner."""

    x: float
    y: float
    text: str
    size: float = 10


@dataclass(frozen=True)
class Draw:
    """A horizontal rule."""

    x0: float
    x1: float
    y: float


Page: TypeAlias = list[Put | Draw]


def put_table(rows: Sequence[Sequence[str]], places: Sequence[float], top: float, ruled: Sequence[int] = (1,)) -> Page:
    """Return a table: rows of texts at places, 14 points apart, rules at its ends and above the rows `ruled`."""
    texts = [
        Put(x, top - 14 * (at + 1), text)
        for at, row in enumerate(rows)
        for x, text in zip(places, row, strict=False)
        if text
    ]
    ends = (places[0] - 2, places[-1] + 60)
    return [*texts, *(Draw(*ends, top - 14 * at - 4) for at in (0, *ruled, len(rows)))]


def make_pdf(*pages: Sequence[Put | Draw]) -> bytes:
    """Write a PDF with these pages."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} /MediaBox [0 0 {WIDTH} {HEIGHT}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, page in enumerate(pages):
        content = "\n".join(map(_operators, page))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * at} 0 R /Resources << /Font << /F 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
    text = "%PDF-1.4\n"
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(text.encode("cp1252")))
        text += f"{number} 0 obj\n{one}\nendobj\n"
    start = len(text.encode("cp1252"))
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    text += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\n"
    return f"{text}startxref\n{start}\n%%EOF\n".encode("cp1252")


def _operators(one: Put | Draw) -> str:
    if isinstance(one, Draw):
        return f"0.4 w {one.x0} {one.y} m {one.x1} {one.y} l S"
    escaped = one.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F {one.size} Tf {one.x} {one.y} Td ({escaped}) Tj ET"
