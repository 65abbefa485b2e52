"""Formulas on a page: the symbols of the text in its order, and nothing where the text isn't surely understood."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.report.document import Item, List, Paragraph, Span, Style, Table
from imlp_audit.report.formulas.mathml import render_formula, render_node
from imlp_audit.report.formulas.parse import parse_formula
from imlp_audit.report.page import render_page

from .results import HOSTILE

SIGNS = {
    "≤": "<=", "≥": ">=", "≠": "!=", "±": "+-", "→": "->", "⇒": "=>", "‖": "||", "…": "...", "‥": "..", "−": "-",
    "∗": "*", "∑": "sum", "∈": "in", "ℝ": "R", "′": "'", "×": "x",
    "α": "alpha", "β": "beta", "γ": "gamma", "ε": "eps", "ζ": "zeta", "θ": "theta", "λ": "lambda", "π": "pi",
    "ρ": "rho", "σ": "sigma", "φ": "phi", "Φ": "Phi",
}  # fmt: skip


def drawn(text: str) -> ElementTree.Element:
    rendered = render_formula(text)
    assert rendered is not None, text
    return ElementTree.fromstring(rendered.replace("<wbr>", ""))


def shown(text: str) -> str:
    """What the MathML of a formula says, written as text again: indices and exponents in braces, without spaces."""
    return "".join(_write(math) for math in drawn(text).iter("math"))


def _write(element: ElementTree.Element) -> str:
    inner = [_write(child) for child in element]
    match element.tag:
        case "math" | "mrow":
            return "".join(inner)
        case "mi" | "mn" | "mo" | "mtext":
            text = (element.text or "").replace("\xa0", "").replace(" ", "")
            return SIGNS.get(text, text)
        case "msub" | "munder":
            return f"{inner[0]}_{{{inner[1]}}}"
        case "msup" | "mover":
            return f"{inner[0]}^{{{inner[1]}}}"
        case "msubsup" | "munderover":
            return f"{inner[0]}_{{{inner[1]}}}^{{{inner[2]}}}"
        case "msqrt":
            return f"sqrt{''.join(inner)}"
        case "mfrac":
            return f"{inner[0]}/{inner[1]}"
        case other:
            raise AssertionError(other)


names = st.sampled_from(("x", "y", "W", "C", "alpha", "rho", "phi"))
functions = st.sampled_from(("f", "phi", "GeLU", "LayerNorm", "concat", "sqrt"))
numbers = st.sampled_from(("1", "2", "0.5", "11"))
relations = st.sampled_from(("=", "<=", ">=", "!=", "<", ">"))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> tuple[str, str]:
    """A formula as a spec may write it, and as `shown` writes it."""
    kind = draw(st.sampled_from(("name", "number", "scripts", "call", "sum", "norm", "sign", "product")))
    if depth == 0 or kind in ("name", "number"):
        text = draw(numbers if kind == "number" else names)
        return text, text
    one, same = draw(expressions(depth - 1))
    other, equal = draw(expressions(depth - 1))
    match kind:
        case "scripts":
            name = draw(names) + draw(st.sampled_from(("", "'")))
            below, above = f"_{{{one}}}", f"^{{{other}}}"
            swap = draw(st.booleans())
            return f"{name}{above}{below}" if swap else f"{name}{below}{above}", f"{name}_{{{same}}}^{{{equal}}}"
        case "call":
            function = draw(functions)
            return f"{function}({one}, {other})", f"{function}({same},{equal})"
        case "sum":
            return f"sum_{{i=1}}^{{{one}}} ({other})", f"sum_{{i=1}}^{{{same}}}({equal})"
        case "norm":
            return f"||({one}) - ({other})||_2", f"||({same})-({equal})||_{{2}}"
        case "sign":
            return f"({one}) + ({other})", f"({same})+({equal})"
        case _:
            return f"({one}) ({other})", f"({same})({equal})"


@settings(max_examples=60)
@given(expressions(), relations, expressions())
def test_a_formula_has_the_symbols_of_its_text_in_their_order(
    left: tuple[str, str], relation: str, right: tuple[str, str]
) -> None:
    text = f"{left[0]} {relation} {right[0]}"
    node = parse_formula(text)
    assert node is not None
    assert _write(ElementTree.fromstring(f"<math>{render_node(node)}</math>")) == f"{left[1]}{relation}{right[1]}"
    if len(text) < 60:
        assert shown(text) == f"{left[1]}{relation}{right[1]}"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("y = phi(x W^a) W^b", "y=phi(xW^{a})W^{b}"),
        ("W^11' T = w'_{jc} e_i'", "W^{11}'T=w'_{jc}e_{i}'"),
        ("sum_m A_nm = 0 for all c and n", "sum_{m}A_{nm}=0forallcandn"),
        ("W in R^{S x D_C}, x in R^n_0", "WinR^{SxD_{C}},xinR_{0}^{n}"),
        ("a = C'/2 1_{x > C'/2}", "a=C'/21_{x>C'/2}"),
        ("M = (sum_{j=1}^{C'} w_j) _{c'=1}^{C'/2}", "M=(sum_{j=1}^{C'}w_{j})_{c'=1}^{C'/2}"),
        ("|Y - X| <= alpha |X| |A|^T", "|Y-X|<=alpha|X||A|^{T}"),
        ("y = 0.5 x (1 + tanh[sqrt(2/pi) x^3])", "y=0.5x(1+tanh[sqrt(2/pi)x^{3}])"),
    ],
)
def test_what_specs_write_is_read(text: str, written: str) -> None:
    assert shown(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "each bias is dependent on other input elements",
        "the scale is x_c = 3",
        "Y = U^T + sigma(U^T x W_3^T) x W_4^T",  # times, or the variable x
        "N = 16 x 16",
        "A = B x (C)",
        "x = a_b_c",
        "x = a^b^c",
        "x = (a",
        "x = a)",
        "x = (a]",
        "x = |a",
        "x = a/b/c",
        "x = 1/2n",
        "x = a_",
        "x = d_attn",
        "x = w_{in}",
        "x = dY_i / dX_j",
        'x = "y"',
        "x = s(.)",
        "x ~ y",
        "x = \\frac{1}{2}",
        "x = $y$",
        "Перплексия = 1",
        "x",
        "f(x)",
        "",
        "x = " + "(" * 40 + "y" + ")" * 40,
        "x = " + "y " * 600,
    ],
)
def test_what_is_not_surely_understood_stays_text(text: str) -> None:
    assert parse_formula(text) is None
    assert render_formula(text) is None


def test_a_formula_too_wide_for_a_line_stays_text() -> None:
    assert render_formula(f"x = {'+ y ' * 30}") is not None
    assert render_formula(f"x = {'+ y ' * 40}") is None
    assert render_formula("x = " + " = ".join(["y + z"] * 40)) is not None  # lines are broken before relations


@pytest.mark.parametrize("text", ["y = x_1", *HOSTILE])
def test_the_text_stays_on_the_page(text: str) -> None:
    page = render_page((Paragraph(Span(text, Style.FORMULA)),))
    body = re.sub("<wbr>", "", page.partition("<main")[2])
    assert ("<math>" in body) == (text == "y = x_1")
    if text == "y = x_1":
        assert '<span class="formula" title="y = x_1">' in body
        assert "<code>y = x_1</code>" in body


@given(st.text(alphabet="xyWC'_^{}()[]|=<>+-*/,. 12", max_size=40))
def test_any_text_is_read_or_left_in_a_moment(text: str) -> None:
    rendered = render_formula(text)
    if rendered is not None:
        assert ElementTree.fromstring(rendered.replace("<wbr>", "")).attrib["title"] == text


LONG = "y' = (sum_{j=1}^{C'} (w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + w^e_{jc} theta_j))_{c=1}^{C}, n'_{cj} = gamma_j"


def page_of_formulas() -> str:
    """A page with a long formula wherever a report has one."""
    formula = Span(LONG, Style.FORMULA)
    rows = (("a statement of some words",) * 2 + (formula, "differs", "a reason of some words"),)
    return render_page((List((Item(formula, label="as printed"),)), Table(("a", "b", "c", "d", "e"), rows)))
