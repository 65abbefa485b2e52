"""Lets the names of checks in a text lead to where they are explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from imlp_audit.records.check import Check, CheckKind
from imlp_audit.report.document import Block, Document, Inline, Item, List, Paragraph, Style, spans


def section_anchor(kind: CheckKind, paper: str) -> str:
    """Return the anchor of the section of a paper's report that holds the checks of a kind."""
    return f"section/{kind.value}/{paper}"


def paper_of(check: Check) -> str:
    """Return the id of the paper that a check is of."""
    return check.id.partition("/")[0]


def link_names(document: Document, anchors: Mapping[str, str]) -> Document:
    """Return paragraphs and lists in which code that is a key of `anchors` is a link; other blocks stay as they are."""
    return tuple(_link_block(block, anchors) for block in document)


def _link_block(block: Block, anchors: Mapping[str, str]) -> Block:
    match block:
        case Paragraph():
            return Paragraph(_link_text(block.text, anchors))
        case List():
            return List(tuple(_link_item(item, anchors) for item in block.items))
        case _:
            return block


def _link_item(item: Inline | Item, anchors: Mapping[str, str]) -> Inline | Item:
    if not isinstance(item, Item):
        return _link_text(item, anchors)
    below = tuple(_link_item(inner, anchors) for inner in item.items)
    return Item(_link_text(item.text, anchors), below, item.label)


def _link_text(text: Inline, anchors: Mapping[str, str]) -> Inline:
    return tuple(
        replace(span, link=f"#{anchors[span.text]}") if span.style is Style.CODE and span.text in anchors else span
        for span in spans(text)
    )
