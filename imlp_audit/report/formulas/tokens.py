"""The symbols of a formula that is written as plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "zeta": "ζ", "theta": "θ", "lambda": "λ",
    "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "Phi": "Φ", "psi": "ψ", "omega": "ω",
}  # fmt: skip
OPERATORS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "+-": "±", "->": "→", "=>": "⇒", "||": "‖", "...": "…", "..": "‥", "-": "−",
    "*": "∗", "=": "=", "<": "<", ">": ">", "+": "+", "/": "/", "|": "|", ",": ",", ";": ";", ":": ":",
    "(": "(", ")": ")", "[": "[", "]": "]", "{": "{", "}": "}", "in": "∈", "'": "′",
}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?(?![A-Za-z]{2}))|(?P<name>[A-Za-z]+)"
    r"|(?P<sign><=|>=|!=|\+-|->|=>|\|\||\.\.\.|\.\.|[-*=<>+/|,;:()\[\]{}'_^]))",
    re.ASCII,
)


@dataclass(frozen=True)
class Token:
    """A symbol as it is written, and whether it touches the one before it."""

    kind: str
    text: str
    tight: bool


def split_formula(text: str) -> tuple[Token, ...] | None:
    """Return the symbols of a text; None where one is not a symbol of formulas."""
    tokens: list[Token] = []
    scripts: list[bool] = []  # for each open brace whether it holds an index or an exponent
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        found = _TOKEN.match(stripped, at)
        if found is None or found.lastgroup is None:
            return None
        word = found[found.lastgroup]
        token = Token(found.lastgroup, word, found.start(found.lastgroup) == at and at > 0)
        if word == "{":
            scripts.append(bool(tokens) and tokens[-1].text in ("_", "^"))
        elif word == "}" and scripts:
            scripts.pop()
        within = any(scripts) or bool(tokens and tokens[-1].text in ("_", "^"))
        tokens += _split_letters(token) if within else [token]
        at = found.end()
    return tuple(tokens)


def _split_letters(token: Token) -> list[Token]:
    """Return the letters of an index like `ij`; longer names and Greek ones stay."""
    if token.kind != "name" or len(token.text) != 2 or token.text in GREEK or token.text in _CONNECTIVES:
        return [token]
    return [Token("name", token.text[0], token.tight), Token("name", token.text[1], True)]


_CONNECTIVES = ("in", "if", "or", "so")  # between spaces; as letters of an index they are unclear
