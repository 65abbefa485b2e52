"""Bounds on a Lipschitz constant, as a document."""

from __future__ import annotations

from imlp_audit.records.listing import LipschitzBounds
from imlp_audit.report.document import Align, Document, Heading, Paragraph, Table


def lipschitz_document(bounds: LipschitzBounds, name: str) -> Document:
    """Say what is proven about a module, called `name`, and what a search for a large gradient found."""
    rho = " and ".join(_digits(value) for value in bounds.rho)
    proposals = ", ".join(f"{solver} {_digits(value)}" for solver, value in bounds.solvers.items())
    rows = (
        ("at most", _digits(bounds.bound), f"proven by Theorem 1, with rho = {rho}"),
        ("at most", _digits(bounds.product), "product of the spectral norms, without Theorem 1"),
        ("at least", _digits(bounds.gradient), "largest gradient norm found"),
    )
    return (
        Heading(f"Lipschitz constant of {name}", 2),
        Paragraph(
            f"C = {bounds.width} channels, C' = {2 * bounds.hidden}: two branches of {bounds.hidden} hidden units each."
        ),
        Table(("", "bound", "how"), rows, (Align.LEFT, Align.RIGHT, Align.LEFT)),
        Paragraph(
            f"The solvers' proposals give these bounds: {proposals}. Each is proven by a Cholesky factorisation with a "
            "margin for rounding errors."
        ),
        Paragraph(
            "The module is W^1 concat(AGeLU(W^0 x + b^0), AGeLU'(W^0 x + b^0)) + b^1. Norms and a depthwise block "
            "around it are not part of Theorem 1. The coefficients of AGeLU count as part of the weights."
        ),
    )


def _digits(value: float) -> str:
    return f"{value:.6g}"
