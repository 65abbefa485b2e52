from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.models.beam_search import beam_search
from imlp_audit.models.hosts.resmlp import ResMlpTranslation
from imlp_audit.models.resmlp_translation import END, PADDING, TranslationModel, build_translation

WORDS = (0, 3, 4)  # of a vocabulary of five, what is neither padding nor the end
SOURCE = torch.tensor([3, 4, END])


def translator(seed: int, tokens: int = 4) -> TranslationModel:
    torch.manual_seed(seed)
    model = build_translation(ResMlpTranslation(layers=1, width=4, hidden=8, heads=2, tokens=tokens, vocabulary=5))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model.eval()


class Table:
    """Next-token probabilities by what was said before; all else that is said has the chance of `default`."""

    tokens = 10
    steps = 0

    def __init__(self, chances: dict[tuple[int, ...], dict[int, float]], default: dict[int, float]) -> None:
        self.chances, self.default = chances, default

    def encode(self, source_ids: Tensor, /) -> None:
        assert source_ids.shape[0] == 1

    def decode(self, target_ids: Tensor, memory: None, /) -> Tensor:
        self.steps += 1
        logits = torch.full((*target_ids.shape, 5), -math.inf)
        for row, said in enumerate(target_ids.tolist()):
            for token, chance in self.chances.get(tuple(said[1:]), self.default).items():
                logits[row, -1, token] = math.log(chance)
        return logits


def score(model: TranslationModel, tokens: tuple[int, ...], alpha: float = 0.6) -> float:
    """The score of a translation that is given, in one pass of the decoder."""
    with torch.inference_mode():
        logits = model(SOURCE[None], torch.tensor([[END, *tokens[:-1]]]))[0]
    chosen = logits.log_softmax(-1)[range(len(tokens)), list(tokens)]
    penalty: float = ((5 + len(tokens)) / 6) ** alpha
    return float(chosen.sum()) / penalty


