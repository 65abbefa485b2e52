"""What the printed numbers say about the models and about how they were counted: an exact search.

A solution is one reading for each family of models, one way to count and round parameters, and a rounding rule and
one integer weight from 0 to 6 for each class of work, which together make FLOPs. Its score is the number of printed
numbers that it explains. The search is branch and bound over boxes of weights: a box's bound counts every number that
some weights in it and some reading could explain, a box whose bound is below the best score is dropped, any other is
cut in two, until all weights of a box explain the same numbers. So the best score is exact, and all ties are known,
unless the budget ends the search first, which the answer says.

Counts   `compose` has models counted under all readings, and makes a problem.
Search   `problem`, laid out as arrays by `layout`, and its answer; `search` is the door (also for copies with shifted
         digits), `branch_and_bound` the loop.
Answer   `answer` does all of it for some targets, and says how well the answer is known and by which numbers.
Door     `selection` says what is meant, and returns records/solution.py's `Solved`, from the store if it is there.
"""

BUDGET = 50_000_000
"""Pairs of a box of weights and a reading that a search may look at."""
