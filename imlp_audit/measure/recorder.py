"""The dispatch mode that sees every operation of a forward pass and books its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from imlp_audit.measure.formulas import formula_of, unseen_by_fvcore, work_of
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.placement import run
from imlp_audit.measure.schema import call_of, output_shapes
from imlp_audit.measure.signature import Template, signature, template_of

Bucket: TypeAlias = Counter[Operation]
"""The work booked so far under one module path."""

Memory: TypeAlias = dict[Hashable, tuple[Work, Template | None]]
"""Work and result of every operation seen so far, by its name and what its arguments look like."""

# torch's tracer looks into these, so fvcore counts what they are made of.
_TRACED_THROUGH = frozenset({"aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell", "aten::rnn_relu_cell"})


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types it in part
    """Books the work of each operation in the bucket on top of `stack`.

    On the meta device a result is nothing but sizes and strides, and models repeat their blocks: a call whose
    arguments look like an earlier one's is answered from memory, without torch's slow shape functions.
    """

    def __init__(self, root: Bucket, memory: Memory) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stack = [root]
        self.unknown: Counter[str] = Counter()
        self._seen = memory
        self._hidden = False

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Books and runs one operation; torch calls it with this mode switched off."""
        kwargs = kwargs or {}
        key = (func, signature(args), signature(kwargs))
        seen = self._seen.get(key)
        if seen is None:
            return self._first(func, args, kwargs, key)
        work, template = seen
        self._book(work)
        return template.fresh() if template else run(func, args, kwargs)

    def _first(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object], key: Hashable) -> object:
        name = func._schema.name
        formula = formula_of(name)
        if formula is None:
            return self._without_formula(func, args, kwargs)
        result = run(func, args, kwargs)
        work = work_of(call_of(func, args, kwargs, result), formula)
        # An operation that writes in place, looks into another tensor's storage, or hands an argument back (a dropout
        # that drops nothing), is run every time.
        returned = any(result is argument for argument in args)
        self._seen[key] = work, None if func._schema.is_mutable or func.is_view or returned else template_of(result)
        self._book(work)
        return result

    def _without_formula(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Records what the operation is made of; with this mode off, that would pass unseen."""
        with self._inside(func._schema.name), self:
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
        result = run(func, args, kwargs)
        self.unknown[func._schema.name] += 1
        self._book({Operation.UNKNOWN: sum(shape.numel for shape in output_shapes(result))})
        return result

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        outer, self._hidden = self._hidden, self._hidden or name not in _TRACED_THROUGH
        try:
            yield
        finally:
            self._hidden = outer

    def _book(self, work: Work) -> None:
        bucket = self.stack[-1]
        for operation, amount in (unseen_by_fvcore(work) if self._hidden else work).items():
            bucket[operation] += amount
