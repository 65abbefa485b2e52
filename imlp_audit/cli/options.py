"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Specs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SPEC",
        help="Paper ids, folders or files; all of ./specs, or the bundled papers, if none.",
        show_default=False,
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="GLOB", help="Only checks whose id matches; repeatable.")
]
Skip = Annotated[
    list[str] | None, typer.Option("--skip", metavar="GLOB", help="No checks whose id matches; repeatable.")
]
