"""How alike an answer and its reference are, word by word, as the benchmarks' own scorers reckon it.

Token F1, BLEU-1 and exact match after LoCoMo's ``task_eval/evaluation.py`` (snap-research/locomo; used for LongMemEval too,
whose own scorer is a judge alone) and Mem-Gallery's ``evaluation.py`` (YuanchenBei/Mem-Gallery; MemEye is published in its
format). Both put text in lower case, drop punctuation and ``a an the and``, and compare Porter stems for F1.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import Stemmer

from operators.sources import mem_gallery

F1, BLEU, EM = "f1", "bleu1", "em"

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_DELETED = str.maketrans("", "", string.punctuation)
_SPACED = str.maketrans(dict.fromkeys(string.punctuation, " "))
_KEPT = {".": "\ue000", "_": "\ue001"}
"""What Mem-Gallery keeps of punctuation: points inside numbers and the underscores of image ids."""

MULTI_HOP, OPEN_DOMAIN = "1", "3"
"""LoCoMo's categories with several answers in one, and with an answer that is explained behind a semicolon."""

Words = Callable[[str], list[str]]


def locomo_words(text: str) -> list[str]:
    """Words as LoCoMo compares them: punctuation is deleted, so that ``well-known`` is one word."""
    return _ARTICLES.sub(" ", text.lower().translate(_DELETED)).split()


def gallery_words(text: str) -> list[str]:
    """Words as Mem-Gallery compares them: punctuation parts words, but for decimal points and underscores."""
    kept = re.sub(r"(?<=\d)\.(?=\d)", _KEPT["."], text.lower()).replace("_", _KEPT["_"])
    parted = _ARTICLES.sub(" ", kept).translate(_SPACED)
    return parted.replace(_KEPT["."], ".").replace(_KEPT["_"], "_").split()


def lexical_scores(benchmark: str, category: str, prediction: str, reference: str) -> dict[str, float]:
    """F1, BLEU-1 and exact match, each 0 to 1, as the benchmark scores a question of this category."""
    if benchmark == mem_gallery.NAME:
        said, wanted = gallery_words(prediction), gallery_words(reference)
        return {F1: token_f1(said, wanted), BLEU: bleu_1(said, wanted), EM: float(said == wanted)}
    reference = reference.split(";")[0].strip() if category == OPEN_DOMAIN else reference
    said, wanted = locomo_words(prediction), locomo_words(reference)
    f1 = parts_f1(prediction, reference) if category == MULTI_HOP else token_f1(said, wanted)
    return {F1: f1, BLEU: bleu_1(said, wanted), EM: float(set(said) == set(wanted))}


def token_f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over Porter stems, each counted as often as it stands: 0 to 1."""
    stem = Stemmer.Stemmer("porter").stemWords
    one, other = Counter(stem(list(said))), Counter(stem(list(wanted)))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def parts_f1(prediction: str, reference: str) -> float:
    """LoCoMo's F1 of several answers in one: of each part of the reference the best part of the prediction; their mean."""
    said = [locomo_words(part) for part in prediction.split(",")]
    wanted = [locomo_words(part) for part in reference.split(",")]
    return sum(max(token_f1(one, other) for one in said) for other in wanted) / len(wanted)


def bleu_1(said: Sequence[str], wanted: Sequence[str]) -> float:
    """BLEU of single words: their clipped precision times the brevity penalty exp(1 - r / c) where c < r (Papineni 2002)."""
    shared = (Counter(said) & Counter(wanted)).total()
    if not shared:
        return 0.0
    return shared / len(said) * math.exp(min(0.0, 1 - len(wanted) / len(said)))
