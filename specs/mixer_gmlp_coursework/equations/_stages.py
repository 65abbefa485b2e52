"""A network judged stage by stage: what each stage gives, against a formula of what the stage before it gave.

A bound on the rounding of a whole network says nothing: each LayerNorm multiplies it. A stage's input is held exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.matrix import RoundedMatrix

from ._weights import Weights

Formula = Callable[[RoundedMatrix], RoundedMatrix]


@dataclass(frozen=True)
class Stage:
    """A stage by its name in the network, the stage whose output it reads (none: the formula has it), its formula."""

    name: str
    reads: str | None
    formula: Formula


@dataclass(frozen=True)
class Staged:
    """A network, its weights, a batch of two inputs, its stages, and the names of those that it returns."""

    network: nn.Module
    weights: Weights
    inputs: Tensor
    stages: Sequence[Stage]
    returns: tuple[str, ...]

    def judge(self, arithmetic: Arithmetic, shown: dict[str, object]) -> Trial:
        """Judge every stage on the second input, what the network returns and says of itself, and that it learns."""
        misfits = self.weights.misfits(self.network)
        if misfits:
            return Trial(False, {**shown, "parameters that only one side has in this shape": misfits})
        self.weights.load(self.network, arithmetic)
        given, returned = self._run()
        often = {name: len(outputs) for name, outputs in given.items() if len(outputs) != 1}
        if often:
            return Trial(False, {**shown, "stages that are run more than once or never": often})
        outputs = {name: output for name, (output,) in given.items()}
        last = [outputs[name] for name in self.returns]
        holds = len(last) == len(returned) and all(map(torch.equal, returned, last)) and self._describes_itself()
        if not holds:
            return Trial(False, {**shown, "returns": returned})
        untrained = self._untrained(returned)
        if untrained:
            return Trial(False, {**shown, "parameters that no gradient reaches": untrained})
        return self._judge_stages(outputs, arithmetic, shown)

    def _judge_stages(self, given: Mapping[str, Tensor], arithmetic: Arithmetic, shown: dict[str, object]) -> Trial:
        nothing = RoundedMatrix([])
        for stage in self.stages:
            read = nothing if stage.reads is None else arithmetic.matrix(_second(given[stage.reads]).tolist())
            trial = equal(_second(given[stage.name]), stage.formula(read), **shown, stage=stage.name)
            if not trial.holds:
                return trial
        return Trial(True)

    def _run(self) -> tuple[dict[str, list[Tensor]], Sequence[Tensor]]:
        """Return what each stage gives, once for each time it is run, and what the network returns."""
        given = {stage.name: list[Tensor]() for stage in self.stages}
        for name, outputs in given.items():
            self.network.get_submodule(name).register_forward_hook(lambda *call, to=outputs: to.append(call[-1]))
        returned = self.network(self.inputs)
        return given, returned if isinstance(returned, tuple) else (returned,)

    def _untrained(self, returned: Sequence[Tensor]) -> list[str]:
        """Return the parameters that no gradient of what the network returns reaches."""
        parameters = dict(self.network.named_parameters())
        learned = {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}
        scores = [output.sum() for output in returned if output.requires_grad]
        found = torch.autograd.grad(scores, list(learned.values()), allow_unused=True) if scores and learned else ()
        reached = {name for name, gradient in zip(learned, found, strict=False) if gradient is not None}
        return sorted(parameters.keys() - reached)

    def _describes_itself(self) -> bool:
        """Whether its example inputs are like the batch, and the classifier is the stage that it returns first."""
        (example,) = self.network.example_inputs(len(self.inputs))  # type: ignore[operator]
        alike = example.shape == self.inputs.shape and example.is_floating_point() == self.inputs.is_floating_point()
        classifier = self.network.get_classifier()  # type: ignore[operator]
        return alike and classifier is self.network.get_submodule(self.returns[0])


def _second(outputs: Tensor) -> Tensor:
    """Return the second output of a batch as a table; of a vector, the table of one row."""
    second = outputs.detach()[1]
    return second[None] if second.dim() == 1 else second
