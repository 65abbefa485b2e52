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


_ROBERTA = "config: {max_position_embeddings: 514, type_vocab_size: 1}, "
_OWN = {  # labels of one size whose published weights have the sizes of its class, and what they have besides
    "albertxxlarge": "", "bartlarge": "", "bertbase": "", "distilbert": "", "distilbertbase": "", "electrasmall": "",
    "fnetbase": "", "gpt1": "", "gpt2small": "", "gptneo13b": "", "modernbertbase": "", "opt125m": "",
    "robertabase": _ROBERTA, "t5small": "", "xlnetlarge": "",
}  # fmt: skip


def text_class(label: str) -> str | None:
    """Return the class of the text model that a label begins with; None for others."""
    return next((CLASSES[name] for name in _beginnings(_words(label)) if name in CLASSES), None)


def text_recipe(label: str) -> str | None:
    """Return the recipe of the text model that a label names with its size, where its class has that size."""
    found, more = text_class(label), _OWN.get("".join(_words(label)))
    if found is None or more is None:
        return None
    two = f"inputs: {{input_ids: {_IDS}, decoder_input_ids: {_IDS}}}"
    return f"{{transformers: {{architecture: {found}, {more}{two if found in _TWO_TEXTS else 'tokens: 512'}}}}}"


def _words(label: str) -> list[str]:
    return re.findall("[a-z]+|[0-9]+", label.lower())


def _beginnings(words: list[str]) -> list[str]:
    """Return the first words joined, the most first: gpt2 before gpt."""
    return ["".join(words[:end]) for end in range(min(4, len(words)), 0, -1)]
