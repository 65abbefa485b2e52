"""A formula as MathML, beside the text that it was read from."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import assert_never

from imlp_audit.report.formulas.parse import parse_formula
from imlp_audit.report.formulas.tree import FormulaRow, Fraction, Leaf, LeafKind, Node, Root, Scripts


def render_formula(text: str) -> str | None:
    """Return a text as MathML, or None where it is not surely understood.

    The text itself stays beside it as code, which is shown where there is no room. Lines can only be broken between
    pieces, as browsers break none within `<math>`.
    """
    node = parse_formula(text)
    broken = _break(node) if node is not None else []
    if not broken or max(map(_count_symbols, broken)) > _WIDEST:
        return None
    pieces = "".join(map(_piece, broken))
    source = escape(text)
    return f'<span class="formula" title="{source}">{pieces}<code>{source}</code></span>'


_WIDEST = 64  # symbols of a piece, about as many as a line of a table holds


def _count_symbols(parts: Sequence[Node]) -> int:
    return sum(map(_symbols, parts))


def _symbols(node: Node) -> int:
    match node:
        case Leaf():
            return len(node.text)
        case FormulaRow():
            return _count_symbols(node.parts)
        case Scripts():
            return _count_symbols([one for one in (node.base, node.below, node.above) if one])
        case Root():
            return _symbols(node.radicand)
        case Fraction():
            return max(_symbols(node.top), _symbols(node.bottom))
        case _:
            assert_never(node)


def _piece(parts: list[Node]) -> str:
    """Return a piece, after which a line may be broken."""
    space = " " if parts[-1] in _SEPARATORS else "<wbr>"
    return f"<math><mrow>{''.join(map(render_node, parts))}</mrow></math>{space}"


def _break(row: FormulaRow) -> list[list[Node]]:
    """Return the parts of a formula in pieces: each begins with a relation or with words, or follows a comma."""
    pieces: list[list[Node]] = [[]]
    for part in row.parts:
        begins = isinstance(part, Leaf) and (part.kind is LeafKind.WORDS or part.text in _RELATIONS)
        if pieces[-1] and (begins or pieces[-1][-1] in _SEPARATORS):
            pieces.append([])
        pieces[-1].append(part)
    return pieces


_RELATIONS = "=≤≥<>≠→⇒"
_SEPARATORS = tuple(Leaf(LeafKind.OPERATOR, mark) for mark in ",;")


def render_node(node: Node) -> str:
    """Return a part of a formula as MathML."""
    match node:
        case Leaf():
            return _leaf(node)
        case FormulaRow():
            return f"<mrow>{''.join(map(render_node, node.parts))}</mrow>"
        case Scripts():
            return _scripts(node)
        case Root():
            return f"<msqrt>{render_node(node.radicand)}</msqrt>"
        case Fraction():
            return f"<mfrac>{render_node(node.top)}{render_node(node.bottom)}</mfrac>"
        case _:
            assert_never(node)


def _leaf(leaf: Leaf) -> str:
    tag, text = leaf.kind.value, escape(leaf.text)
    match leaf.kind:
        case LeafKind.WORDS:
            return f"<{tag}>\N{NO-BREAK SPACE}{text}\N{NO-BREAK SPACE}</{tag}>"
        case LeafKind.OPERATOR if leaf.text in _FENCES:
            return f'<{tag} stretchy="false">{text}</{tag}>'
        case LeafKind.OPERATOR if leaf.text == "′":
            return f'<{tag} lspace="0" rspace="0">{text}</{tag}>'
        case LeafKind.OPERATOR if leaf.text in _RELATIONS:
            return f'<{tag} form="infix">{text}</{tag}>'  # though it may be the first of its piece
        case _:
            return f"<{tag}>{text}</{tag}>"


_FENCES = "()[]{}|‖"


def _scripts(node: Scripts) -> str:
    base = render_node(node.base)
    below, above = (render_node(one) if one else "" for one in (node.below, node.above))
    tag = {(True, True): "subsup", (True, False): "sub", (False, True): "sup"}[bool(below), bool(above)]
    if node.limits:
        tag = {"subsup": "underover", "sub": "under", "sup": "over"}[tag]
    return f"<m{tag}>{base}{below}{above}</m{tag}>"
