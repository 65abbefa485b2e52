"""A column whose note or caption says that a part of the model is not counted is left out."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.draft import Draft, draft_table
from imlp_audit.transcribe.write import DraftPaper, decisions_of, write_spec
from tests.transcribe.test_draft import table
from tests.transcribe.test_latex import read

_NOTE = "Excludes logits layer."


def draft(heading: str, *, caption: str = "Networks.", inside: str = "", below: str = "") -> Draft:
    tex = rf"""\begin{{table}}\caption{{{caption}}}
        \begin{{tabular}}{{lrr}} Model & {heading} & Top-1 \\ \hline ResNet-50 & 23.5M & 76.1 \\ {inside}
        \end{{tabular}}
        {below}
        \end{{table}}"""
    (found,) = read(tex).tables
    return draft_table(found)


def tablenotes(mark: str, text: str = _NOTE) -> str:
    return rf"\begin{{tablenotes}}\item[x] Other. \item[{mark}] {text}\end{{tablenotes}}"


@pytest.mark.parametrize(
    ("heading", "below"),
    [
        (r"Parameters\tnote{a}", tablenotes("a")),
        (r"Parameters\tnote{1}", tablenotes("1")),
        (r"Parameters$^{\rm a}$", tablenotes("a")),
        (r"Parameters\textsuperscript{1}", tablenotes("1")),
        (r"Parameters\tnote{x,a}", tablenotes("a")),
        (r"Parameters$^\dagger$", tablenotes(r"$\dagger$")),
        (r"Params$^*$ (M)", tablenotes("*")),
        (r"FLOPs$^\dagger$", tablenotes(r"$\dagger$", "Backbone only.")),
        (r"Params$^\dagger$", tablenotes(r"$\dagger$", "Without the classification head.")),
        (r"Parameters\footnote{Excludes logits layer.}", ""),
        (r"Parameters\footnotemark", r"\footnotetext{Excludes logits layer.}"),
        (r"Parameters\footnotemark[2]", r"\footnotetext[2]{Excludes logits layer.}"),
        (r"Parameters$^a$", r"\footnotesize $^a$ Excludes logits layer."),
        (r"Parameters$^\dagger$", r"$^\dagger$Excludes logits layer.\\ $^\ddagger$Other."),
    ],
)
def test_a_note_that_names_a_part_leaves_the_column_out(heading: str, below: str) -> None:
    found = draft(heading, below=below)
    assert list(found.columns.slugs.values()) == ["top_1"]
    assert "is left out: the note of its mark says" in decisions_of(found)[0]


def test_a_row_of_the_table_may_be_the_note() -> None:
    found = draft("Parameters$^*$", inside=r"\multicolumn{3}{l}{$^*$ Excludes logits layer.} \\")
    assert list(found.columns.slugs.values()) == ["top_1"]


@pytest.mark.parametrize(
    "caption",
    [
        "Networks. Parameter counts exclude the logits layer.",
        "Params are of the backbone.",
        "We do not count the classifier in the number of parameters.",
        r"Networks. \#Params is reported w/o the head.",
        "All parameters are non-embedding.",
    ],
)
def test_a_sentence_of_the_caption_leaves_the_column_out(caption: str) -> None:
    found = draft("Parameters", caption=caption)
    assert list(found.columns.slugs.values()) == ["top_1"]
    assert "is left out: the caption says" in decisions_of(found)[0]


@pytest.mark.parametrize(
    "caption",
    [
        "Parameters and accuracy of models that are trained on it only, without extra data.",
        "Backbones and their parameters.",
        "FLOPs exclude the head. Parameters are in millions.",
        "Heads are not shown. Parameters are in millions.",
    ],
)
def test_other_captions_leave_the_parameters_in(caption: str) -> None:
    assert list(draft("Parameters", caption=caption).columns.slugs.values()) == ["params", "top_1"]


def test_the_note_of_another_mark_leaves_the_column_in() -> None:
    found = draft(r"Parameters\tnote{a}", below=tablenotes("b") + r"$^c$ Without the head.")
    assert list(found.columns.slugs.values()) == ["params", "top_1"]
    assert any("has the mark 'a', and no note for it was found" in one for one in decisions_of(found))


def test_a_note_that_names_no_part_is_quoted() -> None:
    found = draft(r"Parameters\tnote{a}", below=tablenotes("a", "In millions."))
    assert list(found.columns.slugs.values()) == ["params", "top_1"]
    assert "the note of the heading 'Parameters^a' says 'In millions.'" in decisions_of(found)


def test_a_footnote_says_nothing_about_a_picture_beside_a_label() -> None:
    found = draft(
        "Parameters", inside=r"VGG-16\includegraphics{x} & 138M & 71 \\ VGG-19\footnote{Taken from [1].} & 1M & 7 \\"
    )
    assert not found.harmless


@pytest.mark.parametrize("heading", ["Params (* 10^6)", "Params (10^6)", "Params ×10^6"])
def test_a_power_of_ten_is_no_mark(heading: str) -> None:
    assert not any("mark" in one for one in decisions_of(table(f"Model | {heading}", "ResNet-50 | 25.6")))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("FLOPs at 256.", 256),
        ("All FLOPs are measured at a resolution of $256^2$.", 256),
        (r"Computed on images of size 256$\times$256", 256),
        ("for an input of 256 pixels", 256),
        ("at 256, DeiT at 224", None),
        ("at 256 except for ResNets", None),
        ("Ours are counted at 256", None),
        ("with a batch size of 256", None),
        ("at 256 tokens", None),
    ],
)
def test_a_note_of_flops_that_only_gives_a_size_is_that_of_the_column(text: str, size: int | None) -> None:
    found = draft("FLOPs (G)$^*$", below=tablenotes("*", text))
    assert found.columns.sizes == {"flops": size}
    assert found.rows[0].model.recipe == ("{timm: resnet50, image: 256}" if size else "{timm: resnet50}")
    assert found.unsized == (frozenset() if size else {"flops"})
    assert any("the note of the heading" in one for one in decisions_of(found))


def test_a_note_of_parameters_or_one_of_two_notes_gives_no_size() -> None:
    assert draft("Params (M)$^*$", below=tablenotes("*", "at 256")).columns.sizes == {}
    both = draft("FLOPs (G)$^{*,x}$", below=tablenotes("*", "at 256"))
    assert both.columns.sizes == {"flops": None}


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("Top-1 accuracies under linear evaluation on ImageNet.", "linear evaluation"),
        ("ImageNet, linear probing", "linear probing"),
        ("Linear and k-NN classification on ImageNet", "k-NN"),
        ("Self-supervised methods on ImageNet", "Self-supervised"),
        (r"Semi-supervised learning on ImageNet with 1\% and 10\% labels", "Semi-supervised"),
        (r"ImageNet, fine-tuned with 1\% and 10\% of the labels", "10% of the labels"),
        (r"ImageNet, 1\% labeled", "1% labeled"),
        ("Linear classifiers on frozen features of ImageNet", "Linear classifiers"),
        ("ImageNet. Only the backbone is counted.", "Only the backbone"),
        ("ImageNet. The encoder only.", "encoder only"),
        ("ImageNet. Parameters (M) are those of the feature extractor.", "feature extractor"),
    ],
)
def test_parameters_that_may_lack_the_classifier_are_tried_without_it(caption: str, words: str) -> None:
    found = draft("Params", caption=caption)
    assert found.may_lack_head == words
    paper = DraftPaper("p", "T", "A", "v")
    assert f"  parameters: [all, no_head]  # the table says '{words}'" in write_spec(found, paper)
    assert 'needs: "`parameters' not in write_spec(found, paper)
    assert any(f"the table says {words!r}" in one for one in decisions_of(found))


@pytest.mark.parametrize(
    "caption",
    [
        "ImageNet",
        "Backbones on ImageNet",
        "Encoders of two kinds",
        "Linear attention on ImageNet",
        "Linear complexity",
        "Supervised learning on ImageNet",
        "Semi-weakly supervised models",
        r"ImageNet, 10\% label smoothing",
    ],
)
def test_other_captions_do_not_doubt_the_classifier(caption: str) -> None:
    assert draft("Params", caption=caption).may_lack_head is None
    assert "no_head" not in write_spec(draft("Params", caption=caption), DraftPaper("p", "T", "A", "v"))


def test_a_table_without_parameters_need_not_say_what_they_are() -> None:
    assert draft("FLOPs (G)", caption="Linear evaluation").may_lack_head is None


def test_a_second_table_of_a_paper_waits_for_what_its_first_file_says() -> None:
    text = write_spec(draft("Params", caption="Linear evaluation"), DraftPaper("p", "T", "A", "v", described=True))
    assert (
        'params: {measure: parameters, unit: M, heading: Params, needs: "`parameters: [all, no_head]` under about'
        in text
    )
