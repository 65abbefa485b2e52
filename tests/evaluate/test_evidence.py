"""Evaluations on record: what each image's outcome was, and which images they were."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.evaluate.evidence import record_accuracy
from imlp_audit.evaluate.statistics import wilson
from imlp_audit.numbers.interval import Interval
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.columns import Metric
from tests.evaluate.papers import evaluated

IMAGES = (("a/1.png", (0,)), ("a/2.png", (0, 3)), ("b/1.png", (1,)))


def digest(*images: tuple[str, tuple[int, ...]]) -> str:
    right, sha256 = [True] * len(images), "0" * 64
    return record_accuracy(
        Metric.TOP1, right, images, available=9, unreadable=0, unlabelled=0, checkpoint=sha256, settings={}
    ).data


@given(st.lists(st.booleans(), max_size=40))
def test_the_outcome_of_every_image_is_read_back(right: list[bool]) -> None:
    found = evaluated(right)
    assert list(found.right()) == right
    assert (found.correct, found.images) == (sum(right), len(right))
    assert Interval(Fraction(found.low), Fraction(found.high)) == wilson(sum(right), len(right))
    assert Accuracy.model_validate_json(found.model_dump_json()) == found


def test_unreadable_images_widen_the_interval_by_whatever_they_would_give() -> None:
    found = evaluated((70, 90), unreadable=10)
    assert (Fraction(found.low), Fraction(found.high)) == (wilson(70, 100).low, wilson(80, 100).high)


def test_outcomes_are_four_a_digit_the_first_one_first() -> None:
    assert evaluated([True, False, False, False, False, True]).outcomes == "84"
    assert evaluated([]).outcomes == ""


def test_other_images_labels_or_orders_have_another_digest() -> None:
    one, two, three = IMAGES
    others = [
        digest(),
        digest(one, two),
        digest(one, three, two),
        digest(one, two, ("b/1.png", (2,))),
        digest(one, ("a/2.png", (0,)), three),
        digest(one, two, ("b/1.pn", (1,))),
        digest(("a/1.png", ()), two, three),
        digest(one, two, three, three),
    ]
    assert len({digest(*IMAGES), *others}) == len(others) + 1
    assert digest(*IMAGES) == digest(*IMAGES)


def test_a_digest_cannot_be_made_of_other_images_by_a_name() -> None:
    assert digest(("a", (0,)), ("b", (1,))) != digest(('a", 0]\n["b', (1,)))
    assert digest(("a", (1, 2))) != digest(("a", (12,)))
