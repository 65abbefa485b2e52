"""The verdict on a printed accuracy, by an evaluation of a checkpoint of its row's model. Pure."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.printed import interval_ends
from imlp_audit.errors import UsageError
from imlp_audit.evaluate.sampled import Fit, fit, reading_departs
from imlp_audit.near import did_you_mean
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tables import AccuracyColumn

MOST_UNREADABLE = Fraction(1, 1000)  # of the images: with more, nothing is judged unless a user says so
UNPROVEN = (
    "an evaluation says what the given file does, not that it is the file behind the printed number; "
    "the evidence has its SHA-256"
)


def score_cells(row: RowRef, data: str | None) -> tuple[CellRef, ...]:
    """Return the cells of a row that an evaluation on a data set judges; of the only one it has, where none is named.

    Raises UsageError naming what there is.
    """
    cells = [CellRef(row, name) for name in row.row.printed]
    scores = [(cell, cell.column.data) for cell in cells if isinstance(cell.column, AccuracyColumn)]
    known = list(dict.fromkeys(name for _, name in scores))
    if not known:
        raise UsageError(f"{row.id} prints no number whose column has `metric` and `data`: nothing can be judged")
    if data is None and len(known) > 1:
        raise UsageError(f"{row.id} prints accuracies on {', '.join(known)}; say by --on which of them the images are")
    if data is not None and data not in known:
        raise UsageError(f"{row.id} prints no accuracy on {data!r}; {did_you_mean(data, known, 'it has')}")
    return tuple(cell for cell, name in scores if data in (None, name))


def judge(
    cell: CellRef, found: Accuracy, reading: str | None = None, most_unreadable: Fraction = MOST_UNREADABLE
) -> Check:
    """Judge a printed accuracy by an evaluation of its row's model, built under a reading of the paper.

    `reproduced` says that all images were evaluated and the share prints as the paper prints it, whatever the
    unreadable ones would give; within sampling error it is `reproduced_under` sampling.
    """
    check = Check(
        id=cell.id,
        kind=CheckKind.CELL,
        verdict=Verdict.ERROR,
        reason=why_not_judged(found, most_unreadable) or "",
        source=cell.row.table.source("rows", cell.row.index, "printed", cell.column_id),
        printed=cell.printed.text,
        unit=cell.column.unit,
        reading=reading,
        hints=(UNPROVEN,),
        evidence=(found,),
    )
    if check.reason:
        return check
    share = Fraction(100 * found.correct, found.images)
    fitted = fit(
        cell.printed.interval,
        cell.row.paper.about.value.rounding,
        _over_all(found),
        Interval(Fraction(found.low), Fraction(found.high)),
        reading_departs(cell, reading),
    )
    judged = {
        "verdict": fitted.verdict,
        "reason": f"{_counted(found)}; {_held(cell, found, share, fitted)}",
        "interval": interval_ends(cell.printed, fitted.rounding),
        "measured": decimal_text(share, EXACT),
        "gap": decimal_text(cell.printed.gap(share), 1),
        "rounding": fitted.rounding,
        "under": fitted.under,
    }
    return check.model_copy(update=judged)


def why_not_judged(found: Accuracy, most_unreadable: Fraction = MOST_UNREADABLE) -> str | None:
    """Say why an evaluation is too incomplete to judge by, if it is; `most_unreadable` is a share of the images."""
    looked_at = found.images + found.unreadable
    if found.unreadable > most_unreadable * looked_at:
        most = decimal_text(100 * most_unreadable, 2)
        return (
            f"{readable(found.unreadable)} of {readable(looked_at)} images could not be read, "
            f"more than the {most} % up to which an accuracy is judged; mend the data set"
        )
    return None if found.images else "no image that has a label was evaluated"


def _over_all(found: Accuracy) -> Interval | None:
    """Return where the share in all images of the data set lies; None where some of them were not evaluated."""
    looked_at = found.images + found.unreadable
    if not found.whole:
        return None
    return Interval(
        Fraction(100 * found.correct, looked_at), Fraction(100 * (found.correct + found.unreadable), looked_at)
    )


def _counted(found: Accuracy) -> str:
    """Say how many images were classified rightly, of which."""
    among = {"top1": "with the first guess", "top5": "among the first five guesses"}[found.metric]
    all_ = "all " if found.whole and not found.unreadable and not found.unlabelled else ""
    rest = [f"the data set has {readable(found.available)}"] if not found.whole else []
    rest += [f"{readable(found.unreadable)} could not be read"] if found.unreadable else []
    rest += [f"{readable(found.unlabelled)} without a label are not judged"] if found.unlabelled else []
    more = f" ({', '.join(rest)})" if rest else ""
    share = readable(Fraction(100 * found.correct, found.images), 3)
    return (
        f"the checkpoint classifies {readable(found.correct)} of {all_}{readable(found.images)} images rightly "
        f"{among}{more}, {share} %"
    )


def _held(cell: CellRef, found: Accuracy, share: Fraction, fitted: Fit) -> str:
    """Say how that goes with the printed number, for somebody who has only the paper."""
    text, printed = cell.printed.text, fitted.printed
    if fitted.equal:
        return f"that prints as {text}, which stands for {printed}"
    interval = f"the 95 % interval [{found.low}, {found.high}]"
    if fitted.verdict is Verdict.DIFFERS:
        side = "above" if share > cell.printed.value else "below"
        off = f"{decimal_text(abs(cell.printed.gap(share)), 1)} units of the last digit {side} the printed {text}"
        return f"that is {off}, and {interval} does not meet {printed}: more than sampling explains"
    if found.whole:
        return f"that does not print as {text}, but {interval} meets {printed}: no more than sampling explains"
    equal = "equal as printed, which may be luck" if share in printed else f"not {text} as printed"
    return f"that is {equal}, for not all images were evaluated; {interval} of so few meets {printed}"
