"""Causes of printed numbers, from counts that are written down here."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest

from imlp_audit.explain.causes import find_causes
from imlp_audit.explain.tries import CauseFamily, CountedQuantity, Question
from imlp_audit.numbers.parsing import NumberForm, parse_printed
from imlp_audit.records.counted import COUNTERS, CountReport, ModelPart, NumberCause

SIZES = {"stem": 100_000, "body": 600_000, "head": 300_000, "head.one": 130_000, "head.two": 90_000, "head.out": 80_000}
P, F = CountedQuantity.PARAMETERS, CountedQuantity.FLOPS


def question(text: str, measure: CountedQuantity, counter: str | None = None) -> Question:
    return Question(parse_printed(text, NumberForm("", nouns=("flops",))), measure, counter)


def report(whole: int = 1_000_000, work: int = 5_000_000_000, products: int = 0) -> CountReport:
    """A model in which each parameter works 5000 times, and products without weights do in its body."""
    parts = tuple(
        ModelPart(
            path=path, depth=path.count(".") + 1, kind="Linear", parameters=size,
            work=5000 * size + products * (path == "body"), layers=5000 * size,
        )
        for path, size in SIZES.items()
    )  # fmt: skip
    flops = {"macs": work + products, "torch": 2 * (work + products), "no_products": work}
    return CountReport(
        model="net", arguments={}, inputs=(), parameters={"all": whole}, buffers=0, bytes=4 * whole, flops=flops,
        parts=parts,
    )  # fmt: skip


def named(*questions: Question, **changes: CountReport) -> list[list[str]]:
    found = find_causes(questions, report(products=10**9), {CauseFamily.ARGUMENT: changes})
    return [[cause.text for cause in one.causes] for one in found]


def test_a_sum_of_parts_of_the_last_module() -> None:
    assert named(question("0.78000M", P))[0][0] == "all but head.one and head.two"


def test_all_but_the_first_of_many_modules() -> None:
    """A backbone of four stages is left out."""
    sizes = {"one": 100, "two": 210, "three": 430, "four": 880, "neck": 1_810, "mask": 3_700, "out": 7_600}
    parts = tuple(ModelPart(path=name, depth=1, kind="Linear", parameters=size) for name, size in sizes.items())
    model = report(sum(sizes.values())).model_copy(update={"parts": parts})
    (found,) = find_causes([Question(parse_printed("13110", NumberForm("")), P)], model, {})
    assert found.causes[0].text == "neck to out alone"
    (found,) = find_causes([Question(parse_printed("11300", NumberForm("")), P)], model, {})
    assert found.causes[0].text == "out and mask alone"


def test_a_part_without_its_first_module() -> None:
    assert named(question("0.1700M", P))[0][0] == "head.two and head.out alone"


def test_a_part_of_what_is_trained() -> None:
    """The stem is frozen, and so is half of the head; the paper leaves out another part of the rest."""
    model = report()
    trained = {**SIZES, "stem": 0, "head": 150_000, "head.one": 0, "head.two": 70_000}
    parts = tuple(part.model_copy(update={"trained": trained[part.path]}) for part in model.parts)
    model = model.model_copy(update={"parts": parts, "parameters": {"all": 1_000_000, "trainable": 750_000}})
    (found,) = find_causes([question("0.680000M", P)], model, {})
    assert found.causes[0].text == "all but head.two, and only what is trained"


def test_counters_that_give_another_number_than_one_that_follows() -> None:
    model, twice, norms = report(), {"torch": 10_000_000_000}, {"fvcore": 5_004_000_000}
    model = model.model_copy(update={"flops": {**(model.flops or {}), **norms}})
    assert find_causes([question("5.00G", F)], model, {})[0].otherwise == twice
    assert find_causes([question("5.0000G", F)], model, {})[0].otherwise == {**twice, **norms}
    assert not find_causes([question("6.00G", F)], model, {})[0].otherwise


def test_another_counter_four_times() -> None:
    assert named(question("20.00G", F))[0][0].startswith("times 4, and without the products in attention")


def test_cut_off_and_not_rounded() -> None:
    (found,) = find_causes([question("1.19M", P)], report(1_199_488), {})
    assert ("cut off, not rounded", "1190000") in {(cause.text, cause.value) for cause in found.causes}
    assert "cut off" not in str(find_causes([question("1.18M", P)], report(1_194_999), {}))


def test_sizes_with_equal_work_are_named_together() -> None:
    sizes = {f"images of {size}": report(work=7_000_000_000) for size in ("480 x 480", "360 x 640")}
    (found,) = find_causes([question("7.000G", F)], report(), {CauseFamily.SIZE: sizes})
    assert found.causes[0].text == "images of 480 x 480 or 360 x 640"


def test_of_what_is_near_the_most_usual_is_named() -> None:
    changes = {f"a={at}": report(size) for at, size in enumerate((1_300_000, 1_500_000, 1_700_000, 2_012_900))}
    (found,) = find_causes([question("2.0130M", P)], report(), {CauseFamily.ARGUMENT: changes})
    assert (found.causes, found.nearest) == ((), "times 2: 2 000 000")


def test_one_cause_of_two_numbers_of_two_digits_counts_by_both() -> None:
    both = question("0.78M", P), question("7.8G", F)  # two for each multiply-accumulate, without the products
    alone = find_causes(both[:1], report(products=10**9), {})[0]
    first, second = find_causes(both, report(products=10**9), {})
    assert first.causes[0].text == "all but head.one and head.two"
    assert second.causes[0].text == f"{first.causes[0].text}, and two for each multiply-accumulate, without products"
    assert first.causes[0].explains == second.causes[0].explains == ("0.78M", "7.8G")
    of_alone = next(one for one in (*alone.causes, *alone.possible) if one.text == first.causes[0].text)
    assert first.causes[0].chance < of_alone.chance


def test_a_change_under_which_another_number_does_not_follow_is_left_out() -> None:
    changes = {"width=2": report(1_234_000, 9 * 10**9), "bias=True": report(1_234_100, 5 * 10**9, 10**9)}
    assert "width=2" in named(question("1.234M", P), **changes)[0]
    assert named(question("1.234M", P), question("6.00G", F), **changes)[0] == ["bias=True"]


def test_a_plain_change_comes_before_one_that_is_counted_in_another_way() -> None:
    changes = {"a=1": report(work=3_900_000_000), "b=1": report(work=7_800_000_000)}
    assert named(question("7.800G", F), **changes)[0][0] == "b=1"


def test_the_counter_that_a_number_was_judged_by_is_the_one_that_it_differs_from() -> None:
    (found,) = find_causes([question("5.00G", F, "torch")], report(), {})
    assert (found.measured, found.causes[0].text) == ("10000000000", "multiply-accumulates alone")


def test_nothing_is_named_for_what_everything_gives() -> None:
    (found,) = find_causes([question("2M", P)], report(), {})
    assert not found.causes
    assert found.possible
    assert all(one.chance < 1 for one in found.possible)


@pytest.mark.parametrize("digits", [2, 3])
def test_one_number_in_twenty_has_a_cause_by_chance(digits: int) -> None:
    """Of all numbers within a factor of two of the model's own, by their share on a logarithmic scale."""
    changes = {f"a={at}": report(round(1_000_000 * 2 ** (at * 0.618 % 2 - 1))) for at in range(40)}
    named = 0.0
    for thousands in (*range(500, 1000, 10 ** (3 - digits)), *range(1000, 2000, 10 ** (4 - digits))):
        text = f"{thousands / 1000:.{digits - (thousands >= 1000)}f}M"
        (found,) = find_causes([question(text, P)], report(), {CauseFamily.ARGUMENT: changes})
        inside = question(text, P).printed.interval()
        named += bool(found.causes) * log(inside.high / inside.low) / log(4)
    assert 0.02 < named < 0.055


