"""Reproducibility checklists: what they ask, in their own words, and the kind of evidence that bears on each item.

NeurIPS: the questions on reproducibility of its Paper Checklist. ML code completeness: the five items of Papers with
Code. ACM: the badges of Artifact Review and Badging, version 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Topic(StrEnum):
    """What an audit knows that bears on an item."""

    CLAIMS = "claims"
    THEORY = "theory"
    NUMBERS = "numbers"
    TIMES = "times"
    CHECKPOINTS = "checkpoints"
    REPRODUCED = "reproduced"
    REPLICATED = "replicated"


@dataclass(frozen=True)
class Entry:
    """An item of a checklist, in its own words; without a topic no audit can say anything about it."""

    name: str
    question: str
    topic: Topic | None = None


@dataclass(frozen=True)
class Checklist:
    """A checklist, and where its words are."""

    name: str
    url: str
    entries: tuple[Entry, ...]


CHECKLISTS = (
    Checklist(
        "NeurIPS paper checklist",
        "https://neurips.cc/public/guides/PaperChecklist",
        (
            Entry(
                "Claims",
                "Do the main claims made in the abstract and introduction accurately reflect the paper's contributions "
                "and scope?",
                Topic.CLAIMS,
            ),
            Entry(
                "Theory assumptions and proofs",
                "For each theoretical result, does the paper provide the full set of assumptions and a complete (and "
                "correct) proof?",
                Topic.THEORY,
            ),
            Entry(
                "Experimental result reproducibility",
                "Does the paper fully disclose all the information needed to reproduce the main experimental results "
                "of the paper to the extent that it affects the main claims and/or conclusions of the paper "
                "(regardless of whether the code and data are provided or not)?",
                Topic.NUMBERS,
            ),
            Entry(
                "Open access to data and code",
                "Does the paper provide open access to the data and code, with sufficient instructions to faithfully "
                "reproduce the main experimental results, as described in supplemental material?",
            ),
            Entry(
                "Experimental setting/details",
                "Does the paper specify all the training and test details (e.g., data splits, hyperparameters, how "
                "they were chosen, type of optimizer, etc.) necessary to understand the results?",
            ),
            Entry(
                "Experiment statistical significance",
                "Does the paper report error bars suitably and correctly defined or other appropriate information "
                "about the statistical significance of the experiments?",
            ),
            Entry(
                "Experiments compute resources",
                "For each experiment, does the paper provide sufficient information on the computer resources (type "
                "of compute workers, memory, time of execution) needed to reproduce the experiments?",
                Topic.TIMES,
            ),
        ),
    ),
    Checklist(
        "ML code completeness checklist",
        "https://medium.com/paperswithcode/ml-code-completeness-checklist-e9127b168501",
        (
            Entry(
                "Dependencies",
                "Does a repository have information on dependencies or instructions on how to set up the environment?",
            ),
            Entry(
                "Training scripts",
                "Does a repository contain a way to train/fit the model(s) described in the paper?",
            ),
            Entry(
                "Evaluation scripts",
                "Does a repository contain a script to calculate the performance of the trained model(s) or run "
                "experiments on models?",
            ),
            Entry(
                "Pretrained models",
                "Does a repository provide free access to pretrained model weights?",
                Topic.CHECKPOINTS,
            ),
            Entry(
                "Results",
                "Does a repository contain a table/plot of main results and a script to reproduce those results?",
            ),
        ),
    ),
    Checklist(
        "ACM badges",
        "https://www.acm.org/publications/policies/artifact-review-and-badging-current",
        (
            Entry(
                "Artifacts Available",
                "Author-created artifacts relevant to this paper have been placed on a publicly accessible archival "
                "repository.",
            ),
            Entry(
                "Artifacts Evaluated",
                "The artifacts associated with the research are found to be documented, consistent, complete, "
                "exercisable, and include appropriate evidence of verification and validation.",
            ),
            Entry(
                "Results Reproduced",
                "The main results of the paper have been obtained in a subsequent study by a person or team other "
                "than the authors, using, in part, artifacts provided by the author.",
                Topic.REPRODUCED,
            ),
            Entry(
                "Results Replicated",
                "The main results of the paper have been independently obtained in a subsequent study by a person or "
                "team other than the authors, without the use of author-supplied artifacts.",
                Topic.REPLICATED,
            ),
        ),
    ),
)
