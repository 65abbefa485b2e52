"""The number of classes of a table's models: the libraries' own, a person's, or one to propose."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imlp_audit.models.names.data_sets import USUAL_CLASSES
from imlp_audit.transcribe.models import ModelGuess
from imlp_audit.transcribe.other_classes import OtherClasses, why_group


@dataclass(frozen=True)
class TableClasses:
    """What is known of the classes: `doubt` is why they may not be the libraries' 1000, `given` what a person says."""

    doubt: OtherClasses | None = None
    given: int | None = None

    def doubt_below(self, heading: str) -> OtherClasses | None:
        """Return why the models of a row may have other heads, which the heading between rows above it may say too."""
        return self.doubt or (why_group(heading) if self.given is None else None)

    def put_into(self, model: ModelGuess, doubt: OtherClasses | None) -> ModelGuess:
        """Return a row's model with the classes that a person gives, or with proposals of those that it may have."""
        if self.given is not None:
            return _with_given(model, self.given)
        if doubt is None or not model.candidates:
            return model
        first, *others = model.candidates
        proposed = [with_classes(first, number) for number in doubt.classes]
        return replace(model, candidates=tuple(dict.fromkeys((*proposed, first, *others))))


def _with_given(model: ModelGuess, classes: int) -> ModelGuess:
    if classes == USUAL_CLASSES:
        return model
    return replace(
        model,
        recipe=with_classes(model.recipe, classes) if model.recipe is not None else None,
        candidates=tuple(with_classes(one, classes) for one in model.candidates),
        nearest=tuple(with_classes(one, classes) for one in model.nearest),
    )


def with_classes(recipe: str, classes: int) -> str:
    """Return a recipe of a classifier of images with a number of classes; a comment behind it stays."""
    if "transformers:" in recipe:
        return recipe
    model, mark, comment = recipe.partition("  #")
    return f"{model[:-1]}, classes: {classes}}}{mark}{comment}"