def test_two_digits_exchanged() -> None:
    (found,) = find_causes([question("1.27M", P)], report(1_720_000), {})
    assert found.causes[0].text == "two digits of 1.72M exchanged"
    assert "exchanged" not in str(find_causes([question("2.1M", P)], report(1_200_000), {}))


def test_a_wrong_digit_comes_after_all_others_and_is_not_certain() -> None:
    (found,) = find_causes([question("2.72M", P)], report(1_720_000), {})
    assert [one.text for one in found.causes + found.possible][-1] == "a misprint of 1.72M, 2 for 1"
    (found,) = find_causes([question("2.7203M", P)], report(1_720_300), {})
    assert [(one.text, one.certain) for one in found.causes] == [("a misprint of 1.7203M, 2 for 1", False)]


def test_a_misprint_comes_after_what_is_as_usual() -> None:
    """Two digits exchanged, less unlikely by chance than the fourth change of an argument."""
    changes = {f"a={at}": report(1_000_000 + 10_000 * at) for at in (3, 5, 7)} | {"a=9": report(1_270_100)}
    (found,) = find_causes([question("1.270M", P)], report(1_720_000), {CauseFamily.ARGUMENT: changes})
    assert [one.text for one in found.causes] == ["a=9", "two digits of 1.720M exchanged"]


