"""Sec. 2.1: the height and the width of an image, wherever a recipe gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.own import PythonModule
from imlp_audit.models.recipe import Recipe

_PATCH = 2
_HOSTS: Mapping[str, Mapping[str, object]] = {
    "mixer": {"layers": 1, "patch": _PATCH, "width": 2, "tokens_hidden": 1, "channels_hidden": 1},
    "gmlp": {"layers": 1, "patch": _PATCH, "width": 2, "hidden": 2},
    "resmlp": {"layers": 1, "patch": _PATCH, "width": 2, "form": "equations"},
    "cait_chain": {"layers": 1, "patch": _PATCH, "width": 2, "heads": 1, "stage": "linear"},
    "vanilla_block": {"width": 3, "act_num": 1},
}


@dataclass(frozen=True)
class Sized:
    """A network's key in a recipe, H and W, and whether the recipe is given them at once or in place of others."""

    key: str
    height: int
    width: int
    later: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """H and W."""
        return self.height, self.width

    @property
    def fits(self) -> bool:
        """Whether the patches divide both sides."""
        return self.key == "vanilla_block" or not (self.height % _PATCH or self.width % _PATCH)

    def recipe(self) -> Recipe:
        """Return the recipe for images of H x W. Raises ValidationError."""
        host = {self.key: _HOSTS[self.key]}
        return Recipe.of(**host, image=12).with_image(self.sizes) if self.later else Recipe.of(**host, image=self.sizes)


_SIDES = st.integers(6, 13)


@claim(st.builds(Sized, st.sampled_from(_HOSTS), _SIDES, _SIDES, st.booleans()), share=0.3)
def patches_of_height_and_width(case: Sized, _: Arithmetic) -> Trial:
    """An image of H x W has H rows of W pixels, for MLP-Mixer, gMLP, ResMLP, CaiT's chain, VanillaNet's block and a
    module of one's own.

    Read as: a recipe gives H before W, at once or in place of another size; an input is channels, H, W; patches that do
    not divide both sides are refused.

    Place: Sec. 2.1, second paragraph
    Printed: На вход поступают изображения размера H x W.
    Bound: none: sides are integers
    """
    # Hold the inputs that the package's network is built for against H and W.
    shown: dict[str, object] = {"network": case.key, "H": case.height, "W": case.width, "in place": case.later}
    own = PythonModule(entry_point="net", input=(5, 7, 7))
    other = Recipe(host=own).with_image(case.sizes).host
    if not isinstance(other, PythonModule) or other.input != (5, *case.sizes):
        return Trial(False, {**shown, "of one's own": str(other)})
    try:
        recipe = case.recipe()
    except ValidationError:
        return Trial(not case.fits, {**shown, "refused": True})
    network = recipe.host.build(BuildRequest(recipe.image, recipe.classes))
    (images,) = network.example_inputs(2)  # type: ignore[operator]
    network(images)  # it runs on what it says that it reads
    return Trial(case.fits and tuple(images.shape) == (2, 3, *case.sizes), {**shown, "images": tuple(images.shape)})
