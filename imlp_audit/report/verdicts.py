"""How a check is written in a line: its verdict in words and colours, its place, and the command that explains it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import is_number
from imlp_audit.records.check import FAILS, PASSES, AnyCheck, Check, CountedCheck, Verdict
from imlp_audit.records.diff import CheckState
from imlp_audit.records.finding import Finding, Quote, StaleEntry, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Span, Style, shorten

STYLES = {
    Verdict.REPRODUCED: Style.GOOD,
    Verdict.REPRODUCED_UNDER: Style.DEPARTING,
    Verdict.DIFFERS: Style.BAD,
    Verdict.INCONSISTENT: Style.BAD,
    Verdict.UNVERIFIABLE: Style.FAINT,
    Verdict.ERROR: Style.BROKEN,
}


def word_of(verdict: Verdict) -> str:
    """Return a verdict's name in a report: `error` alone would read like a mistake of the paper."""
    return "not completed" if verdict is Verdict.ERROR else verdict.value


def style_of(check: AnyCheck) -> Style:
    """Return the colour of a check's verdict: a failing one that is known has its own."""
    return Style.KNOWN if check.acknowledged else STYLES[check.verdict]


def verdict_span(verdict: Verdict) -> Span:
    """Return a verdict's name in its colour."""
    return Span(word_of(verdict), STYLES[verdict])


def name_verdict(check: AnyCheck | CheckState) -> str:
    """Return a verdict in words, with what it departs in and its caveats: `reproduced under reading released, weak`."""
    under = f"{word_of(check.verdict).replace('_', ' ')} {', '.join(check.under)}".rstrip()
    return ", ".join((under, *check.caveats))


def write_verdict(check: AnyCheck | CheckState) -> Span:
    """Write a check's verdict in a few words: what it holds under, and whether a failing one is known."""
    words = name_verdict(check)
    return Span(f"{words}, known", Style.KNOWN) if check.acknowledged else Span(words, STYLES[check.verdict])


def summarize(result: AuditResult) -> str:
    """Count in a line what holds, what fails and what is open."""
    return f"{count_of(len(result.checks), 'check')}: {count_outcomes(result.checks)}"


def count_outcomes(checks: Sequence[Check]) -> str:
    """Count what holds, what fails and what is open: "3 hold, 1 fails"."""
    verdicts = Counter(check.verdict for check in checks)
    failing = [check for check in checks if check.verdict in FAILS]
    known = sum(check.acknowledged is True for check in failing)
    state = f" ({'all ' if known == len(failing) > 1 else ''}{f'{known} ' if known < len(failing) else ''}known)"
    parts = [
        (sum(verdicts[verdict] for verdict in PASSES), "holds", "hold", ""),
        (len(failing), "fails", "fail", state if known else ""),
        (verdicts[Verdict.UNVERIFIABLE], "cannot be decided", "cannot be decided", ""),
        (verdicts[Verdict.ERROR], "could not be completed", "could not be completed", ""),
    ]
    return ", ".join(f"{readable(n)} {one if n == 1 else several}{more}" for n, one, several, more in parts if n)


_LONGEST = 72  # characters of a place in a line


def name_place(check: Check) -> str:
    """Return a check's place in the paper; that in the specs where a result has no other."""
    return check.place or place_in_specs(check)


def name_places_of(finding: Finding, checks: Sequence[Check]) -> str:
    """Return where the first of a finding's checks stands, and how many more places there are.

    A change stands where its cell does. A finding without checks has the sources that it quotes.
    """
    own = {name_place(check) for check in checks}
    stems = dict.fromkeys(name_place(check).removesuffix(", change") for check in checks)
    places = [stem if stem in own else f"{stem}, change" for stem in stems]
    first, *others = places or [one.source for one in finding.evidence if isinstance(one, Quote)]
    return f"{shorten(first, _LONGEST)}{f'; and {len(others)} more' if others else ''}"


def place_in_specs(one: AnyCheck | StaleFinding | StaleEntry) -> str:
    """Return the place in the specs of a check, or of an entry that no longer holds, as file:line."""
    return f"{one.source.file}:{one.source.line}"


_BUNDLED = "specs/"  # how the sources of bundled papers begin; these are found by the id alone


def explain_command(check: AnyCheck) -> str:
    """Return the command, as one would type it where the audit ran."""
    return shlex.join(["imlp-audit", "explain", check.id, *_target(check.source.file)])


def _target(file: str) -> list[str]:
    """Return the spec that holds a check: its file, or the folder of a paper's Python and the word to trust it."""
    path = PurePosixPath(file)
    if file.startswith(_BUNDLED) or not file:
        return []
    if path.suffix != ".py":
        return [file]
    folder = path.parent.parent if path.parent.name in ("claims", "equations") else path.parent
    return [str(folder), "--trust-code"]


def write_measured(text: str | None) -> str:
    """Write a measured number with its digits in groups; words stay as they are, and numbers of absurd length."""
    return readable(Fraction(text)) if text and is_number(text) else text or ""


def describe_check(check: Check) -> str:
    """Say in a line where a check stands, what is printed, and why the verdict came out as it did."""
    printed = f"printed {check.printed}; " if check.printed is not None else ""
    return f"{place_and_id(check)}: {printed}{check.reason}"


def place_and_id(check: Check) -> str:
    """Name a check: its place in the paper, if the result has it, and its id."""
    return f"{check.place} ({check.id})" if check.place else check.id


def code_of(check: Check) -> Span:
    """Return the id of a check, which leads to what explains it: changes are explained with their cell."""
    explained = check.id.partition(".")[0] if isinstance(check, CountedCheck) else check.id
    return Span(check.id, Style.CODE, link=f"#{explained}")


def write_check(check: Check, most: int | None = None) -> tuple[str | Span, ...]:
    """Write a check: its verdict, its id, what is printed and what was found, in at most so many characters each."""
    printed = "" if check.printed is None else f" printed {shorten(check.printed, 40) if most else check.printed}"
    return (write_verdict(check), " ", code_of(check), f"{printed}: {shorten(check.reason, most or len(check.reason))}")
