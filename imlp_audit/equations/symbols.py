"""Numbers and tensors of symbols: a claim that is judged on them is proved for every number.

The package's own modules run on them. An activation becomes a function of which nothing is known, so what is proved
holds for any. LayerNorm, batch norm and softmax are what torch says they are, with 1 / sqrt, exp and 1 / x as such
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.choices import ChoiceList
from imlp_audit.equations.exact import Exact, Value
from imlp_audit.equations.expression import Expression
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.symbol_operations import as_array
from imlp_audit.equations.symbol_tensor import SymbolTensor


class SymbolChoices(ChoiceList):
    """Choices of sizes and kinds; each number is a new symbol."""

    symbols = 0

    def number(self, plain: Sequence[float], wide: Sequence[float]) -> Value:
        """Return a symbol in place of any of the numbers."""
        self.symbols += 1
        return Expression.symbol(f"s{self.symbols}")


@dataclass(frozen=True)
class SymbolicArithmetic(Arithmetic):
    """Arithmetic that is exact."""

    def tensor(self, values: object) -> Value:
        """Return a tensor of expressions."""
        return SymbolTensor(as_array(values))

    def number(self, value: float) -> Rounded:
        """Return an expression."""
        return Exact.of(value)

    def place(self, module: nn.Module) -> nn.Module:
        """Return a module in evaluation mode."""
        return module.eval()

    def put(self, module: nn.Module, name: str, values: object) -> None:
        """Put symbols in the place of a parameter or a buffer, in its shape."""
        *path, own = name.split(".")
        owner = module.get_submodule(".".join(path))
        shape = getattr(owner, own).shape
        delattr(owner, own)
        setattr(owner, own, self.tensor(values).expand(*shape))
