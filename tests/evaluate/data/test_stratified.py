"""A part of the images that stands for all of them."""

from __future__ import annotations

import random
from collections import Counter
from math import ceil, floor

import torch
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.evaluate.data.images import choose_stratified


def names(count: int) -> list[str]:
    return [f"image_{number}.jpg" for number in range(count)]


@given(
    classes=st.lists(st.integers(0, 6), min_size=1, max_size=60),
    limit=st.integers(1, 70),
)
def test_each_class_gets_its_share(classes: list[int], limit: int) -> None:
    labels = [(one,) for one in classes]
    chosen = choose_stratified(labels, limit, names(len(classes)))
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) == min(limit, len(classes))
    held, taken = Counter(classes), Counter(classes[index] for index in chosen)
    for one, count in held.items():
        share = min(limit, len(classes)) * count
        assert floor(share / len(classes)) <= taken[one] <= ceil(share / len(classes))


def test_a_thousand_of_imagenet_are_one_a_class() -> None:
    labels = [(number // 50,) for number in range(50_000)]
    chosen = choose_stratified(labels, 1000, names(50_000))
    assert sorted(number // 50 for number in chosen) == list(range(1000))
    assert len({number % 50 for number in chosen}) == 50  # and of no one place in their class


def test_the_choice_goes_by_names_and_by_nothing_else() -> None:
    ids, labels = names(200), [(number % 7,) for number in range(200)]
    chosen = {ids[index] for index in choose_stratified(labels, 30, ids)}
    order = list(range(200))
    random.Random(3).shuffle(order)
    torch.manual_seed(5)
    random.seed(5)
    shuffled = choose_stratified([labels[n] for n in order], 30, [ids[n] for n in order])
    assert {ids[order[index]] for index in shuffled} == chosen
    assert {ids[index] for index in choose_stratified(labels, 30, [f"x{one}" for one in ids])} != chosen


def test_a_choice_as_it_must_stay() -> None:
    """By sha256sum class 0 comes before 1, and in them b, e, a and d, f, c: of these six, each second one."""
    labels = [(0,), (0,), (1,), (1,), (0,), (1,)]
    assert choose_stratified(labels, 3, ["a", "b", "c", "d", "e", "f"]) == (2, 3, 4)


def test_images_without_a_label_are_not_chosen() -> None:
    labels: list[tuple[int, ...]] = [(), (3,), (), (3, 1), (1,)]
    assert choose_stratified(labels, 9, names(5)) == (1, 3, 4)
    assert set(choose_stratified(labels, 2, names(5))) < {1, 3, 4}
    assert choose_stratified([(), ()], 2, names(2)) == ()
