"""A command that does not take an option for the value of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer.core
from typer.exceptions import TyperException


class StrictCommand(typer.core.TyperCommand):
    """Refuses an option's value that begins with a dash: the value was forgotten, and the next option taken for it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the arguments; an error says which command they are of."""
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if getattr(error, "ctx", None) is None:
                vars(error)["ctx"] = ctx
            raise

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  # typer's own context is not among its public names
        """Run the command, unless a value is an option's name."""
        for option in self.params:
            if isinstance(option, typer.core.TyperOption) and not option.is_flag:
                given = ctx.params.get(option.name)
                for value in given if isinstance(given, list | tuple) else (given,):
                    if isinstance(value, str | Path) and str(value).startswith("-"):
                        name = option.opts[0]
                        file = f" (for a file of that name, write ./{value})" if isinstance(value, Path) else ""
                        message = f"{name} takes a value, and {str(value)!r} looks like an option"
                        ctx.fail(f"{message}: give the value right after {name}{file}")
        return super().invoke(ctx)
