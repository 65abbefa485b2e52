"""Reads a formula as specs write it: `y' = (sum_{j=1}^{C'} w_{jc} phi(m_{cj} x_c))_{c=1}^{C}`.

Whatever is not surely understood is not read as a formula, and a report shows the text itself: words other than
connectives, an x that could be a variable or a sign (`A x B`), brackets that don't match, chains of indices.
"""

from __future__ import annotations

from imlp_audit.report.formulas.tokens import GREEK, OPERATORS, Token, split_formula
from imlp_audit.report.formulas.tree import FormulaRow, Fraction, Leaf, LeafKind, Node, Root, Scripts

_WORDS = frozenset(("if", "only", "and", "or", "for", "all", "every", "where", "with", "then", "so", "that"))
_CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|", "||": "||"}
_TELLING = frozenset(("=", "<=", ">=", "<", ">", "!=", "in", "->"))  # a text without one is a name or a sentence
_ELEMENT = Leaf(LeafKind.OPERATOR, OPERATORS["in"])
_LONGEST = 1000
_DEEPEST = 12


def parse_formula(text: str) -> FormulaRow | None:
    """Return a text as a formula; None where it is not one, or not surely understood."""
    tokens = split_formula(text) if len(text) <= _LONGEST else None
    if not tokens or not any(token.text in _TELLING for token in tokens[1:-1]):
        return None
    try:
        parser = _Parser(tokens)
        row = parser.row(())
        return row if parser.token is None else None
    except _UnclearError:
        return None


class _UnclearError(Exception):
    """The text is not surely understood."""


