"""The commands by their names, and the command line that is made of them.

A command is imported and described when it is named: to do that for all takes longer than to check a paper's specs.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from typer.exceptions import TyperException

from imlp_audit import __version__

COMMANDS = {  # in the order of the help: the function of each, or the Typer that holds its own commands
    "init": "imlp_audit.cli.init:init",
    "verify": "imlp_audit.cli.verify:verify",
    "accept": "imlp_audit.cli.accept:accept",
    "count": "imlp_audit.cli.count:count",
    "explain": "imlp_audit.cli.explain:explain",
    "properties": "imlp_audit.cli.properties:properties",
    "solve": "imlp_audit.cli.solve:solve",
    "eval": "imlp_audit.cli.eval:evaluate",
    "inspect": "imlp_audit.cli.inspect:inspect",
    "bench": "imlp_audit.cli.bench:bench",
    "list": "imlp_audit.cli.listing:list_checks",
    "lint": "imlp_audit.cli.listing:lint",
    "coverage": "imlp_audit.cli.coverage:coverage",
    "schema": "imlp_audit.cli.listing:schema",
    "report": "imlp_audit.cli.report:report",
    "diff": "imlp_audit.cli.diff:diff",
    "acknowledge": "imlp_audit.cli.acknowledge:acknowledge",
    "demo": "imlp_audit.cli.demo:demo",
    "cache": "imlp_audit.cli.cache:app",
}


_OLD_NAMES = {"baseline": "acknowledge"}  # which keep working, and are not listed


def make_app(first: str = "") -> typer.Typer:
    """Return the command line: of one command if its first word names one, of all of them otherwise."""
    app = typer.Typer(
        name="imlp-audit",
        help="Audit the numbers that machine-learning papers print: which follow from the model, and which do not.",
        epilog="Exit codes: 0 clean, 1 findings, 2 unusable input, 3 not completed, 130 interrupted.",
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in [first] if first in COMMANDS or first in _OLD_NAMES else COMMANDS:
        module, _, attribute = COMMANDS[_OLD_NAMES.get(name, name)].partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=StrictCommand)(command)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"imlp-audit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


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
