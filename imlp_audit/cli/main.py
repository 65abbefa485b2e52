"""The command `imlp-audit`."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated, NoReturn

import click
import typer

from imlp_audit import __version__
from imlp_audit.cli import lint, listing, report, verify
from imlp_audit.cli.exits import ExitCode
from imlp_audit.errors import AuditError, BuildError

app = typer.Typer(
    name="imlp-audit",
    help="Audits the numbers that machine-learning papers print: which follow from the model, and which do not.",
    epilog="Exit codes: 0 clean, 1 findings, 2 unusable input, 3 not completed, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(verify.verify)
app.command(name="list")(listing.list_checks)
app.command()(lint.lint)
app.command()(report.report)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"imlp-audit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    gc.disable()  # a short-lived process: collecting cycles while importing and building costs a second, and frees little
    code = _guarded()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    sys.stderr.flush()
    os._exit(code)  # taking torch down in order costs another second, and there is nothing left to save


def _guarded() -> int:
    """Run the command; every way to end is an exit code and at most one message."""
    try:
        return int(app(standalone_mode=False) or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return ExitCode.UNUSABLE
    except BuildError as error:
        return _told(error, ExitCode.INCOMPLETE)
    except AuditError as error:
        return _told(error, ExitCode.UNUSABLE)
    except (KeyboardInterrupt, click.Abort):
        return _told("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        return ExitCode.CLEAN


def _told(what: object, code: ExitCode) -> ExitCode:
    print(f"imlp-audit: {what}", file=sys.stderr)
    return code