class _Parser:
    """Reads symbols from left to right."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def token(self) -> Token | None:
        """The next symbol."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> Token:
        """Return the next symbol, and go on behind it."""
        token = self.token
        if token is None:
            raise _UnclearError
        self.at += 1
        return token

    def row(self, open_: tuple[str, ...]) -> FormulaRow:
        """Read what stands beside each other, up to the end or to what closes the innermost of the open brackets."""
        if len(open_) > _DEEPEST:
            raise _UnclearError
        parts: list[Node] = []
        while (token := self.token) is not None and not (open_ and token.text == open_[-1]):
            if self._may_be_times():
                raise _UnclearError
            parts.append(self._fraction(open_))
        if not parts or any(parts[end] == _ELEMENT for end in (0, -1)):
            raise _UnclearError
        return FormulaRow(_join_words(parts))

    def _may_be_times(self) -> bool:
        """Say whether an x stands between two operands, where it is a variable or a sign: sizes are whole numbers."""
        before, after = (self.tokens[at] if 0 <= at < len(self.tokens) else None for at in (self.at - 1, self.at + 1))
        if self.tokens[self.at].text != "x" or before is None or after is None:
            return False
        return _is_operand(before, (")", "]", "}", "'", "|", "||")) and _is_operand(after, ("(", "[", "{", "|", "||"))

    def _fraction(self, open_: tuple[str, ...]) -> Node:
        """Read a part, or two that a slash joins without spaces: `C'/2`."""
        plain = self._starts_atom() and "}" not in open_  # in an index it would be too small to read
        part = self._scripted(open_)
        slash = self.token
        if not plain or slash is None or slash.text != "/" or not slash.tight:
            return part
        self.at += 1
        if self.token is None or not self.token.tight or not self._starts_atom():
            raise _UnclearError
        bottom = self._scripted(open_)
        after = self.token
        if after is not None and (after.text == "/" or (after.tight and _is_operand(after, ("(", "[", "{")))):
            raise _UnclearError  # a chain, or 1/2n
        return Fraction(part, bottom)

    def _starts_atom(self) -> bool:
        token = self.token
        return token is not None and (token.kind == "number" or (token.kind == "name" and not self._calls()))

    def _calls(self) -> bool:
        """Say whether the next symbol is a name before what it is applied to."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return after is not None and after.tight and after.text in ("(", "[")

    def _scripted(self, open_: tuple[str, ...]) -> Node:
        """Read a part with its primes, index and exponent. Primes stand at full size, or they could be overlooked."""
        base = self._part(open_)
        limits = base == Leaf(LeafKind.OPERATOR, "∑")
        below: Node | None = None
        above: Node | None = None
        while (token := self.token) is not None and token.text in ("'", "_", "^"):
            if not token.tight and not limits and (token.text == "'" or not self._closed_before()):
                raise _UnclearError
            self.at += 1
            if token.text == "'" and not limits:
                base = FormulaRow((_with_scripts(base, below, above), Leaf(LeafKind.OPERATOR, OPERATORS["'"])))
                below = above = None
            elif token.text == "_" and below is None:
                below = self._script(open_)
            elif token.text == "^" and above is None:
                above = self._script(open_)
            else:
                raise _UnclearError
        return _with_scripts(base, below, above, limits=limits)

    def _closed_before(self) -> bool:
        """Say whether a bracket was closed just before: `( ... ) _{c=1}` is the index of the bracket."""
        return self.tokens[self.at - 1].text in (")", "]")

    def _script(self, open_: tuple[str, ...]) -> Node:
        """Read an index or an exponent: in braces, or a number, or letters that touch it."""
        token = self.take()
        if token.text == "{":
            inner = self._sizes() or self.row((*open_, "}"))
            self.take()
            return inner
        if not token.tight or token.kind not in ("number", "name"):
            raise _UnclearError
        if token.kind == "number":
            return Leaf(LeafKind.NUMBER, token.text)
        if token.text in GREEK:
            return Leaf(LeafKind.NAME, GREEK[token.text])
        if len(token.text) > 1:
            raise _UnclearError
        first, second = Leaf(LeafKind.NAME, token.text), self.token
        if second is None or not second.tight or second.kind != "name" or len(second.text) > 1:
            return first
        return FormulaRow((first, Leaf(LeafKind.NAME, self.take().text)))

    def _sizes(self) -> Node | None:
        """Read `C x D}` after `R^{`, where an x is the sign between the sizes of a space."""
        end = next((at for at in range(self.at, len(self.tokens)) if self.tokens[at].text == "}"), self.at)
        inside = [token.text for token in self.tokens[self.at : end]]
        if inside.count("x") != 1 or [token.text for token in self.tokens[self.at - 3 : self.at]] != ["R", "^", "{"]:
            return None
        times = self.at + inside.index("x")
        if times in (self.at, end - 1):
            return None
        left, right = (_Parser(self.tokens[a:b]) for a, b in ((self.at, times), (times + 1, end)))
        rows = [one.row(()) for one in (left, right)]
        self.at = end
        return FormulaRow((*rows[0].parts, Leaf(LeafKind.OPERATOR, "×"), *rows[1].parts))

    def _part(self, open_: tuple[str, ...]) -> Node:
        token = self.take()
        match token.kind:
            case "number":
                return Leaf(LeafKind.NUMBER, token.text)
            case "name":
                return self._name(token, open_)
            case _:
                return self._sign(token, open_)

    def _name(self, token: Token, open_: tuple[str, ...]) -> Node:
        text = token.text
        applied = self.token is not None and self.token.tight and self.token.text in ("(", "[")
        scripted = self.token is not None and self.token.tight and self.token.text in ("_", "^", "'")
        if text == "sum" and scripted:
            return Leaf(LeafKind.OPERATOR, "∑")
        if text == "sqrt" and applied:
            return Root(self._part(open_))
        if text == "in":
            return _ELEMENT
        if text in GREEK:
            return Leaf(LeafKind.NAME, GREEK[text])
        if text == "R" and self._after("in"):
            return Leaf(LeafKind.NAME, "ℝ")
        if text in _WORDS:
            return Leaf(LeafKind.WORDS, text)
        if len(text) == 1 or applied or (scripted and _is_title(text)) or _is_title(text):
            return Leaf(LeafKind.NAME, text)
        raise _UnclearError

    def _after(self, word: str) -> bool:
        return self.at > 1 and self.tokens[self.at - 2].text == word

    def _sign(self, token: Token, open_: tuple[str, ...]) -> Node:
        text = token.text
        if text in _CLOSING:
            inner = self.row((*open_, _CLOSING[text]))
            close = self.take()
            edges = [Leaf(LeafKind.OPERATOR, OPERATORS[one]) for one in (text, close.text)]
            return FormulaRow((edges[0], *inner.parts, edges[1]))
        if text in (")", "]", "}", "_", "^", "'"):
            raise _UnclearError
        return Leaf(LeafKind.OPERATOR, OPERATORS[text])


def _is_operand(token: Token, brackets: tuple[str, ...]) -> bool:
    """Say whether a symbol is one that something can be multiplied with; `brackets` are those on the right side."""
    if token.kind == "number":
        return "." not in token.text
    return token.text in brackets or (token.kind == "name" and token.text not in (*_WORDS, "in"))


def _is_title(text: str) -> bool:
    """Say whether a word is a name like GeLU or MLP: two capitals or more."""
    return sum(letter.isupper() for letter in text) > 1


def _with_scripts(base: Node, below: Node | None, above: Node | None, *, limits: bool = False) -> Node:
    return Scripts(base, below, above, limits) if below or above else base


def _join_words(parts: list[Node]) -> tuple[Node, ...]:
    """Return parts in which neighbouring words are one text: "if and only if"."""
    joined: list[Node] = []
    for part in parts:
        last = joined[-1] if joined else None
        words = [one for one in (last, part) if isinstance(one, Leaf) and one.kind is LeafKind.WORDS]
        if len(words) == 2:
            joined[-1] = Leaf(LeafKind.WORDS, f"{words[0].text} {words[1].text}")
        else:
            joined.append(part)
    return tuple(joined)
