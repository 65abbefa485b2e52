"""Sec. 3 and 3.3: gMLP as a whole, for images and for texts, from its sizes on."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim

from ._image_networks import ImageNetwork, gmlps
from ._text_networks import TextNetwork, texts


@claim(gmlps(), share=0.4)
def gmlp_network_of_images(case: ImageNetwork, arithmetic: Arithmetic) -> Trial:
    """On images gMLP is a projection of the patches, its blocks one after the other, and MLP-Mixer's classifier.

    Read as: the package's network of one to three blocks with any gate for images of any size, square or not, in a
    batch of two; biases, and norms with any scale and shift, before U and before f; the classifier is that of
    mixer_classifier. A gradient reaches every parameter.

    Place: Sec. 3, first paragraph
    Printed: На входе происходит разбиение картинки на непересекающиеся патчи, которые линейно проецируются в вектора
        скрытой размерности C. Затем формируется матрица входных данных X in R^{S x C}, которая далее проходит через все
        блоки сети. На выходе также используется стандартный линейный слой классификации.
    Bound: that of one block at a time, of what the package's block before it gave: LayerNorm's (functions_norm.py),
        carried through GELU, its largest slope, and the projections
    """
    # Hold every stage of the package's network against its formula.
    return case.judge(arithmetic)


@claim(texts(st.just(None)), share=0.8)
def gmlp_network_of_texts(case: TextNetwork, arithmetic: Arithmetic) -> Trial:
    """On texts gMLP is an embedding of each token, its blocks one after the other, and what BERT has at its end.

    Read as: the package's network of one to three blocks with any gate, W full or Toeplitz, with the tiny attention or
    without it, in a batch of two; a last norm; then BERT's output layer, which scores each word at each token, in any
    of the forms that a reading names, and where there is a pooler its vector of the first token. A gradient reaches
    every parameter, and every word's embedding as often as the word occurs.

    Place: Sec. 3, second paragraph, and Sec. 3.3, first paragraph
    Printed: Далее техникой WordPiece получают эмбединги каждого токена размерности C. Таким образом, создаётся матрица
        X in R^{S x C}, над которой производятся те же самые манипуляции.
    Bound: that of one block at a time, of what the package's block before it gave: LayerNorm's (functions_norm.py),
        carried through GELU and the softmax (functions_softmax.py), and the projections
    """
    # Hold every stage of the package's network against its formula.
    return case.judge(arithmetic)


@claim(texts(st.integers(1, 2)), share=0.4)
def gmlp_classifier_of_texts(case: TextNetwork, arithmetic: Arithmetic) -> Trial:
    """A gMLP that classifies texts reads the class from the first token, as BERT does.

    Read as: the package's network as in gmlp_network_of_texts; a linear layer of the first token's state, or of the
    pooler's vector where there is one, gives the weights of the classes. A gradient reaches every parameter.

    Place: Sec. 3.3, first paragraph
    Printed: Все входы и выходы сети аналогичны BERT [3].
    Bound: that of one block at a time, of what the package's block before it gave: LayerNorm's (functions_norm.py),
        carried through GELU and the softmax (functions_softmax.py), and the projections
    """
    # Hold every stage of the package's network against its formula.
    return case.judge(arithmetic)
