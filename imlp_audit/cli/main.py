"""The command `imlp-audit`."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from imlp_audit.cli.commands import make_app
from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.libraries import missing_library
from imlp_audit.errors import (
    AuditError,
    BuildError,
    ClosedPipeError,
    MissingLibraryError,
    OutputError,
    SolverError,
    SpecError,
)
from imlp_audit.processes.compiler import leave_compiler_out
from imlp_audit.processes.streams import open_closed_streams
from imlp_audit.report.formats import AuditFormat


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    open_closed_streams()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # what libraries tell their developers is nothing a user can act on
    if sys.stderr is None:  # closed by whoever started us: there is nobody to tell
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a table's lines must not fail on a plain terminal
    leave_compiler_out()
    code = _run_command()
    with suppress(OSError, ValueError, AttributeError):  # a stream that nobody reads, or that is closed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # taking torch down in order costs another second, and there is nothing left to save


def _run_command() -> int:
    """Run the command; every way to end is an exit code and at most one message."""
    try:
        return int(make_app(*sys.argv[1:2])(standalone_mode=False) or 0)
    except TyperException as error:  # of the command line itself
        message = _format_hint(error) or _reword(error.format_message())
        if message == "Missing command." and _named_command(error) == "imlp-audit":
            message = "Missing command; `imlp-audit demo DIR` shows what it does."
        return _complain(f"{message}\nTry `{_named_command(error)} --help`.", ExitCode.UNUSABLE)
    except ClosedPipeError:
        return ExitCode.CLEAN
    except (BuildError, MissingLibraryError, OutputError, SolverError) as error:
        return _complain(error, ExitCode.INCOMPLETE)
    except SpecError as error:
        print(_inert(error), file=sys.stderr)
        count = len(error.problems)
        return _complain(f"{count} {'problem' if count == 1 else 'problems'} in the specs", ExitCode.UNUSABLE)
    except AuditError as error:
        return _complain(error, ExitCode.UNUSABLE)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit:  # how typer tells that nobody read its help
        return ExitCode.CLEAN
    except OSError as error:  # of the streams: files and specs have their own errors
        gone = "the current folder was removed; change to one that exists"
        return _complain(error if _has_folder() else gone, ExitCode.INCOMPLETE)
    except ModuleNotFoundError as error:
        missing = missing_library(error)
        return _complain(missing, ExitCode.INCOMPLETE) if missing is not None else _report_bug()
    except Exception:
        return _report_bug()


_REWORDED = (  # what the library's validation says, and what that means to a user
    (r": Value error, ", ": "),
    (r": Input should be greater than or equal to (\S+)", r": it must be at least \1"),
    (r": Input should be less than or equal to (\S+)", r": it must be at most \1"),
    (r": Input should be greater than (\S+)", r": it must be more than \1"),
    (r": Input should be less than (\S+)", r": it must be less than \1"),
    (r": Input should be a valid integer.*", ": it must be a whole number"),
    (r": Input should be a (?:valid|finite) number.*", ": it must be a number"),
)


def _reword(message: str) -> str:
    """Return a message about the command line in plain words."""
    for pattern, words in _REWORDED:
        message = re.sub(pattern, words, message)
    return message


def _format_hint(error: TyperException) -> str | None:
    """Say how a format is asked for that was written as an option, such as --json; None for any other error."""
    option = str(getattr(error, "option_name", ""))
    name = option.removeprefix("--")
    command = getattr(getattr(error, "ctx", None), "command", None)
    takes_formats = any("--format" in one.opts for one in getattr(command, "params", ()))
    return f"No such option: {option}; write -f {name}." if takes_formats and name in set(AuditFormat) else None


def _has_folder() -> bool:
    """Return whether the folder that we stand in is still there."""
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _report_bug() -> ExitCode:
    """Print the error that is being handled: ours to mend. Python's own exit code for it would read as "findings"."""
    traceback.print_exc()
    return _complain("this is a bug in imlp-audit; please report it with the lines above", ExitCode.INCOMPLETE)


def _named_command(error: TyperException) -> str:
    """Return the command that was misused, as it is typed: its help says how it is used."""
    context = getattr(error, "ctx", None)
    words: list[str] = []
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return " ".join(["imlp-audit", *words])


def _complain(what: object, code: ExitCode) -> ExitCode:
    print(f"imlp-audit: {_inert(what)}", file=sys.stderr)
    return code


def _inert(what: object) -> str:
    """Return a message in which nothing of a user's file acts on a terminal, or on the log of a runner."""
    from imlp_audit.report.document import make_visible
    from imlp_audit.report.formats import disarm_commands

    return disarm_commands(make_visible(str(what), keep="\n"))
