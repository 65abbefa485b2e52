"""Models of texts that papers print and transformers has, by the first words of their labels."""

from __future__ import annotations

import re

CLASSES = {
    "albert": "AlbertModel", "bart": "BartModel", "bert": "BertModel", "bloom": "BloomModel",
    "camembert": "CamembertModel", "deberta": "DebertaModel", "debertav2": "DebertaV2Model",
    "debertav3": "DebertaV2Model", "distilbert": "DistilBertModel", "electra": "ElectraModel",
    "fnet": "FNetModel", "gpt": "OpenAIGPTModel", "gpt1": "OpenAIGPTModel", "gpt2": "GPT2Model",
    "gptj": "GPTJModel", "gptneo": "GPTNeoModel", "gptneox": "GPTNeoXModel", "llama": "LlamaModel",
    "longformer": "LongformerModel", "mobilebert": "MobileBertModel", "modernbert": "ModernBertModel",
    "mpnet": "MPNetModel", "mt5": "MT5Model", "opt": "OPTModel", "roberta": "RobertaModel",
    "squeezebert": "SqueezeBertModel", "t5": "T5Model", "xlmr": "XLMRobertaModel",
    "xlmroberta": "XLMRobertaModel", "xlnet": "XLNetModel",
}  # fmt: skip
_TWO_TEXTS = frozenset({"BartModel", "MT5Model", "T5Model"})  # one for the encoder, one for the decoder
_IDS = "{shape: [512], dtype: int64}"


def text_recipe(label: str) -> str | None:
    """Return the recipe of the text model that a label begins with, with its class's default sizes; None for others."""
    words = re.findall("[a-z]+|[0-9]+", label.lower())
    found = next((CLASSES[name] for name in _beginnings(words) if name in CLASSES), None)
    if found is None:
        return None
    two = f"inputs: {{input_ids: {_IDS}, decoder_input_ids: {_IDS}}}"
    return f"{{transformers: {{architecture: {found}, {two if found in _TWO_TEXTS else 'tokens: 512'}}}}}"


def _beginnings(words: list[str]) -> list[str]:
    """Return the first words joined, the most first: gpt2 before gpt."""
    return ["".join(words[:end]) for end in range(min(4, len(words)), 0, -1)]
