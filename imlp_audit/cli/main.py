"""The command `imlp-audit`: its commands by their names, and every way to end.

A command is imported when it is named, with all that it needs: to do that for all takes longer than to check a paper's
specs. The list of commands reads what they do from their sources.
"""

from __future__ import annotations

import ast
import os
import sys
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from imlp_audit import __version__, errors
from imlp_audit.cli.output import ExitCode, make_inert, tell
from imlp_audit.processes.compiler import leave_compiler_out
from imlp_audit.processes.streams import open_closed_streams


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    open_closed_streams()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # what libraries tell their developers is nothing a user can act on
    if sys.stderr is None:  # closed by whoever started us: there is nobody to tell
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # half of a surrogate pair must not fail
    leave_compiler_out()
    code = _run_command()
    with suppress(OSError, ValueError, AttributeError):  # a stream that nobody reads, or that is closed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # taking torch down in order costs another second, and there is nothing left to save


def _run_command() -> int:
    """Run the command; every way to end is an exit code and at most one message."""
    try:
        return int(_pick_app()(standalone_mode=False) or 0)
    except TyperException as error:  # of the command line itself
        message = error.format_message().replace("Value error, ", "")
        if message == "Missing command." and _named_command() == "imlp-audit":
            message = "Missing command; `imlp-audit demo DIR` shows what it does."
        return _complain(f"{message}\nTry `{_named_command()} --help`.", ExitCode.UNUSABLE)
    except errors.ClosedPipeError:
        return ExitCode.CLEAN
    except (errors.BuildError, errors.MissingLibraryError, errors.OutputError, errors.SolverError) as error:
        return _complain(error, ExitCode.INCOMPLETE)
    except errors.SpecError as error:
        print(make_inert(error), file=sys.stderr)
        count = len(error.problems)
        return _complain(f"{count} {'problem' if count == 1 else 'problems'} in the specs", ExitCode.UNUSABLE)
    except errors.AuditError as error:
        return _complain(error, ExitCode.UNUSABLE)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit:  # how typer tells that nobody read its help
        return ExitCode.CLEAN
    except OSError as error:  # of the streams: files and specs have their own errors
        gone = " (was the current folder removed?)" if isinstance(error, FileNotFoundError) else ""
        return _complain(f"{error}{gone}", ExitCode.INCOMPLETE)
    except ModuleNotFoundError as error:
        missing = missing_library(error)
        return _complain(missing, ExitCode.INCOMPLETE) if missing is not None else _report_bug()
    except Exception:
        return _report_bug()


def _report_bug() -> ExitCode:
    """Print the error that is being handled: ours to mend. Python's own exit code for it would read as "findings"."""
    traceback.print_exc()
    return _complain("this is a bug in imlp-audit; please report it with the lines above", ExitCode.INCOMPLETE)


def _named_command() -> str:
    """Return the command as it is typed: its help says how it is used."""
    named = (word for word in sys.argv[1:2] if word in COMMANDS)
    return " ".join(["imlp-audit", *named])


def _complain(what: object, code: ExitCode) -> ExitCode:
    tell(what)
    return code


COMMANDS = {  # in the order of the help: the module and the function of each
    "init": "init:init",
    "verify": "verify:verify",
    "accept": "accept:accept",
    "count": "count:count",
    "explain": "explain:explain",
    "properties": "verify:properties",
    "solve": "explain:solve",
    "eval": "eval:evaluate",
    "inspect": "eval:inspect",
    "bench": "bench:bench",
    "list": "listing:list_checks",
    "lint": "listing:lint",
    "coverage": "listing:coverage",
    "report": "report:report",
    "diff": "report:diff",
    "acknowledge": "accept:acknowledge",
    "demo": "init:demo",
}
_NAMES = "cvxpy fvcore huggingface_hub hypothesis numpy pyarrow safetensors timm torch torchvision transformers"
MODELS = {name: name for name in _NAMES.split()} | {"PIL": "pillow"}
"""The libraries of `models` by the names that they are imported by."""
PDF = {"pdfplumber": "pdfplumber", "pdfminer": "pdfplumber"}
"""The library of `pdf`; it brings pdfminer."""


def _pick_app() -> typer.Typer:
    """Return the command that is named; if none is, the list of them, or all that a shell asks to complete."""
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    if named or "_IMLP_AUDIT_COMPLETE" in os.environ:
        return make_app(*named)
    app = _make_empty_app()
    for name in COMMANDS:
        app.command(name, help=_read_docstring(name))(lambda: None)
    return app


def _read_docstring(command: str) -> str | None:
    module, _, function = COMMANDS[command].partition(":")
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    functions = (one for one in tree.body if isinstance(one, ast.FunctionDef))
    return next(ast.get_docstring(one) for one in functions if one.name == function)


def make_app(*names: str) -> typer.Typer:
    """Return the command line: of the commands with these names, of all of them if there are none."""
    app = _make_empty_app()
    for name in names or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"imlp_audit.cli.{module}"), attribute)
        app.command(name)(command)
    return app


def _make_empty_app() -> typer.Typer:
    app = typer.Typer(
        name="imlp-audit",
        help="Audit the numbers that machine-learning papers print: which follow from the model, and which do not.",
        epilog="Exit codes: 0 clean, 1 findings, 2 unusable input, 3 not completed, 130 interrupted.",
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
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


def missing_library(error: ModuleNotFoundError) -> str | None:
    """Return the message about a library of an extra that is not installed; None if the error has another cause."""
    module = (error.name or "").partition(".")[0]
    extra = "pdf" if module in PDF else "models"
    name = {**MODELS, **PDF}.get(module)
    if name is None or find_spec(module) is not None:  # a part of an installed library is missing: a bug
        return None
    return f"this needs {name}, which is not installed; run: pip install 'imlp-audit[{extra}]'"
