"""Testing many claims, in this process or in others. Torch-free: the processes that test import it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeAlias

from imlp_audit.claims.catalogue import ClaimCode, ClaimText
from imlp_audit.claims.settings import AnyOutcome, NotRun, Outcome, Settings
from imlp_audit.processes.code import explain_distrust, is_bundled
from imlp_audit.processes.workers import EndedError, Pool, gather, open_pool

Outcomes: TypeAlias = Mapping[str, AnyOutcome]
Progress: TypeAlias = Callable[[str], None]


@contextmanager
def running(
    claims: Sequence[ClaimText], settings: Settings, pool: Pool, *, helping: bool = False
) -> Iterator[Callable[[Progress], Outcomes]]:
    """Begin testing claims; call what is yielded to wait for the outcomes, by claim id.

    They are tested in the processes of the pool from now on, and with `helping` in this one too once the outcomes are
    asked for; without processes, only then and here. Claims that do not come with this package are always tested in
    processes of their own. The Python of folders that are not trusted is not run.
    """
    trusted = [claim for claim in claims if settings.trust_code or is_bundled(claim.code.folder)]
    folders = {claim.code.folder: claim.code.shown_as for claim in claims if claim not in trusted}
    reasons = {folder: NotRun(explain_distrust(folder, shown_as)) for folder, shown_as in folders.items()}
    refused = {claim.id: reasons[claim.code.folder] for claim in claims if claim not in trusted}
    bundled = all(is_bundled(claim.code.folder) for claim in trusted)
    by_code: dict[ClaimCode, list[ClaimText]] = defaultdict(list)  # papers that make the same claim share its function
    for claim in trusted:
        by_code[claim.code].append(claim)
    # those that take longest go first, so that no process is left alone with them
    ordered = sorted(by_code.values(), key=lambda same: (same[0].needs is None, not same[0].long))

    def test_here(same: list[ClaimText]) -> Outcome:
        from imlp_audit.claims.testing import run_claim

        return run_claim(same[0].code, settings)

    def collect(tested: Iterable[tuple[list[ClaimText], Outcome]], progress: Progress) -> Outcomes:
        outcomes: dict[str, AnyOutcome] = {**refused}
        for same, outcome in tested:
            for claim in same:
                progress(claim.id)
                outcomes[claim.id] = outcome
        return outcomes

    if bundled and not pool.size:
        yield lambda progress: collect(((same, test_here(same)) for same in ordered), progress)
        return
    with nullcontext(pool) if bundled else open_pool(max(1, pool.size)) as processes:
        waiting = {processes.submit(_test, (settings, same[0])): same for same in ordered}
        yield lambda progress: collect(gather(waiting, test_here if helping and bundled else None), progress)


def _test(processes: Pool, given: tuple[Settings, ClaimText]) -> Outcome:
    """Test a claim in a process; one that hangs or dies takes one claim with it."""
    settings, claim = given
    place = f"{claim.file}:{claim.line}"
    try:
        sent = processes.run(_run_claim, (claim.code, settings), settings.patience)
        return [one for one in sent if one is not None][-1]
    except TimeoutError:
        return Outcome(0, problem=f"{place}: did not respond for {settings.patience:g} s and was stopped")
    except EndedError as error:
        return Outcome(0, problem=f"{place}: its process ended ({error})")


def _run_claim(given: tuple[ClaimCode, Settings], send: Callable[[Outcome | None], None]) -> None:
    """Test a claim, and send None each time it shows that it goes on."""
    from imlp_audit.claims.testing import run_claim

    send(None)
    send(run_claim(*given, beat=lambda: send(None)))
