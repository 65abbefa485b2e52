"""What the printed numbers say about the models and about how they were counted: an exact search.

A solution is one reading for each family of models, one way to count and round parameters, and a rounding rule and
one integer weight from 0 to 6 for each class of work, which together make FLOPs. Its score is the number of printed
numbers that it explains. The search is branch and bound over boxes of weights: a box's bound counts every number that
some weights in it and some reading could explain, a box whose bound is below the best score is dropped, any other is
cut in two, until all weights of a box explain the same numbers. So the best score is exact, and all ties are known,
unless the budget ends the search first, which the answer says.

Counts   `compose` and its parts give every row's counts under all readings (`space`) without building each model:
         `counting` counts a model, `amounts` is its vector of integers, `additive` adds up what does not interact.
Problem  `posing` turns rows and counts into a `problem`; `parts` lays it out as arrays, `weights` as bundles and boxes.
Search   `search` is the door, `branch_and_bound` the loop, `bounds` what a box can explain, `ties` all best solutions,
         `order` which come first; `answer` holds what was found.
Meaning  `certainty` says how well it is known, `grounds` which numbers decide it, `controls` and `heldout` what the
         score is worth, `own` (with `variations`) what a single row would have to change; `describe` makes the record.
Door     `selection` does all of it for some targets and returns records/solution.py's `Solved`.
"""
