"""A model index: the YAML in which model zoos list their models, as OpenMMLab's `metafile.yml`."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.errors import SpecError, UsageError
from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import ListNode, MapNode, Node, Text
from imlp_audit.transcribe.grid import MOST_ROWS, SourceDocument, SourceRow, SpanningCell
from imlp_audit.transcribe.head import make_table

_COUNTED = ("FLOPs", "Parameters")


def read_model_index(text: str, shown_as: str) -> SourceDocument:
    """Return the models of a file as one table: a column for FLOPs, parameters and each result.

    Raises SpecError for YAML that cannot be read, UsageError for YAML that is no model index.
    """
    root, problems = parse_tree(text, shown_as)
    if root is None:
        raise SpecError(problems)
    models = _value(root, "Models")
    if not isinstance(models, ListNode):
        spec = _value(root, "paper") is not None
        advice = "it is a spec already; run `imlp-audit lint` on it" if spec else "give a file of another kind"
        raise UsageError(f"{shown_as}: a model index has the key `Models` with a list, and this has none: {advice}")
    found = [(node.mark.line, dict(_cells(node))) for node in models.items[:MOST_ROWS]]
    headings = list(dict.fromkeys(heading for _, cells in found for heading in cells))
    head = SourceRow(models.mark.line, tuple(map(SpanningCell, headings)), head=True)
    rows = [SourceRow(line, tuple(SpanningCell(cells.get(one, "")) for one in headings)) for line, cells in found]
    table = make_table("1", f"Models of {shown_as}", [head, *rows], shown_as, models.mark.line)
    return SourceDocument((table,), notes=tuple(map(str, problems[:5])))


def _value(node: Node | None, key: str) -> Node | None:
    if not isinstance(node, MapNode):
        return None
    return next((value for name, value in node.entries if name.text == key), None)


def _text(node: Node | None) -> str:
    return " ".join(node.text.split()) if isinstance(node, Text) else ""


def _cells(model: Node) -> Iterator[tuple[str, str]]:
    """Yield the headings and texts of a model."""
    yield "Model", _text(_value(model, "Name"))
    metadata = _value(model, "Metadata")
    for key in _COUNTED:
        yield key, _text(_value(metadata, key))
    size = _text(_value(metadata, "Image Size"))
    if size:
        yield "Image size", size
    results = _value(model, "Results")
    for result in results.items[:20] if isinstance(results, ListNode) else ():
        metrics, data = _value(result, "Metrics"), _text(_value(result, "Dataset"))
        for name, value in metrics.entries[:20] if isinstance(metrics, MapNode) else ():
            yield (f"{name.text} ({data})" if data else name.text), _text(value)