def test_of_two_causes_neither_is_certain() -> None:
    changes = {"a=1": report(1_234_000), "b=1": report(1_234_010)}
    (found,) = find_causes([question("1.2340M", P)], report(), {CauseFamily.ARGUMENT: changes})
    assert [(one.text, one.certain) for one in found.causes] == [("a=1", False), ("b=1", False)]
    (found,) = find_causes([question("1.2340M", P)], report(), {CauseFamily.ARGUMENT: {"a=1": report(1_234_000)}})
    assert [(one.text, one.certain) for one in found.causes] == [("a=1", True)]
    both = question("1.2340M", P), question("9.000G", F)  # a cause of both numbers has no rival in one of one
    changes["b=1"] = report(1_234_010, 9_000_000_000)
    assert find_causes(both, report(), {CauseFamily.ARGUMENT: changes})[0].causes[0].certain


def test_what_only_training_uses_is_left_out_together() -> None:
    sizes = {"stem": 100, "aux_one": 270, "body": 3000, "teacher": 810, "neck": 531, "head": 97}
    parts = tuple(ModelPart(path=name, depth=1, kind="Linear", parameters=size) for name, size in sizes.items())
    model = report(sum(sizes.values())).model_copy(update={"parts": parts})
    (found,) = find_causes([Question(parse_printed("3728", NumberForm("")), P)], model, {})
    assert found.causes[0].text == "all but teacher and aux_one"


def in_column(printed: str, *others: tuple[str, CountReport]) -> list[NumberCause]:
    """The causes of a number of a model of a million parameters, among rows that print numbers of other models."""
    rows = {replace(question(text, P), row=f"row-{at}"): of for at, (text, of) in enumerate(others)}
    again = {CauseFamily.ROW: {one.row: of for one, of in rows.items()}}
    return list(find_causes([question(printed, P)], report(), again, rows)[0].causes)


def test_a_gap_that_all_rows_have_comes_before_a_cause_of_one_cell() -> None:
    """1.25 M more in each row."""
    first = in_column(
        "2.25M", ("4.25M", report(3_000_000)), ("8.35M", report(7_100_000)), ("5.00M", report(5_000_000))
    )[0]
    assert first.text.startswith("1 250 000 more than what the model of each row has")
    assert first.explains == ("2.25M", "4.25M of row-0", "8.35M of row-1")
    assert first.chance < 0.001


def test_a_factor_that_all_rows_have() -> None:
    found = in_column("1.37M", ("4.11M", report(3_000_000)), ("9.73M", report(7_100_000)))
    assert found[0].text.startswith("1.37 times what the model of each row has")
    found = in_column("3.0M", ("9.0M", report(3_000_000)), ("21.3M", report(7_100_000)))
    assert found[0].text == "times 3"
    assert len(found[0].explains) == 3


def test_a_cause_of_all_rows_may_be_another_number_in_each() -> None:
    """Heads that are left out have their own size in each model: of two digits, one alone decides nothing."""
    large = report(2_000_000)
    large = large.model_copy(
        update={"parts": tuple(one.model_copy(update={"parameters": 2 * one.parameters}) for one in large.parts)}
    )
    found = in_column("0.70M", ("1.4M", large), ("2.0M", large))
    assert found[0].text == "all but head"
    assert found[0].explains == ("0.70M", "1.4M of row-0")


def test_the_number_of_another_row() -> None:
    found = in_column("1.234M", ("1.23M", report(1_234_000)))
    assert found[0].text == "what the row row-0 has"
    assert not any("row-1" in cause.text for cause in in_column("1.234M", ("1.2M", report(1_240_000))))


def test_equal_rows_are_one() -> None:
    same = report()
    assert [cause.text for cause in in_column("1.7M", ("1.7M", same), ("1.7M", same))] == [
        cause.text for cause in in_column("1.7M")
    ]


def test_what_adds_nothing_to_a_cause_is_not_named() -> None:
    """All but a module that hardly works, and without the products of attention: these alone give the number."""
    small = ModelPart(path="stem", depth=1, kind="Conv2d", parameters=0, work=5, layers=5)
    model = report(products=1_234_000_000).model_copy(update={"parts": (small,)})
    (found,) = find_causes([question("5.0000G", F)], model, {})
    assert [one.text for one in found.causes] == [COUNTERS["no_products"]]


def test_a_rare_cause_comes_after_the_usual_ones() -> None:
    usual = {f"width={at}": report(1_100_000 + 60_000 * at) for at in range(5)} | {
        "depth=9": report(1_500_300)
    }  # prints the same
    again = {CauseFamily.RARE: {"9, not 5, in the code of Net": report(1_500_200)}, CauseFamily.ARGUMENT: usual}
    (found,) = find_causes([question("1.500M", P)], report(), again)
    assert found.causes[0].text == "depth=9"
