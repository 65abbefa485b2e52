"""What a caption says that counts as one FLOP: a multiply-accumulate, or half of one."""

from __future__ import annotations

import re

from imlp_audit.transcribe.sentences import sentences_in

_MAC = (
    r"(?:\w?macs?|(?:fused )?multipl(?:y|ication)[- ](?:and[- ])?(?:accumulat|add)\w*|mult(?:i|iply)?[- ]?adds?|madds?)"
)
_OPERATIONS = r"(?:flops?|floating[- ]point operations?|operations?|ops)"
_IS = r"(?:is|are|as|=|equals?|counts?(?: as| for)?|(?:is|are) counted as|corresponds? to|:)"
_A = r"(?:one|1|a single|an?)"
_TWO = r"(?:two|2|twice|2x|2 ?×|two times)"
_TWICE = (
    rf"\b(?:one|1|an?|each|every|the) {_MAC}(?: \(\w+\))?(?: operations?)? {_IS} {_TWO} {_OPERATIONS}\b",
    rf"\bflops?\b(?: count)? ?{_IS} ?{_TWO} ?[×x*·]? ?(?:the )?(?:number of )?{_MAC}\b",
    rf"\b{_TWO} {_OPERATIONS} (?:per|for (?:one|an?|each|every)) {_MAC}\b",
)
_ONCE = (
    rf"\b(?:one|1|an?|each|every|the) {_MAC}(?: \(\w+\))?(?: operations?)? {_IS} {_A} {_OPERATIONS}\b",
    rf"\bflops? ?(?:{_IS}|denotes?|means?|refers? to|stands? for|\() ?(?:the )?(?:numbers? of )?{_MAC}\b",
    rf"\b(?:one|a single) {_OPERATIONS} (?:per|for (?:one|an?|each|every)) {_MAC}\b",
)
_NEGATED = re.compile(
    r"\bnot\b|\bunlike\b|\bother\b|\bsome\b|\bhalf\b|\binstead\b|\bwhile\b|\bwhereas\b", re.IGNORECASE
)


def find_counting(caption: str) -> tuple[str, str] | None:
    """Return the convention of FLOPs that a caption declares, and its sentence; None where it declares none or two."""
    found = [(name, one) for one in sentences_in(caption) for name in _conventions_in(one)]
    return found[0] if len({name for name, _ in found}) == 1 else None


def _conventions_in(sentence: str) -> list[str]:
    text = " ".join(sentence.lower().split())
    if _NEGATED.search(text):
        return []
    kinds = (("torch", _TWICE), ("macs", _ONCE))
    return [name for name, patterns in kinds if any(re.search(one, text) for one in patterns)]