def everything(longest: int) -> list[tuple[int, ...]]:
    return [(*words, END) for length in range(longest) for words in itertools.product(WORDS, repeat=length)]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_that_holds_everything_is_an_exhaustive_search(seed: int, alpha: float) -> None:
    model = translator(seed)
    expected = sorted((score(model, tokens, alpha) for tokens in everything(4)), reverse=True)
    found = beam_search(model, SOURCE, beam=41, alpha=alpha)
    assert len(found) == len(expected) == 1 + 3 + 9 + 27
    assert {hypothesis.tokens for hypothesis in found} == set(everything(4))
    torch.testing.assert_close([hypothesis.score for hypothesis in found], expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close([score(model, h.tokens, alpha) for h in found], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_narrower_beams_find_translations_that_exist(beam: int) -> None:
    for seed in range(8):
        model = translator(seed)
        found = beam_search(model, SOURCE, beam)
        assert 1 <= len(found) <= beam
        assert {hypothesis.tokens for hypothesis in found} <= set(everything(4))
        expected = [score(model, hypothesis.tokens) for hypothesis in found]
        torch.testing.assert_close([hypothesis.score for hypothesis in found], expected, rtol=1e-4, atol=1e-5)
        assert expected == pytest.approx(sorted(expected, reverse=True), rel=1e-4)


def greedy(model: TranslationModel, longest: int) -> tuple[int, ...]:
    tokens: tuple[int, ...] = ()
    while len(tokens) < longest - 1:
        logits = model(SOURCE[None], torch.tensor([[END, *tokens]]))[0, -1]
        logits[PADDING] = -math.inf
        tokens += (int(logits.argmax()),)
        if tokens[-1] == END:
            return tokens
    return (*tokens, END)


def test_a_beam_of_one_is_greedy() -> None:
    lengths = set()
    for seed in range(20):
        model = translator(seed, tokens=6)
        (only,) = beam_search(model, SOURCE, beam=1)
        assert only.tokens == greedy(model, 6)
        lengths.add(len(only.tokens))
    assert len(lengths) > 2


GARDEN_PATH = Table({(): {3: 0.6, 4: 0.4}, (3,): {END: 0.3, 3: 0.3, 0: 0.4}, (4,): {END: 1.0}}, {END: 1.0})


def test_beam_finds_what_greedy_misses() -> None:
    """0.6 * 0.4 on the path of the likeliest words, against 0.4 beside it."""
    assert beam_search(GARDEN_PATH, SOURCE, beam=1)[0].tokens == (3, 0, END)
    best = beam_search(GARDEN_PATH, SOURCE, beam=2, alpha=0)[0]
    assert best.tokens == (4, END)
    assert best.score == pytest.approx(math.log(0.4))


def test_length_normalisation_favours_the_longer() -> None:
    table = Table({(): {END: 0.5, 3: 0.5}, (3,): {3: 0.9, 4: 0.1}, (3, 3): {END: 1.0}}, {END: 1.0})
    short, long = beam_search(table, SOURCE, beam=2, alpha=0)
    assert (short.tokens, long.tokens) == ((END,), (3, 3, END))
    assert (short.score, long.score) == pytest.approx((math.log(0.5), math.log(0.5 * 0.9)))
    best = beam_search(table, SOURCE, beam=2)[0]
    assert best.tokens == long.tokens
    assert best.score == pytest.approx(long.score / (8 / 6) ** 0.6)


def test_ends_with_as_many_as_the_beam_is_wide() -> None:
    """Of two that end at once the second is finished too; what would have come later is not waited for."""
    table = Table({(): {END: 0.5, 3: 0.5}, (3,): {END: 0.6, 3: 0.4}, (3, 3): {END: 1.0}}, {END: 1.0})
    assert [h.tokens for h in beam_search(table, SOURCE, beam=2, alpha=0)] == [(END,), (3, END)]
    assert table.steps == 2


def test_one_that_ends_leaves_its_place_to_another() -> None:
    table = Table({(): {END: 0.5, 3: 0.3, 4: 0.2}, (3,): {END: 0.1, 3: 0.9}}, {END: 1.0})
    assert [h.tokens for h in beam_search(table, SOURCE, beam=2, alpha=0)] == [(END,), (4, END)]


def test_end_below_the_beam_does_not_finish() -> None:
    table = Table({(): {3: 0.6, END: 0.4}}, {END: 1.0})
    assert [h.tokens for h in beam_search(table, SOURCE, beam=1)] == [(3, END)]


def test_equal_scores_go_by_the_lowest_ids() -> None:
    even = Table({}, dict.fromkeys((0, END, 3, 4), 0.25))
    found = beam_search(even, SOURCE, beam=2, longest=3, alpha=0)
    assert [h.tokens for h in found] == [(END,), (0, END)]
    assert found == beam_search(even, SOURCE, beam=2, longest=3, alpha=0)


def test_padding_is_never_said_and_the_end_is_said_in_time() -> None:
    chatty = Table({}, {PADDING: 0.9, 3: 0.1 - 1e-6, END: 1e-6})
    assert beam_search(chatty, SOURCE, beam=1, longest=4)[0].tokens == (3, 3, 3, END)
    assert len(beam_search(chatty, SOURCE, beam=1)[0].tokens) == chatty.tokens


def test_translation_is_at_most_50_tokens_longer_than_the_source() -> None:
    chatty = Table({}, {3: 1 - 1e-6, END: 1e-6})
    chatty.tokens = 100
    padded = torch.tensor([3, 4, END, PADDING, PADDING])
    assert len(beam_search(chatty, padded, beam=1)[0].tokens) == 53


def test_ends_where_nothing_can_be_said() -> None:
    assert beam_search(Table({}, {PADDING: 1.0}), SOURCE) == ()


@pytest.mark.parametrize("beam", [1, 4])
def test_padding_the_source_changes_nothing(beam: int) -> None:
    model = translator(1, tokens=6)
    padded = torch.tensor([3, 4, END, PADDING, PADDING])
    alone, in_batch = beam_search(model, SOURCE, beam), beam_search(model, padded, beam)
    assert [h.tokens for h in alone] == [h.tokens for h in in_batch]
    # sums of float32 in another order: the batch is wider
    torch.testing.assert_close([h.score for h in alone], [h.score for h in in_batch], rtol=1e-5, atol=0)


def test_a_beam_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="beam: a search needs at least one hypothesis, not 0"):
        beam_search(translator(0), SOURCE, beam=0)


def test_the_papers_beam_on_the_papers_vocabulary() -> None:
    model = build_translation(ResMlpTranslation(layers=1, width=16, hidden=32, heads=2, tokens=8)).eval()
    found = beam_search(model, torch.randint(4, 32768, (5,)))
    assert len(found) == 4
    assert all(h.tokens[-1] == END and len(h.tokens) <= 8 for h in found)
