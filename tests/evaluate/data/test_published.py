"""ImageNet-1k as it was published."""

from __future__ import annotations

import pytest
from timm.data import ImageNetInfo

from imlp_audit.evaluate.data.imagenet import imagenet_classes, validation_number


def test_the_published_classes() -> None:
    classes = imagenet_classes()
    assert list(classes) == ImageNetInfo("imagenet-1k").label_names() == sorted(set(classes))
    assert (len(classes), classes[0], classes[281], classes[999]) == (1000, "n01440764", "n02123045", "n15075141")


@pytest.mark.parametrize(
    ("called", "number"),
    [
        ("ILSVRC2012_val_00000001.JPEG", 1),
        ("ILSVRC2012_val_00050000.jpeg", 50_000),
        ("ILSVRC2012_val_00000293.jpg", 293),
        ("ILSVRC2012_val_00000000.JPEG", None),
        ("ILSVRC2012_val_00050001.JPEG", None),
        ("ILSVRC2012_val_1.JPEG", None),
        ("ILSVRC2012_test_00000001.JPEG", None),
        ("ILSVRC2012_val_00000001.JPEG.png", None),
        ("ILSVRC2012_val_0000000\u0661.JPEG", None),
    ],
)
def test_numbers_of_validation_images(called: str, number: int | None) -> None:
    assert validation_number(called) == number
